/**
 * The memory of an agent that stays: facts that a wake need not read again, because all is as before.
 *
 * @module
 */
import type { ControlFile } from "../document/ControlFile.ts"
import type { WakeFacts } from "../store/ControlStore.ts"
import { expiry, type ObservedWakes } from "./ObservedWakes.ts"
import type { OpenFile } from "../store/OpenFile.ts"
import * as Plan from "./Plan.ts"
import type { Record } from "../order/Record.ts"
import type { Report } from "./Report.ts"
import { Versions } from "../store/Versions.ts"

/** The facts on which a plan depends, beside the records and the clock. */
export interface Facts {
  readonly file: ControlFile
  readonly captured: WakeFacts
  readonly approved: ReadonlySet<string>
  /** The observations, which contain the hash of the settings. */
  readonly observed: ObservedWakes
  readonly startup: string
}

/**
 * A wake that left nothing to do. Its report is that of each later wake with the same facts, from one time to another. The records
 * are the same, because only a wake that is not quiet changes them.
 */
export interface QuietWake extends Facts {
  readonly report: Report
  readonly from: number
  readonly until: number
}

/**
 * The memory of a process that holds the lease from wake to wake. No other process changes the file's records meanwhile, nor
 * its observations.
 */
export class Memory {
  readonly versions = new Versions()
  /** The version of the file on the disk, or an older one. */
  version: string | undefined
  open: OpenFile | undefined
  records: Map<string, Record> | undefined
  observed: ObservedWakes | undefined
  /** The facts of the latest wake. */
  captured: WakeFacts | undefined
  quiet: QuietWake | undefined
}

/** The quiet wake of a report; `undefined` if the next wake may find something to do at once. */
export const quietOf = (report: Report, facts: Facts, now: number): QuietWake | undefined => {
  // A clock that was set back makes last runs lie ahead, and the schedules leave them out for some time.
  for (const { history: { lastRun = now }, status } of report.states.values()) if (lastRun > now || status === "running") return undefined
  const until = Math.min(Plan.until(report.plan, now), expiry(facts.observed))
  return { ...facts, report: { ...report, hasNewSettings: false }, from: now, until }
}

const isEqualSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => {
  if (a.size !== b.size) return false
  for (const each of a) if (!b.has(each)) return false
  return true
}

const isEqualMap = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean => {
  if (a.size !== b.size) return false
  for (const [key, value] of a) if (b.get(key) !== value) return false
  return true
}

/**
 * Whether the report of a quiet wake is that of a moment, too.
 */
export const holds = (quiet: QuietWake, { approved, captured, file, observed, startup }: Facts, now: number): boolean =>
  now >= quiet.from && now < quiet.until && quiet.file === file && quiet.observed === observed && quiet.startup === startup &&
  isEqualSet(quiet.approved, approved) && isEqualSet(quiet.captured.files, captured.files) &&
  isEqualSet(quiet.captured.variables, captured.variables) && isEqualMap(quiet.captured.digests, captured.digests)

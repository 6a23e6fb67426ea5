/**
 * The reporter: where everything that goes wrong comes out, in the log and in
 * the counts.
 *
 * A fact of a beat comes here once that is durable, with its cell; what fails
 * outside of all beats comes here at once. (Architecture, section 11.)
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Severity } from "../cell/Severity.ts"
import type { Diagnostic } from "./Diagnostic.ts"
import * as Diagnostics from "./Diagnostic.ts"
import * as Printable from "./Printable.ts"

/** A fact, and where it happened. */
export interface Told extends Diagnostic {
  /** The space; `undefined` where it is the runtime itself. */
  readonly space: string | undefined
  /** The beat that committed it, where one did. */
  readonly beat: number | undefined
  /** What was thrown, where something was: it differs between engines, and is for people only. */
  readonly cause?: unknown
}

/** How often something went wrong. */
export interface Count {
  readonly space: string | undefined
  readonly severity: Severity
  readonly topic: string
  readonly count: number
}

/** Most different facts that are counted apart; what comes beyond is counted under the topic `other`. */
const MAX_COUNTS = 10_000

/**
 * Tells and counts what goes wrong.
 *
 * @category models
 * @since 0.1.0
 */
export class Reporter {
  private readonly log: (told: Told) => void
  private readonly kept = new Map<string, Count>()
  /** What was told already: several who wait hear of one failure by the same error. */
  private readonly causes = new WeakSet<object>()

  constructor(log: (told: Told) => void) {
    this.log = log
  }

  report(told: Told): void {
    const { cause } = told
    if (typeof cause === "object" && cause !== null) {
      if (this.causes.has(cause)) return
      this.causes.add(cause)
    }
    this.count(told)
    this.log(told)
  }

  /** How often what went wrong since the runtime started: everywhere, or in one space. */
  counts(space?: string): ReadonlyArray<Count> {
    return [...this.kept.values()].filter((count) => space === undefined || count.space === space)
  }

  private count({ severity, space, topic }: Told): void {
    const key = `${space ?? ""} ${severity} ${topic}`
    const known = this.kept.get(key)
    if (known === undefined && this.kept.size >= MAX_COUNTS && topic !== "other") return this.count({ ...other, severity, space: undefined })
    this.kept.set(key, { space, severity, topic, count: (known?.count ?? 0) + 1 })
  }
}

/** Most characters of a line. */
const MAX_LINE = 600

/**
 * A fact in one line, as logs have it; with the place in the source that the host found for its error.
 *
 * @category getters
 * @since 0.1.0
 */
export const line = ({ beat, code, note, origin, raised, severity, space, topic }: Told, source?: string): string => {
  const place = space === undefined ? "" : ` ${space}${beat === undefined ? "" : `@${beat}`}`
  const by = origin.kind === "runtime" ? "" : ` ${origin.name}`
  const said = raised === undefined ? note : `${note}: ${raised.message}`
  const end = `${source === undefined ? "" : ` at ${source}`}${code === topic ? "" : ` (${code})`}`
  return Printable.line(`${severity} ${topic}${place}${by}: ${said}`).slice(0, MAX_LINE) + Printable.line(end)
}

const other: Told = { ...Diagnostics.of("runtime/accident", { note: "", origin: { kind: "runtime", name: "reporter" }, subject: undefined }), topic: "other", space: undefined, beat: undefined }

/**
 * Where what goes wrong is told: nowhere but in the counts, unless the host says otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentReporter = Context.Reference<Reporter>("systole/diagnostic/Reporter", { defaultValue: () => new Reporter(() => {}) })

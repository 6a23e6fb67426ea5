/**
 * Reports: failures reported by runs, validated when they are made.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import * as Severity from "../cell/Severity.ts"
import type { Operations, Report, ReportLaunch } from "./Launch.ts"
import { lengthOf } from "./write/Write.ts"

/** The maximum length of a note, in characters. */
export const MAX_NOTE = 2000

/** The maximum number of reports of one run. */
export const MAX_REPORTS = 100

/** A report is invalid. `reason` names the rule that it breaks. */
export class InvalidReport extends Data.TaggedError("InvalidReport")<{ readonly reason: string }> {
  readonly code = "diagnostic/invalid"
  override get message() {
    return `The report of what went wrong is refused: ${this.reason}`
  }
}

/**
 * Validates a report.
 *
 * @throws InvalidReport, InvalidAddress, InvalidValue
 */
export const make = ({ attach, code, note, payload, severity, signal = false, subject, topic }: Report): ReportLaunch => {
  if (!Severity.is(severity)) throw refuse(`its severity is ${shown(severity)}; give sev:fatal, sev:crit, sev:usage, sev:warn or sev:debug`)
  if (!isPath(topic)) throw refuse(`its topic is ${shown(topic)}; give names such as order/stuck`)
  if (typeof note !== "string" || note.length > MAX_NOTE || !note.isWellFormed()) {
    throw refuse(`its note is no text of at most ${MAX_NOTE} characters`)
  }
  if (code !== undefined && !isPath(code)) throw refuse(`its code is ${shown(code)}; give names such as order/stuck, or none`)
  if (attach !== undefined && typeof attach !== "string") throw refuse(`it is attached to ${shown(attach)}; give the id of an operation`)
  return {
    severity,
    topic,
    code: code ?? topic,
    note,
    subject: subject === undefined ? undefined : Address.parse(subject),
    payload: payload === undefined ? undefined : Document.encode(payload),
    attach,
    signal: Boolean(signal)
  }
}

/** The run that makes the report. */
interface Reporting {
  readonly reports: ReadonlyArray<ReportLaunch>
  readonly op: Pick<Operations, "get">
  readonly launch: (characters: number) => void
}

/**
 * Returns the reports of a run with one more.
 *
 * @throws InvalidReport, InvalidAddress, InvalidValue, NotProvided
 */
export const add = (run: Reporting, report: Report): ReadonlyArray<ReportLaunch> => {
  if (run.reports.length >= MAX_REPORTS) throw refuse(`one run makes at most ${MAX_REPORTS}`)
  const made = make(report)
  if (made.attach !== undefined && run.op.get(made.attach) === undefined) {
    throw refuse(`it is attached to ${shown(made.attach)}, and there is no such operation`)
  }
  run.launch(made.note.length + lengthOf(made.payload))
  return [...run.reports, made]
}

const isPath = (text: unknown): boolean => typeof text === "string" && typeof Name.split(`/${text}`) !== "string"

const shown = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, 200)

const refuse = (reason: string) => new InvalidReport({ reason })

/**
 * The output of the commands of the agent.
 *
 * @module
 */
import { type Fields, fieldsOf } from "../order/Order.ts"
import * as Issues from "../text/Issue.ts"
import type * as Plan from "../wake/Plan.ts"
import * as Projection from "../wake/Projection.ts"
import type * as Wake from "../wake/Wake.ts"
import { Output } from "systole/cli"

/** One decision as columns. */
const columns = (decision: Plan.Decision): ReadonlyArray<string> => {
  const { action: { id, priority, schedule, type } } = decision
  return [id, priority, type, schedule.kind, described(decision)]
}

const described = (decision: Plan.Decision): string => {
  switch (decision.kind) {
    case "run":
      return "due now"
    case "skip":
      return `skipped: ${decision.reason}`
    case "block":
      return `waits for ${decision.on.join(", ")}`
    case "wait":
      return decision.at === undefined ? decision.reason : `due ${Projection.moment(decision.at)}`
    case "rest":
      return decision.reason
  }
}

/** The plan as a table. */
export const plan = (decisions: Plan.Plan): ReadonlyArray<string> => Output.table(decisions.map(columns))

/** The lines about held actions, issues and copies. */
export const notes = ({ copies, hasNewSettings, held, isWritten, issues, older, written }: Wake.Report): ReadonlyArray<string> => [
  ...issues.map(Issues.render),
  ...held.map(({ action, hash }) => `${action.id} waits for an approval: systole agent approve ${hash.slice(0, 12)}`),
  ...copies.map((name) => `${name} holds a version that was saved while the agent wrote, or that was damaged`),
  ...older.length === 0 ? [] : [`${older.join(", ")} ended before, and the control file had an older copy of it; for another run: ` +
    "systole agent again ID, or set the status to pending and leave completed_at or failed_at"],
  ...written.length === 0 ? [] : [`${written.join(", ")}: the ledger has no record, as in a clone or a folder that was moved, so ` +
    "the times in the control file count as history; approvals do not come with it"],
  ...hasNewSettings ? ["The settings of the agent have changed since the last wake"] : [],
  ...isWritten ? [] : ["The status is not in the file, because a person was saving it; the next wake writes it"]
]

/** A program that waits for an approval, with the fields with which it runs. */
type Held = Wake.Report["held"][number]

/** A held program as JSON. */
export const program = ({ action, hash }: Held): unknown => ({ id: action.id, hash, type: action.type, fields: fieldsOf(action) })

/** The fields of a program beside its command, one to a line. */
const linesOf = ({ command: _, ...fields }: Fields): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([key, value]) =>
    typeof value === "string" ? [`${key}: ${value}`] : Object.entries(value).map(([name, text]) => `${key} ${name}: ${text}`))

/** Characters that a terminal shows as nothing, or as a space that is none. */
const INVISIBLE = /(?! )[\p{Cc}\p{Cf}\p{Z}]/u

/** A text as it is, or as JSON if a terminal would show it as another one. */
const exact = (text: string): string =>
  INVISIBLE.test(text)
    ? JSON.stringify(text).replaceAll(/(?! )[\p{Cf}\p{Z}]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)
    : text

/** Held programs: the command of each, and below it all other fields with which it runs, as they are. */
export const programs = (held: Wake.Report["held"]): ReadonlyArray<string> => {
  const heads = Output.table(held.map(({ action, hash }) => [action.id, hash]))
  return held.flatMap(({ action }, i) => {
    const [head = "", fields] = [heads[i], fieldsOf(action)]
    const { command } = fields
    const first = typeof command === "string" ? [`${head}  ${exact(command)}`] : [head]
    return [...first, ...linesOf(fields).map((line) => `${" ".repeat(head.length)}  ${exact(line)}`)]
  })
}

/** The attempts of a wake as a table. */
export const ran = ({ earlier, ran: begun }: Wake.Report): ReadonlyArray<string> =>
  Output.table([...earlier, ...begun].map(({ action, record }) => [
    action.id,
    record.status,
    `${(((record.finishedAt ?? record.startedAt) - record.startedAt) / 1000).toFixed(1)}s`,
    record.failure === undefined ? record.result ?? "" : `${record.failure.message} (${record.failure.code})`
  ]))

/** A report as JSON. */
export const json = (report: Wake.Report): unknown => ({
  ran: [...report.earlier, ...report.ran].map(({ record }) => record),
  plan: report.plan.map((decision) => {
    const { action, ...rest } = decision
    return { id: action.id, priority: action.priority, type: action.type, ...rest }
  }),
  held: report.held.map(({ action, hash }) => ({ id: action.id, hash })),
  issues: report.issues,
  copies: report.copies,
  older: report.older,
  written: report.written,
  isWritten: report.isWritten,
  nextDue: report.nextDue === undefined ? null : Projection.moment(report.nextDue)
})

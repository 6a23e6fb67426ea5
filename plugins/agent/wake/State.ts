/**
 * The states of actions, as plans read them: from the records of the ledger, the file, and the observations.
 *
 * @module
 */
import type { Action } from "../document/Action.ts"
import type { Outcome } from "../schedule/Condition.ts"
import type { ObservedWakes } from "./ObservedWakes.ts"
import type { ActionState, Retrial } from "./Plan.ts"
import * as Record from "../order/Record.ts"
import * as Schedules from "../schedule/Schedule.ts"

/**
 * The next attempt of an occurrence that failed; `undefined` if there is none.
 */
export const retrial = ({ retry }: Action, record: Record.Record | undefined): Retrial | undefined => {
  const found = record === undefined || record.isMember === true ? undefined : Record.retryOf(record, retry)
  return found === undefined || record === undefined ? undefined : { occurrence: record.occurrence, attempt: record.attempt + 1, ...found }
}

/** The begin of the last run as a block tells it, for an action that the ledger does not know. */
const writtenRun = ({ record: { completedAt, failedAt, lastRun } }: Action): number | undefined => lastRun ?? completedAt ?? failedAt

/** The next attempt as a block tells it, for an action that the ledger does not know: of a clone, or a folder that was moved. */
const writtenRetrial = ({ record: { failedAt = 0, nextRetry, retryCount } }: Action): Retrial | undefined =>
  nextRetry === undefined ? undefined : {
    occurrence: `written:${nextRetry}`, attempt: retryCount + 1, at: nextRetry, delay: Math.max(nextRetry - failedAt, 0)
  }

/**
 * Whether the history of an action is that of its block, because the ledger does not know it.
 */
export const isWritten = (action: Action, record: Record.Record | undefined): boolean =>
  record === undefined && (writtenRun(action) ?? action.record.nextRetry) !== undefined

/**
 * The number of times that an action became pending. It grows where a person sets a finished action to pending.
 */
export const pendings = ({ status }: Pick<Action, "status">, record: Record.Record | undefined): number => {
  if (record === undefined) return 1
  return status === "pending" && record.status !== "running" ? record.pendings + 1 : record.pendings
}

/** Whether two times are in the same second, the unit of times in a file. */
const isSameSecond = (a: number, b: number | undefined): boolean =>
  b !== undefined && Math.floor(a / SECOND) === Math.floor(b / SECOND)

const SECOND = 1_000

/**
 * Whether a block is an older copy: it waits, lacks the stamp of the end that its record has, and is otherwise the block of that
 * record. For another run, a person leaves the stamp, or changes the block.
 */
export const isOlder = (
  action: Action,
  record: Record.Record | undefined,
  { digestOf }: Pick<Context, "digestOf">
): record is Record.Record => {
  const end = record === undefined ? undefined : Record.endOf(record)
  if (record?.digest === undefined || end === undefined) return false
  if (action.status !== "pending" && action.status !== "blocked") return false
  const { completedAt, failedAt } = action.record
  return !isSameSecond(end, record.status === "completed" ? completedAt : failedAt) && record.digest === digestOf(action)
}

/** The status of an action. The ledger decides on attempts; a person decides by another status in the file. */
const statusOf = (action: Action, record: Record.Record | undefined, retry: Retrial | undefined): ActionState["status"] => {
  if (record?.status === "running") return "running"
  const isRecurring = Schedules.isRecurring(action.schedule)
  if (action.status === "running" && record !== undefined) return isRecurring || retry !== undefined ? "pending" : record.status
  if (action.status === "blocked" || (action.status === "skipped" && isRecurring)) return "pending"
  return action.status
}

const historyOf = (action: Action, record: Record.Record | undefined, context: Omit<Context, "digestOf">): Schedules.History => {
  const { now, observed, startup } = context
  const { [action.id]: change } = observed.changes
  const skipped = observed.skipped[action.id]
  const ran = record === undefined ? writtenRun(action) : Record.beginOf(record)
  const isOver = (occurrence: string): boolean => record?.occurrence === occurrence || isSkipped(action, occurrence, observed)
  const key = change === undefined || change.count === 0 ? undefined : changeKey(change)
  return {
    lastRun: ran === undefined ? skipped : Math.max(ran, skipped ?? 0),
    since: observed.first[action.id] ?? now,
    startup: isOver(`startup:${startup}`) ? undefined : startup,
    change: isOver(`change:${key}`) ? undefined : key,
    pendings: pendings(action, record),
    latest: record?.event
  }
}

/** The key of a change. An action that returns to the file has another first look, so no key comes again. */
const changeKey = ({ count, digest, counted = digest, since }: ObservedWakes["changes"][string]): string =>
  `${since === undefined ? "" : `${since}.`}${count}.${counted}`

/** Whether an occurrence was skipped, so that it has no further attempt. */
const isSkipped = ({ id }: Action, occurrence: string, observed: ObservedWakes): boolean => observed.occurrences?.[id] === occurrence

/** The facts on which a state depends, beside the action and its record. */
export interface Context {
  readonly now: number
  readonly observed: ObservedWakes
  /** The key of this start of the agent. */
  readonly startup: string
  /** The digest of the block of an action. */
  readonly digestOf: (action: Action) => string
}

/** The outcome of the last occurrence. A person who sets an action to pending makes it open again. */
const outcomeOf = (action: Action, record: Record.Record | undefined, retry: Retrial | undefined): Outcome => {
  if (record === undefined && retry === undefined) {
    return action.status === "completed" || action.status === "failed" || action.status === "skipped" ? action.status : "open"
  }
  if (record === undefined || record.status === "running" || retry !== undefined) return "open"
  return action.status === "pending" && !Schedules.isRecurring(action.schedule) ? "open" : record.status
}

/**
 * The state of an action.
 */
export const of = (written: Action, record: Record.Record | undefined, context: Context): ActionState => {
  // The file of an older copy tells nothing about what ran, so its action counts as one that the file tells as running.
  const action: Action = isOlder(written, record, context) ? { ...written, status: "running" } : written
  const found = record === undefined ? writtenRetrial(action) : retrial(action, record)
  const retry = found !== undefined && isSkipped(action, found.occurrence, context.observed) ? undefined : found
  const status = statusOf(action, record, retry)
  return {
    status,
    history: historyOf(action, record, context),
    outcome: outcomeOf(action, record, retry),
    retry: status === "pending" || status === "failed" ? retry : undefined
  }
}

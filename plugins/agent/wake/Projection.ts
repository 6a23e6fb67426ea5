/**
 * The status lines that follow from records.
 *
 * @module
 */
import type { Action } from "../document/Action.ts"
import { Duration, Zone } from "systole/time"
import type { Change } from "../document/Edit.ts"
import * as Record from "../order/Record.ts"
import * as Schedules from "../schedule/Schedule.ts"
import * as State from "./State.ts"

/** A time as `2024-01-15T10:32:15Z`. */
export const moment = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** The local time of day as `10:32:15`. */
const clock = (millis: number, zone: string): string => {
  const { hour, minute, second } = Zone.localOf(millis, zone)
  return [hour, minute, second].map((part) => String(part).padStart(2, "0")).join(":")
}

type Lines = Readonly<{ [key: string]: string | undefined }>

const completed = (action: Action, record: Record.Record): Lines => {
  const { result = "" } = record
  const [begin, end] = [Record.beginOf(record), Record.endOf(record) ?? 0]
  const isRecurring = Schedules.isRecurring(action.schedule)
  return {
    status: isRecurring ? "pending" : "completed",
    ...isRecurring ? { last_run: moment(begin) } : {},
    completed_at: moment(end),
    duration: Duration.render(end - begin),
    result,
    started_at: undefined,
    failed_at: undefined,
    error: undefined,
    retry_count: undefined,
    next_retry: undefined,
    skipped_at: undefined
  }
}

const failed = (action: Action, record: Record.Record): Lines => {
  const { attempt, failure, progress } = record
  const retry = State.retrial(action, record)
  return {
    status: retry === undefined ? "failed" : "pending",
    ...Schedules.isRecurring(action.schedule) ? { last_run: moment(Record.beginOf(record)) } : {},
    failed_at: moment(Record.endOf(record) ?? 0),
    error: failure?.message ?? "it failed",
    retry_count: action.retry.attempts > 1 ? `${progress?.round ?? attempt}/${action.retry.attempts}` : undefined,
    next_retry: retry === undefined ? undefined : moment(retry.at),
    started_at: undefined,
    completed_at: undefined,
    duration: undefined,
    result: undefined,
    skipped_at: undefined
  }
}

const linesOf: { readonly [Status in Record.Record["status"]]: (action: Action, record: Record.Record) => Lines } = {
  running: (_, record) => ({ status: "running", started_at: moment(Record.beginOf(record)) }),
  completed,
  failed
}

const changes = (id: string, lines: Lines): ReadonlyArray<Change> =>
  Object.entries(lines).map(([key, value]) => ({ kind: "field", id, key, value }))

/**
 * The changes of the file that an ended attempt makes. An action that does not recur is also listed under "Completed Today".
 */
export const end = (action: Action, record: Record.Record): ReadonlyArray<Change> => {
  const lines = changes(action.id, linesOf[record.status](action, record))
  if (record.status !== "completed" || Schedules.isRecurring(action.schedule)) return lines
  return [...lines, { kind: "completed", id: action.id, name: action.name, time: clock(Record.endOf(record) ?? 0, action.zone) }]
}

/** The changes that bring the block of an older copy up to its record. The end of another day is not listed. */
export const caughtUp = (action: Action, record: Record.Record, isToday: boolean): ReadonlyArray<Change> =>
  end(action, record).filter(({ kind }) => isToday || kind !== "completed")

/** The changes before an attempt. */
export const begin = (action: Action, now: number): ReadonlyArray<Change> =>
  changes(action.id, { status: "running", started_at: moment(now) })

/** The changes of an occurrence that was skipped. */
export const skip = (action: Action, now: number): ReadonlyArray<Change> =>
  changes(action.id, { status: "skipped", skipped_at: moment(now) })

/** The change of an action that waits for others. */
export const block = ({ id }: Action): ReadonlyArray<Change> => changes(id, { status: "blocked" })

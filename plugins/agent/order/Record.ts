/**
 * The records of actions in the ledger.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Retries from "../schedule/Retry.ts"

/** The end of a failed attempt. */
const Failure = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  /** The status of an answer over HTTP. */
  status: Schema.optionalKey(Schema.Int),
  /** The wait in milliseconds that the answer asks for. */
  retryAfterMs: Schema.optionalKey(Schema.Int),
  /** The last lines of the error output of a program. */
  stderr: Schema.optionalKey(Schema.String)
})

/** The time of the next attempt, and its delay after the failure. */
const Retry = Schema.Struct({ at: Schema.Int, delay: Schema.Int })

/**
 * The members of a composite action that are over in an occurrence, and the attempts that are next for others. A `round` begins
 * with an attempt of the composite action itself; `retry` is the time at which it goes on with members that are tried again.
 */
export const Progress = Schema.Struct({
  round: Schema.Int,
  completed: Schema.Array(Schema.String),
  skipped: Schema.Array(Schema.String),
  failed: Schema.Array(Schema.String),
  next: Schema.Record(Schema.String, Schema.Int),
  retry: Schema.optionalKey(Retry)
})

/**
 * The progress of a composite action.
 */
export type Progress = typeof Progress.Type

const Shape = Schema.Struct({
  action: Schema.String,
  /** The id of the event. */
  event: Schema.String,
  occurrence: Schema.String,
  /** The number of the attempt of this occurrence, from 1. */
  attempt: Schema.Int,
  attempts: Schema.Int,
  status: Schema.Literals(["running", "completed", "failed"]),
  /** The time of its order by the clock of the wake, in milliseconds since 1970; absent in records of earlier versions. */
  at: Schema.optionalKey(Schema.Int),
  /** The times of its beats, in milliseconds since 1970. They go on where the clock of the host was set back. */
  startedAt: Schema.Int,
  finishedAt: Schema.optionalKey(Schema.Int),
  /** The result of a completed attempt, as one line. */
  result: Schema.optionalKey(Schema.String),
  failure: Schema.optionalKey(Failure),
  /** The kept output: a text, or the address of content. */
  output: Schema.optionalKey(Schema.String),
  /** The number of times that the action became pending. */
  pendings: Schema.Int,
  /** Whether a composite action ran it, which alone tries it again. */
  isMember: Schema.optionalKey(Schema.Boolean),
  /** The progress of a composite action. */
  progress: Schema.optionalKey(Progress),
  /** The digest of the block as a person wrote it; absent in records of earlier versions. */
  digest: Schema.optionalKey(Schema.String)
})

/**
 * The record of an action: its latest attempt.
 */
export type Record = typeof Shape.Type

const decode = Schema.decodeUnknownOption(Shape)

/**
 * Decodes a record; `undefined` for other values.
 */
export const read = (value: unknown): Record | undefined => {
  const found = decode(value)
  return found._tag === "Some" ? found.value : undefined
}

/**
 * The begin of an attempt by the clock of the wake. Schedules follow that clock, and not the one of the beats.
 */
export const beginOf = ({ at, startedAt }: Pick<Record, "at" | "startedAt">): number => at ?? startedAt

/**
 * The end of an attempt by the clock of the wake; `undefined` while it runs.
 */
export const endOf = (record: Record): number | undefined =>
  record.finishedAt === undefined ? undefined : beginOf(record) + record.finishedAt - record.startedAt

/** The codes of failures to connect. */
const CONNECTION = /^(?:io\/(?:refused|reset|unreachable|closed|absent|failed|not-connected|broken)|http\/(?:connect|address|dns))/

/** The name of a failure for `retry_on`. */
export const nameOf = ({ failure }: Record): string => {
  if (failure === undefined) return "failed"
  if (failure.status !== undefined) return `status:${failure.status}`
  if (failure.code.includes("timeout")) return "timeout"
  return CONNECTION.test(failure.code) ? "connection_error" : failure.code
}

/**
 * The time of the next attempt after a failed one; `undefined` if there is none. The policy is that of its action.
 */
export const retryOf = (record: Record, policy: Retries.Retry): Progress["retry"] => {
  const { attempt, failure, progress, status } = record
  const end = endOf(record)
  if (status !== "failed" || end === undefined) return undefined
  if (progress?.retry !== undefined) return progress.retry
  const count = progress?.round ?? attempt
  if (count >= policy.attempts || !Retries.isRetried(policy, nameOf(record))) return undefined
  const delay = Math.max(Retries.delayAfter(policy.delay, count), failure?.retryAfterMs ?? 0)
  return { at: end + delay, delay }
}

/** Whether a record is that of an attempt. */
export const isOf = (record: Record | undefined, attempt: Pick<Record, "occurrence" | "attempt">): record is Record =>
  record !== undefined && record.occurrence === attempt.occurrence && record.attempt === attempt.attempt

/** The cell of the records of a file. */
export const folder = (file: string): string => `/data/agent/${file}/actions`

/** The cell of the record of an action. */
export const cell = (file: string, action: string): string => `${folder(file)}/${action}`

/** The cell of the kept attempts of a file, with one cell for each action. */
export const history = (file: string): string => `/data/agent/${file}/history`

/** The most kept attempts of an action. */
export const KEPT = 50

/** The attempts of an action with a further one. The oldest beyond {@link KEPT} are dropped. */
export const append = (before: unknown, record: Record): ReadonlyArray<unknown> =>
  [...Array.isArray(before) ? before as ReadonlyArray<unknown> : [], record].slice(-KEPT)

/** The cell that approves a block by its hash. */
export const approval = (file: string, hash: string): string => `/data/agent/${file}/approved/${hash}`

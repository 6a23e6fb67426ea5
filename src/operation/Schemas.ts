/**
 * The schemas of operations: requests from outside, and records in answers.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "../contract/CellValue.ts"

const text = Schema.String
const count = Schema.Number

const told = (description: string) => text.annotate({ description })
const counted = (description: string) => Schema.optionalKey(count.annotate({ description }))
/** A wait in beats, or as a time. */
const awaited = (description: string) => Schema.optionalKey(Schema.Union([count, text]).annotate({ description }))
const valued = (description: string) => Schema.optionalKey(Schema.Unknown.annotate({ description }))

/** The request of a new operation. */
export const request = () => Schema.Struct({
  verb: told("The action, such as op/render"),
  target: told("The object of the action"),
  mode: Schema.optionalKey(told("opm:states, or opm:direct for work without states in between")),
  ttl: awaited("The expected duration, in beats or as a time such as 10s; it is recorded and not enforced"),
  payload: valued("The input of the work"),
  pipeline: valued("The ids of a pipeline run, by their names")
})

/** The change of a state. */
export const state = () => Schema.Struct({
  state: told("The new state, such as ist:plan"),
  code: counted("A whole number; 0 by default"),
  note: Schema.optionalKey(told("A remark"))
})

/** The await of a state or a status. */
export const awaiting = () => Schema.Struct({
  want: told("The state or the status to await, such as sts:ok"),
  signal: told("The signal to send to the operation's cell then"),
  ttl: awaited("The time-out, in beats or as a time such as 10s; without one it awaits for ever"),
  payload: valued("The payload of the signal")
})

/** The end of an operation. */
export const close = () => Schema.Struct({ status: told("sts:ok, sts:fail or sts:cnl"), summary: valued("The outcome") })

const shown = {
  oid: text,
  verb: text,
  target: text,
  mode: text,
  state: text,
  code: count,
  note: Schema.optionalKey(text),
  /** The closing status; `null` while it is open. */
  status: Schema.NullOr(text),
  /** The number of open watchers. */
  watchers: count
}

/** An operation in a list. */
export const row = () => Schema.Struct(shown)

/** A part of the dossier of a completed rollback: the number of its lines, and the first of them. */
const listed = <Name extends string>(name: Name) => Schema.Struct({ count, [name]: Schema.Array(CellValue.schema()) } as {
  readonly count: typeof count
} & { readonly [_ in Name]: Schema.$Array<ReturnType<typeof CellValue.schema>> })

/** A signal to another space after the target beat of a rollback, which is not undone. */
const sent = () => Schema.Struct({
  count,
  requests: Schema.Array(Schema.Struct({
    beat: count,
    id: text,
    signal: Schema.optionalKey(text),
    space: text,
    target: Schema.optionalKey(text)
  }))
})

/** A whole dossier: the newest entries of a long history, and the first of many watchers. */
export const dossier = () => Schema.Struct({
  ...shown,
  /** Of a completed rollback: signals sent since, requests to the world and durable runs that it took back. */
  sent: Schema.optionalKey(sent()),
  taken: Schema.optionalKey(listed("requests")),
  runs: Schema.optionalKey(listed("runs")),
  ttl: count,
  issued_beat: count,
  history: Schema.Array(Schema.Struct({
    number: count,
    beat: count,
    code: count,
    note: Schema.optionalKey(text),
    state: text
  })),
  waiting: Schema.Array(Schema.Struct({
    number: count,
    cont: text,
    deadline: count,
    enzyme: text,
    issued_beat: count,
    issued_ms: count,
    payload_id: Schema.optionalKey(CellValue.schema()),
    want: text
  })),
  payload: Schema.optionalKey(CellValue.schema()),
  close: Schema.NullOr(Schema.Struct({ status: text, closed_beat: count, summary: Schema.optionalKey(CellValue.schema()) }))
})

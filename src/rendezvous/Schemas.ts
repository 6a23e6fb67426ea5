/**
 * The schemas of rendezvous: requests from outside, and entries in answers.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "../contract/CellValue.ts"

const text = Schema.String
const count = Schema.Number
const maybe = (description: string) => Schema.optionalKey(text.annotate({ description }))
const named = (description: string) => Schema.optionalKey(Schema.NullOr(text).annotate({ description }))
const number = (description: string) => Schema.optionalKey(Schema.Union([count, text]).annotate({ description }))

/** The description of a new rendezvous. */
export const spec = () => Schema.Struct({
  key: text.annotate({ description: "A name such as job17 or app:job17" }),
  prof: named("rv-fixed by default, or rv-epoch, rv-cas, observer, spec"),
  due: number("The beat from which the result is expected; now by default"),
  due_off: number("The same, counted from now, in beats or as a time such as 10s"),
  deadline: number("The beat at which it ends, reported or not; 0 for never"),
  deadl_off: number("The same, counted from the due beat, in beats or as a time"),
  max_grace: number("The most postponements of a late entry, at most 1000"),
  grace_delta: number("The length of each, in beats or as a time"),
  profile: named("Another name of prof"),
  on_miss: named("The action once all grace is used: timeout by default, or kill, grace, ignore, quarantine"),
  epoch_k: number("For rv-epoch: the wait from a completion until it is due again, in beats or as a time"),
  kill_mode: named("The mode in which it ends"),
  kill_wait: number("The scans until it ends"),
  cas_hash: named("For rv-cas: the digest of the content"),
  signal_path: named("The signal of its completion"),
  signal: named("Another name of signal_path"),
  inst_id: named("The flow instance to notify"),
  input: Schema.optionalKey(Schema.Unknown.annotate({ description: "The input of the work, kept as a fingerprint" })),
  input_fp: number("That fingerprint"),
  telemetry: Schema.optionalKey(Schema.Unknown.annotate({ description: "The first telemetry: fields" }))
})

/** The answer to a spawn, and to a new token. */
export const minted = () => Schema.Struct({ token: text })

/** The move of the due beat. */
export const resched = () => Schema.Struct({
  delta: Schema.Union([count, text]).annotate({
    description: "The beats by which it is put off, also as a time such as 10s; a negative one brings it forward"
  })
})

/** The end of a rendezvous. */
export const kill = () => Schema.Struct({
  mode: maybe("kill by default, or cancel for work that is not wanted any more"),
  wait: Schema.optionalKey(count.annotate({ description: "The scans until it ends; 0 by default" }))
})

/** The report of a result. */
export const report = () => Schema.Struct({
  telemetry: Schema.optionalKey(Schema.Unknown.annotate({ description: "The telemetry of the report: fields" }))
})

/** A rendezvous, with numbers for its counters. */
export const entry = () => Schema.Struct({
  key: text,
  state: Schema.Literals(["pending", "ready", "late", "applied", "timeout", "killed", "quarantine"]),
  prof: text,
  spawn_beat: count,
  due: count,
  epoch_k: count,
  input_fp: count,
  deadline: count,
  grace_delta: count,
  max_grace: count,
  kill_wait: count,
  event_flag: count,
  grace_used: count,
  due_ms: count,
  deadline_ms: count,
  kill_ms: count,
  on_miss: text,
  kill_mode: text,
  cas_hash: text,
  signal_path: text,
  inst_id: Schema.optionalKey(text),
  telemetry: CellValue.schema()
})

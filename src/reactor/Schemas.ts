/**
 * The schemas of requests to the world in answers.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "../contract/CellValue.ts"
import type { Telemetry } from "./Request.ts"

const text = Schema.String
const count = Schema.Number
const maybe = Schema.optionalKey
const state = Schema.Literals(["pending", "pending_retry", "complete", "fail", "cnl"])

/** A request in a list. */
export const row = () => Schema.Struct({
  rid: text,
  /** The operation of the durable run that made it; absent for a request of an ordinary run. */
  oid: maybe(text),
  channel: text,
  opcode: text,
  state,
  /** The number of the attempt; 0 while none has begun. */
  attempt: count,
  issued_beat: count,
  /** The deadlines: a beat, and milliseconds since 1970. */
  deadline_beat: maybe(count),
  deadline_ms: maybe(count),
  /** The stable code of the failure. */
  code: maybe(text)
})

/** A request with all of its fields. */
export const details = () => Schema.Struct({
  attempt: count,
  attempts: count,
  beats_budget: maybe(count),
  bytes_done: count,
  bytes_expected: count,
  channel: text,
  code: maybe(text),
  deadline_beat: maybe(count),
  depth: count,
  enzyme: text,
  errno: maybe(count),
  issued_beat: count,
  issued_ms: count,
  key: text,
  note: maybe(text),
  opcode: text,
  retry_after_ms: maybe(count),
  retry_beat: maybe(count),
  retry_ms: maybe(count),
  signal: text,
  state,
  telemetry_id: CellValue.of<Telemetry>(),
  topic: text,
  uncertain: maybe(Schema.Boolean),
  rid: text,
  deadline_ms: maybe(count),
  /** The operation whose dossier holds the request. */
  oid: text,
  /** The arguments of the request, and the value of its result, which the dossier of a durable run keeps. */
  payload: maybe(CellValue.schema()),
  value: maybe(CellValue.schema())
})

/** A request in a list. */
export type RequestRow = ReturnType<typeof row>["Type"]
/** A request with all of its fields. */
export type RequestDetails = ReturnType<typeof details>["Type"]

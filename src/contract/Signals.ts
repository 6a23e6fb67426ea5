/**
 * Endpoints of signals: they are sent, they wait, and they end with a receipt or with dead letters.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "./CellValue.ts"
import * as Endpoint from "./Endpoint.ts"
import { SPACE } from "./Paths.ts"
import * as Duration from "../time/Duration.ts"
import * as Query from "./Query.ts"
import { words } from "./Words.ts"

const text = Schema.String
const count = Schema.Number
const maybe = Schema.optional
const given = Schema.optionalKey

const natural = () => Schema.Number.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))

/** The moment of a delayed signal. */
const moment = () => Schema.Union([
  Schema.Struct({ beat: natural() }),
  Schema.Struct({ beats: natural() }),
  Schema.Struct({ ms: natural() }),
  Schema.String.check(Schema.isPattern(Duration.FORM))
])

/** A signal. The ingress decodes it by hand. */
export const signal = () => Schema.Struct({
  signal: Schema.optionalKey(text),
  target: Schema.optionalKey(text),
  payload: Schema.optionalKey(Schema.Unknown),
  id: Schema.optionalKey(Schema.NonEmptyString),
  at: Schema.optionalKey(moment()),
  qos: Schema.optionalKey(Schema.Literals(["control", "retain", "discard"])),
  label: Schema.optionalKey(Schema.Array(text))
})

/** The place from which a run failed, and the text of that line. A server of `systole dev` adds them. */
const codePlace = { place: given(text), source: given(text) }

const handling = () => Schema.Struct({
  enzyme: text,
  run: maybe(text),
  beat: maybe(count),
  attempt: maybe(count),
  segments: maybe(count),
  outcome: Schema.Literals(["ok", "dead", "withheld"]),
  value: maybe(CellValue.schema()),
  error: maybe(Schema.Struct({ tag: text, code: text, message: text, ...codePlace })),
  label: maybe(Schema.Array(text))
})

/** A receipt. A reader sees only its id, its status, and the handlings that its clearance admits. */
const receipts = () => Schema.Struct({
  id: text,
  /** The id as its caller gave it, if one did. */
  own: given(text),
  status: Schema.Literals(["pending", "handled", "no-match", "cycle", "dead", "discarded", "pruned", "withheld"]),
  beat: maybe(count),
  handlings: Schema.Array(handling()),
  label: maybe(Schema.Array(text)),
  reason: maybe(text)
})

const WAIT = "Prefer: wait=N"

/** The most signals of one batch. */
export const MAX_BATCH = 1000

/** Several signals in one request. */
const batch = () => Schema.Array(signal()).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_BATCH))

/** An event of CloudEvents 1.0, with more attributes. Its type is the signal, and the whole event its payload. */
const cloudEvent = () => Schema.StructWithRest(
  Schema.Struct({
    specversion: Schema.Literal("1.0"),
    id: Schema.NonEmptyString,
    source: Schema.NonEmptyString,
    type: Schema.NonEmptyString
  }),
  [Schema.Record(text, Schema.Unknown)]
)

/** The answers to the signals of a batch, in their order: each as the signal alone would get it. */
const answers = () => Schema.Struct({
  answers: Schema.Array(Schema.Struct({
    status: count,
    location: given(text),
    /** Absent if all answers together are too long: then the receipt is at `location`. */
    body: given(Schema.Unknown)
  }))
})

/** The endpoint that takes signals. */
export const post = Endpoint.make("POST", `${SPACE}/signals`, {
  does: words(
    "202 when the signal is durable, with the event's id and a link to its receipt. With `Prefer: wait=N`, up to 60 seconds, " +
    "the end if all handlings end by then: 200 with the receipt if it is handled, 422 with the code of the dead letter, 404 " +
    "`signal/no-match`; see Ends. `Idempotency-Key` equals `id`: a repeated request gets the first answer and runs nothing. " +
    "`at` is `{ beat }`, `{ beats }` or `{ ms }`. A list of signals, or one in each line of `application/x-ndjson`, is a batch of up to "
  ) +
    `${MAX_BATCH}: 207 with the answer to each; see Batches. With \`${CellValue.RICH}\` a payload, also one of a batch, may be in the ` +
    "form of a value that JSON has none for, such as a date. CloudEvents are taken, too.",
  body: signal,
  bodies: {
    "application/json": batch,
    "application/x-ndjson": batch,
    [CellValue.RICH]: () => Schema.Union([signal(), batch()]),
    "application/cloudevents+json": cloudEvent,
    "application/cloudevents-batch+json": () => Schema.Array(cloudEvent()).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_BATCH))
  },
  isByHand: true,
  headers: ["Idempotency-Key", WAIT],
  answer: () => Schema.Struct({ id: text, beat: maybe(count), duplicate: Schema.Boolean, receipt: maybe(text) }),
  status: 202,
  others: { 200: receipts, 207: answers },
  refusals: [
    "address/invalid", "inbox/full", "registry/cycle", "signal/dead", "signal/discarded", "signal/id-malformed", "signal/id-reused",
    "signal/id-unequal", "signal/invalid", "signal/no-match", "value/invalid"
  ],
  access: "reader",
  verb: "signal"
})

/** The receipt of an event. */
export const receipt = Endpoint.make("GET", `${SPACE}/receipts/:id`, {
  does: words(
    "The receipt of an event, by its id or its caller's own id: the outcome of each handling, or the `reason` why no enzyme ran. " +
    "300 with `events` if an own id names several: `{ id, status, enzymes }` of the newest 20."
  ),
  headers: [WAIT],
  answer: receipts,
  refusals: ["id/ambiguous", "receipt/absent"],
  access: "reader"
})

/** A pending signal, or a pending attempt. */
export const waitingRow = () => Schema.Struct({
  id: text,
  /** The id as its caller gave it. */
  own: given(text),
  signal: given(text),
  target: given(text),
  why: Schema.Literals(["next", "parked", "delayed", "retrying", "awaiting", "held", "conflict", "lane", "leaving"]),
  /**
   * `pause` or `gate` if parked; otherwise the contended or locked address, the lane, the destination space, or the next
   * segment of a durable run.
   */
  on: given(text),
  /** The owner of the lock, if it waits for one. */
  owner: given(text),
  /** `enzyme/held` if all its enzymes are absent. */
  code: given(text),
  /** The enzymes that will run. */
  enzymes: given(Schema.Array(text)),
  attempt: given(count),
  /** The earliest time: a beat, or a moment in milliseconds since 1970, or both. */
  due: given(Schema.Struct({ beat: maybe(count), moment: maybe(count) }))
})

/** A row as a reader sees it. */
const shownRow = () => Schema.Struct({ ...waitingRow().fields, id: given(text) })

/** The waiting list. The cursor of a reader is a text. */
export const waiting = Endpoint.make("GET", `${SPACE}/waiting`, {
  does: words(
    "The waiting signals, each with its reason: parked, delayed, retrying, awaiting a result, held, a lost conflict, its lane or " +
    "its turn."
  ),
  query: () => Schema.Struct({ after: Query.text(), limit: Query.limit(100, Query.MOST) }),
  answer: () => Schema.Struct({ waiting: Schema.Array(shownRow()), next: Query.next(Schema.Union([count, text])) }),
  access: "reader"
})

/** A letter, in the order of its stored fields. */
const letters = {
  attempt: count,
  awaits: maybe(text),
  beat: count,
  captured: count,
  code: text,
  enzyme: text,
  label: maybe(Schema.Array(text)),
  learned: maybe(Schema.Array(text)),
  segment: maybe(count),
  signal: maybe(text),
  space: maybe(text),
  tag: text,
  target: maybe(text),
  undone: maybe(Schema.Literal(true)),
  wait: maybe(Schema.Unknown),
  id: text,
  /** The id as the event's caller gave it, until its receipt is pruned. */
  own: given(text)
}

/** The list of dead letters. */
export const dead = Endpoint.make("GET", `${SPACE}/dead`, {
  does: words("The dead letters of the space."),
  query: () => Schema.Struct({
    after: Schema.optionalKey(text.check(Schema.isPattern(/^[^/]+\/[^/]+(?:\/payload)?$/)).annotate({
      expected: "the field next of the answer before: <id>/<enzyme>"
    })),
    limit: Query.limit()
  }),
  answer: () => Schema.Struct({ letters: Schema.Array(Schema.Struct(letters)), next: Query.next(text) })
})

/** One dead letter. */
export const letter = Endpoint.make("GET", `${SPACE}/dead/:id/:enzyme`, {
  does: words("One dead letter, with payload and message."),
  refusals: ["dead/absent", "id/ambiguous"],
  answer: () => Schema.Struct({ ...letters, payload: maybe(CellValue.schema()), message: maybe(text), ...codePlace })
})

/** The redelivery of a dead letter. */
export const redeliver = Endpoint.make("POST", `${SPACE}/dead/:id/:enzyme/redelivery`, {
  does: words("Runs the handling again, once: 202 with a link to the receipt."),
  answer: () => Schema.Struct({ id: text, own: given(text), enzyme: text, beat: count, receipt: text }),
  status: 202,
  refusals: ["control/refused", "dead/absent", "id/ambiguous", "inbox/full", "space/held"],
  location: ({ receipt }) => receipt
})

/** The refusals of readers. */
export const denials = Endpoint.make("GET", `${SPACE}/denials`, {
  does: words("The newest 400 refusals of readers since the space was opened: reader and address."),
  answer: () => Schema.Struct({ denials: Schema.Array(Schema.Struct({ at: count, reader: text, address: text })) })
})

/**
 * The endpoints of a ledger, from its face.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import type { Face, Fields, Switches, Verb } from "./Face.ts"
import { SPACE } from "./Paths.ts"
import * as Query from "./Query.ts"
import { kinds } from "./Refusal.ts"
import * as Stream from "./Stream.ts"
import { words } from "./Words.ts"

/** The query of a request with switches. */
const switched = (switches: Switches = {}): Readonly<Record<string, ReturnType<typeof Query.flag>>> =>
  Object.fromEntries(Object.entries(switches).map(([name, effect]) => [name, Query.flag(effect)]))

/** The endpoints of a ledger. */
export interface FaceEndpoints {
  readonly list: Endpoint.Endpoint
  readonly record: Endpoint.Endpoint
  /** Those of its verbs, by their names. */
  readonly verbs: Readonly<Record<string, Endpoint.Endpoint>>
}

/** The sentences of a ledger's endpoints. */
interface Sentences {
  readonly list: (face: Face) => string
  readonly record: (face: Face) => string
  readonly verb: (face: Face, verb: Verb) => string
}

const sentences: Sentences | undefined = words({
  list: ({ text: { many } }) => `The ${many} of the space.`,
  record: ({ text: { one } }) => `One ${one}. As \`text/event-stream\`: its state now and after each change.`,
  verb: ({ records: { id } }, { does, on }) => on === "list" ? `${does} 201 with its \`${id}\`.` : does
})

/** A segment of a path. An id of a ledger has colons, which a path may have as they are. */
const segmentOf = (id: string): string => encodeURIComponent(id).replaceAll("%3A", ":")

/** The refusals of a ledger: those whose codes begin as that of an absent record does. */
const refusalsOf = ({ records }: Face): ReadonlyArray<string> => {
  const { code = "" } = records.absent("") as Error & { readonly code?: string }
  return [...new Set([code, ...Object.keys(kinds).filter((each) => each.split("/")[0] === code.split("/")[0])])]
}

/** The refusals of a verb, beside those of its ledger. */
const OF_VERB = ["address/invalid", "cell/locked", "control/refused", "inbox/full", "signal/invalid", "space/held", "value/invalid"]

/** The schema of an answer, which has the id of the record, the fields of the verb and the beat. */
const replyOf = ({ reply }: Verb, id: string): Fields => () =>
  Schema.Struct({ [id]: Schema.String, ...reply?.().fields, beat: Schema.Number })

const verbOf = (face: Face, refusals: ReadonlyArray<string>, [name, verb]: readonly [string, Verb]): Endpoint.Endpoint => {
  const { records: { id, invalid, segment } } = face
  const list = `${SPACE}/${segment}`
  const isNew = verb.on === "list"
  const locationOf = (answer: unknown, { space }: Readonly<Record<string, string>>): string =>
    `/v1/spaces/${space}/${segment}/${segmentOf(String((answer as Readonly<Record<string, unknown>>)[id]))}`
  return Endpoint.make("POST", isNew ? list : `${list}/:${id}/${name}`, {
    does: sentences?.verb(face, verb) ?? "",
    query: () => Schema.Struct(switched(verb.switches)),
    answer: replyOf(verb, id),
    refusals: [...refusals, ...OF_VERB],
    access: verb.worker === undefined ? "operator" : "worker",
    effect: verb.isControl === true ? "controls" : "adds",
    isUncached: !isNew || verb.isSecret === true,
    ...verb.body === undefined ? {} : { body: verb.body },
    ...invalid === undefined ? {} : { invalid },
    ...isNew ? { status: 201, location: locationOf } : {}
  })
}

/**
 * The endpoints of a ledger: the list of its records, one record with its stream, and its verbs.
 */
export const of = (face: Face): FaceEndpoints => {
  const { records: { id, record, row, rows, segment, switches }, verbs } = face
  const list = `${SPACE}/${segment}`
  const refusals = refusalsOf(face)
  return {
    list: Endpoint.make("GET", list, {
      does: sentences?.list(face) ?? "",
      query: () => Schema.Struct({ after: Query.text(), limit: Query.limit(), ...switched(switches) }),
      answer: () => Schema.Struct({ [rows]: Schema.Array(row()), next: Query.next(Schema.String) })
    }),
    record: Endpoint.make("GET", `${list}/:${id}`, {
      does: sentences?.record(face) ?? "",
      headers: ["Last-Event-ID"],
      answer: record,
      refusals,
      events: Stream.ofCell
    }),
    verbs: Object.fromEntries(Object.entries(verbs).map((entry) => [entry[0], verbOf(face, refusals, entry)]))
  }
}

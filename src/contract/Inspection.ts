/**
 * Endpoints that explain a space: its reactive graph, its history, and its requests to the world.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "./CellValue.ts"
import * as Endpoint from "./Endpoint.ts"
import { SPACE } from "./Paths.ts"
import * as Query from "./Query.ts"

const text = Schema.String
const texts = Schema.Array(text)
const count = Schema.Number
const flag = Schema.Boolean
const maybe = Schema.optional

const GRAPH = `${SPACE}/graph` as const

const node = () => Schema.Struct({
  name: text,
  kind: text,
  status: text,
  live: flag,
  liveRefs: count,
  level: count,
  ordinal: count,
  parent: maybe(text),
  outputs: texts,
  reads: texts,
  causes: texts,
  runs: count,
  eligibleAt: count,
  heldBy: maybe(text),
  streak: count,
  episodes: count,
  error: maybe(text),
  code: maybe(text)
})

/** A page of the reactive graph. */
export const graph = Endpoint.make("GET", GRAPH, {
  does: "The reactive graph, a page of nodes at a time: status, demand, gates and runs; edges; nodes that failed, never settle, are " +
    "gated or have no reader. A page looks at 400 nodes, outputs, reads and edges. Its `next`, or its header `link`, leads to the " +
    "next one; its numbers are those of the page. `?format=dot` and `?format=mermaid` draw it.",
  query: () => Schema.Struct({
    format: Schema.Literals(["json", "dot", "mermaid"]).annotate({ expected: "json, dot or mermaid", description: "json" })
      .pipe(Schema.optionalKey),
    ...Query.numberedPage()
  }),
  answer: () => Schema.Struct({
    nodes: Schema.Array(node()),
    edges: Schema.Array(Schema.Struct({ from: text, to: text, address: text, back: flag })),
    next: Query.next(count),
    stats: Schema.Struct({
      nodes: count,
      edges: count,
      live: count,
      clean: count,
      invalid: count,
      neverRan: count,
      failed: count,
      restless: count,
      runs: count
    }),
    findings: Schema.Array(Schema.Struct({ node: text, code: text, reason: text }))
  })
})

const kinds = () => Schema.Array(Schema.Literals(["run", "invalid", "pass"]))

/** The recorded trace. */
export const trace = Endpoint.make("GET", `${GRAPH}/trace`, {
  does: "The recorded trace: the newest 150 lines of each kind.",
  answer: () => Schema.Struct({
    kinds: kinds(),
    run: Schema.Array(Schema.Struct({ beat: count, node: text, in: text, causes: texts, error: maybe(text) })),
    invalid: Schema.Array(Schema.Struct({ beat: count, node: text })),
    pass: Schema.Array(Schema.Struct({ beat: count, runs: count, invalid: count, restless: texts }))
  })
})

/** The kinds of lines that are recorded. */
export const setTrace = Endpoint.make("PUT", `${GRAPH}/trace`, {
  does: "Records from now on which nodes ran and why (`run`), the reach of changes (`invalid`) and the time of passes (`pass`)." +
    " No run changes.",
  body: () => Schema.Struct({ kinds: kinds() }),
  answer: () => Schema.Struct({ kinds: kinds() }),
  effect: "controls"
})

/** The verification of a space. */
export const verification = Endpoint.make("GET", `${SPACE}/journal/verification`, {
  does: "Verifies every journal row and every other row of the store.",
  answer: () => Schema.Struct({
    first: maybe(count),
    last: maybe(count),
    entries: count,
    fault: maybe(Schema.Struct({ code: text, beat: maybe(count), reason: text }))
  })
})

/** The replay of beats. */
export const replay = Endpoint.make("GET", `${SPACE}/replay`, {
  does: "Runs beats again on their recorded input and compares, at most `limits.replayBeats` a request; `next` continues.",
  query: () => Schema.Struct({ from: Query.count(), to: Query.count() }),
  answer: () => Schema.Struct({
    from: count,
    to: count,
    beats: count,
    next: maybe(count),
    changed: texts,
    difference: maybe(Schema.Struct({
      beat: count,
      enzyme: maybe(text),
      address: maybe(text),
      what: text,
      recorded: text,
      replayed: text
    })),
    impossible: maybe(Schema.Struct({ beat: count, code: text, reason: text }))
  })
})

const writer = () => Schema.Struct({
  by: text,
  reads: Schema.Array(Schema.Struct({ address: text, value: maybe(CellValue.schema()) })),
  results: maybe(Schema.Array(Schema.Unknown)),
  chain: Schema.Array(Schema.Struct({
    id: text,
    signal: maybe(text),
    target: maybe(text),
    beat: count,
    sentBy: maybe(text),
    request: maybe(Schema.Unknown)
  }))
})

/** The origin of a value. */
export const why = Endpoint.make("GET", `${SPACE}/why`, {
  does: "The run that wrote a value, with its signal, its reads and the results of its requests, back to the ingress.",
  query: () => Schema.Struct({ address: Schema.NonEmptyString.annotate({ expected: "the address of a cell" }) }),
  answer: () => Schema.Struct({
    address: text,
    value: maybe(CellValue.schema()),
    before: maybe(CellValue.schema()),
    beat: count,
    writers: Schema.Array(writer())
  })
})

/** The reasons for the runs of an enzyme in a beat. */
export const explain = Endpoint.make("GET", `${SPACE}/explain`, {
  does: "Why an enzyme ran in a beat, or did not.",
  query: () => Schema.Struct({ beat: Query.number(), enzyme: Schema.NonEmptyString.annotate({ expected: "the name of an enzyme" }) }),
  answer: () => Schema.Struct({
    beat: count,
    enzyme: text,
    signals: Schema.Array(Schema.Struct({ id: text, signal: maybe(text), target: maybe(text), verdict: text, detail: text }))
  })
})

const WORLD = `${SPACE}/io` as const

/** The channels of the runtime. No id of a request is such a word, since each begins with its channel and a colon. */
export const channels = Endpoint.make("GET", `${WORLD}/channels`, {
  does: "The channels of the runtime: provider, opcodes, hosts, clearance, and jobs for all spaces.",
  answer: () => Schema.Struct({
    channels: Schema.Array(Schema.Struct({
      channel: text,
      provider: text,
      caps: texts,
      shim: flag,
      hosts: texts,
      clearance: texts,
      label: texts,
      waiting: count,
      active: count,
      hung: count,
      state: text,
      opcodes: Schema.Record(text, flag)
    }))
  })
})

/** The beats that captured completions. */
export const drains = Endpoint.make("GET", `${WORLD}/drains`, {
  does: "The beats that captured completions, newest first, each with its completions.",
  query: () => Schema.Struct({ before: Query.count(), limit: Query.limit() }),
  answer: () => Schema.Struct({
    drains: Schema.Array(Schema.Struct({
      beat: count,
      completions: Schema.Array(Schema.Struct({ rid: text, channel: text, attempt: count, outcome: text, errno: maybe(count) }))
    })),
    next: Query.next(count)
  })
})

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
import { HISTORY } from "./SlicePaths.ts"
import { words } from "./Words.ts"

const text = Schema.String
const texts = Schema.Array(text)
const count = Schema.Number
const flag = Schema.Boolean
const maybe = Schema.optional

const GRAPH = `${SPACE}/graph` as const

/** The state of one node. */
export const node = () => Schema.Struct({
  name: text,
  kind: Schema.Literals(["computation", "effect", "materializer"]),
  /** A failed node stays at rest until a value that it read changes. */
  status: Schema.Literals(["never-ran", "clean", "invalid", "failed"]),
  live: flag,
  liveRefs: count,
  level: count,
  ordinal: count,
  parent: maybe(text),
  outputs: texts,
  /** The reads of its newest run by address, without those covered by another one. */
  reads: texts,
  /** The reads that made it invalid. */
  causes: texts,
  runs: count,
  /** The opening of its gate, in milliseconds since 1970; 0 without a gate. */
  eligibleAt: count,
  /** The kind of that gate. */
  heldBy: maybe(Schema.Literals(["debounce", "throttle", "backoff"])),
  /** Successive passes in which it was restless, and the number of such episodes. */
  streak: count,
  episodes: count,
  /** The error of its newest run, with its code. */
  error: maybe(text),
  code: maybe(text)
})

/** An edge from a writer to a reader. */
export const edge = () => Schema.Struct({
  from: text,
  to: text,
  /** The address read. */
  address: text,
  /** Whether it closes a cycle, and so does not order the two nodes. */
  back: flag
})

/** Counts of nodes by state. */
export const stats = () => Schema.Struct({
  nodes: count,
  edges: count,
  live: count,
  clean: count,
  invalid: count,
  neverRan: count,
  failed: count,
  restless: count,
  runs: count
})

/** A notable property of a node. */
export const finding = () => Schema.Struct({
  node: text,
  code: Schema.Literals(["node/failed", "node/restless", "node/cycle", "node/held", "node/dormant"]),
  reason: text
})

/** A page of the reactive graph. */
export const graph = Endpoint.make("GET", GRAPH, {
  does: words(
    "The reactive graph, a page of nodes at a time: status, demand, gates and runs; edges; nodes that failed, never settle, are " +
    "gated or have no reader. A page looks at 400 nodes, outputs, reads and edges. Its `next`, or its header `link`, leads to the " +
    "next one; its numbers are those of the page. `?format=dot` and `?format=mermaid` draw it."
  ),
  query: () => Schema.Struct({
    format: Schema.Literals(["json", "dot", "mermaid"]).annotate({ expected: "json, dot or mermaid", description: "json" })
      .pipe(Schema.optionalKey),
    ...Query.numberedPage()
  }),
  answer: () => Schema.Struct({
    nodes: Schema.Array(node()),
    edges: Schema.Array(edge()),
    next: Query.next(count),
    stats: stats(),
    findings: Schema.Array(finding())
  })
})

/** The kinds of traces. */
export const KINDS = ["run", "invalid", "pass"] as const

const kinds = () => Schema.Array(Schema.Literals(KINDS))

/** The lines of each kind. */
export const lines = () => ({
  /** One run: its node, beat, causes and error, and whether a handling demanded it, or it was part of the pass. */
  run: Schema.Struct({ beat: count, node: text, in: Schema.Literals(["gate", "pass"]), causes: texts, error: maybe(text) }),
  /** A node that became invalid. */
  invalid: Schema.Struct({ beat: count, node: text }),
  /** The derivations of one beat. */
  pass: Schema.Struct({ beat: count, runs: count, invalid: count, restless: texts })
})

/** The recorded trace. */
export const trace = Endpoint.make("GET", `${GRAPH}/trace`, {
  does: words("The recorded trace: the newest 150 lines of each kind."),
  answer: () => {
    const { invalid, pass, run } = lines()
    return Schema.Struct({ kinds: kinds(), run: Schema.Array(run), invalid: Schema.Array(invalid), pass: Schema.Array(pass) })
  }
})

/** The kinds of lines that are recorded. */
export const setTrace = Endpoint.make("PUT", `${GRAPH}/trace`, {
  does: words(
    "Records from now on which nodes ran and why (`run`), the reach of changes (`invalid`) and the time of passes (`pass`)." +
    " No run changes."
  ),
  body: () => Schema.Struct({ kinds: kinds() }),
  answer: () => Schema.Struct({ kinds: kinds() }),
  effect: "controls"
})

const fault = () => Schema.Struct({
  code: Schema.Literals(["journal/changed", "journal/version", "store/damaged"]),
  /** The beat of a faulty journal row. */
  beat: Schema.optionalKey(count),
  reason: text
})

/** The result of a verification. */
export const verificationResult = () => Schema.Struct({
  /** The first and the last verified beat; absent if there are none. */
  first: maybe(count),
  last: maybe(count),
  entries: count,
  /** The first fault; absent if there is none. */
  fault: maybe(fault())
})

/** The verification of a space. */
export const verification = Endpoint.make("GET", HISTORY.verification, {
  refusals: ["history/busy"],
  does: words("Verifies every journal row and every other row of the store."),
  answer: verificationResult
})

/** A beat whose replay differs from its entry. */
export const difference = () => Schema.Struct({
  beat: count,
  /** The enzyme with a different run, or the writer of a different value; absent if there is none. */
  enzyme: maybe(text),
  /** The address of a different value; absent for any other difference. */
  address: maybe(text),
  what: text,
  /** The recorded value and the replayed one; `absent` if there is none. */
  recorded: text,
  replayed: text
})

/** The result of a replay. */
export const replayResult = () => Schema.Struct({
  /** The first and the last replayed beat. */
  from: count,
  to: count,
  /** The number of replayed beats. */
  beats: count,
  /** The beat to continue with, if the limit of one request was reached; absent at the end. */
  next: maybe(count),
  /** Modules named by the journal with unavailable code; the current modules ran instead. */
  changed: texts,
  /** The first difference; absent if every entry is equal. */
  difference: maybe(difference()),
  /** The point at which the replay had to end, because code or journal rows are gone. */
  impossible: maybe(Schema.Struct({ beat: count, code: text, reason: text }))
})

/** The replay of beats. */
export const replay = Endpoint.make("GET", HISTORY.replay, {
  refusals: ["beat/absent", "history/busy"],
  does: words(
    "Runs beats again on their recorded input and compares, at most `limits.replayBeats` a request; `next` continues. `last` is a number " +
    "of the newest kept beats, in place of `from` and `to`."
  ),
  query: () => Schema.Struct({ from: Query.count(), to: Query.count(), last: Query.count() }),
  answer: replayResult
})

const writer = () => Schema.Struct({
  by: text,
  reads: Schema.Array(Schema.Struct({ address: text, value: maybe(CellValue.schema()) })),
  results: maybe(Schema.Array(Schema.Unknown)),
  chain: Schema.Array(Schema.Struct({
    id: text,
    /** The id as the caller of the event gave it, until its receipt is pruned. */
    own: Schema.optionalKey(text),
    signal: maybe(text),
    target: maybe(text),
    beat: count,
    sentBy: maybe(text),
    request: maybe(Schema.Unknown)
  }))
})

/** The origin of a value. */
export const why = Endpoint.make("GET", HISTORY.why, {
  refusals: ["address/invalid", "beat/absent", "cell/absent", "history/busy"],
  does: words("The run that wrote a value, with its signal, its reads and the results of its requests, back to the ingress."),
  query: () => Schema.Struct({ address: Schema.NonEmptyString.annotate({ expected: "the address of a cell" }) }),
  answer: () => Schema.Struct({
    address: text,
    value: maybe(CellValue.schema()),
    before: maybe(CellValue.schema()),
    beat: count,
    writers: Schema.Array(writer())
  })
})

/** An explanation of an enzyme and a signal in a beat. */
export const explanation = () => Schema.Struct({
  /** The id of the signal. The name of a segment of a durable run follows it: `<event>#/segment/<k>`. */
  id: text,
  /** The id as the caller of the event gave it, until its receipt is pruned. */
  own: Schema.optionalKey(text),
  signal: maybe(text),
  target: maybe(text),
  /**
   * The verdict. `waits` is the end of a segment that awaits a result. `ran`, `retry`, `dead`, `fatal` and `conflict`
   * are the outcomes of its run; `parked` is a wait for a lock.
   * `shared` means that an equal impulse ran for it. `no-match`, `not-bound`, `masked`,
   * `cycle`, `other-attempt` and `not-registered` are reasons why it did not run. `unknown` means that the beat cannot
   * be replayed.
   */
  verdict: text,
  detail: text
})

/** The explanations of an enzyme in a beat: one per captured signal, and none for a beat that captured none. */
export const explanations = () => Schema.Struct({ beat: count, enzyme: text, signals: Schema.Array(explanation()) })

/** The reasons for the runs of an enzyme in a beat. */
export const explain = Endpoint.make("GET", HISTORY.explain, {
  refusals: ["beat/absent", "history/busy", "query/invalid"],
  does: words("Why an enzyme ran in a beat, or did not."),
  query: () => Schema.Struct({ beat: Query.number(), enzyme: Schema.NonEmptyString.annotate({ expected: "the name of an enzyme" }) }),
  answer: explanations
})

const WORLD = `${SPACE}/io` as const

/** A channel of the runtime, with its jobs for all spaces. */
export const channel = () => Schema.Struct({
  channel: text,
  provider: text,
  caps: texts,
  shim: flag,
  /** The hosts on which the channel works. */
  hosts: Schema.Array(Schema.Literals(["node", "deno", "bun", "workers"])),
  /** The atoms that data on the channel may have, and those of its completions. */
  clearance: texts,
  label: texts,
  /** The jobs in the queue, and those in progress. */
  waiting: count,
  active: count,
  /** The jobs that did not end in time after their abort. */
  hung: count,
  /** `impaired` with hung jobs, and `stuck` while no job can begin because of them. */
  state: Schema.Literals(["sound", "impaired", "stuck"]),
  /** The opcodes, and whether each may be executed again after a restart. */
  opcodes: Schema.Record(text, flag)
})

/** The completions that one beat captured, in the order of submission. */
export const drain = () => Schema.Struct({
  beat: count,
  completions: Schema.Array(Schema.Struct({
    rid: text,
    channel: text,
    attempt: count,
    /** `ok`, or the stable code of the failure. */
    outcome: text,
    errno: Schema.optionalKey(count)
  }))
})

/** The channels of the runtime. No id of a request is such a word, since each begins with its channel and a colon. */
export const channels = Endpoint.make("GET", `${WORLD}/channels`, {
  does: words("The channels of the runtime: provider, opcodes, hosts, clearance, and jobs for all spaces."),
  answer: () => Schema.Struct({ channels: Schema.Array(channel()) })
})

/** The beats that captured completions. */
export const drains = Endpoint.make("GET", `${WORLD}/drains`, {
  does: words("The beats that captured completions, newest first, each with its completions."),
  query: () => Schema.Struct({ before: Query.count(), limit: Query.limit() }),
  answer: () => Schema.Struct({ drains: Schema.Array(drain()), next: Query.next(count) })
})

/**
 * The verbs of requests, over a transaction.
 *
 * A request is a launch: its cell is written when its run is merged, and it is submitted when that beat is durable.
 *
 * @module
 */
import type * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Label from "../cell/Label.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import type { FetchInit, Io, IoRequest } from "../stage/Io.ts"
import * as OutgoingSignal from "../stage/OutgoingSignal.ts"
import * as Duration from "../time/Duration.ts"
import { ChannelAbsent, InvalidRequest, OpcodeAbsent, ReactorFull, RequestUnheard } from "./ReactorError.ts"
import * as Records from "./Records.ts"
import * as Requests from "./Request.ts"

/** The default number of attempts of a request whose opcode is repeatable. Any other one is executed at most once by default. */
const ATTEMPTS = 3

/** The maximum number of attempts of a request. */
const MAX_ATTEMPTS = 1000

const topicName = /^[\w./:-]{1,128}$/

/** The run that makes requests, and its view of the reactor. */
export interface Requesting {
  /** The name of the running enzyme. */
  readonly enzyme: string
  /** The space with its incarnation, as {@link LedgerBeat.origin}. */
  readonly origin: string
  /** The id of the signal that the run handles. */
  readonly event: string
  /** The length of the signal chain of that signal. */
  readonly depth: () => number
  readonly hash: (text: string) => string
  /** The channel with an id, as the configuration declares it. */
  readonly channel: (id: string) => Requests.DeclaredChannel | undefined
  /** Whether a signal to a cell would be taken, with that enzyme bound there. */
  readonly hears: (signal: string, target: string) => boolean
  /** The limit on open requests, if the space has reached it. */
  readonly full: () => number | undefined
}

/**
 * The verbs of requests for a run.
 */
export const make = (draft: Draft, requesting: Requesting): Io => {
  let step = 0
  const request = (asked: Asked): string => draft.guarded(() => start(draft, asked, { ...requesting, step: step++ }))
  return {
    request: request as Io["request"],
    fetch: ((url, init, options) =>
      request({ ...options, channel: "http", opcode: "fetch", payload: payloadOf(url, init) } as Asked)) as Io["fetch"],
    cancel: (rid) => draft.guarded(() => cancel(draft, rid)),
    watch: (channel, signal) => draft.guarded(() => watch(draft, { channel, signal }, requesting)),
    get: (rid) => draft.guarded(() => Requests.isName(rid) ? shown(draft, rid) : undefined),
    recordRequest: (oid, rid, fields) => draft.guarded(() => Records.request(draft, { oid, name: rid, fields })),
    recordChannel: (oid, cid, fields) => draft.guarded(() => Records.channel(draft, { oid, name: cid, fields })),
    recordReactor: (oid, fields) => draft.guarded(() => Records.reactor(draft, oid, fields))
  }
}

/** A request of any run. One without a signal is awaited by a durable run. */
type Asked = Omit<IoRequest, "signal"> & { readonly signal?: string | undefined }

const payloadOf = (url: string, init: FetchInit | undefined): unknown => ({ ...init, url })

/** One request of a handling, by its number within the run. */
interface Step extends Requesting {
  readonly step: number | string
}

const start = (draft: Draft, asked: Asked, context: Step): string => {
  check(asked, draft)
  const { channel: cid, opcode, signal } = asked
  const { owner } = draft
  const channel = context.channel(cid)
  if (channel === undefined) throw new ChannelAbsent({ channel: String(cid) })
  if (!Object.hasOwn(channel.opcodes, opcode)) {
    throw new OpcodeAbsent({ channel: cid, opcode: String(opcode), opcodes: Object.keys(channel.opcodes) })
  }
  const rid = `${cid}:${draft.id()}`
  const oid = signal === undefined && owner !== undefined ? owner.oid : Requests.SHARED
  const place = Requests.address(oid, rid)
  if (signal !== undefined && !context.hears(signal, place.id)) throw new RequestUnheard({ signal })
  const limit = context.full()
  if (limit !== undefined) throw new ReactorFull({ limit })
  const step = owner?.step ?? context.step
  const record = Requests.write(recordOf(draft, asked, { ...context, step, declared: channel }))
  const shows: Array<readonly [Address.Address, Document.Document]> = [[place, record]]
  if (asked.payload !== undefined) {
    shows.push([Requests.address(oid, rid, "payload"), Document.encode(asked.payload)])
  }
  draft.operate([], {
    ledger: "io",
    launch: { kind: "request", oid, rid, channel: cid, documents: shows },
    shows,
    sink: { name: `a request to channel "${cid}"`, clearance: Label.make(channel.clearance), cells: [place] }
  })
  return rid
}

/**
 * Validates a request.
 *
 * @throws InvalidRequest, InvalidSignal
 */
const check = (request: Asked, { beat, moment, owner }: Draft): void => {
  if (typeof request !== "object" || request === null) throw refuse("it is no object; give a channel, an opcode and a signal")
  const { attempts = 1, budget = 0, bytes = 0, signal, timeoutMs = 1, topic = Requests.MISSED } = request
  if (signal === undefined && owner === undefined) {
    throw refuse("it names no signal for its result. Name one that this enzyme's query matches, or declare the enzyme durable and await it")
  }
  if (typeof signal === "object") throw refuse("its signal is no path; only a durable run awaits a request that an AbortSignal cancels")
  if (signal !== undefined) OutgoingSignal.make("", { signal }, beat)
  const amounts = [
    ["budget", budget, Due.beatsOf(budget, moment), 0, "a time such as \"10s\", or "],
    ["timeoutMs", timeoutMs, Duration.amountOf(timeoutMs), 1, "a time such as \"10s\", or "],
    ["bytes", bytes, bytes, 0, ""]
  ] as const
  for (const [name, given, amount, least, other] of amounts) {
    if (!Number.isInteger(amount) || amount < least || amount > Due.MAX_WAIT) {
      throw refuse(`its ${name} is ${shownText(given)}; give ${other}a whole number from ${least} to ${Due.MAX_WAIT}`)
    }
  }
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > MAX_ATTEMPTS) {
    throw refuse(`its attempts are ${shownText(attempts)}; give a whole number from 1 to ${MAX_ATTEMPTS}`)
  }
  if (typeof topic !== "string" || !topicName.test(topic)) throw refuse(`its topic is ${shownText(topic)}; give a name such as order/late`)
}

const shownText = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, 200)

const refuse = (reason: string) => new InvalidRequest({ reason })

interface Declared extends Step {
  readonly declared: Requests.DeclaredChannel
}

const recordOf = (draft: Draft, asked: Asked, { declared, depth, enzyme, event, hash, origin, step }: Declared): Requests.Request => {
  const { budget: wait = declared.budget, bytes = 0, channel, opcode, signal, timeoutMs, topic = Requests.MISSED } = asked
  const { attempts = declared.opcodes[opcode] === true ? ATTEMPTS : 1 } = asked
  const { beat, clock } = draft.moment
  const budget = wait === undefined ? undefined : Due.beatsOf(wait, draft.moment)
  // In the order of the keys, so that no copy is made for the document.
  return {
    attempt: 1,
    attempts,
    ...(budget === undefined ? {} : { beats_budget: budget }),
    bytes_done: 0,
    bytes_expected: bytes,
    channel,
    ...(budget === undefined ? {} : { deadline_beat: beat + budget }),
    ...(timeoutMs === undefined ? {} : { deadline_unix_ns: BigInt(clock + Duration.amountOf(timeoutMs)) * 1_000_000n }),
    depth: depth() + 1,
    enzyme,
    issued_beat: beat,
    issued_ms: clock,
    key: hash(`${origin} ${event} ${enzyme} ${step}`),
    opcode,
    signal: signal ?? "",
    state: "pending",
    telemetry_id: declared.telemetry_id,
    topic
  }
}

/** Awaits the room of a channel. The merge writes the watcher. */
const watch = (
  draft: Draft,
  { channel, signal }: { readonly channel: string; readonly signal: string },
  { channel: find, depth, enzyme, hears }: Requesting
): void => {
  OutgoingSignal.make("", { signal }, draft.beat)
  const declared = find(channel)
  if (declared === undefined) throw new ChannelAbsent({ channel: String(channel) })
  const place = Requests.channelAddress(Requests.SHARED, channel)
  if (!hears(signal, place.id)) throw new RequestUnheard({ signal })
  draft.operate([], {
    ledger: "io",
    launch: { kind: "watch", channel, enzyme, signal, depth: depth() + 1 },
    shows: [],
    sink: { name: `the watchers of channel "${channel}"`, clearance: undefined, cells: [place] }
  })
}

/** Cancels an open request of this space. The merge writes its result. */
const cancel = (draft: Draft, rid: string): boolean => {
  const request = Requests.isName(rid) ? read(draft, rid) : undefined
  if (request === undefined || Requests.isFinished(request)) return false
  const cells = [Requests.address(Requests.SHARED, rid)]
  draft.operate([], {
    ledger: "io",
    launch: { kind: "cancel", rid },
    shows: [],
    sink: { name: `a cancellation of request ${rid}`, clearance: undefined, cells }
  })
  return true
}

const read = (draft: Draft, rid: string): Requests.Request | undefined =>
  draft.get(Requests.address(Requests.SHARED, rid).text) as unknown as Requests.Request | undefined

/** The fields of a request, as a run sees them. */
const shown = (draft: Draft, rid: string): ReturnType<Io["get"]> => {
  const request = read(draft, rid)
  if (request === undefined) return undefined
  const { attempt, channel, code, opcode, state } = request
  const { beats_budget, bytes_done, bytes_expected, deadline_beat, deadline_unix_ns, errno, telemetry_id } = request
  return {
    state, channel, opcode, attempt, bytes_done, bytes_expected, telemetry_id,
    ...(code === undefined ? {} : { code }),
    ...(errno === undefined ? {} : { errno }),
    ...(beats_budget === undefined ? {} : { beats_budget }),
    ...(deadline_beat === undefined ? {} : { deadline_beat }),
    ...(deadline_unix_ns === undefined ? {} : { deadline_unix_ns })
  }
}

/**
 * Requests, channels and drains as public reads return them.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { AnswerOf } from "../contract/Endpoint.ts"
import type * as Inspection from "../contract/Inspection.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { Channel } from "./Channel.ts"
import * as Input from "./Input.ts"
import type { JobState } from "./JobQueue.ts"
import type { Reactor } from "./Reactor.ts"
import * as SpaceClock from "../stage/SpaceClock.ts"
import * as Requests from "./Request.ts"
import type { RequestDetails, RequestRow } from "./Schemas.ts"

/** A channel of the runtime, with its jobs for all spaces. */
export type ChannelRow = ReturnType<typeof Inspection.channel>["Type"]

/** A completion that a beat captured. */
export type DrainedCompletion = Drain["completions"][number]

/** The completions that one beat captured, in the order of submission. */
export type Drain = ReturnType<typeof Inspection.drain>["Type"]

/** Drains, newest first, and the beat to continue before; `undefined` at the end. */
export type DrainPage = AnswerOf<typeof Inspection.drains>

/** The documents of a store. */
type Stored = Pick<SpaceStore, "read">

const documentAt = (store: Stored, key: string): Document.Document | undefined => {
  const text = store.read(key)
  return text === undefined ? undefined : Document.decode(text)
}

/** A time of the space's clock as a date. */
const dateOf = (store: Stored, moment: number): number => moment - SpaceClock.read(documentAt(store, SpaceClock.ADDRESS.key)).shifted

const rowFrom = (store: Stored, { oid, rid }: Place, request: Requests.Request): RequestRow => {
  const { attempt, channel, code, deadline_beat, deadline_unix_ns, issued_beat, opcode, state } = request
  return {
    rid,
    ...(oid === Requests.SHARED ? {} : { oid }),
    channel, opcode, state, attempt, issued_beat,
    ...(deadline_beat === undefined ? {} : { deadline_beat }),
    ...(deadline_unix_ns === undefined ? {} : { deadline_ms: dateOf(store, Number(deadline_unix_ns / 1_000_000n)) }),
    ...(code === undefined ? {} : { code })
  }
}

/** The dossier of a request: the one in the index of open requests, or the shared one. */
const dossierOf = (store: Stored, rid: string): string =>
  (Document.read(documentAt(store, Requests.indexAddress(rid).key), []) as string | undefined) ?? Requests.SHARED

/** A request in its dossier. */
interface Place {
  readonly oid: string
  readonly rid: string
}

const requestAt = (store: Stored, { oid, rid }: Place): Requests.Request | undefined =>
  Requests.isName(rid) && Requests.isName(oid) ? Requests.read(documentAt(store, Requests.address(oid, rid).key)) : undefined

/**
 * The list row of a request; `undefined` if it does not exist. Without `oid`, it is an open one or one of an ordinary run.
 */
export const rowOf = (store: Stored, rid: string, oid = Requests.isName(rid) ? dossierOf(store, rid) : ""): RequestRow | undefined => {
  const request = requestAt(store, { oid, rid })
  return request === undefined ? undefined : rowFrom(store, { oid, rid }, request)
}

/**
 * A request with all of its fields; `undefined` if it does not exist. Without `oid`, it is an open one or one of an ordinary
 * run.
 */
export const find = (store: Stored, rid: string, oid = Requests.isName(rid) ? dossierOf(store, rid) : ""): RequestDetails | undefined => {
  const request = requestAt(store, { oid, rid })
  if (request === undefined) return undefined
  const { deadline_unix_ns: _, ...fields } = request
  const below = (name: string): Value => Document.read(documentAt(store, Requests.address(oid, rid, name).key), [])
  const [payload, value] = [below("payload"), below("value")]
  return {
    ...fields,
    ...rowFrom(store, { oid, rid }, request),
    oid,
    ...payload === undefined ? {} : { payload },
    ...value === undefined ? {} : { value }
  }
}

/** The view of the channels. */
export const CHANNELS = "/rt/io_reactors/io/channels"

/**
 * The channels of a reactor, in the order of the configuration.
 */
export const channels = (reactor: Reactor["Service"]): ReadonlyArray<ChannelRow> => {
  const jobs = reactor.jobs()
  return [...reactor.channels.values()].map((channel) => channelRow(channel, jobs.get(channel.id)))
}

const channelRow = (
  { caps = [], clearance = [], hosts, id, label = [], opcodes, provider, shim = false }: Channel,
  { active = 0, hung = 0, isStuck = false, waiting = 0 }: Partial<JobState> = {}
): ChannelRow => ({
  channel: id, provider, caps, shim, hosts, clearance, label, waiting, active, hung,
  state: isStuck ? "stuck" : hung > 0 ? "impaired" : "sound",
  opcodes: Object.fromEntries(Object.entries(opcodes).map(([opcode, { repeatable = false }]) => [opcode, repeatable]))
})

/**
 * The drain of a beat, from the field of its journal entry; `undefined` if the beat captured no completion.
 */
export const drainOf = (beat: number, recorded: unknown): Drain | undefined => {
  if (recorded === undefined) return undefined
  const { completions } = Input.input.decode(recorded)
  if (completions.length === 0) return undefined
  return {
    beat,
    completions: completions.map(({ attempt, failure, rid }) => ({
      rid,
      channel: Requests.channelOf(rid),
      attempt,
      outcome: failure?.code ?? "ok",
      ...(failure === undefined ? {} : { errno: failure.errno })
    }))
  }
}

/**
 * Transports: the ways in which frames of one node reach another one.
 *
 * A plugin provides transports by their ids. A transport carries whole frames: each arrives once and unchanged, or not at all. It
 * verifies no origin, since a frame is authentic by its signature.
 *
 * @module
 */
import * as Data from "effect/Data"
import type { HostName } from "../reactor/Channel.ts"

/** All capabilities, in the order of their bits. */
export const capabilities = [
  "reliable", "ordered", "streaming", "datagram", "multicast", "low_latency", "local_ipc", "remote_net", "unreliable", "crc32c", "deflate",
  "aead", "comparator", "send_async", "recv_async", "flush_async"
] as const

/** A capability of a transport. */
export type Capability = (typeof capabilities)[number]

/** The bits of a transport that never blocks the thread of its host. One without them runs behind the shim of the reactor. */
export const asynchronous: ReadonlyArray<Capability> = ["send_async", "recv_async", "flush_async"]

/** The kind of a frame: durable data, or a newest value, which may be lost. */
export type Mode = "data" | "upd_latest"

/** The callbacks of a line. None is called within a call of the line. */
export interface Callbacks {
  /** A whole frame arrived. */
  readonly frame: (bytes: Uint8Array, mode: Mode) => void
  /**
   * `backpressure`: a frame was refused as `full`. `ready_rx`: there is room again. `reset`: the line ended, and may be opened again.
   * `fatal`: the line ended, because the other side breaks the rules. No callback follows the last two, or `close`.
   */
  readonly event: (kind: "ready_rx" | "backpressure" | "reset" | "fatal", detail: string) => void
  /** The most bytes of a frame that are taken now, such as those of a hello; `maxFrame` of the transport without it. */
  readonly limit?: () => number
}

/** An open line to another node. */
export interface Line {
  /**
   * Sends a frame. `sent`: the host has taken it. `full`: no byte of it was taken; send it again after `ready_rx`.
   *
   * @throws TransportRefused for a frame above `maxFrame`, a mode that the transport has not, and on a line that ended
   */
  readonly send: (frame: Uint8Array, mode: Mode) => Promise<"sent" | "full">
  /** Ends the line at once. */
  readonly close: (reason: string) => void
}

/** The other side of a line that is to be opened. */
export interface Peer {
  /** The name of the peer in the configuration. */
  readonly peer: string
  /** The place of the peer, in the form of the transport. */
  readonly url: string
  /** Ends the opening. */
  readonly signal: AbortSignal
}

/** A place that takes lines until it is closed, which ends its lines. */
export interface Listening {
  /** The place, with its port if the host chose one. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** A transport. */
export interface Transport {
  readonly id: string
  readonly caps: ReadonlyArray<Capability>
  /** The most bytes of a frame. */
  readonly maxFrame: number
  /** The hosts on which it works. */
  readonly hosts: ReadonlyArray<HostName>
  /** Opens a line. Rejects with an error of the host, or with {@link TransportRefused}. */
  readonly open: (to: Peer, on: Callbacks) => Promise<Line>
  /** Takes lines at a place. A transport without it only opens them. */
  readonly listen?: (url: string, accept: (line: Line) => Callbacks) => Promise<Listening>
}

/** The settings of a transport. */
export interface Settings {
  /** The id of the transport. */
  readonly id: string
  /** The folder of the project. */
  readonly root: string
  /** The folder for the data of all spaces. */
  readonly folder: string
  /** The host of the runtime. */
  readonly host: HostName
  /** The options of the transport. It validates them, and throws for invalid ones. */
  readonly options: Readonly<Record<string, unknown>>
}

/** Makes a transport. */
export type Provider = (settings: Settings) => Transport

/**
 * A transport refused a call or its definition, which stays refused. `code` is `transport/frame`, `transport/mode`, `transport/closed`,
 * `transport/url` or `transport/invalid`.
 *
 * @category errors
 * @since 0.2.0
 */
export class TransportRefused extends Data.TaggedError("TransportRefused")<{ readonly code: string; readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

/**
 * A refusal with a stable code.
 *
 * @category constructors
 * @since 0.2.0
 */
export const refuse = (code: "closed" | "frame" | "invalid" | "mode" | "url", reason: string): TransportRefused =>
  new TransportRefused({ code: `transport/${code}`, reason })

/** The form of ids, which are cells and parts of topics. */
const idForm = /^[a-z0-9_:-]{1,63}$/

/**
 * The reason for which a transport is refused on a host, if any.
 *
 * @example A capability that does not exist
 * ```ts
 * import { Transport } from "systole"
 *
 * const open = async () => ({ send: async () => "sent" as const, close: () => {} })
 * const swift = { id: "swift", caps: ["fast" as "reliable"], maxFrame: 65_536, hosts: ["node" as const], open }
 * if (!Transport.refusal(swift, "node")?.includes("fast")) throw new Error("it is no capability")
 * ```
 *
 * @category guards
 * @since 0.2.0
 */
export const refusal = ({ caps, hosts, id, maxFrame, open }: Transport, host: HostName): string | undefined => {
  if (!idForm.test(id)) return `the id ${JSON.stringify(id)} may hold a-z, 0-9, _, : and -, at most 63`
  const strange = caps.find((each) => !capabilities.includes(each))
  if (strange !== undefined) return `its capability ${JSON.stringify(strange)} does not exist; give some of ${capabilities.join(", ")}`
  if (caps.includes("reliable") && caps.includes("unreliable")) return "it is both reliable and unreliable"
  if (!Number.isSafeInteger(maxFrame) || maxFrame < 4096) return `its maxFrame is ${String(maxFrame)}; give a whole number from 4096`
  if (typeof open !== "function") return "its open is not a function"
  return hosts.includes(host) ? undefined : `it works on ${hosts.join(", ")} and not on ${host}`
}

/**
 * Makes the transports of providers, by their ids.
 *
 * @throws TransportRefused `transport/invalid` for the first one that is refused
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (
  providers: Readonly<Record<string, Provider>>,
  { options = {}, ...place }: Omit<Settings, "id" | "options"> & { readonly options?: Readonly<Record<string, Settings["options"]>> }
): ReadonlyArray<Transport> =>
  Object.entries(providers).map(([id, provide]) => {
    const transport = provide({ ...place, id, options: options[id] ?? {} })
    const reason = transport.id === id ? refusal(transport, place.host) : `its id is ${JSON.stringify(transport.id)}`
    if (reason !== undefined) throw refuse("invalid", `The transport "${id}" is refused: ${reason}`)
    return transport
  })

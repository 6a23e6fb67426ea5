/**
 * Requests to the world, as runs make them.
 *
 * @module
 */

import type * as Schema from "effect/Schema"
import type { PendingResult } from "./Launch.ts"

import type { Link } from "../cell/Link.ts"

/** The arguments of a request whose result a signal delivers. */
export interface IoOptions extends RequestOptions {
  /**
   * The signal that delivers the result to the requesting enzyme. The event's payload is an {@link IoResult}, and its
   * target is the cell of the request.
   */
  readonly signal: string
}

/** The arguments of a request that a durable run awaits. */
export interface AwaitOptions extends RequestOptions {
  /** Cancels the request when it is aborted, such as the signal that `Effect.promise` passes for an interruption. */
  readonly signal?: AbortSignal
}

/** The arguments of any request. */
export interface RequestOptions {
  /** The deadline in beats from now, from 0 to 2^43, or as a time such as `"10s"`. The default is the budget of the channel. */
  readonly budget?: number | string
  /** The deadline in milliseconds from now, from 1 to 2^43, or as a time such as `"10s"`. The request fails at the first of both. */
  readonly timeoutMs?: number | string
  /** The expected number of bytes. It is recorded, and is the number of bytes of a completion that states none. */
  readonly bytes?: number
  /**
   * The maximum number of attempts, from 1 to 1000. The default is 3 for a repeatable opcode, and 1 for any other, which is so
   * executed at most once. Only retryable failures are repeated, after 1, 2, 4 … 64 beats.
   */
  readonly attempts?: number
  /** The topic of the diagnostic for a missed deadline. The default is `op/tmo`. */
  readonly topic?: string
}

/** A request to a channel. */
export interface IoRequest extends IoOptions {
  /** The id of a channel in the configuration, such as `http`. */
  readonly channel: string
  /** One of the opcodes of the channel, such as `fetch`. */
  readonly opcode: string
  /** The arguments of the opcode, as the channel documents them. */
  readonly payload?: unknown
}

/** A request to a channel that a durable run awaits. */
export type AwaitedRequest = Omit<IoRequest, "signal"> & AwaitOptions

/** The arguments of an HTTP request beside its URL. */
export interface FetchInit {
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  /** A text, bytes, or the address of stored content. */
  readonly body?: string | Uint8Array
  /** The accepted statuses; an answer with another one is a failure. By default every answer is a result. */
  readonly expect?: ReadonlyArray<number> | "2xx"
}

/**
 * The result of a request: exactly one for each.
 *
 * @category models
 * @since 0.1.0
 */
export interface IoResult {
  readonly rid: string
  readonly channel: string
  readonly opcode: string
  /** `complete`: it succeeded. `fail`: it failed or missed its deadline. `cnl`: it was cancelled. */
  readonly state: "complete" | "fail" | "cnl"
  /** The value that the channel returned; the address of stored content if it has more than 65,536 characters. */
  readonly value?: unknown
  /** The number of transferred bytes. */
  readonly bytes_done: number
  /** The negative error number of the host, for a failure. */
  readonly errno?: number
  /** The stable code of the failure, such as `io/timeout`. */
  readonly code?: string
  /** The reason that the channel gave, at most 500 characters. */
  readonly note?: string
  /** The wait in milliseconds that the other side requested with the failure, such as by the header `Retry-After`. */
  readonly retry_after_ms?: number
  /** The number of attempts. */
  readonly attempt: number
  /** Whether an attempt ended without an answer, so that it may have had its effect. */
  readonly uncertain?: boolean
}

/**
 * The result of `tx.io.fetch` that a durable run awaits: an {@link IoResult} with the answer of the server.
 *
 * The fields and methods that it adds are not enumerable, so a copy of it has those of an `IoResult` alone. A method reads the body
 * as often as it is called; one that reads stored content is a read of the run, and is called before the next await.
 *
 * @example Reading an answer by a schema
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Enzyme } from "systole"
 *
 * const Rate = Schema.Struct({ currency: Schema.String, rate: Schema.Finite })
 *
 * export const convert = Enzyme.make({
 *   name: "convert",
 *   query: "/signals/convert",
 *   durable: true,
 *   run: async (tx, { payload }) => {
 *     const answer = await tx.io.fetch(String(payload), { expect: "2xx" })
 *     return answer.json(Rate).rate
 *   }
 * })
 * ```
 *
 * @category models
 * @since 0.2.0
 */
export interface Fetched extends IoResult {
  /** The status of the answer, such as 200. */
  readonly status: number
  /** Its headers, by their names in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** Its body, if it is a text of at most 64 KiB; otherwise the address of the stored content. `undefined` without a body. */
  readonly body: string | undefined
  /** The body as a text. Bytes that are not UTF-8 become U+FFFD. */
  readonly text: () => string
  /** The bytes of the body. Those of a text are UTF-8. */
  readonly bytes: () => Uint8Array
  /**
   * The body as JSON, decoded by a schema. Without a schema it is `unknown`.
   *
   * @throws AnswerInvalid
   */
  readonly json: {
    <A>(schema: Schema.Decoder<A>): A
    (): unknown
  }
}

/** The fields of a request in a dossier, as an enzyme records them for work of its own. */
export interface RequestRecord {
  readonly state?: "pending" | "pending_retry" | "complete" | "cnl" | "fail"
  readonly channel?: string
  readonly opcode?: string
  readonly beats_budget?: number
  readonly deadline_beat?: number
  readonly deadline_unix_ns?: number | bigint
  readonly bytes_expected?: number
  readonly bytes_done?: number
  readonly errno?: number
  /** A link to the counters, or their name. */
  readonly telemetry_id?: Link | string
}

/** The fields of a channel in a dossier. */
export interface ChannelRecord {
  readonly target_path?: string
  readonly provider_id?: string
  readonly reactor_id?: string
  readonly caps?: ReadonlyArray<string>
  readonly shim?: boolean
}

/** The fields of the reactor in a dossier. */
export interface ReactorRecord {
  readonly draining?: boolean
  readonly paused?: boolean
  readonly shutting_down?: boolean
  readonly deadline_beats?: number
}

/**
 * Requests to the world [S3 §Fabric primitives].
 *
 * A request is submitted once the beat of its run is durable. It ends with exactly one result, which the requesting
 * enzyme receives as an event. A space has at most 10,000 open requests (`ioRequests`).
 *
 * @example Fetching a page
 * ```ts
 * import { Enzyme, type IoResult } from "systole"
 *
 * export default Enzyme.make({
 *   name: "page",
 *   query: "/signals/page/*",
 *   run: (tx, { payload, signal }) => {
 *     if (signal === "/signals/page/ask") return tx.io.fetch(String(payload), {}, { signal: "/signals/page/fetched" })
 *     tx.set("/data/page", (payload as IoResult).value)
 *   }
 * })
 * ```
 */
export interface Io {
  /**
   * Makes a request. With the path of a signal it returns the id of the request, which lives on after its run. Without one, in
   * a durable run, the promise resolves with the result, and rejects with a `RequestFailed` that has the `code` of the failure
   * and its `retryAfterMs`. Its method `cancel`, an `AbortSignal` and the end of the run cancel the request.
   *
   * @throws InvalidRequest, ChannelAbsent, OpcodeAbsent, RequestUnheard, ReactorFull
   */
  readonly request: {
    (request: IoRequest): string
    (request: AwaitedRequest): PendingResult<IoResult>
  }
  /**
   * Makes an HTTP request through the channel `http`, in the same way.
   *
   * @throws InvalidRequest, ChannelAbsent, OpcodeAbsent, RequestUnheard, ReactorFull
   */
  readonly fetch: {
    (url: string, init: FetchInit, options: IoOptions): string
    (url: string, init?: FetchInit, options?: AwaitOptions): PendingResult<Fetched>
  }
  /** Cancels an open request, which then has the result `cnl`. Returns false if it is unknown or has a result. */
  readonly cancel: (rid: string) => boolean
  /**
   * Awaits room in the queue of a channel: as soon as fewer jobs than its limit are in progress and none waits, the signal
   * is sent once to the running enzyme, with the payload `{ channel }`. It is sent at once if the channel has room. A
   * further call before that replaces the signal.
   *
   * @throws ChannelAbsent, RequestUnheard, InvalidSignal
   */
  readonly watch: (channel: string, signal: string) => void
  /** Returns the fields of a request; `undefined` if it is unknown or was deleted after its retention. */
  readonly get: (rid: string) => (RequestRecord & { readonly attempt: number; readonly code?: string }) | undefined
  /**
   * Records a request of work of one's own in a dossier, or changes the given fields of it. Returns false, without a
   * change, if the operation is unknown or a name is invalid.
   */
  readonly recordRequest: (oid: string, rid: string, fields: RequestRecord) => boolean
  /** Records a channel in a dossier, in the same way. */
  readonly recordChannel: (oid: string, cid: string, fields: ChannelRecord) => boolean
  /** Records the state of the reactor in a dossier, in the same way. */
  readonly recordReactor: (oid: string, fields: ReactorRecord) => boolean
}

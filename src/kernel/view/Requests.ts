/**
 * The requests of a space to the world, for the outside.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { ChannelRow, DrainPage, RequestDetails, RequestPage } from "../../reactor/RequestRow.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"
import type { PageRequest } from "./CellList.ts"
import type { ControlError, ReadError } from "./Expected.ts"

export type { ChannelRow, Drain, DrainedCompletion, DrainPage, RequestDetails, RequestPage, RequestRow } from "../../reactor/RequestRow.ts"

/**
 * The requests of a space to the world.
 *
 * To follow a request, watch its cell, `/rt/ops/<oid>/io_req/<rid>`. A request of an ordinary run has the `oid` `OPS:io`. One
 * that a durable run awaits lies in the dossier of that run, and is kept as long as the dossier.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceIo {
  /** The requests after a cursor, a page at a time: all that are kept, or the open ones. */
  readonly list: (page: PageRequest & { readonly open?: boolean | undefined }) => Effect.Effect<RequestPage, ReadError>
  /** A request with its fields and its arguments; `undefined` if it is unknown. */
  readonly get: (rid: string) => Effect.Effect<RequestDetails | undefined, ReadError>
  /**
   * Cancels an open request by the next beat, which gives it the result `cnl`. Returns the beat, once durable. Fails with
   * `io/finished` if the request is over, and with `io/request-absent` if it is unknown or expired.
   */
  readonly cancel: (rid: string) => Effect.Effect<number, ControlError>
  /** The channels of the runtime, with their jobs for all spaces. */
  readonly channels: Effect.Effect<ReadonlyArray<ChannelRow>, SpaceStopped>
  /** The beats that captured completions, newest first: at most 100 of the 10,000 beats before `before`. */
  readonly drains: (page: { readonly before?: number | undefined; readonly limit: number }) => Effect.Effect<DrainPage, ReadError>
}

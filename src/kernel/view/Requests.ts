/**
 * The requests of a space to the world, for the outside.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { Client } from "../../contract/Face.ts"
import type { face } from "../../reactor/Face.ts"
import type { ChannelRow, DrainPage } from "../../reactor/RequestRow.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"
import type { ControlError, ReadError } from "./Expected.ts"

export type { ChannelRow, Drain, DrainedCompletion, DrainPage } from "../../reactor/RequestRow.ts"
export type { RequestDetails, RequestRow } from "../../reactor/Schemas.ts"

/**
 * The requests of a space to the world.
 *
 * A request of an ordinary run has the `oid` `OPS:io`. One that a durable run awaits lies in the dossier of that run, and is
 * kept as long as the dossier.
 *
 * @category models
 * @since 0.1.0
 */
export type SpaceIo = Client<typeof face, ControlError, ReadError> & {
  /** The channels of the runtime, with their jobs for all spaces. */
  readonly channels: Effect.Effect<ReadonlyArray<ChannelRow>, SpaceStopped>
  /** The beats that captured completions, newest first: at most 100 of the 10,000 beats before `before`. */
  readonly drains: (page: { readonly before?: number | undefined; readonly limit: number }) => Effect.Effect<DrainPage, ReadError>
}

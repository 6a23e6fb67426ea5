/**
 * The routes of rendezvous, and the proof of a worker for a closed space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../../cell/Redacted.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import * as Entries from "../../rendezvous/Entry.ts"
import { face } from "../../rendezvous/Face.ts"
import { TokenRefused } from "../../rendezvous/TokenRefused.ts"
import * as FaceRoutes from "./FaceRoutes.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, context: Pick<RouteContext, "hash" | "kernel" | "stream">): void =>
  FaceRoutes.routes(table, face, { ...context, proves: (worker) => proved(context, worker) })

/** Checks a worker's token before its closed space is opened. An open space checks it itself. */
const proved = (
  { hash, kernel }: Pick<RouteContext, "hash" | "kernel">,
  { id: key, space, token }: FaceRoutes.Worker
): Effect.Effect<void, unknown> => {
  if (kernel.opened(space) !== undefined) return Effect.void
  const stored = Entries.isKey(key) ? kernel.stored(space, Entries.address(key).key) : Effect.undefined
  // An unknown space is answered like a wrong token, so that a worker cannot probe for spaces.
  return Effect.flatMap(Effect.catchIf(stored, isAbsent, () => Effect.undefined), (entry) =>
    Entries.read(entry)?.token_id === hash.hex(Redacted.value(token)) ? Effect.void : Effect.fail(new TokenRefused({ key })))
}

const isAbsent = (error: unknown): boolean =>
  error instanceof PersistenceError && (error.code === "space/unknown" || error.code === "space/name")

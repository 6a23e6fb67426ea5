/**
 * The routes of rendezvous, and the proof of a worker for a closed space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import * as Entries from "../rendezvous/Entry.ts"
import { face } from "../rendezvous/Face.ts"
import { TokenRefused } from "../rendezvous/TokenRefused.ts"
import * as FaceRoutes from "./FaceRoutes.ts"
import type { SliceContext } from "./Slice.ts"

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: SliceContext): void =>
  FaceRoutes.routes(app, face, { ...context, proves: (worker) => proved(context, worker) })

/** Checks a worker's token before its closed space is opened. An open space checks it itself. */
const proved = async (
  { hash, kernel }: Pick<SliceContext, "hash" | "kernel">,
  { id: key, space, token }: FaceRoutes.Worker
): Promise<void> => {
  if (kernel.opened(space) !== undefined) return
  const stored = Entries.isKey(key) ? kernel.stored(space, Entries.address(key).key) : Effect.undefined
  // An unknown space is answered like a wrong token, so that a worker cannot probe for spaces.
  const entry = await Effect.runPromise(Effect.catchIf(stored, isAbsent, () => Effect.undefined))
  if (Entries.read(entry)?.token_id !== hash.hex(token)) throw new TokenRefused({ key })
}

const isAbsent = (error: unknown): boolean =>
  error instanceof PersistenceError && (error.code === "space/unknown" || error.code === "space/name")

/**
 * Requests of the commands of the agent.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Disk } from "../agent/store/Disk.ts"
import * as FileStore from "../agent/store/FileStore.ts"
import * as StoredFile from "../agent/store/StoredFile.ts"
import type * as Wake from "../agent/wake/Wake.ts"
import * as AgentSettings from "./AgentSettings.ts"
import { CliFailure, from } from "./CliFailure.ts"

/**
 * The request for a wake by the flags of a command, the store of its file, and the space of the ledger.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fn("AgentRequest.make")(function*(flags: AgentSettings.Flags) {
  const { file, settings, space } = yield* AgentSettings.resolve(flags)
  const { process: { host, pid } } = yield* Disk
  const startup = `${host}.${pid}.${yield* Clock.currentTimeMillis}`
  const place = yield* StoredFile.place(file)
  const request: Wake.Request = { settings, startup }
  return { place, request, space, store: yield* FileStore.make(place) }
})

/** Runs a command within a scope. Failures with a stable code become failures of the command line. */
export const failing = <A, E extends { readonly code: string; readonly message: string } | CliFailure, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, CliFailure, Exclude<R, Scope.Scope>> =>
  Effect.mapError(Effect.scoped(effect), (error) => error instanceof CliFailure ? error : from(error))

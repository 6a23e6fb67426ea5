/**
 * The output of the agent itself on watched paths, which begins no action.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { ControlStore } from "../store/ControlStore.ts"
import * as Observed from "./ObservedWakes.ts"
import type { WakeState } from "./WakeState.ts"

/**
 * Passes over the changes that a wake made: of a path while the action that watches it ran, and of the control file.
 */
export const passOver = Effect.fn("OwnOutput.passOver")(function*(wake: WakeState) {
  const store = yield* ControlStore
  const own = wake.actions.filter(({ id, schedule }) =>
    schedule.kind === "on_change" && (wake.ended.has(id) || store.isFile(schedule.path)))
  if (own.length === 0) return
  const { digests } = yield* store.capture(own)
  wake.captured = { ...wake.captured, digests: new Map([...wake.captured.digests, ...digests]) }
  const observed = Observed.pass(wake.observed, digests)
  if (observed !== wake.observed) yield* wake.keep(observed)
})

/**
 * Checks of the journal of a space, for tests.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { replay, type Space, verify } from "systole"
import * as Trials from "../support/Trials.ts"

/** Asserts that a replay from the beats of the trials reproduces the journal, and that the journal verifies. */
export const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (const from of Trials.beats(head)) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
  assert.isUndefined((yield* space.examine(verify)).fault)
})

/** The states of an operation, each with its beat. */
export const history = (space: Space, oid: string) =>
  Effect.map(space.ops.get(oid), (dossier) => dossier?.history.map(({ beat, state }) => `${state} @${beat}`))

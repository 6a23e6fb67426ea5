/**
 * Looks at a space, for tests of what its ledger tells.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { replay, type Space, verify } from "systole"

/** Sees that every beat comes out the same, begun from each of them, and that the journal is whole. */
export const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (let from = 0; from <= head; from++) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
  assert.isUndefined((yield* space.examine(verify)).fault)
})

/** The states of an operation, each with its beat. */
export const history = (space: Space, oid: string) =>
  Effect.map(space.ops.get(oid), (dossier) => dossier?.history.map(({ beat, state }) => `${state} @${beat}`))

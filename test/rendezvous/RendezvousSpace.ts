/**
 * Spaces with a rendezvous ledger, for tests.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Enzyme, Space, Transaction } from "systole"
import { replay, SystemGrants, verify } from "systole"
import rvInit from "../../enzymes/rv_init.ts"
import rvRoute from "../../enzymes/rv_route.ts"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"

/** The system grants of the first-party enzymes. */
export const granted = Effect.provideService(SystemGrants, new Set(["rv_init", "mr_init", "mr_route", "odd"]))

/** The enzymes of a space with a ledger, and one that runs the verb named by its payload. */
export const enzymes = (verbs: Readonly<Record<string, (tx: Transaction) => unknown>> = {}, more: ReadonlyArray<Enzyme.Enzyme> = []) => [
  rvInit,
  rvRoute,
  enzyme("do", (tx, { payload }) => verbs[payload as string]!(tx), { query: "/signals/do" }),
  ...more
]

/** Creates the ledger in beat 0. */
export const begin = Effect.fnUntraced(function*(space: Space) {
  yield* space.signal({ signal: "/CEP:sig_sys/init" })
  yield* space.step
  return space
})

/** A space with a ledger. The next beat is 1. */
export const space = (verbs: Readonly<Record<string, (tx: Transaction) => unknown>> = {}, more: ReadonlyArray<Enzyme.Enzyme> = []) =>
  Effect.flatMap(TestKernel.space(enzymes(verbs, more)), begin)

/** Runs a verb in one beat, and returns its value or the code of its error. */
export const ask = Effect.fnUntraced(function*(space: Space, name: string) {
  const { id } = yield* space.signal({ signal: "/signals/do", payload: name })
  yield* space.step
  const handling = (yield* space.receipt(id))!.handlings[0]!
  return handling.error?.code ?? handling.value
})

/** The stored entry of a key. */
export const entry = (space: Space, key: string) => space.get(`/data/rv/${key}`) as Effect.Effect<never>
export const event = (space: Space, key: string) => space.get(`/data/inbox/flow/inst_event/${key}`) as Effect.Effect<never>

/** The beats whose journal entries contain the event of a key. */
export const events = Effect.fnUntraced(function*(space: Space, key: string) {
  const head = yield* space.head
  return yield* space.examine(({ store }) =>
    [...store.scanJournal(0, head)].filter(({ text }) => (JSON.parse(text.split("\n")[0]!) as {
      readonly sent?: ReadonlyArray<ReadonlyArray<unknown>>
    }).sent?.some((sent) => sent[2] === `/data/inbox/flow/inst_event/${key}`)).map(({ beat }) => beat)
  )
})

/** The digest of the ledger. */
export const digest = (space: Space) =>
  space.examine(({ store }) => {
    const hash = createHash("sha256")
    for (const folder of ["/data/rv", "/data/inbox", "/data/flow", "/defaults"]) {
      for (const key of store.below(folder, { limit: 10_000 })) hash.update(`${key} ${store.read(key)}\n`)
    }
    return hash.digest("hex")
  })

/** Asserts that a replay from the beats of the trials reproduces the journal. */
export const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (const from of Trials.beats(head)) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
  assert.isUndefined((yield* space.examine(verify)).fault)
})

export { steps }

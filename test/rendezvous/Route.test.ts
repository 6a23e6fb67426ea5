import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const { ask, event, events, steps } = RendezvousSpace

describe("a completion that comes as a signal", () => {
  test("is taken into the ledger by rv_route, and mirrored to the inbox of flows", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job" }) })
      yield* ask(space, "spawn")
      const { id } = yield* space.signal({ signal: "/CEP:sig_rv/job", payload: { size: 3 } })
      const again = yield* space.signal({ signal: "/CEP:sig_rv/job", payload: { size: 4 } })
      yield* steps(space, 4)
      assert.deepStrictEqual([(yield* space.receipt(id))?.handlings[0]?.value, (yield* space.receipt(again.id))?.handlings[0]?.value], [true, false])
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { size: 3 } })
      assert.deepStrictEqual(yield* events(space, "job"), [2])
    }))

  test("finds an entry whose key has a domain by the key, and by the signal that its completion sends", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => ["app:one", "app:two", "web:two"].map((key) => tx.rv.spawn({ key })) })
      yield* ask(space, "spawn")
      const ids: Array<string> = []
      for (const key of ["one", "two", "web:two", "two"]) {
        const { id } = yield* space.signal({ signal: `/CEP:sig_rv/${key}`, payload: { key } })
        ids.push(id)
        yield* steps(space, 2)
      }
      const values = []
      for (const id of ids) values.push((yield* space.receipt(id))?.handlings[0]?.value)
      // Two entries have the tag "two" until one of them is over.
      assert.deepStrictEqual(values, [true, false, true, true])
      assert.deepInclude(yield* event(space, "app:one"), { outcome: "applied", telemetry: { key: "one" } })
      assert.deepInclude(yield* event(space, "app:two"), { outcome: "applied", telemetry: { key: "two" } })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

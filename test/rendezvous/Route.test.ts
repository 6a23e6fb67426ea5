import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const { ask, event, events, steps } = RendezvousSpace

describe("A completion that arrives as a signal", () => {
  test("is applied to the ledger by rv_route, and mirrored to the inbox of flows", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job" }) })
      yield* ask(space, "spawn")
      const { id } = yield* space.signal({ signal: "/CEP:sig_rv/job", payload: { size: 3 } })
      const again = yield* space.signal({ signal: "/CEP:sig_rv/job", payload: { size: 4 } })
      yield* steps(space, 4)
      const values = yield* Effect.forEach([id, again.id], (id) => Effect.map(space.receipt(id), (receipt) => receipt?.handlings[0]?.value))
      assert.deepStrictEqual(values, [true, false])
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied", telemetry: { size: 3 } })
      assert.deepStrictEqual(yield* events(space, "job"), [2])
    }))

  test("is refused if a reader sends it, as is each signal of the runtime", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job" }) })
      yield* ask(space, "spawn")
      const reader = space.reader({ name: "guest", atoms: [] })
      for (const signal of ["/CEP:sig_rv/job", "/CEP:sig_sys/init"]) {
        const refused = yield* Effect.flip(reader.signal({ signal, target: "/data/any", payload: { size: 3 } }))
        assert.deepStrictEqual([refused._tag, refused.code], ["SignalReserved", "label/withheld"])
        assert.include(refused.message, signal)
      }
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* events(space, "job"), [])
      yield* reader.signal({ signal: "/signals/any" })
    }))

  test("finds an entry with a domain by its key, or by its tag if that is unique", () =>
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
      // Two entries have the tag "two" until one of them ends.
      assert.deepStrictEqual(values, [true, false, true, true])
      assert.deepInclude(yield* event(space, "app:one"), { outcome: "applied", telemetry: { key: "one" } })
      assert.deepInclude(yield* event(space, "app:two"), { outcome: "applied", telemetry: { key: "two" } })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

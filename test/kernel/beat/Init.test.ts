import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import mrInit from "../../../enzymes/mr_init.ts"
import rvInit from "../../../enzymes/rv_init.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps } from "../TestSpace.ts"

const ask = enzyme("ask", (tx) => void tx.rv.spawn({ key: "job", due_off: 50 }))
const booting = Effect.provide(TestKernel.layer({ boot: true }))

describe("A new space", () => {
  it.effect("is sent /CEP:sig_sys/init once, before any other run, if an enzyme takes it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([rvInit, ask])
      const { id } = yield* space.signal({ signal: "/signals/ask" })
      yield* steps(space, 6)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), ["enzyme=rv_init rc=0 signal=/CEP:sig_sys/init target=-"])
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      assert.deepInclude(yield* RendezvousSpace.entry(space, "job") as Effect.Effect<object>, { state: "pending" })
      const inputs = []
      for (let beat = 0; beat <= (yield* space.head); beat++) inputs.push(...(yield* TestKernel.ledger(space, beat, "inbox")) ?? [])
      assert.lengthOf(inputs.filter((line) => line.includes("/CEP:sig_sys/init")), 1)
      assert.strictEqual((yield* space.control.state).state, "running")
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(booting, RendezvousSpace.granted))

  it.effect("has its mailroom and its ledger of rendezvous after the first beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([rvInit, mrInit, ask])
      yield* space.step
      assert.deepStrictEqual((yield* TestKernel.ledger(space, 0, "agenda"))?.map((line) => line.split(" ").slice(0, 2).join(" ")), [
        "enzyme=mr_init rc=0",
        "enzyme=rv_init rc=0"
      ])
      for (const cell of ["/data/rv", "/data/inbox/flow/inst_event", "/data/flow/inbox/inst_start"]) {
        assert.deepStrictEqual(yield* space.get(cell), {}, cell)
      }
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(booting, RendezvousSpace.granted))

  it.effect("is sent no such signal if no enzyme takes it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("a", () => 1)])
      yield* space.signal({ signal: "/signals/a" })
      yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "inbox"), ["signal=/signals/a target=-"])
    }).pipe(booting))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { controlled, replays, steps } from "../kernel/TestSpace.ts"

/** Waits for the approval of an order, for at most a day. */
const approve = Enzyme.make({
  name: "approve",
  query: "/signals/placed",
  bind: ["/data/orders"],
  durable: true,
  run: async (tx: Transaction, { target = "" }) => {
    const late = tx.sleep(86_400_000).then(() => undefined)
    const answer = await Promise.race([tx.waitForSignal("/signals/answered", target), late])
    tx.set(target, answer === undefined ? "expired" : "answered")
    return answer?.payload ?? "nobody answered"
  }
})

/** Adds up the amounts of three signals. */
const three = Enzyme.make({
  name: "three",
  query: "/signals/three",
  durable: true,
  run: async (tx: Transaction) => {
    const heard: Array<unknown> = []
    for (let i = 0; i < 3; i++) {
      heard.push((await tx.waitForSignal("/signals/amount", "/data/amounts")).payload)
      await tx.sleep(10)
    }
    return heard
  }
})

describe("tx.waitForSignal", () => {
  it("goes on in the beat that captured the signal, and its receipt names the run", () => TestSpace.use([approve], async (space) => {
    const id = await space.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    await space.step()
    await space.signal({ signal: "/signals/answered", target: "/data/orders/18", payload: "for another" })
    const answer = await space.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: { by: "ann" } })
    await space.step()
    assert.strictEqual(await space.get("/data/orders/17"), "answered")
    const receipt = await space.receipt(id)
    assert.deepStrictEqual(receipt?.handlings.map(({ beat, value }) => [beat, value]), [[1, { by: "ann" }]])
    const [oid] = await space.list("/rt/ops")
    const heard = await space.receipt(answer)
    assert.deepStrictEqual([heard?.status, heard?.handlings[0]?.enzyme], ["handled", oid])
    await space.run(replays(space.space))
  }))

  it("ends with a time-out", () => TestSpace.use([approve], async (space) => {
    const id = await space.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    await space.step()
    await space.advance(86_400_000)
    assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "nobody answered", JSON.stringify(space.facts))
    const late = await space.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: 1 })
    await space.step()
    assert.strictEqual((await space.receipt(late))?.status, "no-match")
  }))

  it("hears each signal once, in order, also those between two waits", () => TestSpace.use([three], async (space) => {
    const id = await space.signal({ signal: "/signals/three" })
    await space.step()
    for (let i = 1; i <= 4; i++) await space.signal({ signal: "/signals/amount", target: "/data/amounts", payload: i })
    await space.step()
    for (let i = 0; i < 6; i++) await space.advance(10)
    assert.deepStrictEqual((await space.receipt(id))?.handlings[0]?.value, [1, 2, 3], JSON.stringify(space.facts))
    await space.run(replays(space.space))
  }))

  it.effect("hears after a restart", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([approve])
    const before = yield* (yield* machine.boot()).space("test")
    const { id } = yield* before.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    yield* before.step
    const after = yield* (yield* machine.boot()).space("test")
    yield* after.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: "yes" })
    yield* after.step
    assert.strictEqual((yield* after.receipt(id))?.handlings[0]?.value, "yes")
    yield* replays(after)
  }))

  it.effect("hears of what arrived in a pause, also after a restart", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([approve])
    const before = yield* (yield* machine.boot()).space("test")
    const { id } = yield* before.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    yield* before.step
    yield* controlled(before, before.control.pause())
    yield* steps(before, 2)
    yield* before.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: "yes", qos: "control" })
    yield* steps(before, 2)
    assert.strictEqual((yield* before.receipt(id))?.status, "pending")
    const after = yield* (yield* machine.boot()).space("test")
    yield* controlled(after, after.control.resume())
    yield* steps(after, 3)
    assert.strictEqual((yield* after.receipt(id))?.handlings[0]?.value, "yes")
    yield* replays(after)
  }))
})

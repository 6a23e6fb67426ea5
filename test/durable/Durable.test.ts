import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, replay, type Transaction, Retry } from "systole"
import { TestSpace } from "systole/testing"
import * as Trials from "../support/Trials.ts"

/** A durable enzyme on `/signals/<name>`. */
const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

/** Asserts that a replay from the beats of the trials reproduces the journal. */
const replays = async (space: TestSpace): Promise<void> => {
  const head = await space.run(space.space.head)
  for (const from of Trials.beats(head)) {
    const { difference, impossible } = await space.run(space.space.examine((history) => replay(history, from, head)))
    assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
  }
}

const nap = durable("nap", async (tx: Transaction) => {
  const first = tx.get("/data/x") ?? 0
  tx.set("/data/began", tx.beat)
  const dice = tx.random()
  await tx.sleep(1000)
  tx.set("/data/woke", [tx.beat, tx.now, first, dice])
  await tx.sleep({ beats: 3 })
  return [tx.beat, first]
})

describe("durable runs", () => {
  it("sleeps between its segments, and writes in each", () => TestSpace.use([nap], async (space) => {
    const id = await space.signal({ signal: "/signals/nap" })
    assert.strictEqual(await space.step(), 0)
    assert.strictEqual(await space.get("/data/began"), 0)
    assert.strictEqual((await space.receipt(id))?.status, "pending")
    await space.step()
    assert.isUndefined(await space.get("/data/woke"))
    await space.advance(1000)
    assert.deepStrictEqual((await space.get("/data/woke") as Array<number>).slice(0, 3), [2, 1000, 0])
    await space.step(3)
    const receipt = await space.receipt(id)
    assert.strictEqual(receipt?.status, "handled", JSON.stringify([receipt, space.facts]))
    assert.deepStrictEqual(receipt?.handlings.map(({ beat, value }) => [beat, value]), [[5, [5, 0]]])
    await replays(space)
  }))

  it("runs a failed segment again from the log", () => {
    let failures = 2
    const shaky = durable("shaky", async (tx: Transaction) => {
      const drawn = tx.random()
      tx.increment("/data/begun")
      await tx.sleep(10)
      tx.set("/data/drawn", drawn)
      if (failures-- > 0) throw new Retry({ reason: "not yet" })
      return drawn
    })
    return TestSpace.use([shaky], async (space) => {
      const id = await space.signal({ signal: "/signals/shaky" })
      await space.step()
      await space.advance(10)
      await space.step(6)
      const receipt = await space.receipt(id)
      assert.strictEqual(receipt?.status, "handled", JSON.stringify([receipt, space.facts]))
      assert.strictEqual(await space.get("/data/begun"), 1)
      assert.strictEqual(await space.get("/data/drawn"), receipt?.handlings[0]?.value)
    })
  })

  it("waits for all and for the first of several sleeps", () => {
    const several = durable("several", async (tx: Transaction) => {
      const first = await Promise.race([tx.sleep(30).then(() => "slow"), tx.sleep(10).then(() => "fast")])
      await Promise.all([tx.sleep(5), tx.sleep(100)])
      return [first, tx.now]
    })
    return TestSpace.use([several], async (space) => {
      const id = await space.signal({ signal: "/signals/several" })
      await space.step()
      for (let i = 0; i < 30; i++) await space.advance(5)
      const receipt = await space.receipt(id)
      assert.deepStrictEqual(receipt?.handlings[0]?.value, ["fast", 110], JSON.stringify([receipt, space.facts]))
      await replays(space)
    })
  })

  it("takes the sleeps, time-outs and schedules of Effect", () => {
    const effectful = durable("effectful", (tx) => Effect.gen(function*() {
      yield* Effect.sleep("1 second")
      const late = yield* Effect.timeoutOrElse(Effect.sleep(60_000), { duration: 500, orElse: () => Effect.succeed("late") })
      const both = yield* Effect.all([Effect.as(Effect.sleep(20), 1), Effect.as(Effect.sleep(10), 2)], { concurrency: 2 })
      return [tx.now, late, both]
    }) as Effect.Effect<unknown>)
    return TestSpace.use([effectful], async (space) => {
      const id = await space.signal({ signal: "/signals/effectful" })
      await space.step()
      await space.advance(1000)
      await space.advance(500)
      await space.advance(10)
      await space.advance(10)
      const receipt = await space.receipt(id)
      assert.deepStrictEqual(receipt?.handlings[0]?.value, [1520, "late", [1, 2]], JSON.stringify([receipt, space.facts]))
      await replays(space)
    })
  })
})

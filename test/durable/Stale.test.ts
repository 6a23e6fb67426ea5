import { assert, describe, it } from "@effect/vitest"
import { Enzyme, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { replays } from "../kernel/TestSpace.ts"

/** Another writer of the order. */
const other = Enzyme.make({ name: "other", query: "/signals/other", run: (tx) => tx.set("/data/order#/a", 5) })

const first = Enzyme.make({ name: "first", query: "/signals/first", run: (tx) => tx.set("/data/order", { a: 1, b: 2 }) })

/** The code with which a run ends, and the order, after another writer changed `a` between both segments of the run. */
const ended = async (before: string, after: (tx: Transaction) => void) => {
  const run = Enzyme.make({
    name: "run",
    query: "/signals/run",
    durable: true,
    run: async (tx: Transaction) => {
      tx.get(before)
      await tx.sleep(10)
      after(tx)
    }
  })
  let found: ReadonlyArray<unknown> = []
  await TestSpace.use([run, other, first], async (space) => {
    await space.handled({ signal: "/signals/first" })
    const id = await space.signal({ signal: "/signals/run" })
    await space.step()
    await space.handled({ signal: "/signals/other" })
    await space.advance(10)
    await space.run(replays(space.space))
    found = [(await space.receipt(id))?.handlings[0]?.error?.code ?? "ok", await space.get("/data/order")]
  })
  return found
}

describe("A write from an earlier read", () => {
  it("is stale although the run reads another part again", async () => {
    const found = await ended("/data/order#/a", (tx) => {
      tx.get("/data/order#/b")
      tx.set("/data/order", { a: 2, b: 2 })
    })
    assert.deepStrictEqual(found, ["run/stale", { a: 5, b: 2 }])
  })

  it("is not stale at a part that nobody else changed", async () => {
    assert.deepStrictEqual(await ended("/data/order", (tx) => tx.set("/data/order#/b", 3)), ["ok", { a: 5, b: 3 }])
  })

  it("is not stale at a part that the run reads again", async () => {
    const found = await ended("/data/order", (tx) => tx.set("/data/order#/a", (tx.get("/data/order#/a") as number) + 1))
    assert.deepStrictEqual(found, ["ok", { a: 6, b: 2 }])
  })
})

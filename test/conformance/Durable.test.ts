import { assert, describe, it } from "@effect/vitest"
import { Enzyme, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { replays } from "../kernel/TestSpace.ts"

const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

/** Writes 5 to the counter, as another writer. */
const other = Enzyme.make({ name: "other", query: "/signals/other", run: (tx) => tx.set("/data/count", 5) })

/** Reads the counter, sleeps, and adds to it by a set, a fresh read or an increment. */
const adder = (how: "blind" | "fresh" | "increment") =>
  durable(how, async (tx: Transaction) => {
    const before = (tx.get("/data/count") ?? 0) as number
    await tx.sleep(10)
    if (how === "increment") return tx.increment("/data/count")
    const now = how === "fresh" ? (tx.get("/data/count") ?? 0) as number : before
    tx.set("/data/count", now + 1)
  })

/** Runs an adder with another writer in between. Returns the handling of its receipt. */
const interleaved = async (space: TestSpace, how: string) => {
  const id = await space.signal({ signal: `/signals/${how}` })
  await space.step()
  await space.signal({ signal: "/signals/other" })
  await space.step()
  await space.advance(10)
  await space.run(replays(space.space))
  return (await space.receipt(id))?.handlings[0]
}

describe("Durable runs", () => {
  it("N30 is refused if another writer changed the value since, and leaves nothing", () =>
    TestSpace.use([adder("blind"), other], async (space) => {
      const handling = await interleaved(space, "blind")
      assert.strictEqual(handling?.error?.code, "run/stale")
      for (const cure of ["Read it again after the await", "tx.increment", "strict"]) assert.include(handling?.error?.message, cure)
      assert.strictEqual(await space.get("/data/count"), 5)
    }))

  it("N30 counts after a fresh read, and as an increment", () =>
    TestSpace.use([adder("fresh"), adder("increment"), other], async (space) => {
      assert.strictEqual((await interleaved(space, "fresh"))?.outcome, "ok")
      assert.strictEqual(await space.get("/data/count"), 6)
      assert.strictEqual((await interleaved(space, "increment"))?.outcome, "ok")
      assert.strictEqual(await space.get("/data/count"), 6)
    }))

  it("N30 counts for each run of a lane held to the end", () => {
    const strict = durable("strict", async (tx: Transaction) => {
      const before = (tx.get("/data/count") ?? 0) as number
      await tx.sleep(10)
      tx.set("/data/count", before + 1)
    }, { order: "strict" })
    return TestSpace.use([strict], async (space) => {
      for (let i = 0; i < 3; i++) await space.signal({ signal: "/signals/strict" })
      for (let i = 0; i < 10; i++) await space.advance(10)
      assert.strictEqual(await space.get("/data/count"), 3)
    })
  })
})

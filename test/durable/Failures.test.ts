import { assert, describe, it } from "@effect/vitest"
import { Enzyme, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { replays } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

/** Writes 5 to the counter, as another writer. */
const other = Enzyme.make({ name: "other", query: "/signals/other", run: (tx) => tx.set("/data/count", 5) })

describe("a write from an earlier read", () => {
  it("is no stale one after the run's own write", () => {
    const own = durable("own", async (tx: Transaction) => {
      tx.set("/data/count", ((tx.get("/data/count") ?? 0) as number) + 1)
      await tx.sleep(1)
      tx.set("/data/count", 10)
    })
    return TestSpace.use([own], async (space) => {
      const id = await space.signal({ signal: "/signals/own" })
      await space.step()
      await space.advance(1)
      assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
    })
  })
})

describe("a durable run", () => {
  it("that died goes on from its log when its letter is sent again", () => {
    const shop = durable("shop", async (tx: Transaction) => {
      tx.increment("/data/reserved")
      const drawn = tx.random()
      await tx.sleep(5)
      if (tx.get("/data/count") === undefined) throw new Error("no stock")
      await tx.sleep(5)
      return drawn
    })
    return TestSpace.use([shop, other], async (space) => {
      const id = await space.signal({ signal: "/signals/shop" })
      await space.step()
      await space.advance(5)
      assert.strictEqual((await space.receipt(id))?.status, "dead")
      await space.handled({ signal: "/signals/other" })
      const sent = space.run(space.space.redeliver(id, "shop"))
      await space.step()
      await sent
      await space.step()
      await space.advance(5)
      assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
      assert.strictEqual(await space.get("/data/reserved"), 1)
      const [oid = ""] = (await space.list("/rt/ops")).filter((name) => name !== "OPS:io")
      assert.include(await space.get(`/rt/ops/${oid}`), { state: "ist:ok", status: "sts:ok" })
      await space.run(replays(space.space))
    })
  })

  it("with other calls than its log names both sides", () => {
    let place = "/data/a"
    const fickle = durable("fickle", async (tx: Transaction) => {
      tx.get(place)
      await tx.sleep(5)
      return tx.get(place)
    })
    return TestSpace.use([fickle], async (space) => {
      const id = await space.signal({ signal: "/signals/fickle" })
      await space.step()
      place = "/data/b"
      await space.advance(5)
      const error = (await space.receipt(id))?.handlings[0]?.error
      assert.strictEqual(error?.code, "run/diverged")
      assert.include(error?.message, "Segment 0 of the step log has tx.get(\"/data/a\"), and the code made tx.get(\"/data/b\")")
    }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns: 0 } } })
  })

  it("sleeps in no run that is not durable", () => {
    const plain = Enzyme.make({ name: "plain", query: "/signals/plain", run: (tx) => tx.sleep(5) })
    return TestSpace.use([plain], async (space) => {
      const receipt = await space.handled({ signal: "/signals/plain" })
      assert.include(receipt.handlings[0]?.error?.message, "declare durable: true")
    })
  })
})

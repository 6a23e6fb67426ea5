import { assert, describe, it } from "@effect/vitest"
import * as Savepoint from "../../src/stage/Savepoint.ts"
import { TestBeat } from "./TestBeat.ts"

describe("a savepoint", () => {
  for (const before of [0, 1, 20]) {
    it(`takes back what was written, minted and refused since, over ${before} documents, and nothing else`, () => {
      const tx = new TestBeat({ "/a": 1, "/data/0": 0 }).draft()
      for (let i = 0; i < before; i++) tx.set(`/data/${i}`, i)
      tx.id()
      const [size, names] = [tx.written, tx.list("/data")]
      const savepoint = Savepoint.make(tx)
      for (let i = 0; i < 25; i++) {
        tx.set(`/data/${i}`, "other")
        tx.increment("/a", 1)
      }
      const minted = tx.id()
      assert.throws(() => tx.set("/a#/b/c", () => 1))
      savepoint.restore()
      assert.deepStrictEqual([tx.get("/a"), tx.get("/data/0"), tx.get("/data/24"), tx.list("/data")], [1, 0, undefined, names])
      assert.deepStrictEqual([tx.own?.keys.length ?? 0, tx.own?.keys.flatMap((_, i) => tx.own?.writesAt(i) ?? []).length ?? 0, tx.writes.length, tx.written, tx.refusal], [before, before, before, size, undefined])
      assert.strictEqual(tx.id(), minted)
    })
  }

  it("that is kept reverts no change", () => {
    const tx = new TestBeat({ "/a": 1 }).draft()
    tx.set("/a", 2)
    const savepoint = Savepoint.make(tx)
    tx.set("/a", 3)
    savepoint.keep()
    Savepoint.make(tx).restore()
    assert.strictEqual(tx.get("/a"), 3)
  })
})

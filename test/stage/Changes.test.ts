import { assert, describe, it } from "@effect/vitest"
import { TestBeat } from "./TestBeat.ts"

describe("a savepoint", () => {
  for (const before of [0, 1, 20]) {
    it(`reverts the writes, ids and refusals since, over ${before} documents, and no other change`, () => {
      const tx = new TestBeat({ "/a": 1, "/data/0": 0 }).draft()
      for (let i = 0; i < before; i++) tx.set(`/data/${i}`, i)
      tx.id()
      const [size, names] = [tx.written, tx.list("/data")]
      const savepoint = tx.savepoint()
      for (let i = 0; i < 25; i++) {
        tx.set(`/data/${i}`, "other")
        tx.increment("/a", 1)
      }
      const minted = tx.id()
      assert.throws(() => tx.set("/a#/b/c", () => 1))
      savepoint.restore()
      assert.deepStrictEqual([tx.get("/a"), tx.get("/data/0"), tx.get("/data/24"), tx.list("/data")], [1, 0, undefined, names])
      const { own, refusal, writes, written } = tx
      const made = own?.keys.flatMap((_, i) => own.writesAt(i)) ?? []
      assert.deepStrictEqual([own?.keys.length ?? 0, made.length, writes.length], [before, before, before])
      assert.deepStrictEqual([written, refusal], [size, undefined])
      assert.strictEqual(tx.id(), minted)
    })
  }

  it("that is kept reverts no change", () => {
    const tx = new TestBeat({ "/a": 1 }).draft()
    tx.set("/a", 2)
    const savepoint = tx.savepoint()
    tx.set("/a", 3)
    savepoint.keep()
    tx.savepoint().restore()
    assert.strictEqual(tx.get("/a"), 3)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Link } from "systole"
import { TestBeat } from "./TestBeat.ts"

/** A list that counts the reads of its items. */
class CountedList {
  reads = 0
  readonly items: ReadonlyArray<number>

  constructor(length: number) {
    this.items = new Proxy(Array.from({ length }, (_, i) => i), {
      get: (items, key, proxy) => {
        if (/^\d/.test(String(key))) this.reads++
        return Reflect.get(items, key, proxy) as unknown
      }
    })
  }
}

describe("an append", () => {
  it.each<readonly [where: string, at: string, value: (items: ReadonlyArray<number>) => unknown]>([
    ["at a root", "/a", (items) => items],
    ["inside a document", "/a#/log", (items) => ({ log: items, other: [], total: 0 })],
    ["inside an item", "/a#/rows/1/log", (items) => ({ other: [], rows: [{}, { log: items }], total: 0 })]
  ])("makes no copy of a list %s", (_, at, value) => {
    const list = new CountedList(1000)
    const tx = new TestBeat({ "/a": value(list.items), "/b": 0 }).draft()
    list.reads = 0
    for (let i = 0; i < 1000; i++) {
      tx.append(at, 1000 + i)
      tx.increment(at === "/a" ? "/b" : "/a#/total")
      if (at !== "/a") tx.append("/a#/other", i)
    }
    if (at !== "/a") assert.strictEqual(tx.get("/a#/total"), 1000)
    assert.strictEqual(list.reads, 0)
    assert.deepStrictEqual(tx.get(at), Array.from({ length: 2000 }, (_, i) => i))
    assert.isAtMost(list.reads, 2000)
    tx.append(at, "last")
    assert.strictEqual((tx.get(at) as ReadonlyArray<unknown>).at(-1), "last")
  })

  it("adds items through which a later write finds its link", () => {
    const tx = new TestBeat({ "/a": { l: [] }, "/b": {} }).draft()
    tx.append("/a#/l", Link.make("/b"))
    tx.set("/a#/l/0/x", 1)
    assert.deepStrictEqual([tx.get("/b"), tx.get("/a#/l/0/x")], [{ x: 1 }, 1])
  })
})

import { assert, describe, it, vi } from "@effect/vitest"
import superjson from "superjson"
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

  it.each<readonly [what: string, at: string, how: { readonly value: unknown; readonly item: () => unknown }]>([
    ["dates", "/a", { value: [new Date(0)], item: () => new Date(1) }],
    ["numbers beside a date", "/a#/log", { value: { log: [0], when: new Date(0) }, item: () => 1 }],
    ["bytes in a plain document", "/a#/log", { value: { log: [0], total: 0 }, item: () => new Uint8Array(3) }],
    ["maps inside an item", "/a#/rows/1/log", {
      value: { rows: [{}, { log: [new Map()] }], total: 0 },
      item: () => new Map([[1, new Date(1)]])
    }]
  ])("of %s decodes a document once, and encodes its items alone", (_, at, { item, value }) => {
    const beat = new TestBeat({ "/a": value, "/b": 0 })
    const [decoded, encoded] = [vi.spyOn(superjson, "deserialize"), vi.spyOn(superjson, "serialize")]
    for (let run = 0; run < 10; run++) {
      const tx = beat.draft()
      for (let i = 0; i < 100; i++) {
        tx.append(at, item())
        tx.increment(at === "/a" || typeof item() === "number" ? "/b" : "/a#/total")
      }
    }
    const sizes = encoded.mock.calls.map(([items]) => (items as ReadonlyArray<unknown>).length)
    const calls = decoded.mock.calls.length
    encoded.mockRestore()
    decoded.mockRestore()
    assert.isAtMost(calls, 1)
    assert.deepStrictEqual(sizes.filter((size) => size !== 1), [])
  })

  it("to a rich document gives each reader values of its own", () => {
    const tx = new TestBeat({ "/a": { log: [new Date(0)], n: 0 } }).draft()
    tx.append("/a#/log", new Date(1))
    tx.increment("/a#/n")
    const read = () => tx.get("/a#/log") as ReadonlyArray<Date>
    for (const date of read()) date.setTime(9)
    tx.append("/a#/log", new Date(2))
    assert.deepStrictEqual(read(), [new Date(0), new Date(1), new Date(2)])
    assert.strictEqual(tx.get("/a#/n"), 1)
  })

  it("adds items through which a later write finds its link", () => {
    const tx = new TestBeat({ "/a": { l: [] }, "/b": {} }).draft()
    tx.append("/a#/l", Link.make("/b"))
    tx.set("/a#/l/0/x", 1)
    assert.deepStrictEqual([tx.get("/b"), tx.get("/a#/l/0/x")], [{ x: 1 }, 1])
  })
})

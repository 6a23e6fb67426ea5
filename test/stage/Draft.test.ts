import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { Link } from "systole"
import { code, TestBeat } from "./TestBeat.ts"

const chain = (links: number): Record<string, unknown> => ({
  ...Object.fromEntries(Array.from({ length: links }, (_, i) => [`/l/${i}`, Link.make(`/l/${i + 1}`)])),
  [`/l/${links}`]: "end"
})

describe("a transaction reads", () => {
  it("its own writes before the capture, and the capture before committed documents", () => {
    const beat = new TestBeat({ "/a": 1, "/b": 1, "/c": 1 }).capture({ "/a": 2, "/b": 2 })
    const tx = beat.draft()
    tx.set("/a", 3)
    assert.deepStrictEqual([tx.get("/a"), tx.get("/b"), tx.get("/c"), tx.get("/d")], [3, 2, 1, undefined])
  })

  it("never another run's writes", () => {
    const beat = new TestBeat({ "/a": 1 })
    beat.run(0, (tx) => tx.set("/a", 2))
    assert.strictEqual(beat.draft({ run: 1 }).get("/a"), 1)
  })

  it("its own and the capture's deletions as absent", () => {
    const tx = new TestBeat({ "/a": 1, "/b": 1 }).capture({ "/b": undefined }).draft()
    tx.delete("/a")
    assert.deepStrictEqual([tx.get("/a"), tx.get("/b")], [undefined, undefined])
  })

  it("places inside documents, by their own keys and indexes only", () => {
    const tx = new TestBeat({ "/a": { b: [10, { c: 1 }], "x/y": 2, "~": 3, "": 4 } }).draft()
    assert.strictEqual(tx.get("/a#/b/0"), 10)
    assert.strictEqual(tx.get("/a#/b/1/c"), 1)
    assert.deepStrictEqual([tx.get("/a#/x~1y"), tx.get("/a#/~0"), tx.get("/a#/")], [2, 3, 4])
    for (const path of ["/b/length", "/b/-", "/b/01", "/toString", "/b/0/c", "/nope/c"]) {
      assert.strictEqual(tx.get(`/a#${path}`), undefined, path)
    }
  })

  it("the documents of a scope apart from the shared documents", () => {
    const tx = new TestBeat({ "/a": 1, "/a?scope=user:7": 2 }).draft()
    assert.deepStrictEqual([tx.get("/a"), tx.get("/a?scope=user:7"), tx.get("/a?scope=session:7")], [1, 2, undefined])
  })

  it("copies of dates and bytes, so that changing one does not change the document", () => {
    const tx = new TestBeat({ "/a": { at: new Date(5), bytes: new Uint8Array([1]) } }).draft()
    ;(tx.get("/a#/at") as Date).setTime(9)
    ;(tx.get("/a#/bytes") as Uint8Array)[0] = 9
    assert.strictEqual((tx.get("/a#/at") as Date).getTime(), 5)
    assert.strictEqual((tx.get("/a#/bytes") as Uint8Array)[0], 1)
  })

  it("no value at a text that is not an address", () => {
    const tx = new TestBeat().draft()
    for (const text of ["a", "/", "/a//b", "/a#b", "/a?scope=nobody", "/a/*"]) {
      assert.strictEqual(code(() => tx.get(text)), "address/invalid", text)
    }
  })
})

describe("a link", () => {
  it("is followed over 32 hops and not over 33", () => {
    assert.strictEqual(new TestBeat(chain(32)).draft().get("/l/0"), "end")
    assert.strictEqual(code(() => new TestBeat(chain(33)).draft().get("/l/0")), "link/loop")
  })

  it("that leads to itself is a loop", () => {
    const beat = new TestBeat({ "/a": Link.make("/b"), "/b": Link.make("/a") })
    assert.strictEqual(code(() => beat.draft().get("/a")), "link/loop")
    assert.strictEqual(code(() => beat.draft().set("/a#/x", 1)), "link/loop")
  })

  it("inside a document is followed on the way, and at the end", () => {
    const tx = new TestBeat({ "/a": { b: Link.make("/c#/d") }, "/c": { d: { e: 5 } } }).draft()
    assert.strictEqual(tx.get("/a#/b/e"), 5)
    assert.deepStrictEqual(tx.get("/a#/b"), { e: 5 })
  })

  it("to an absent document reads as absent", () => {
    assert.strictEqual(new TestBeat({ "/a": Link.make("/nope") }).draft().get("/a"), undefined)
  })

  it("takes a write to where it leads", () => {
    const beat = new TestBeat({ "/a": Link.make("/b"), "/b": { n: 1 } })
    beat.run(0, (tx) => {
      tx.set("/a#/n", 2)
      tx.increment("/a#/n")
      tx.merge("/a", { m: 1 })
      assert.strictEqual(tx.get("/a#/n"), 3)
    })
    assert.deepStrictEqual(beat.after("/b"), { n: 3, m: 1 })
    assert.isTrue(Link.is(beat.after("/a")))
  })

  it("to content reads as its bytes, from inside a document too", () => {
    const bytes = new Uint8Array([1, 2, 3])
    const tx = new TestBeat({ "/photo": Link.make("/cas/abc"), "/all": { first: Link.make("/photo") } }, new Map([["abc", bytes]])).draft()
    assert.deepStrictEqual([tx.get("/photo"), tx.get("/all#/first")], [bytes, bytes])
    tx.set("/own", Link.make(tx.blob(bytes)))
    assert.deepStrictEqual(tx.get("/own"), bytes)
  })

  it("is itself replaced by a link, and deleted by undefined", () => {
    const beat = new TestBeat({ "/a": Link.make("/b"), "/b": 1, "/c": 2, "/d": Link.make("/b") })
    beat.run(0, (tx) => {
      tx.set("/a", Link.make("/c"))
      tx.delete("/d")
    })
    assert.deepStrictEqual([beat.after("/a"), beat.after("/b"), beat.after("/d")], [Link.make("/c"), 1, undefined])
  })

  it("is resolved before the envelope is asked", () => {
    const beat = new TestBeat({ "/open/a": Link.make("/shut/b"), "/shut/a": Link.make("/open/b") })
    assert.strictEqual(code(() => beat.draft({ writes: ["/open/**"] }).set("/open/a", 1)), "envelope/outside")
    assert.strictEqual(code(() => beat.draft({ writes: ["/open/**"] }).set("/shut/a", 1)), "none")
    assert.strictEqual(code(() => new TestBeat({ "/a": Link.make("/sys/bind/x") }).draft().set("/a", 1)), "envelope/outside")
  })
})

describe("children", () => {
  const beat = () => new TestBeat({ "/p/b": 1, "/p/a": 1, "/p/a/deep": 1, "/q": 1, "/p/u?scope=user:1": 1 })

  it("are the names directly below, in order", () => {
    assert.deepStrictEqual(beat().draft().list("/p"), ["a", "b"])
    assert.deepStrictEqual(beat().draft().list("/p?scope=user:1"), ["u"])
    assert.deepStrictEqual(beat().draft().list("/nope"), [])
  })

  it("of the root are listed too", () => {
    assert.deepStrictEqual(beat().draft().list("/"), ["q"])
  })

  it("show the documents that the capture and the run created and deleted", () => {
    const tx = beat().capture({ "/p/c": 1, "/p/b": undefined }).draft()
    tx.set("/p/d", 1)
    tx.set("/p/e/deep", 1)
    tx.set("/p/x?scope=user:1", 1)
    tx.delete("/p/a")
    assert.deepStrictEqual(tx.list("/p"), ["c", "d"])
    assert.strictEqual(tx.get("/p/a/deep"), 1)
  })

  it("are of cells, not of places inside them", () => {
    assert.strictEqual(code(() => beat().draft().list("/p#/a")), "transaction/refused")
  })
})

describe("a write", () => {
  it("sets, merges, appends, increments and deletes at roots", () => {
    const beat = new TestBeat({ "/m": { a: 1, b: 2 }, "/l": [1], "/n": 4, "/d": 1 })
    beat.run(0, (tx) => {
      tx.set("/s", { z: 1, a: -0 })
      tx.merge("/m", { b: 3, c: 4 })
      tx.append("/l", 2, [3])
      tx.append("/new", 1)
      tx.increment("/n")
      tx.increment("/zero", -2)
      tx.delete("/d")
    })
    const after = Object.fromEntries(["/s", "/m", "/l", "/new", "/n", "/zero", "/d"].map((key) => [key, beat.after(key)]))
    assert.deepStrictEqual(after, {
      "/s": { a: 0, z: 1 }, "/m": { a: 1, b: 3, c: 4 }, "/l": [1, 2, [3]], "/new": [1], "/n": 5, "/zero": -2, "/d": undefined
    })
  })

  it("does so at places inside documents, and makes the objects on the way", () => {
    const beat = new TestBeat({ "/a": { l: [1, 2, 3], n: { x: 1 } } })
    beat.run(0, (tx) => {
      tx.set("/a#/l/1", "two")
      tx.set("/a#/l/-", 4)
      tx.delete("/a#/l/0")
      tx.append("/a#/l", 5)
      tx.increment("/a#/n/x", 2)
      tx.set("/a#/new/deep", true)
      tx.merge("/a#/n", { y: 1, x: undefined })
      tx.set("/fresh#/k", 1)
    })
    assert.deepStrictEqual(beat.after("/a"), { l: ["two", 3, 4, 5], n: { y: 1 }, new: { deep: true } })
    assert.deepStrictEqual(beat.after("/fresh"), { k: 1 })
  })

  it("of undefined deletes, with every verb", () => {
    const beat = new TestBeat({ "/a": 1, "/b": { x: 1, y: 2 } })
    beat.run(0, (tx) => {
      tx.set("/a", undefined)
      tx.set("/b#/x", undefined)
      tx.set("/b#/nope", undefined)
    })
    assert.deepStrictEqual([beat.after("/a"), beat.after("/b")], [undefined, { y: 2 }])
  })

  it("creates no parents, and deleting a document keeps its descendants", () => {
    const beat = new TestBeat({ "/a": 1, "/a/b": 2 })
    beat.run(0, (tx) => {
      tx.delete("/a")
      tx.set("/x/y", 1)
    })
    assert.deepStrictEqual([beat.after("/a/b"), beat.after("/x")], [2, undefined])
  })

  it("freezes its value", () => {
    const value = { a: [1] }
    new TestBeat().draft().set("/a", value)
    assert.throws(() => value.a.push(2))
  })

  const refusals: ReadonlyArray<readonly [string, (tx: ReturnType<TestBeat["draft"]>) => unknown]> = [
    ["a function", (tx) => tx.set("/a", () => 1)],
    ["NaN", (tx) => tx.set("/a", NaN)],
    ["an increment of what is no number", (tx) => tx.increment("/text")],
    ["an increment by infinity", (tx) => tx.increment("/a", Infinity)],
    ["an append to what is no array", (tx) => tx.append("/text", 1)],
    ["a path through a text", (tx) => tx.set("/text#/a", 1)],
    ["an index beyond the end", (tx) => tx.set("/list#/5", 1)],
    ["a key that is forbidden", (tx) => tx.set("/a#/__proto__", 1)],
    ["a document that is too long", (tx) => tx.set("/a", "x".repeat(1_048_576))]
  ]
  it.each(refusals)("refuses %s without a change", (_, write) => {
    const tx = new TestBeat({ "/text": "t", "/list": [1] }).draft()
    assert.strictEqual(code(() => write(tx)), "value/invalid")
    assert.lengthOf(tx.writes, 0)
    assert.deepStrictEqual([tx.get("/a"), tx.get("/text"), tx.get("/list")], [undefined, "t", [1]])
  })
})

describe("a refusal of a transaction", () => {
  it("stays refused when the run catches the error", () => {
    const tx = new TestBeat().draft({ writes: ["/a"] })
    const refused = code(() => tx.set("/b", 1))
    tx.set("/a", 1)
    assert.strictEqual((tx.refusal as { readonly code: string }).code, refused)
  })

  it("is the first that it refused", () => {
    const tx = new TestBeat().draft()
    code(() => tx.set("/rt/x", 1))
    code(() => tx.set("/a", NaN))
    assert.strictEqual((tx.refusal as { readonly code: string }).code, "envelope/outside")
  })

  it("is no wrong address that was only read", () => {
    const tx = new TestBeat().draft()
    code(() => tx.get("nope"))
    assert.strictEqual(tx.refusal, undefined)
  })

  it("includes views that are for the outside", () => {
    for (const view of ["/rt/beat/0/agenda", "/rt/receipts/x", "/rt/analytics/x", "/rt/io_reactors"]) {
      const tx = new TestBeat().draft()
      assert.strictEqual(code(() => tx.get(view)), "transaction/refused", view)
      assert.strictEqual(code(() => tx.list(view)), "transaction/refused", view)
      assert.isDefined(tx.refusal)
    }
    assert.strictEqual(code(() => new TestBeat().draft().get("/rt/dead/x/y")), "none")
  })

  it("includes services that the runtime is composed without", () => {
    const tx = new TestBeat().draft()
    for (const call of [() => tx.start("m", {}), () => tx.op, () => tx.rv, () => tx.io]) {
      assert.strictEqual(code(call), "transaction/unsupported")
    }
  })
})

describe("a transaction that is over", () => {
  it("refuses calls after the run", () => {
    const tx = new TestBeat({ "/a": 1 }).draft()
    tx.revoke("the run is over")
    const uses: ReadonlyArray<() => unknown> = [
      () => tx.get("/a"),
      () => tx.list("/a"),
      () => tx.set("/a", 1),
      () => tx.merge("/a", {}),
      () => tx.append("/a", 1),
      () => tx.increment("/a"),
      () => tx.delete("/a"),
      () => tx.blob(new Uint8Array()),
      () => tx.signal({ signal: "/s" }),
      () => tx.bind("/a", "x"),
      () => tx.unbind("/a", "x")
    ]
    for (const use of uses) assert.strictEqual(code(use), "transaction/refused", String(use))
    assert.lengthOf(tx.writes, 0)
    assert.lengthOf(tx.emissions, 0)
  })
})

describe("a binding", () => {
  it("is refused where no cell is, or its list would have no address", () => {
    for (const cell of ["data", "/", "/a/../b", "/a#/b", "/a?scope=user:1", ("/" + "n".repeat(255)).repeat(8), "/a".repeat(63)]) {
      const tx = new TestBeat().draft()
      assert.strictEqual(code(() => tx.bind(cell, "x")), "address/invalid", cell)
      assert.strictEqual(code(() => tx.unbind(cell, "x")), "address/invalid", cell)
      assert.isDefined(tx.refusal)
    }
    assert.strictEqual(code(() => new TestBeat().draft().bind("/a".repeat(62), "x")), "none")
  })
})

describe("limits of a run", () => {
  it("are 100,000 writes", () => {
    const tx = new TestBeat().draft()
    for (let i = 0; i < 100_000; i++) tx.increment("/a")
    assert.strictEqual(code(() => tx.increment("/a")), "transaction/refused")
  })

  it("are 10,000 signals", () => {
    const tx = new TestBeat().draft()
    for (let i = 0; i < 10_000; i++) tx.signal({ signal: "/s" })
    assert.strictEqual(code(() => tx.signal({ signal: "/s" })), "transaction/refused")
  })

  it("are 10,000 bindings", () => {
    const tx = new TestBeat().draft()
    for (let i = 0; i < 10_000; i++) tx.bind("/a", "x")
    assert.strictEqual(code(() => tx.bind("/a", "x")), "transaction/refused")
  })

  const text = "x".repeat(1_000_000)
  const hoards: ReadonlyArray<readonly [string, (tx: ReturnType<TestBeat["draft"]>, i: number) => unknown]> = [
    ["it writes", (tx, i) => tx.set(`/d/${i}`, text)],
    ["it deletes", (tx, i) => tx.delete(`/old/${i}`)],
    ["it sends", (tx) => tx.signal({ signal: "/s", payload: text })],
    ["it writes and sends", (tx, i) => i % 2 === 0 ? tx.set(`/d/${i}`, text) : tx.signal({ signal: "/s", payload: text })]
  ]
  it.each(hoards)("are 16 MiB of what %s", (_, hoard) => {
    const tx = new TestBeat(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`/old/${i}`, text]))).draft()
    for (let i = 0; i < 16; i++) hoard(tx, i)
    assert.strictEqual(code(() => hoard(tx, 16)), "transaction/refused")
    assert.match((tx.refusal as Error).message, /1700\d{4} characters .* limit of 16777216; do the work in several runs/)
    assert.strictEqual(tx.get("/d/16"), undefined)
  })

  it("count a document once, as it was and as it is", () => {
    const tx = new TestBeat({ "/a": [text.slice(0, 900_000)] }).draft()
    for (let i = 0; i < 50; i++) tx.append("/a", i)
    assert.strictEqual(tx.refusal, undefined)
  })

  it("are 32 MiB of content", () => {
    const tx = new TestBeat().draft()
    tx.blob(new Uint8Array(31 * 1_048_576))
    assert.strictEqual(code(() => tx.blob(new Uint8Array(2 * 1_048_576))), "transaction/refused")
  })
})

describe("content", () => {
  const bytes = new Uint8Array([1, 2, 3])
  const hash = createHash("sha256").update(bytes).digest("hex")

  it("lies at its digest, and is readable by the run that keeps it", () => {
    const tx = new TestBeat().draft()
    assert.strictEqual(tx.blob(bytes), `/cas/${hash}`)
    assert.deepStrictEqual(tx.get(`/cas/${hash}`), bytes)
  })

  it("is a copy, at both ends", () => {
    const tx = new TestBeat().draft()
    const mine = bytes.slice()
    const address = tx.blob(mine)
    mine[0] = 9
    ;(tx.get(address) as Uint8Array)[1] = 9
    assert.deepStrictEqual(tx.get(address), bytes)
  })

  it("that is committed is readable, and unknown content is absent", () => {
    const tx = new TestBeat({}, new Map([[hash, bytes]])).draft()
    assert.deepStrictEqual(tx.get(`/cas/${hash}`), bytes)
    assert.strictEqual(tx.get(`/cas/${"0".repeat(64)}`), undefined)
  })

  it("is bytes, and written by blob alone", () => {
    assert.strictEqual(code(() => new TestBeat().draft().blob("text" as never)), "transaction/refused")
    assert.strictEqual(code(() => new TestBeat().draft().set(`/cas/${hash}`, 1)), "envelope/outside")
  })
})

describe("ids and chance", () => {
  it("are minted per beat and run, signals and ids together", () => {
    const tx = new TestBeat().draft({ run: 3 })
    assert.deepStrictEqual([tx.id(), tx.signal({ signal: "/s" }), tx.id()], ["7.3.0", "7.3.1", "7.3.2"])
  })

  it("repeat for the same run, and differ between runs", () => {
    const draw = (run: number) => {
      const tx = new TestBeat().draft({ run })
      return [tx.random(), tx.random(), tx.random()]
    }
    assert.deepStrictEqual(draw(0), draw(0))
    assert.notDeepEqual(draw(0), draw(1))
  })
})

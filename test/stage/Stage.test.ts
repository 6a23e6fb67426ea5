import { assert, describe, it } from "@effect/vitest"
import { Link, type Transaction } from "systole"
import * as Address from "../../src/cell/Address.ts"
import * as Document from "../../src/cell/Document.ts"
import * as Envelope from "../../src/stage/Envelope.ts"
import { CAPTURE, Stage } from "../../src/stage/Stage.ts"
import { DELETED, isRead, type RandomWrite, runsOf, serially } from "./Merges.ts"
import { code, TestBeat } from "./TestBeat.ts"
import * as Trials from "../support/Trials.ts"

const perform = (tx: Transaction, { at, kind, value }: RandomWrite): void =>
  kind === "set" ? tx.set(at, value === DELETED ? undefined : value) : tx[kind](at, value as never)

describe("merging", () => {
  it("keeps the writes of the first run and drops the second whole", () => {
    const beat = new TestBeat({ "/a": 0 })
    assert.isUndefined(beat.run(0, (tx) => tx.set("/a", 1)))
    const lost = beat.run(1, (tx) => {
      tx.set("/b", 2)
      tx.set("/a", 2)
    })
    assert.strictEqual(lost, "/a")
    assert.deepStrictEqual([beat.after("/a"), beat.after("/b")], [1, undefined])
    assert.deepStrictEqual(beat.stage.documents.get("/a")?.writers, [0])
  })

  it("puts a first document without a read of the store, and on top of an earlier one of the beat", () => {
    const beat = new TestBeat({})
    const [a, b] = [Address.make("/a"), Address.make("/b")]
    const reads: Array<string> = []
    const stage = new Stage({ ...beat.stage.committed, read: (key) => void reads.push(key) })
    stage.create(a, Document.encode(1), 0)
    assert.deepStrictEqual([reads, stage.documents.get("/a")?.before, stage.newest("/a")?.text], [[], undefined, "1"])
    stage.put(b, Document.encode(1), 0)
    stage.create(b, Document.encode(2), 1)
    assert.deepStrictEqual([stage.newest("/b")?.text, stage.documents.get("/b")?.writers], ["2", [0, 1]])
  })

  it("shows runs a first document of the capture, and that there is none, without a read of the store", () => {
    const beat = new TestBeat({})
    const reads: Array<string> = []
    const stage = new Stage({ ...beat.stage.committed, read: (key) => void reads.push(key) })
    stage.create(Address.make("/a"), Document.encode(1), CAPTURE)
    stage.absent(Address.make("/b"))
    assert.deepStrictEqual([stage.visible("/a")?.text, stage.visible("/b"), reads], ["1", undefined, []])
    assert.deepStrictEqual([...stage.documents.keys()], ["/a"])
  })

  it("lets runs write different places of one document", () => {
    const beat = new TestBeat({ "/a": { x: 1, y: 1, z: 1 } })
    assert.isUndefined(beat.run(0, (tx) => tx.set("/a#/x", 2)))
    assert.isUndefined(beat.run(1, (tx) => tx.merge("/a", { y: 2 })))
    assert.deepStrictEqual(beat.after("/a"), { x: 2, y: 2, z: 1 })
  })

  it("treats a place and its contents as the same", () => {
    for (const [first, second] of [["/a#/x", "/a"], ["/a", "/a#/x"], ["/a#/x", "/a#/x/y"], ["/a#/x/y", "/a#/x"]] as const) {
      const beat = new TestBeat({ "/a": { x: { y: 1 } } })
      beat.run(0, (tx) => tx.set(first, { y: { y: 2 } }))
      assert.strictEqual(beat.run(1, (tx) => tx.set(second, { y: { y: 2 } })), "/a", `${first} ${second}`)
    }
  })

  it("lets runs agree", () => {
    const beat = new TestBeat({ "/a": 1, "/b": 1 })
    beat.run(0, (tx) => {
      tx.set("/a", { k: 1, l: 2 })
      tx.delete("/b")
    })
    const lost = beat.run(1, (tx) => {
      tx.set("/a", { l: 2, k: 1 })
      tx.delete("/b")
    })
    assert.isUndefined(lost)
    assert.deepStrictEqual([beat.after("/a"), beat.after("/b")], [{ k: 1, l: 2 }, undefined])
  })

  const looks: ReadonlyArray<readonly [what: string, look: (tx: Transaction) => void, isLost: boolean]> = [
    ["the place", (tx) => void tx.get("/a#/x"), true],
    ["a part of it", (tx) => void tx.get("/a#/x/y"), true],
    ["what holds it", (tx) => void tx.get("/a"), true],
    ["a place beside it", (tx) => void tx.get("/a#/z"), false],
    ["the same place of another document", (tx) => void tx.get("/b#/x"), false],
    ["the names among which the document is", (tx) => void tx.list("/"), false],
    ["what it had set there itself", (tx) => { tx.set("/a#/x", { y: 1 }); tx.get("/a#/x/y") }, false],
    ["what holds it, when it had set it", (tx) => { tx.set("/a#/x", { y: 1 }); tx.get("/a") }, false],
    ["it before it set it", (tx) => { tx.get("/a#/x"); tx.set("/a#/x", { y: 1 }) }, true],
    ["it when it had added to it", (tx) => { tx.increment("/a#/n"); tx.get("/a#/x") }, true]
  ]
  it.each(looks)("lets the later of two runs that agree win only where it had not read the place: %s", (_, look, isLost) => {
    const beat = new TestBeat({ "/a": { x: 0, z: 0 }, "/b": { x: 0 } })
    const set = (tx: Transaction) => tx.set("/a#/x", { y: 1 })
    assert.isUndefined(beat.run(0, set))
    const lost = beat.run(1, (tx) => {
      look(tx)
      set(tx)
    })
    assert.strictEqual(lost, isLost ? "/a" : undefined)
    const reversed = new TestBeat({ "/a": { x: 0, z: 0 }, "/b": { x: 0 } })
    assert.isUndefined(reversed.run(0, (tx) => {
      look(tx)
      set(tx)
    }))
    assert.isUndefined(reversed.run(1, set), "only the earlier one had read it")
  })

  it("takes a list of names for a read of each document that comes or goes there", () => {
    const create = (tx: Transaction) => {
      if (!tx.list("/seats").includes("1")) tx.set("/seats/1", true)
    }
    const beat = new TestBeat()
    assert.isUndefined(beat.run(0, create))
    assert.strictEqual(beat.run(1, create), "/seats/1")
    assert.isUndefined(beat.run(2, (tx) => { tx.set("/seats/1", true); tx.list("/seats") }))
  })

  const meetings: ReadonlyArray<readonly [string, (tx: Transaction) => void, (tx: Transaction) => void]> = [
    ["removed twice", (tx) => tx.delete("/a#/0"), (tx) => tx.delete("/a#/0")],
    ["removed beside one that is set", (tx) => tx.delete("/a#/0"), (tx) => tx.set("/a#/1", "b!")],
    ["set beside one that is removed", (tx) => tx.set("/a#/1", "b!"), (tx) => tx.delete("/a#/0")],
    ["inserted twice", (tx) => tx.set("/a#/-", "d"), (tx) => tx.set("/a#/-", "d")],
    ["inserted in two ways", (tx) => tx.set("/a#/3", "d"), (tx) => tx.set("/a#/-", "d")],
    ["inserted on the way to a place", (tx) => tx.set("/a#/-/x", 1), (tx) => tx.set("/a#/-/y", 1)],
    ["inserted by an increment", (tx) => tx.increment("/a#/-"), (tx) => tx.increment("/a#/3")],
    ["removed from within a run's own array", (tx) => { tx.set("/a#/2", ["x"]); tx.delete("/a#/2/0") }, (tx) => tx.set("/a#/2", ["x"])]
  ]
  it.each(meetings)("lets no two runs move the items of an array: %s", (_, first, second) => {
    const beat = new TestBeat({ "/a": ["a", "b", "c"] })
    assert.isUndefined(beat.run(0, first))
    const after = beat.after("/a")
    assert.strictEqual(beat.run(1, second), "/a")
    assert.deepStrictEqual(beat.after("/a"), after)
  })

  it("lets runs set different items of an array, and delete where there is none", () => {
    const beat = new TestBeat({ "/a": ["a", "b", "c"] })
    assert.isUndefined(beat.run(0, (tx) => tx.set("/a#/0", "a!")))
    assert.isUndefined(beat.run(1, (tx) => tx.set("/a#/1", "b!")))
    assert.isUndefined(beat.run(2, (tx) => tx.delete("/a#/7")))
    assert.deepStrictEqual(beat.after("/a"), ["a!", "b!", "c"])
  })

  it("merges many documents of one run, each with its own writes alone", () => {
    const beat = new TestBeat()
    assert.isUndefined(beat.run(0, (tx) => tx.append("/d/0", "first")))
    const lost = beat.run(1, (tx) => {
      for (let i = 0; i < 20_000; i++) tx.append(`/d/${i % 10_000}`, i)
    })
    assert.isUndefined(lost)
    assert.deepStrictEqual(beat.after("/d/0"), ["first", 0, 10_000])
    assert.lengthOf(beat.stage.documents.get("/d/9999")!.writes, 2)
  })

  it("compares so many writes and no more, and then lets the first run win", () => {
    const add = (times: number) => (tx: Transaction) => {
      for (let i = 0; i < times; i++) tx.increment("/n")
    }
    const beat = new TestBeat()
    assert.isUndefined(beat.run(0, add(50_000)))
    assert.isUndefined(beat.run(1, add(2)))
    assert.strictEqual(beat.run(2, add(50_000)), "/n")
    assert.strictEqual(beat.after("/n"), 50_002)
  })

  it("postpones a run that does not fit into the beat, without a trace", () => {
    const beat = new TestBeat({ "/old": "x".repeat(1_000_000) })
    const big = (key: string) => (tx: Transaction) => {
      for (let i = 0; i < 15; i++) tx.set(`${key}/${i}`, "x".repeat(1_000_000))
    }
    for (let run = 0; run < 4; run++) assert.isUndefined(beat.run(run, big(`/d/${run}`)))
    const late = beat.draft({ run: 4 })
    big("/d/4")(late)
    assert.deepStrictEqual(beat.stage.merge(late, 4), { key: undefined })
    assert.isFalse(beat.stage.documents.has("/d/4/0"))
    const sender = beat.draft({ run: 5 })
    for (let i = 0; i < 8; i++) sender.signal({ signal: "/s", payload: "x".repeat(1_000_000) })
    assert.deepStrictEqual(beat.stage.merge(sender, 5), { key: undefined })
    const keeper = beat.draft({ run: 6 })
    keeper.blob(new Uint8Array(8_000_000))
    assert.deepStrictEqual(beat.stage.merge(keeper, 6), { key: undefined })
    assert.isUndefined(beat.run(7, (tx) => tx.set("/small", 1)))
    assert.isUndefined(beat.run(8, (tx) => tx.delete("/old")))
  })

  it("counts a document that many runs change by how it grows", () => {
    const beat = new TestBeat({ "/a": { text: "x".repeat(1_000_000) } })
    for (let run = 0; run < 80; run++) assert.isUndefined(beat.run(run, (tx) => tx.set(`/a#/k${run}`, 1)))
  })

  it("adds up increments and joins appends, in agenda order", () => {
    const beat = new TestBeat({ "/n": 10, "/a": { l: [0] } })
    for (const run of [0, 1, 2]) {
      const lost = beat.run(run, (tx) => {
        tx.increment("/n", run + 1)
        tx.append("/a#/l", `${run}a`, `${run}b`)
      })
      assert.isUndefined(lost)
    }
    assert.strictEqual(beat.after("/n"), 16)
    assert.deepStrictEqual(beat.after("/a"), { l: [0, "0a", "0b", "1a", "1b", "2a", "2b"] })
  })

  it("lets no write commute with a set, nor an increment with an append", () => {
    for (const first of ["set", "increment", "append"] as const) {
      for (const second of ["set", "increment", "append"] as const) {
        if (first === second) continue
        const beat = new TestBeat()
        const write = {
          set: (tx: any) => tx.set("/a", 5),
          increment: (tx: any) => tx.increment("/a"),
          append: (tx: any) => tx.append("/a", 1)
        }
        beat.run(0, write[first])
        assert.strictEqual(beat.run(1, write[second]), "/a", `${first} ${second}`)
      }
    }
  })

  it("sets the capture in conflict with no run, and under all of them", () => {
    const beat = new TestBeat({ "/n": 1 }).capture({ "/n": 10, "/c": 1 })
    assert.isUndefined(beat.run(0, (tx) => tx.increment("/n")))
    assert.isUndefined(beat.run(1, (tx) => tx.increment("/n")))
    assert.isUndefined(beat.run(2, (tx) => tx.set("/c", 2)))
    assert.deepStrictEqual([beat.after("/n"), beat.after("/c")], [12, 2])
    assert.deepStrictEqual(beat.stage.documents.get("/n")?.writers, [-1, 0, 1])
  })

  it("keeps the state before the beat as the document's before", () => {
    const beat = new TestBeat({ "/a": 1 }).capture({ "/a": 2 })
    beat.run(0, (tx) => tx.set("/a", 3))
    assert.strictEqual(beat.stage.documents.get("/a")?.before?.text, "1")
  })

  it("asks the envelope once more", () => {
    const beat = new TestBeat()
    const draft = beat.draft({ writes: ["/a", "/b"] })
    draft.set("/a", 1)
    draft.set("/b", 1)
    const narrower = Object.create(draft, { envelope: { value: Envelope.make(["/a"], false) } }) as typeof draft
    assert.strictEqual(code(() => beat.stage.merge(narrower, 0)), "envelope/outside")
    assert.strictEqual(beat.stage.documents.size, 0)
  })

  it("merges no part of a run that does not fit on top of the others", () => {
    const beat = new TestBeat()
    beat.run(0, (tx) => tx.append("/l", "x".repeat(600_000)))
    const draft = beat.draft({ run: 1 })
    draft.set("/other", 1)
    draft.append("/l", "y".repeat(600_000))
    assert.strictEqual(code(() => beat.stage.merge(draft, 1)), "value/invalid")
    assert.isFalse(beat.stage.documents.has("/other"))
    assert.deepStrictEqual(beat.stage.documents.get("/l")?.writers, [0])
  })
})

describe("a serializable run", () => {
  it("loses when an earlier run changed its reads, and a snapshot run does not", () => {
    for (const serializable of [true, false]) {
      const beat = new TestBeat({ "/a": 1 })
      beat.run(0, (tx) => tx.set("/a", 2))
      assert.strictEqual(beat.run(1, (tx) => tx.set("/b", tx.get("/a")), { serializable }), serializable ? "/a" : undefined)
      assert.strictEqual(beat.after("/b"), serializable ? undefined : 1)
    }
  })

  it("loses when an item that it read may have moved", () => {
    const beat = new TestBeat({ "/a": ["a", "b"] })
    beat.run(0, (tx) => tx.delete("/a#/0"))
    assert.strictEqual(beat.run(1, (tx) => void tx.get("/a#/1"), { serializable: true }), "/a")
  })

  it("looks at places, not at whole documents", () => {
    const beat = new TestBeat({ "/a": { x: 1, y: 1 } })
    beat.run(0, (tx) => tx.set("/a#/x", 2))
    assert.isUndefined(beat.run(1, (tx) => void tx.get("/a#/y"), { serializable: true }))
    assert.strictEqual(beat.run(2, (tx) => void tx.get("/a#/x/deep"), { serializable: true }), "/a")
  })

  it("loses when an earlier run wrote a place that it read as absent", () => {
    const beat = new TestBeat()
    beat.run(0, (tx) => tx.set("/a", 1))
    assert.strictEqual(beat.run(1, (tx) => void tx.get("/a"), { serializable: true }), "/a")
  })

  it("reads the links that it follows", () => {
    const beat = new TestBeat({ "/l": Link.make("/a"), "/a": 1, "/b": 2 })
    beat.run(0, (tx) => tx.set("/l", Link.make("/b")))
    assert.strictEqual(beat.run(1, (tx) => void tx.get("/l"), { serializable: true }), "/l")
  })

  it("loses when a child that it listed came or went, not when one changed", () => {
    const listing = { serializable: true }
    const changed = new TestBeat({ "/p/a": 1 })
    changed.run(0, (tx) => tx.set("/p/a", 2))
    assert.isUndefined(changed.run(1, (tx) => void tx.list("/p"), listing))
    const created = new TestBeat({ "/p/a": 1 })
    created.run(0, (tx) => tx.set("/p/b", 2))
    assert.strictEqual(created.run(1, (tx) => void tx.list("/p"), listing), "/p/b")
    assert.isUndefined(created.run(2, (tx) => void tx.list("/p?scope=user:1"), listing))
    const deleted = new TestBeat({ "/p/a": 1 })
    deleted.run(0, (tx) => tx.delete("/p/a"))
    assert.strictEqual(deleted.run(1, (tx) => void tx.list("/p"), listing), "/p/a")
  })

  it("is not affected by the capture", () => {
    const beat = new TestBeat({ "/a": 1 }).capture({ "/a": 2, "/p/x": 1 })
    assert.isUndefined(beat.run(0, (tx) => tx.set("/b", [tx.get("/a"), tx.list("/p")]), { serializable: true }))
    assert.deepStrictEqual(beat.after("/b"), [2, ["x"]])
  })
})

describe("random beats", () => {
  it.prop("the first to commit wins, and the winners' writes stand as if done one after another", [runsOf], ([script]) => {
    const beat = new TestBeat(script.before).capture(script.captured)
    const expected = serially(script)
    script.runs.forEach((run, i) => {
      const refused: Array<boolean> = []
      const lost = beat.run(i, (tx) => {
        for (const step of run.steps) {
          if (isRead(step)) tx[step.kind](step.at)
          else refused.push(code(() => perform(tx, step)) === "value/invalid")
        }
      }, { serializable: run.serializable })
      assert.deepStrictEqual({ refused, lost }, expected.outcomes[i], `run ${i}`)
    })
    for (const key of expected.keys) assert.deepStrictEqual(beat.after(key), expected.after(key), key)
  }, Trials.draws(500))
})

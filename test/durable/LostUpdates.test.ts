import { assert, describe, it } from "@effect/vitest"
import { Computation, Enzyme, type NodeDefinition, Retry, type Settings, type Transaction, type Value } from "systole"
import { TestSpace } from "systole/testing"
import { replays } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** The signal that wakes runs. */
const go = { signal: "/signals/go", target: "/data/n" }

interface Taking extends Omit<Partial<Enzyme.Definition>, "before" | "after" | "target"> {
  /** The cell of the signal for which it waits. */
  readonly target?: string
  readonly before: (tx: Transaction) => Value
  readonly after: (tx: Transaction, seen: Value) => void
}

/** A durable enzyme that reads before an await, and writes after it. */
const taker = (name: string, { after, before, target = go.target, ...options }: Taking) =>
  Enzyme.make({
    name,
    query: `/signals/${name}`,
    durable: true,
    hears: [{ signal: go.signal, target }],
    ...options,
    run: async (tx) => {
      const seen = before(tx)
      await tx.waitForSignal(go.signal, target)
      after(tx, seen)
    }
  })

const less = (value: Value): number => Number(value) - 1

const writer = Enzyme.make({ name: "writer", query: "/signals/write", run: (tx, { payload }) => {
  for (const [at, value] of payload as ReadonlyArray<readonly [string, Value]>) tx.set(at, value === "none" ? undefined : value)
} })

const write = (space: TestSpace, ...cells: ReadonlyArray<readonly [string, Value]>) =>
  space.handled({ signal: "/signals/write", payload: cells as Value })

/** How each event ended: the error of its handling, or its outcome. */
const endsOf = async (space: TestSpace, ids: ReadonlyArray<string>) => {
  const ends: Array<string> = []
  for (const id of ids) {
    const [handling] = (await space.receipt(id))?.handlings ?? []
    ends.push(handling?.error?.code ?? handling?.outcome ?? "none")
  }
  return ends
}

type Cells = ReadonlyArray<readonly [string, Value]>

/** The events of runs, the changes before the signal that wakes them, and the check of what they leave. */
interface Runs {
  readonly signals: ReadonlyArray<string>
  readonly meanwhile?: (space: TestSpace) => Promise<unknown>
  readonly check: (space: TestSpace) => Promise<void>
  readonly target?: string
  readonly settings?: Partial<Settings>
}

type Modules = ReadonlyArray<Enzyme.Enzyme | NodeDefinition>

/** Wakes runs of these enzymes with one signal. Returns how each ended, with bodies in memory and with ones made from their logs. */
const raced = async (modules: Modules, cells: Cells, runs: Runs) => {
  const resident = await racedOnce(modules, cells, runs)
  const limits = { ...TestKernel.settings.limits, residentRuns: 0 }
  assert.deepStrictEqual(await racedOnce(modules, cells, { ...runs, settings: { ...runs.settings, limits } }), resident)
  return resident
}

const racedOnce = async (modules: Modules, cells: Cells, { settings = {}, target = go.target, ...runs }: Runs) => {
  let ends: ReadonlyArray<string> = []
  await TestSpace.use([...modules, writer], async (space) => {
    await write(space, ...cells)
    const ids: Array<string> = []
    for (const signal of runs.signals) ids.push(await space.signal({ signal }))
    await space.step()
    await runs.meanwhile?.(space)
    await space.handled({ ...go, target })
    await space.idle()
    ends = await endsOf(space, ids)
    await runs.check(space)
    await space.run(replays(space.space))
  }, { settings })
  return ends
}

/** Checks a cell. */
const leaves = (at: string, value: Value) => async (space: TestSpace) => assert.deepStrictEqual(await space.get(at), value)

const set = { before: (tx: Transaction) => tx.get("/data/n"), after: (tx: Transaction, seen: Value) => tx.set("/data/n", less(seen)) }

describe("Two segments of one beat that write from an earlier read", () => {
  it("lose no update: the later one runs again, and is stale", async () => {
    const ends = await raced([taker("one", set), taker("two", set)], [["/data/n", 7]], {
      signals: ["/signals/one", "/signals/two"],
      check: leaves("/data/n", 6)
    })
    assert.deepStrictEqual(ends, ["ok", "run/stale"])
  })

  it("lose none of forty orders on one stock", async () => {
    const order = taker("order", { ...set, query: "/signals/order/:n" })
    const ends = await raced([order], [["/data/n", 40]], {
      signals: Array.from({ length: 40 }, (_, n) => `/signals/order/${n}`),
      check: leaves("/data/n", 39)
    })
    assert.deepStrictEqual([ends.filter((end) => end === "ok").length, ends.filter((end) => end === "run/stale").length], [1, 39])
  })

  it("lose none by merges, in serializable runs, and after the deletion of what they read", async () => {
    const field = (tx: Transaction) => tx.get("/data/o#/n")
    const merging = { before: field, after: (tx: Transaction, seen: Value) => tx.merge("/data/o", { n: less(seen) }) }
    const whole = { ...merging, before: (tx: Transaction) => (tx.get("/data/o") as { readonly n: number }).n }
    const gone = { before: field, after: (tx: Transaction, seen: Value) => seen === undefined ? undefined : tx.delete("/data/o") }
    for (const how of [merging, whole, gone, { ...merging, isolation: "serializable" as const }]) {
      const ends = await raced([taker("one", how), taker("two", how)], [["/data/o", { n: 7, m: 1 }]], {
        signals: ["/signals/one", "/signals/two"],
        check: leaves("/data/o", how === gone ? undefined : { n: 6, m: 1 })
      })
      assert.deepStrictEqual(ends, ["ok", "run/stale"])
    }
  })

  it("lose none after sleeps of one length", async () => {
    const sleeper = Enzyme.make({ name: "sleeper", query: "/signals/sleep/:n", durable: true, run: async (tx) => {
      const seen = tx.get("/data/n")
      await tx.sleep(10)
      tx.set("/data/n", less(seen))
    } })
    await TestSpace.use([sleeper, writer], async (space) => {
      await write(space, ["/data/n", 7])
      const ids = [await space.signal({ signal: "/signals/sleep/1" }), await space.signal({ signal: "/signals/sleep/2" })]
      await space.step()
      await space.advance(10)
      await space.idle()
      assert.deepStrictEqual([await endsOf(space, ids), await space.get("/data/n")], [["ok", "run/stale"], 6])
      await space.run(replays(space.space))
    })
  })

  it("lose none to a retry of the same beat", async () => {
    const retried = Enzyme.make({ name: "retried", query: "/signals/go", bind: ["/data/n"], run: (tx, { attempt }) => {
      if (attempt === 1) throw new Retry({ reason: "not yet" })
      tx.set("/data/n", less(tx.get("/data/n")))
    } })
    const late = Enzyme.make({ name: "late", query: "/signals/late", durable: true, hears: [go], run: async (tx) => {
      const seen = tx.get("/data/n")
      await tx.waitForSignal("/signals/go", "/data/n")
      await tx.sleep({ beats: 1 })
      tx.set("/data/n", less(seen))
    } })
    const ends = await raced([retried, late], [["/data/n", 7]], { signals: ["/signals/late"], check: leaves("/data/n", 6) })
    assert.deepStrictEqual(ends, ["run/stale"])
  })

  it("both count where the value is the one that they read", async () => {
    const same = { before: set.before, after: (tx: Transaction) => tx.set("/data/n", 7) }
    const ends = await raced([taker("one", same), taker("two", same)], [["/data/n", 7]], {
      signals: ["/signals/one", "/signals/two"],
      check: leaves("/data/n", 7)
    })
    assert.deepStrictEqual(ends, ["ok", "ok"])
  })

  it("both count where they increment or read again", async () => {
    const increments = (tx: Transaction) => tx.increment("/data/n", -1)
    const reads = (tx: Transaction) => tx.set("/data/n", less(tx.get("/data/n")))
    for (const after of [increments, reads]) {
      const both = { before: set.before, after }
      const ends = await raced([taker("one", both), taker("two", both)], [["/data/n", 7]], {
        signals: ["/signals/one", "/signals/two"],
        check: leaves("/data/n", 5)
      })
      assert.deepStrictEqual(ends, ["ok", "ok"])
    }
  })

  it("do not both increment in serializable runs that read before", async () => {
    const counts = { before: set.before, after: (tx: Transaction) => tx.increment("/data/n", -1), isolation: "serializable" as const }
    const ends = await raced([taker("one", counts), taker("two", counts)], [["/data/n", 1]], {
      signals: ["/signals/one", "/signals/two"],
      check: leaves("/data/n", 0)
    })
    assert.deepStrictEqual(ends, ["ok", "run/stale"])
  })

  it("lose none although a segment reads its own write", async () => {
    const own = { ...set, after: (tx: Transaction, seen: Value) => {
      tx.set("/data/n", less(seen))
      tx.get("/data/n")
    } }
    const ends = await raced([taker("one", own), taker("two", own)], [["/data/n", 7]], {
      signals: ["/signals/one", "/signals/two"],
      check: leaves("/data/n", 6)
    })
    assert.deepStrictEqual(ends, ["ok", "run/stale"])
  })
})

describe("A write from an earlier read of names or keys", () => {
  const numbered = (count: (tx: Transaction) => number, at: (count: number) => string) =>
    ({ before: count, after: (tx: Transaction, seen: Value) => tx.set(at(Number(seen)), true) })
  const listed = numbered((tx) => tx.list("/data/all").length, (count) => `/data/all/${count}`)
  const keyed = numbered((tx) => tx.keys("/data/o")?.length ?? 0, (count) => `/data/o#/${count}`)

  it("is stale if another run of the beat took the place", async () => {
    for (const [how, check] of [[listed, leaves("/data/all/1", true)], [keyed, leaves("/data/o", { 0: true, 1: true })]] as const) {
      const ends = await raced([taker("one", how), taker("two", how)], [["/data/all/0", true], ["/data/o", { 0: true }]], {
        signals: ["/signals/one", "/signals/two"],
        check
      })
      assert.deepStrictEqual(ends, ["ok", "run/stale"])
    }
  })

  it("is stale if another beat took the place, and not if it took another one", async () => {
    for (const how of [listed, keyed]) {
      for (const [n, end] of [["1", "run/stale"], ["5", "ok"]] as const) {
        const ends = await raced([taker("one", how)], [["/data/all/0", true], ["/data/o", { 0: true }]], {
          signals: ["/signals/one"],
          meanwhile: (space) => write(space, [`/data/all/${n}`, 8], [`/data/o#/${n}`, 8]),
          check: async () => {}
        })
        assert.deepStrictEqual(ends, [end])
      }
    }
  })

  it("deletes what is deleted already", async () => {
    const clears = { before: (tx: Transaction) => [...tx.list("/data/all")], after: (tx: Transaction, seen: Value) => {
      for (const name of seen as ReadonlyArray<string>) tx.delete(`/data/all/${name}`)
    } }
    const ends = await raced([taker("one", clears), taker("two", clears)], [["/data/all/0", true], ["/data/all/1", true]], {
      signals: ["/signals/one", "/signals/two"],
      meanwhile: (space) => write(space, ["/data/all/0", "none"]),
      check: leaves("/data/all/1", undefined)
    })
    assert.deepStrictEqual(ends, ["ok", "ok"])
  })
})

describe("A write to a source of a derived cell that an earlier segment read", () => {
  const tenfold = Computation.make({ name: "tenfold", output: "/data/d", run: (tx) => Number(tx.get("/data/n") ?? 0) * 10 })
  const sign = Computation.make({ name: "sign", output: "/data/d", run: (tx) => Number(tx.get("/data/n")) > 0 ? 70 : 0 })
  const over = Computation.make({ name: "over", output: "/data/over", run: (tx) => Number(tx.get("/data/d")) })
  const from = (at: string) => ({
    before: (tx: Transaction) => tx.get(at),
    after: (tx: Transaction, seen: Value) => tx.set("/data/n", Number(seen) / 10 - 1)
  })

  it("loses no update in one beat", async () => {
    for (const at of ["/data/d", "/data/over"]) {
      const ends = await raced([tenfold, over, taker("one", from(at)), taker("two", from(at))], [["/data/n", 7]], {
        signals: ["/signals/one", "/signals/two"],
        check: leaves("/data/n", 6)
      })
      assert.deepStrictEqual(ends, ["ok", "run/stale"], at)
    }
  })

  it("is stale if the derived value differs now", async () => {
    for (const [node, end, left] of [[tenfold, "run/stale", 5], [sign, "ok", 6]] as const) {
      const ends = await raced([node, over, taker("one", from("/data/over"))], [["/data/n", 7]], {
        signals: ["/signals/one"],
        meanwhile: (space) => write(space, ["/data/n", 5]),
        check: leaves("/data/n", left)
      })
      assert.deepStrictEqual(ends, [end])
    }
  })

  it("is stale after a deployment of the node, although nobody has read the cell since", async () => {
    const ends = await raced([tenfold, taker("one", from("/data/d"))], [["/data/n", 7]], {
      signals: ["/signals/one"],
      meanwhile: async (space) => {
        await space.run(space.kernel.unregister(tenfold))
        await write(space, ["/data/n", 5])
        await space.run(space.kernel.register(tenfold))
      },
      check: leaves("/data/n", 5)
    })
    assert.deepStrictEqual(ends, ["run/stale"])
  })

  it("loses no update of cells with a label", async () => {
    const secret = Computation.make({ name: "secret", output: "/data/s/d", run: (tx) => Number(tx.get("/data/s/n")) * 10 })
    const how = {
      before: (tx: Transaction) => tx.get("/data/s/d"),
      after: (tx: Transaction, seen: Value) => tx.set("/data/s/n", Number(seen) / 10 - 1),
      target: "/data/s/go"
    }
    const settings = { labels: { cells: { "/data/s/**": ["secret"] }, declassify: {} } }
    for (const names of [["one", "two"], ["one"]]) {
      const ends = await raced([secret, ...names.map((name) => taker(name, how))], [["/data/s/n", 7]], {
        settings,
        signals: names.map((name) => `/signals/${name}`),
        meanwhile: (space) => write(space, ...names.length > 1 ? [] : [["/data/s/n", 5] as const]),
        target: how.target,
        check: leaves("/data/s/n", names.length > 1 ? 6 : 5)
      })
      assert.deepStrictEqual(ends, names.length > 1 ? ["ok", "run/stale"] : ["run/stale"])
    }
  })

  it("is not stale if the value was changed and changed back, or at another cell", async () => {
    const elsewhere = { ...from("/data/d"), after: (tx: Transaction) => tx.set("/data/m", 1) }
    for (const [how, values] of [[from("/data/d"), [5, 7]], [elsewhere, [5]]] as const) {
      const ends = await raced([tenfold, taker("one", how)], [["/data/n", 7]], {
        signals: ["/signals/one"],
        meanwhile: async (space) => {
          for (const value of values) await write(space, ["/data/n", value])
        },
        check: async () => {}
      })
      assert.deepStrictEqual(ends, ["ok"])
    }
  })

  it("is not stale if the segment read the cell again before", async () => {
    const again = { ...from("/data/d"), after: (tx: Transaction) => tx.set("/data/n", Number(tx.get("/data/d")) / 10 - 1) }
    const late = { ...from("/data/d"), after: (tx: Transaction, seen: Value) => {
      from("/data/d").after(tx, seen)
      tx.get("/data/d")
    } }
    for (const [how, end, left] of [[again, "ok", 4], [late, "run/stale", 5]] as const) {
      const ends = await raced([tenfold, taker("one", how)], [["/data/n", 7]], {
        signals: ["/signals/one"],
        meanwhile: (space) => write(space, ["/data/n", 5]),
        check: leaves("/data/n", left)
      })
      assert.deepStrictEqual(ends, [end])
    }
  })
})

describe("A run knows afterwards only what it wrote itself", () => {
  const seen = { a: 1, b: 2, n: 0 }

  /** Reads an order, writes `b` after the first signal and `a` after the second one. */
  const run = (first: (tx: Transaction) => void, second: (tx: Transaction) => void) => Enzyme.make({
    name: "two",
    query: "/signals/two",
    durable: true,
    hears: [go],
    run: async (tx) => {
      tx.get("/data/o")
      tx.list("/data/all")
      await tx.waitForSignal(go.signal, go.target)
      first(tx)
      await tx.waitForSignal(go.signal, go.target)
      second(tx)
    }
  })

  const ended = async (first: (tx: Transaction) => void, second: (tx: Transaction) => void) => {
    let ends: ReadonlyArray<string> = []
    await TestSpace.use([run(first, second), writer], async (space) => {
      await write(space, ["/data/o", seen], ["/data/all/x", 1])
      const id = await space.signal({ signal: "/signals/two" })
      await space.step()
      await write(space, ["/data/o#/a", 5], ["/data/all/y", 1], ["/data/o#/n", 3])
      await space.handled(go)
      await space.handled(go)
      await space.idle()
      ends = await endsOf(space, [id])
      await space.run(replays(space.space))
    })
    return ends
  }

  it("so another writer's part stays unread", async () => {
    assert.deepStrictEqual(await ended((tx) => tx.set("/data/o#/b", 3), (tx) => tx.set("/data/o#/a", 2)), ["run/stale"])
    assert.deepStrictEqual(await ended((tx) => tx.increment("/data/o#/n"), (tx) => tx.set("/data/o#/n", 1)), ["run/stale"])
    assert.deepStrictEqual(await ended((tx) => tx.set("/data/all/z", 1), (tx) => tx.set("/data/all/y", 2)), ["run/stale"])
  })

  it("and its own part is known", async () => {
    assert.deepStrictEqual(await ended((tx) => tx.set("/data/o#/b", 3), (tx) => tx.set("/data/o#/b", 4)), ["ok"])
    assert.deepStrictEqual(await ended((tx) => tx.increment("/data/o#/b"), (tx) => tx.set("/data/o#/b", 4)), ["ok"])
    assert.deepStrictEqual(await ended((tx) => tx.set("/data/all/z", 1), (tx) => tx.set("/data/all/z", 2)), ["ok"])
    assert.deepStrictEqual(await ended((tx) => tx.delete("/data/all/x"), (tx) => tx.set("/data/all/x", 2)), ["ok"])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Computation, Enzyme, type Transaction, type Value } from "systole"
import { TestSpace } from "systole/testing"
import { DurableTransaction } from "../../src/durable/DurableTransaction.ts"
import type { Call } from "../../src/durable/Step.ts"
import { controlled, replays } from "../kernel/TestSpace.ts"
import { TestBeat } from "../stage/TestBeat.ts"
import * as TestKernel from "../support/TestKernel.ts"

const free = Computation.make({
  name: "free",
  output: "/data/free",
  run: (tx) => 10 - Number(tx.get("/data/taken") ?? 0) - Number(tx.get("/data/paid") ?? 0)
})

const other = Enzyme.make({ name: "other", query: "/signals/other", run: (tx) => tx.set("/data/taken", 5) })

type Body = (tx: Transaction) => Promise<void>

/** The number of bodies in memory, and whether another writer takes 5 before the last segment. */
interface How {
  readonly residentRuns: number
  readonly isContended: boolean
}

const endedOnce = async (body: Body, { isContended, residentRuns }: How) => {
  let end: ReadonlyArray<Value> = []
  const run = Enzyme.make({ name: "run", query: "/signals/run", durable: true, run: body })
  await TestSpace.use([free, other, run], async (space) => {
    await space.run(controlled(space.space, space.space.set("/data/linked", { $link: "/data/taken" })))
    const id = await space.signal({ signal: "/signals/run" })
    await space.step()
    await space.advance(10)
    if (isContended) await space.handled({ signal: "/signals/other" })
    await space.advance(10)
    const [handling] = (await space.receipt(id))?.handlings ?? []
    end = [handling?.error?.code ?? handling?.outcome ?? "none", await space.get("/data/taken")]
    await space.run(replays(space.space))
  }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns } } })
  return end
}

/** How a run of three segments ended. Its body is in memory, or made from its log. */
const ended = async (body: Body, isContended = true) => {
  const resident = await endedOnce(body, { isContended, residentRuns: 10 })
  assert.deepStrictEqual(await endedOnce(body, { isContended, residentRuns: 0 }), resident)
  return resident
}

/** Reads what is free, takes some of it, and then writes again, at these places. */
const taking = (first: string, second: string): Body => async (tx) => {
  const seen = Number(tx.get("/data/free"))
  await tx.sleep(10)
  tx.set(first, 11 - seen)
  await tx.sleep(10)
  tx.set(second, 2)
}

describe("An earlier read of a derived cell", () => {
  it("leaves the run that wrote a source of it since to its own writes", async () => {
    assert.deepStrictEqual(await ended(taking("/data/taken", "/data/taken"), false), ["ok", 2])
    const atOnce = await ended(async (tx) => {
      tx.set("/data/taken", 11 - Number(tx.get("/data/free")))
      await tx.sleep(10)
      tx.set("/data/taken", 2)
      await tx.sleep(10)
    })
    assert.deepStrictEqual(atOnce, ["ok", 5])
  })

  it("does so over links", async () => {
    const [linked, taken] = ["/data/linked", "/data/taken"]
    for (const [first, second] of [[linked, taken], [taken, linked], [linked, linked]] as const) {
      assert.deepStrictEqual(await ended(taking(first, second), false), ["ok", 2], `${first} ${second}`)
      assert.deepStrictEqual(await ended(taking(first, second)), ["run/stale", 5], `${first} ${second}`)
    }
  })

  it("lets no write overwrite another writer's that came after the own one", async () => {
    assert.deepStrictEqual(await ended(taking("/data/taken", "/data/taken")), ["run/stale", 5])
    const merging: Body = async (tx) => {
      tx.get("/data/free")
      await tx.sleep(10)
      tx.set("/data/taken", { a: 1 })
      await tx.sleep(10)
      tx.merge("/data/taken", { a: 2 })
    }
    assert.deepStrictEqual(await ended(merging, false), ["ok", { a: 2 }])
  })

  it("lets the run write another source after its own write only if it has read that one", async () => {
    assert.deepStrictEqual(await ended(taking("/data/paid", "/data/taken")), ["run/stale", 5])
    assert.deepStrictEqual(await ended(taking("/data/paid", "/data/taken"), false), ["run/stale", undefined])
    const reading = (place: string): Body => async (tx) => {
      tx.get("/data/free")
      await tx.sleep(10)
      tx.set("/data/paid", 1)
      await tx.sleep(10)
      tx.get(place)
      tx.set("/data/taken", 2)
    }
    for (const place of ["/data/taken", "/data/free"]) {
      assert.deepStrictEqual(await ended(reading(place)), ["ok", 2], place)
      assert.deepStrictEqual(await ended(reading(place), false), ["ok", 2], place)
    }
  })

  it("lets no increment of the own write tell its value", async () => {
    const end = await ended(async (tx) => {
      tx.get("/data/free")
      await tx.sleep(10)
      tx.increment("/data/taken")
      await tx.sleep(10)
      tx.set("/data/taken", 2)
    })
    assert.deepStrictEqual(end, ["run/stale", 5])
  })

  it("makes a write stale if the run wrote other cells alone", async () => {
    const end = await ended(async (tx) => {
      tx.set("/data/log", Number(tx.get("/data/free")))
      await tx.sleep(10)
      tx.set("/data/log", 2)
      await tx.sleep(10)
      tx.set("/data/taken", 1)
    })
    assert.deepStrictEqual(end, ["run/stale", 5])
  })

  it("does not concern increments, which commute", async () => {
    const end = await ended(async (tx) => {
      tx.get("/data/free")
      await tx.sleep(10)
      await tx.sleep(10)
      tx.increment("/data/taken")
    })
    assert.deepStrictEqual(end, ["ok", 6])
  })
})

describe("Two runs that reserve and pay from a sum of stock", () => {
  const stock = ["/data/stock/a", "/data/stock/b"] as const
  const sum = Computation.make({
    name: "sum",
    output: "/data/sum",
    run: (tx) => stock.reduce((total, place) => total + Number(tx.get(place) ?? 0), 0)
  })

  /** Reserves one item of the sum, and takes four when it was paid. */
  const order = Enzyme.make({ name: "order", query: "/signals/order/:n", durable: true, order: "loose", run: async (tx, { payload }) => {
    const seen = Number(tx.get("/data/sum"))
    await tx.sleep(10)
    tx.set(stock[0], seen - 1)
    await tx.sleep(Number(payload))
    tx.set(stock[0], seen - 4)
  } })

  it("lose no update", async () => {
    for (const residentRuns of [0, 10]) {
      await TestSpace.use([sum, order], async (space) => {
        await space.run(controlled(space.space, space.space.set(stock[0], 10)))
        const first = await space.signal({ signal: "/signals/order/1", payload: 15 })
        await space.step()
        await space.advance(10)
        const second = await space.signal({ signal: "/signals/order/2", payload: 30 })
        await space.step()
        for (let i = 0; i < 5; i++) await space.advance(10)
        const ends = await Promise.all([first, second].map(async (id) => (await space.receipt(id))?.handlings[0]))
        assert.deepStrictEqual(ends.map((end) => end?.error?.code ?? end?.outcome), ["run/stale", "ok"])
        assert.strictEqual(await space.get(stock[0]), 5)
        await space.run(replays(space.space))
      }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns } } })
    }
  })
})

describe("A run that began under the first rules", () => {
  it("writes again below a list and into keys that it read before its own write", () => {
    const cases = [["list", "/data/a", "/data/a/x", "/data/a/x", 1], ["keys", "/data/a", "/data/a#/x", "/data/a", { x: 1 }]] as const
    for (const [verb, at, written, document, value] of cases) {
      const tx = new DurableTransaction("OPS:first")
      tx.semantics = 1
      const calls: ReadonlyArray<Call> = [[verb, at, []], ["set", written]]
      tx.repeat({ beat: 1, now: 0, settled: [], calls, size: 0 }, () => undefined)
      tx[verb](at)
      tx.set(written, 1)
      tx.end()
      const draft = new TestBeat({ [document]: value }).draft()
      tx.begin(Object.assign(draft, { moment: { ...draft.moment, semantics: 2 } }))
      tx.set(written, 2)
      assert.strictEqual(draft.refusal, undefined)
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Enzyme, type HandlingReceipt, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import * as Document from "../../src/cell/Document.ts"
import * as Step from "../../src/durable/Step.ts"
import * as ContentReferences from "../../src/persistence/ContentReferences.ts"
import { present } from "../support/Present.ts"
import { begun, replays } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A value of the most levels that a cell holds. */
const deep = (): unknown => {
  let value: unknown = []
  for (let level = 2; level < 64; level++) value = [value]
  return { of: value }
}

/** The values of cells, by their names. */
type Cells = Readonly<Record<string, unknown>>

/** The enzymes of a body that reads cells and goes on after a sleep, and a space that remakes each segment from the log. */
const world = (body: (tx: Transaction) => unknown, cells: Cells) => {
  const fill = Enzyme.make({
    name: "fill",
    query: "/signals/fill",
    run: (tx, { payload }) => {
      for (const [id, value] of Object.entries(cells)) tx.set(id, payload === "full" ? value : 0)
    }
  })
  const run = Enzyme.make({
    name: "run",
    query: "/signals/run",
    durable: true,
    run: async (tx: Transaction) => {
      const seen = body(tx)
      await tx.sleep(5)
      tx.set("/data/seen", 1)
      await tx.sleep(5)
      return seen
    }
  })
  return { enzymes: [fill, run], settings: { settings: { limits: { ...TestKernel.settings.limits, residentRuns: 0 } } } }
}

/** The receipt of a run over full cells, and the number of the parts of its first step. */
const logged = async (body: (tx: Transaction) => unknown, cells: Cells) => {
  let [handling, parts]: [HandlingReceipt | undefined, number] = [undefined, 0]
  const { enzymes, settings } = world(body, cells)
  await TestSpace.use(enzymes, async (space) => {
    await space.handled({ signal: "/signals/fill", payload: "full" })
    const id = await space.signal({ signal: "/signals/run" })
    await space.step()
    // The log has the values that the run read, whatever the cells hold by now.
    await space.handled({ signal: "/signals/fill", payload: "empty" })
    await space.advance(5)
    await space.advance(5)
    handling = (await space.receipt(id))?.handlings[0]
    await space.run(replays(space.space))
    const [oid = "none"] = (await space.list("/rt/ops")).filter((name) => name !== "OPS:io")
    parts = (await space.list(`/rt/ops/${oid}/step/0`)).length
  }, settings)
  return { handling: handling as HandlingReceipt | undefined, parts }
}

describe("a segment", () => {
  it("that reads more than a cell holds is remade from its log", async () => {
    const cells = Object.fromEntries(["a", "b", "c"].map((name) => [`/data/${name}`, name.repeat(600_000)]))
    const seen = (tx: Transaction) => Object.keys(cells).map((id) => (tx.get(id) as string).slice(0, 2) + (tx.get(id) as string).length)
    const { handling, parts } = await logged(seen, cells)
    assert.deepStrictEqual(handling?.value, ["aa600000", "bb600000", "cc600000"], JSON.stringify(handling))
    assert.strictEqual(parts, 8)
  })

  it("that reads many small values is remade from its log", async () => {
    const seen = (tx: Transaction) => {
      let sum = 0
      for (let i = 0; i < 4000; i++) sum += (tx.get(`/data/${i % 7}`) as { readonly n: number }).n
      return sum
    }
    const cells = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`/data/${n}`, { n, note: "x".repeat(300) }]))
    const { handling } = await logged(seen, cells)
    assert.strictEqual(handling?.value, 11_994, JSON.stringify(handling))
  })

  it("that reads a value of the greatest depth is remade from its log", async () => {
    const { handling, parts } = await logged((tx) => JSON.stringify(tx.get("/data/deep")).length, { "/data/deep": deep() })
    assert.strictEqual(handling?.value, JSON.stringify(deep()).length, JSON.stringify(handling))
    assert.strictEqual(parts, 1)
  })

  it("that reads more than a log holds is refused with the limit and what to do", async () => {
    const cells = { "/data/a": "a".repeat(900_000) }
    const { handling } = await logged((tx) => Array.from({ length: 10 }, () => tx.get("/data/a")).length, cells)
    assert.deepStrictEqual([handling?.outcome, handling?.error?.code], ["dead", "run/steps-full"])
    assert.include(handling?.error?.message, "its limit is 8388608 characters. Read less in one segment, or go on in another run")
  })
})

describe("a run with a long step", () => {
  const cells = { "/data/a": "a".repeat(900_000), "/data/b": "b".repeat(900_000) }
  const { enzymes, settings } = world((tx) => Object.keys(cells).map((id) => String(tx.get(id)).length), cells)

  it("that starts over has the steps of its new start alone", () => TestSpace.use(enzymes, async (space) => {
    await space.handled({ signal: "/signals/fill", payload: "full" })
    await space.signal({ signal: "/signals/run" })
    await space.step()
    const { runs } = space.space
    const [run] = (await space.run(runs.list({ limit: 1 }))).runs
    const { oid, segment } = present(run)
    const partsOf = () => space.list(`/rt/ops/${oid}/step/0`)
    assert.deepStrictEqual([segment, (await partsOf()).length], [1, 4])
    await space.handled({ signal: "/signals/fill", payload: "empty" })
    await space.run(begun(space.space, runs.cancel(oid, { now: true })))
    await space.run(begun(space.space, runs.retry(oid, { anew: true })))
    await space.step()
    assert.deepStrictEqual([(await space.run(runs.get(oid)))?.segment, await partsOf()], [1, []])
  }, settings))
})

describe("the parts of a step", () => {
  const hashes = Array.from({ length: 20_000 }, (_, i) => i.toString(16).padStart(64, "a"))

  it("name all the content that the step names, and give the step again", () => {
    const step: Step.Step = {
      beat: 3,
      now: 7,
      attempt: 2,
      settled: [[0, "ok", new Date(5)]],
      calls: hashes.map((hash, i) => ["get", `/data/${i}`, `${"x".repeat(i % 97)}/cas/${hash}`]),
      left: [["/data/1", 5], ["/data/2"]],
      size: 11
    }
    const { document, length, parts } = Step.encode(step)
    const named = new Set(parts.flatMap(({ text }) => ContentReferences.of(text)))
    assert.deepStrictEqual(hashes.filter((hash) => !named.has(hash)), [])
    assert.isTrue(parts.every(({ text }) => text.length <= Document.MAX_TEXT))
    const stored = [document, ...parts].map(({ text }) => Document.decode(text))
    const { length: size, step: { parts: count, ...again } } = present(Step.read((part) => stored[part === undefined ? 0 : part + 1]))
    assert.deepStrictEqual([again, count, size], [step, parts.length, length])
    assert.isUndefined(Step.read((part) => part === 1 ? undefined : stored[part === undefined ? 0 : part + 1]))
  })
})

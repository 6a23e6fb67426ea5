import { assert, describe, it } from "@effect/vitest"
import { Computation, Enzyme, type Transaction, type Value } from "systole"
import { TestSpace } from "systole/testing"
import { DurableTransaction } from "../../src/durable/DurableTransaction.ts"
import type { Call } from "../../src/durable/Step.ts"
import { replays } from "../kernel/TestSpace.ts"
import { TestBeat } from "../stage/TestBeat.ts"
import * as TestKernel from "../support/TestKernel.ts"

const free = Computation.make({ name: "free", output: "/data/free", run: (tx) => 10 - Number(tx.get("/data/taken") ?? 0) })

const other = Enzyme.make({ name: "other", query: "/signals/other", run: (tx) => tx.set("/data/taken", 5) })

const endedOnce = async (body: (tx: Transaction) => Promise<void>, residentRuns: number) => {
  let end: ReadonlyArray<Value> = []
  const run = Enzyme.make({ name: "run", query: "/signals/run", durable: true, run: body })
  await TestSpace.use([free, other, run], async (space) => {
    const id = await space.signal({ signal: "/signals/run" })
    await space.step()
    await space.advance(10)
    await space.handled({ signal: "/signals/other" })
    await space.advance(10)
    const [handling] = (await space.receipt(id))?.handlings ?? []
    end = [handling?.error?.code ?? handling?.outcome ?? "none", await space.get("/data/taken")]
    await space.run(replays(space.space))
  }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns } } })
  return end
}

/** How a run of three segments ended, before the last of which another writer takes 5. Its body is in memory, or made from its log. */
const ended = async (body: (tx: Transaction) => Promise<void>) => {
  const resident = await endedOnce(body, 10)
  assert.deepStrictEqual(await endedOnce(body, 0), resident)
  return resident
}

describe("An earlier read of a derived cell", () => {
  it("leaves the run that wrote a source of it since to its own writes", async () => {
    const atOnce = await ended(async (tx) => {
      tx.set("/data/taken", 11 - Number(tx.get("/data/free")))
      await tx.sleep(10)
      tx.set("/data/taken", 2)
      await tx.sleep(10)
    })
    assert.deepStrictEqual(atOnce, ["ok", 5])
    const later = await ended(async (tx) => {
      const seen = Number(tx.get("/data/free"))
      await tx.sleep(10)
      tx.set("/data/taken", 11 - seen)
      await tx.sleep(10)
      tx.set("/data/taken", 2)
    })
    assert.deepStrictEqual(later, ["ok", 2])
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

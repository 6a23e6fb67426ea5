import { assert, describe, it } from "@effect/vitest"
import { Enzyme, explain, type Transaction, why } from "systole"
import { TestSpace } from "systole/testing"
import { replays } from "../kernel/TestSpace.ts"

/** Waits for an amount and a while, and counts. */
const count = Enzyme.make({
  name: "count",
  query: "/signals/count",
  durable: true,
  hears: [{ signal: "/signals/amount", target: "/data/total" }],
  run: async (tx: Transaction) => {
    const { payload } = await tx.waitForSignal("/signals/amount", "/data/total")
    tx.set("/data/total", payload)
    await tx.sleep(10)
    tx.set("/data/total", 2)
  }
})

describe("the receipt of a segment", () => {
  it("is named by the event and the number of the segment", () => TestSpace.use([count], async (space) => {
    const id = await space.signal({ signal: "/signals/count" })
    await space.step()
    await space.signal({ signal: "/signals/amount", target: "/data/total", payload: 1 })
    await space.step()
    assert.deepStrictEqual(await space.get(`/rt/receipts/${id}#/segment`), {
      0: { count: { outcome: "waits", beat: 0, on: ["0 /signals/amount /data/total"] } },
      1: { count: { outcome: "waits", beat: 1, on: ["1 sleep"] } }
    })
    await space.advance(10)
    assert.deepStrictEqual(await space.get(`/rt/receipts/${id}#/segment/2`), { count: { outcome: "ok", beat: 2 } })
    const receipt = await space.receipt(id)
    assert.deepStrictEqual([receipt?.status, receipt?.handlings.length, receipt?.handlings[0]?.segments], ["handled", 1, 3])
    await space.run(replays(space.space))
  }))

  it("is named by why, explain and the beat", () => TestSpace.use([count], async (space) => {
    const id = await space.signal({ signal: "/signals/count" })
    await space.step()
    await space.signal({ signal: "/signals/amount", target: "/data/total", payload: 1 })
    await space.step()
    await space.advance(10)
    const reason = await space.run(space.space.examine((history) => why(history, "/data/total")))
    assert.deepStrictEqual(reason?.writers[0]?.chain.map(({ id }) => id), [`${id}#/segment/2`])
    const explained = await space.run(space.space.examine((history) => explain(history, 1, "count")))
    const detail = "It made segment 1 and awaits 1 sleep. It was attempt 1, by which a durable run went on."
    assert.deepInclude(explained?.signals.find(({ verdict }) => verdict === "waits"), { id: `${id}#/segment/1`, detail })
    const agenda = await space.get("/rt/beat/1/agenda") as unknown as ReadonlyArray<string>
    assert.isTrue(agenda.some((line) => line.endsWith(` receipt=${id}#/segment/1`)), agenda.join("\n"))
  }))

  it("is absent for an event of ordinary runs", () => TestSpace.use([
    Enzyme.make({ name: "plain", query: "/signals/plain", run: () => 1 })
  ], async (space) => {
    const { id } = await space.handled({ signal: "/signals/plain" })
    assert.isUndefined(await space.get(`/rt/receipts/${id}#/segment`))
  }))
})

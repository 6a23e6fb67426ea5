import { assert, describe, it } from "@effect/vitest"
import { Enzyme, explain, type Transaction, type Value, why } from "systole"
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

  it("names only its own handles, and counts those of earlier segments", () => TestSpace.use([Enzyme.make({
    name: "opens",
    query: "/signals/opens",
    durable: true,
    run: async (tx: Transaction) => {
      for (let i = 0; i < 100; i++) {
        void tx.sleep(100_000)
        await tx.sleep(0)
      }
    }
  })], async (space) => {
    const id = await space.signal({ signal: "/signals/opens" })
    await space.step()
    for (let i = 0; i < 99; i++) await space.step()
    const segments = await space.get(`/rt/receipts/${id}#/segment`) as { readonly [segment: string]: Value }
    assert.deepStrictEqual(segments["0"], { opens: { outcome: "waits", beat: 0, on: ["0 sleep", "1 sleep"] } })
    assert.deepStrictEqual(segments["99"], { opens: { outcome: "waits", beat: 99, on: ["198 sleep", "199 sleep"], before: 99 } })
    assert.isBelow(JSON.stringify(segments).length, 12_000)
    const explained = await space.run(space.space.examine((history) => explain(history, 99, "opens")))
    assert.match(explained?.signals[0]?.detail ?? "", /^It made segment 99 and awaits 0 sleep, .*, 18 sleep and 91 more\. /)
  }))

  it("of a heard signal names the enzyme and the run that heard it", () => TestSpace.use([count], async (space) => {
    const amount = { signal: "/signals/amount", target: "/data/total", payload: 1 }
    await space.signal({ signal: "/signals/count" })
    const early = await space.signal(amount)
    await space.step()
    const late = await space.signal(amount)
    await space.step()
    const beats = [0, 1]
    for (const [i, id] of [early, late].entries()) {
      const receipt = await space.receipt(id)
      const [heard] = receipt?.handlings ?? []
      assert.deepStrictEqual([receipt?.handlings.length, heard?.enzyme, heard?.outcome], [1, "count", "ok"])
      assert.match(heard?.run ?? "", /^OPS:/)
      assert.deepStrictEqual(heard?.value, { isAwaited: i === 0, nth: i, pair: 0 })
      for (const name of ["count", heard?.run]) assert.deepStrictEqual(await space.get(`/rt/receipts/${id}/${name}`), { ...heard })
      const agenda = await space.get(`/rt/beat/${beats[i]}/agenda`) as unknown as ReadonlyArray<string>
      assert.include(agenda.join("\n"), `enzyme=count rc=0 signal=/signals/amount target=/data/total run=${heard?.run}`)
    }
    const explained = await space.run(space.space.examine((history) => explain(history, 1, "count")))
    assert.include(explained?.signals.map(({ id, verdict }) => `${id} ${verdict}`) ?? [], `${late} ran`)
    await space.run(replays(space.space))
  }))

  it("is absent for an event of ordinary runs", () => TestSpace.use([
    Enzyme.make({ name: "plain", query: "/signals/plain", run: () => 1 })
  ], async (space) => {
    const { id } = await space.handled({ signal: "/signals/plain" })
    assert.isUndefined(await space.get(`/rt/receipts/${id}#/segment`))
  }))
})

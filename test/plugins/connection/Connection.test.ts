import { assert, describe, it } from "@effect/vitest"
import { Connection } from "../../../plugins/connection/Connection.ts"
import type { Dial } from "../../../plugins/connection/Duplex.ts"
import * as TestWorld from "./TestWorld.ts"

const make = (world: ReturnType<typeof TestWorld.make>["world"], dial: Dial) =>
  new Connection({
    channel: "wire", dial, form: "lines", inbound: { space: "home", signal: "/signals/line", as: "text" }, limit: 100, world
  })

describe("A connection that stays open", () => {
  it("waits longer and longer for a host that swallows each dial, which is reported once", async () => {
    const { pass, waits, world } = TestWorld.make()
    const { ingress, reports } = TestWorld.ingress()
    const { promise, resolve } = Promise.withResolvers<void>()
    const connection = make(world, async () => {
      pass(30_000)
      if (waits.length === 6) resolve()
      throw Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })
    })
    connection.begin(ingress)
    await promise
    assert.deepStrictEqual(waits.slice(0, 6), [1000, 2000, 4000, 8000, 16_000, 32_000])
    assert.strictEqual(reports.length, 1)
    await connection.close()
  })

  it("closes although its space never answers whether it takes messages", async () => {
    const { world } = TestWorld.make()
    const { ingress, reports } = TestWorld.ingress()
    const connection = make(world, () => Promise.reject(new Error("it is not dialled")))
    connection.begin({ ...ingress, admits: () => new Promise(() => {}) })
    await connection.close()
    assert.deepStrictEqual(reports, [])
  })
})

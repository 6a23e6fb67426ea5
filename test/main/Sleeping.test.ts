import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Pacemaker } from "systole"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as StoredHold from "../../src/main/workers/StoredHold.ts"

describe("A host that sleeps", () => {
  it.effect("leaves distant work to its alarm, and keeps timers for near work and for work in progress", () =>
    Effect.gen(function*() {
      const armed: Array<number> = []
      const layer = HostPacemaker.sleeping({ turn: (run) => run(), restMillis: 10_000, arm: (moment) => void armed.push(moment) })
      const pacemaker = Context.get(yield* Layer.build(layer), Pacemaker)
      const now = Date.now()
      for (const cancel of [pacemaker.timer(now + 60_000, () => {}), pacemaker.wake(now + 5000, () => {})]) cancel()
      assert.deepStrictEqual(armed, [])
      pacemaker.wake(now + 600_000, () => {})()
      assert.deepStrictEqual(armed, [now + 600_000])
    }))

  it("finds a space held that was held before its end, and released after a release", async () => {
    const values = new Map<string, unknown>()
    const storage = {
      get: async (key: string) => values.get(key),
      put: async (key: string, value: unknown) => void values.set(key, value),
      delete: async (key: string) => values.delete(key)
    }
    const isHeld = async () => (await StoredHold.read(storage)).has("shop")
    const held = await StoredHold.read(storage)
    held.add("shop")
    assert.isTrue(await isHeld())
    held.delete("shop")
    assert.isFalse(await isHeld())
  })
})

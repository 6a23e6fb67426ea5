import { assert, beforeAll, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import * as Edge from "./Edge.ts"

let text = ""

beforeAll(async () => {
  text = await Edge.script("./test/runtime/worker.ts")
})

/** The platform's timers are real. */
const PATIENCE = { timeout: 120_000, interval: 50 }

const greet = (who: string) => ({ signal: "/signals/greet", payload: { who } })

describe("A space that sleeps in a durable object", { timeout: 300_000 }, () => {
  it("has no alarm after its first signal, since nothing is due", () =>
    Edge.running(text, async ({ json, signal }) => {
      await signal("shop", greet("first"))
      const { alarm, alarms } = await json("/test/seen/shop")
      assert.isNull(alarm)
      assert.strictEqual(alarms, 0)
    }))

  it("wakes for a delayed signal by its alarm alone, and has none after", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      await signal("shop", { ...greet("later"), at: { ms: 1500 } }, "")
      const { number } = await json("/test/seen/shop")
      await fetch("/test/reset/shop")
      // No call opens the space.
      await vi.waitUntil(async () => (await json("/test/seen/shop")).rings > 0, PATIENCE)
      assert.isAbove((await json("/test/seen/shop")).number, number)
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/cells/data/greetings?list")).names.length === 2, PATIENCE)
      await vi.waitUntil(async () => (await json("/test/seen/shop")).alarm === null, PATIENCE)
    }))

  it("does not handle a delayed signal before its time, whenever an alarm comes", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      await signal("shop", { ...greet("later"), at: { ms: 3_600_000 } }, "")
      const list = async () => (await json("/v1/spaces/shop/cells/data/greetings?list")).names
      for (let n = 0; n < 2; n++) {
        await fetch("/test/reset/shop")
        await fetch("/test/ring/shop")
        assert.deepInclude(await json("/test/seen/shop"), { rowsWritten: 0 })
        assert.deepStrictEqual(await list(), ["first"])
      }
      await fetch("/test/reset/shop")
      await fetch("/test/later/shop")
      await fetch("/test/ring/shop")
      await vi.waitUntil(async () => (await list()).length === 2, PATIENCE)
    }))

  it("arms an alarm that was lost at the next call, and handles a signal once when its alarm runs late and twice", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      const at = Date.now() + 3_600_000
      await signal("shop", { signal: "/signals/visit", payload: { who: "ann", route: [] }, at: { ms: 3_600_000 } }, "")
      const armed = async () => (await json("/test/seen/shop")).alarm
      await vi.waitUntil(async () => await armed() >= at, PATIENCE)
      await fetch("/test/lose/shop")
      assert.isNull(await armed())
      // A call that opens no space is enough.
      assert.strictEqual((await fetch("/v1/spaces/shop/nowhere")).status, 404)
      assert.isAtLeast(await armed(), at)
      await fetch("/test/reset/shop")
      for (let n = 0; n < 2; n++) await fetch("/test/later/shop")
      await Promise.all([fetch("/test/ring/shop"), fetch("/test/ring/shop")])
      await fetch("/test/ring/shop")
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/waiting")).waiting.length === 0, PATIENCE)
      assert.strictEqual(await json("/v1/spaces/shop/cells/data/visits/ann"), 1)
    }))

  it("keeps an alarm however often the platform ends the object within one, and handles its signal once", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await fetch("/test/end/shop")
      await signal("shop", { signal: "/signals/visit", payload: { who: "ann", route: [] }, at: { ms: 1500 } }, "")
      // The platform repeats the first run. It gives up after six, so the second one arms an alarm before its work.
      await vi.waitUntil(async () => (await json("/test/seen/shop")).endings === 0, PATIENCE)
      const { alarm, alarms } = await json("/test/seen/shop")
      assert.isTrue(alarm !== null || alarms > 0)
      // No call opens the space.
      await vi.waitUntil(async () => (await json("/test/seen/shop")).alarms > 0, PATIENCE)
      await vi.waitUntil(async () => await json("/v1/spaces/shop/cells/data/visits/ann") === 1, PATIENCE)
    }))

  it("writes no row and runs no beat when it wakes with nothing due", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      await signal("shop", { ...greet("later"), at: { ms: 3_600_000 } }, "")
      const { beats } = await json("/v1/spaces/shop/beats")
      await fetch("/test/reset/shop")
      assert.strictEqual(await json("/v1/spaces/shop/cells/data/greetings/first"), "hello")
      assert.deepStrictEqual((await json("/v1/spaces/shop/beats")).beats, beats)
      assert.deepInclude(await json("/test/seen/shop"), { rowsWritten: 0 })
    }))

  it("rests without a timer until a distant signal, and wakes for it by its alarm alone", () =>
    Edge.running(text, async ({ json, signal }) => {
      await signal("shop", greet("first"))
      const at = Date.now() + 3_600_000
      await signal("shop", { ...greet("later"), at: { ms: 3_600_000 } }, "")
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/waiting")).waiting.length === 1, PATIENCE)
      await vi.waitUntil(async () => (await json("/test/seen/shop")).alarm >= at, PATIENCE)
      assert.isAtMost((await json("/test/seen/shop")).longestTimer, 10_000)
    }))

  it("sleeps without a timer while a durable run does, and goes on by its alarm, evicted meanwhile", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json } = edge
      const states = async () => (await json("/v1/spaces/shop/runs")).runs.map(({ state }: { readonly state: string }) => state)
      const at = Date.now() + 3_600_000
      await edge.signal("shop", { signal: "/signals/nap", payload: { who: "ann", ms: 3_600_000 } }, "")
      await vi.waitUntil(async () => (await json("/test/seen/shop")).alarm >= at, PATIENCE)
      assert.deepStrictEqual(await states(), ["waiting"])
      await vi.waitUntil(async () => (await json("/test/seen/shop")).longestTimer === 0, PATIENCE)
      await Edge.evict(edge, "shop")
      // An alarm that comes too early finds nothing to do.
      await fetch("/test/ring/shop")
      assert.deepStrictEqual(await states(), ["waiting"])
      const { alarm, rowsWritten } = await json("/test/seen/shop")
      assert.strictEqual(rowsWritten, 0)
      assert.isAtLeast(alarm, at)
      await Edge.evict(edge, "shop")
      await fetch("/test/later/shop")
      await fetch("/test/ring/shop")
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/cells/data/naps?list")).names?.length === 1, PATIENCE)
      assert.strictEqual(await json("/v1/spaces/shop/cells/data/naps/ann"), 1)
      assert.deepStrictEqual(await states(), [])
    }))

  it("sleeps without a timer until the moment of a request, which no eviction moves", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json } = edge
      const open = async () => (await json("/v1/spaces/shop/io?open=true")).requests.length
      await edge.signal("shop", { signal: "/signals/doze", payload: { ms: 3_600_000 } })
      const [begun] = await json("/v1/spaces/shop/cells/data/dozes/begun")
      await vi.waitUntil(async () => (await json("/test/seen/shop")).longestTimer === 0, PATIENCE)
      for (let n = 0; n < 3; n++) {
        await Edge.evict(edge, "shop")
        // An alarm that comes too early begins no job.
        await fetch("/test/ring/shop")
        // A space that was opened has short timers for a while.
        await vi.waitUntil(async () => (await json("/test/seen/shop")).longestTimer === 0, PATIENCE)
        const { alarm, rowsWritten } = await json("/test/seen/shop")
        assert.deepStrictEqual([alarm, rowsWritten, await open()], [begun + 3_600_000, 0, 1])
      }
      await Edge.evict(edge, "shop")
      await fetch("/test/later/shop")
      await fetch("/test/ring/shop")
      await vi.waitUntil(async () => await open() === 0, PATIENCE)
      assert.deepStrictEqual(await json("/v1/spaces/shop/cells/data/dozes/over"), [{ until: begun + 3_600_000 }])
    }))

  it("ends a wait on a channel at its moment, however often the platform resets the object meanwhile", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", { signal: "/signals/doze", payload: { ms: 1500 } })
      const [begun] = await json("/v1/spaces/shop/cells/data/dozes/begun")
      for (let n = 0; n < 20; n++) await fetch("/test/reset/shop")
      // No call opens the space.
      await vi.waitUntil(async () => (await json("/test/seen/shop")).rings > 0, PATIENCE)
      const over = () => json("/v1/spaces/shop/cells/data/dozes/over")
      await vi.waitUntil(async () => (await over()).length === 1, PATIENCE)
      assert.deepStrictEqual(await over(), [{ until: begun + 1500 }])
    }))

  it("is woken by the platform for the end of a durable run's sleep", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", { signal: "/signals/nap", payload: { who: "ann", ms: 1500 } }, "")
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/runs")).runs[0]?.state === "waiting", PATIENCE)
      const { number } = await json("/test/seen/shop")
      await fetch("/test/reset/shop")
      // Nothing opens the space but its alarm.
      await vi.waitUntil(async () => (await json("/test/seen/shop")).rings > 0, PATIENCE)
      await vi.waitUntil(async () => await json("/v1/spaces/shop/cells/data/naps/ann") === 1, PATIENCE)
      assert.isAbove((await json("/test/seen/shop")).number, number)
    }))

  it("stays held by hand when its object is evicted, and sleeps meanwhile", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      assert.strictEqual((await fetch("/v1/spaces/shop/control/hold", { method: "POST" })).status, 200)
      await signal("shop", greet("second"), "")
      await fetch("/test/reset/shop")
      assert.deepInclude(await json("/v1/spaces/shop/control"), { held: true })
      await fetch("/test/ring/shop")
      assert.isAbove((await json("/test/seen/shop")).alarm, Date.now() + 900_000)
      assert.deepStrictEqual((await json("/v1/spaces/shop/cells/data/greetings?list")).names, ["first"])
      await fetch("/v1/spaces/shop/control/release", { method: "POST" })
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/cells/data/greetings?list")).names.length === 2, PATIENCE)
      await fetch("/test/reset/shop")
      assert.deepInclude(await json("/v1/spaces/shop/control"), { held: false })
    }))
})

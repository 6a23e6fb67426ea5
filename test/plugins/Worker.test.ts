import { afterEach, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Channel, Plugin, type Value } from "systole"
import worker from "../../plugins/worker.ts"
import { current } from "../scripts/Host.ts"
import * as TestJob from "../support/TestJob.ts"

const releases: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

const MODULE = `
let calls = 0
export default (input: { readonly n: number }, context: unknown) => ({ twice: 2 * input.n, context })
export const count = async () => ++calls
export const rich = (input: ReadonlyMap<string, bigint>) => new Map([...input].map(([key, value]) => [key, value + 1n]))
export const none = () => {}
export const throwing = (text: string) => { throw new Error(text) }
export const late = async () => { await Promise.resolve(); throw "a text" }
export const looping = (memory: SharedArrayBuffer) => { for (;;) Atomics.add(new Int32Array(memory), 0, 1) }
export const meeting = (memory: SharedArrayBuffer) => {
  const view = new Int32Array(memory)
  if (Atomics.add(view, 0, 1) === 1) Atomics.notify(view, 0)
  else Atomics.wait(view, 0, 1)
  return "met"
}
export const fn = () => () => 1
export const regexp = () => /a/
export const long = () => "x".repeat(1_048_577)
export const uncaught = () => new Promise(() => setTimeout(() => { throw new Error("nobody catches it") }))
export const notCallable = 7
`

const opened = (options: Readonly<Record<string, unknown>> = {}, module = MODULE): Channel.Definition => {
  const folder = mkdtempSync(join(tmpdir(), "systole-worker-"))
  releases.push(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "work.mts"), module)
  const make = worker.provides.channels?.["worker"]
  if (make === undefined) throw new Error("the plugin has no channel")
  const channel = make({ id: "work", root: folder, folder, host: current(), options: { module: "work.mts", ...options } })
  releases.push(() => channel.close?.())
  return channel
}

const value = async (channel: Channel.Definition, payload: Value): Promise<unknown> =>
  (await TestJob.run(channel, TestJob.make("run", payload))).value

const failure = async (channel: Channel.Definition, payload: Value): Promise<Channel.ChannelError> => {
  const found = await TestJob.failure(channel, TestJob.make("run", payload))
  assert.include(found.message, "R1", "the message names the request")
  assert.isFalse(found.retryable)
  return found
}

/** Memory that threads share. No payload of a request contains it, but a thread takes it. */
const shared = () => {
  const memory = new SharedArrayBuffer(4)
  return { input: memory as unknown as Value, view: new Int32Array(memory) }
}

describe("The worker channel", () => {
  it("calls the functions of a module of the project, with the key of the request", async () => {
    const channel = opened()
    const context = { space: "shop", rid: "R1", key: "key-1", attempt: 1 }
    assert.deepStrictEqual(await value(channel, { input: { n: 21 } }), { twice: 42, context })
    assert.deepStrictEqual(await value(channel, { fn: "rich", input: new Map([["a", 1n]]) }), new Map([["a", 2n]]))
    assert.deepStrictEqual(await TestJob.run(channel, TestJob.make("run", { fn: "none" })), {})
  })

  it("uses a thread again, and has as many as calls at the same time", async () => {
    const channel = opened({ threads: 2 })
    assert.strictEqual(channel.jobs, 2)
    assert.deepStrictEqual([await value(channel, { fn: "count" }), await value(channel, { fn: "count" })], [1, 2])
    const { input } = shared()
    assert.deepStrictEqual(await Promise.all([1, 2].map(() => value(channel, { fn: "meeting", input }))), ["met", "met"])
  })

  it("ends a thread that loops for ever at an abort, and starts another", async () => {
    const channel = opened({ threads: 1 })
    const { input, view } = shared()
    const job = TestJob.make("run", { fn: "looping", input })
    const end = TestJob.failure(channel, job)
    while (Atomics.load(view, 0) === 0) await new Promise((resolve) => setImmediate(resolve))
    job.abort()
    assert.strictEqual((await end).code, "io/cancelled")
    assert.strictEqual(await value(channel, { fn: "count" }), 1)
    await channel.close?.()
    // Deno ends the thread a moment later.
    for (let before = -1, now = Atomics.load(view, 0); now !== before; now = Atomics.load(view, 0)) {
      before = now
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  })

  it("ends a thread that loops beyond the time of the channel, and starts another", async () => {
    const channel = opened({ threads: 1, timeoutMs: 1000 })
    const { code, message } = await TestJob.failure(channel, TestJob.make("run", { fn: "looping", input: shared().input }))
    assert.deepStrictEqual([code, message], ["io/timeout", "Request R1: it took more than 1000 ms"])
    // On a busy machine a thread may take longer than that to begin.
    const counted = (): Promise<unknown> =>
      value(channel, { fn: "count" }).catch((error: Channel.ChannelError) => {
        if (error.code !== "io/timeout") throw error
        return counted()
      })
    assert.strictEqual(await counted(), 1)
  })

  it("fails with the bounded message of a throw, and keeps the thread", async () => {
    const channel = opened({ threads: 1 })
    await value(channel, { fn: "count" })
    const { code, message } = await failure(channel, { fn: "throwing", input: "x".repeat(100_000) })
    assert.strictEqual(code, "worker/failed")
    assert.isBelow(message.length, 1200)
    assert.include((await failure(channel, { fn: "late" })).message, "a text")
    assert.strictEqual(await value(channel, { fn: "count" }), 2)
  })

  it.each([
    ["fn", "worker/value"], ["regexp", "worker/value"], ["long", "worker/value"], ["uncaught", "worker/ended"], ["none2", "worker/absent"],
    ["notCallable", "worker/absent"], ["toString", "worker/absent"], ["constructor", "worker/absent"],
    ["a.b", "io/invalid"], ["", "io/invalid"]
  ])("fails a call of %s as %s, and takes the next call", async (fn, code) => {
    const channel = opened({ threads: 1 })
    assert.strictEqual((await failure(channel, { fn })).code, code)
    assert.isNumber(await value(channel, { fn: "count" }))
  })

  it("refuses an input that no thread takes, and unknown fields", async () => {
    const channel = opened()
    assert.strictEqual((await failure(channel, { input: (() => 1) as unknown as Value })).code, "io/invalid")
    assert.strictEqual((await failure(channel, { function: "count" })).code, "io/invalid")
  })

  it("reports a module that does not load", async () => {
    const { code, message } = await failure(opened({}, "throw new Error(\"no licence\")"), {})
    assert.strictEqual(code, "worker/absent")
    assert.include(message, "no licence")
  })

  it("is a shim, and repeatable if its option says so", () => {
    assert.deepInclude(opened(), { shim: true, opcodes: { run: { repeatable: false } } })
    assert.deepStrictEqual(opened({ repeatable: true }).opcodes, { run: { repeatable: true } })
  })

  it.each([
    { module: "none.ts" }, { module: 5 }, { threads: 0 }, { thread: 1 }, { repeatable: "yes" }
  ])("refuses the options %j", (options) => assert.throws(() => opened(options), Plugin.InvalidPlugin))
})

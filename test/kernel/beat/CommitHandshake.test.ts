import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { defaults, PersistenceError, Reporter, StoreBusy, StoreUnavailable } from "systole"
import type { Limits } from "systole"
import { Telemetry } from "../../../src/diagnostic/Telemetry.ts"
import { after, CommitHandshake, type HandshakeState, type HandshakeStep } from "../../../src/kernel/beat/loop/CommitHandshake.ts"
import { present } from "../../support/Present.ts"

const at = { space: "shop", place: "here" }
const busy = Effect.fail(new PersistenceError({ reason: new StoreBusy(at) }))
const broken = Effect.fail(new PersistenceError({ reason: new StoreUnavailable({ ...at, detail: "gone" }) }))

/** A flush that ends when the test says so. */
const slow = () => {
  let end = (): void => {}
  const flush = Effect.callback<void>((resume) => void (end = () => resume(Effect.void)))
  return { flush, end: () => end() }
}

/** A handshake over a store that flushes in these ways, one after another, on a clock moved by the test. */
const handshake = (flushes: ReadonlyArray<Effect.Effect<void, PersistenceError>>, limits: Partial<Limits> = {}) => {
  let now = 0
  let calls = 0
  let wakes: Array<{ readonly at: number; readonly run: () => void }> = []
  const told: Array<string> = []
  const ends: Array<string> = []
  const shake = new CommitHandshake({
    space: "shop",
    store: { flush: Effect.suspend(() => flushes[calls++] ?? Effect.void) },
    host: {
      fork: Effect.runFork,
      now: () => now,
      timer: (at, run) => {
        const wake = { at, run }
        wakes.push(wake)
        return () => void (wakes = wakes.filter((other) => other !== wake))
      }
    },
    limits: { ...defaults, ...limits },
    reporter: new Reporter(({ topic }) => void told.push(topic)),
    telemetry: new Telemetry(Context.empty())
  })
  const pass = (): number => {
    const wake = present(wakes.toSorted((a, b) => a.at - b.at)[0])
    const waited = wake.at - now
    wakes = wakes.filter((other) => other !== wake)
    now = wake.at
    wake.run()
    return waited
  }
  const flush = (): void => {
    shake.take("open")
    shake.take("append")
    shake.flush((failed) => {
      ends.push(failed === undefined ? "durable" : (failed.error as { readonly code: string }).code)
      if (failed === undefined) shake.take("end")
    })
  }
  return { shake, told, ends, flush, pass, wakes: () => wakes.length, calls: () => calls }
}

describe("The states of a commit", () => {
  const run = (...steps: ReadonlyArray<HandshakeStep>): HandshakeState => steps.reduce(after, "idle")

  it("lead from an open group over the flush to its publication", () => {
    const steps = ["open", "append", "append", "flush", "publish", "end"] as const
    assert.deepStrictEqual(
      steps.map((_, i) => run(...steps.slice(0, i + 1))),
      ["begin", "put", "put", "finish", "commit", "idle"]
    )
  })

  it("return to the flush after a refusal", () => assert.strictEqual(run("append", "flush", "refuse", "flush"), "finish"))

  it("publish nothing that was not flushed, and flush nothing after an abort", () => {
    for (const steps of [["publish"], ["open", "publish"], ["append", "end"], ["append", "flush", "flush"], ["fail", "flush"]] as const) {
      assert.throws(() => run(...steps), "the commit handshake cannot")
    }
  })

  it("take what arrives during a flush into the next group", () => {
    for (const step of ["open", "append"] as const) assert.strictEqual(run("append", "flush", step), "finish")
  })
})

describe("A flush", () => {
  it("ends within the call and arms no timer where the store is synchronous", () => {
    const { ends, flush, shake, wakes } = handshake([])
    flush()
    assert.deepStrictEqual(ends, ["durable"])
    assert.strictEqual(wakes(), 0)
    assert.deepStrictEqual(shake.metrics, { state: "idle", async_inflight: 0, async_cq_latency: 0, async_retries: 0, async_shim_jobs: 1 })
  })

  it("is repeated after doubling waits while the store is busy", () => {
    const { ends, flush, pass, shake } = handshake([busy, busy, busy])
    flush()
    assert.strictEqual(shake.state, "pending_retry")
    assert.deepStrictEqual([pass(), pass(), pass()], [10, 20, 40])
    assert.deepStrictEqual(ends, ["durable"])
    assert.deepInclude(shake.metrics, { state: "idle", async_cq_latency: 70, async_retries: 3 })
    flush()
    assert.deepStrictEqual(ends, ["durable", "durable"])
  })

  it("fails after its last attempt", () => {
    const { calls, ends, flush, pass, shake, wakes } = handshake([busy, busy, busy, busy], { flushAttempts: 3 })
    flush()
    pass()
    pass()
    assert.deepStrictEqual([ends, shake.state, calls(), wakes()], [["store/busy"], "abort", 3, 0])
    const loss = shake.lossOf({ code: "x" }, { durable: 4, newest: 6 })
    assert.deepStrictEqual(loss, { topic: "persist.flush.fail", code: "store/busy", newest: 6 })
  })

  it("is never repeated after another failure", () => {
    const { calls, ends, flush, shake, wakes } = handshake([broken])
    flush()
    assert.deepStrictEqual([ends, shake.state, calls(), wakes()], [["store/unavailable"], "abort", 1, 0])
  })

  it("is given up after its time limit, and its end is ignored then", async () => {
    const { end, flush: hanging } = slow()
    // A flush that cannot be interrupted, such as a call to a database.
    const { ends, flush, pass, shake } = handshake([Effect.uninterruptible(hanging)])
    flush()
    assert.deepInclude(shake.metrics, { state: "finish", async_inflight: 1 })
    assert.strictEqual(pass(), defaults.flushMillis)
    assert.deepStrictEqual([ends, shake.state], [["flush/timeout"], "abort"])
    assert.deepInclude(shake.lossOf({ code: "x" }, { durable: 4, newest: 4 }), { topic: "persist.async.tmo", code: "flush/timeout" })
    end()
    await new Promise<void>((resolve) => void setImmediate(resolve))
    assert.deepStrictEqual([ends, shake.state], [["flush/timeout"], "abort"])
  })

  it("disarms its time limit when it is done", async () => {
    const { end, flush: later } = slow()
    const { ends, flush, shake, wakes } = handshake([later])
    flush()
    assert.strictEqual(wakes(), 1)
    end()
    await new Promise<void>((resolve) => void setImmediate(resolve))
    assert.deepStrictEqual([ends, wakes(), shake.metrics.async_shim_jobs], [["durable"], 0, 0])
  })

  it("is reported once while more groups than the limit wait behind it", async () => {
    const flushes = [slow(), slow(), slow()]
    const { flush, shake, told } = handshake(flushes.map(({ flush }) => flush))
    const counts: Array<number> = []
    for (const [i, groups] of [5, 5, 4].entries()) {
      flush()
      for (let n = 0; n < groups; n++) shake.queue()
      assert.strictEqual(shake.metrics.async_inflight, 1 + groups)
      counts.push(told.length)
      present(flushes[i]).end()
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
    assert.deepStrictEqual(counts, [1, 1, 1])
    flush()
    for (let n = 0; n < 4; n++) shake.queue()
    assert.deepStrictEqual(told, ["persist.async"])
    shake.queue()
    assert.deepStrictEqual(told, ["persist.async", "persist.async"])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import type { Transaction, Value } from "systole"
import { Computation, Reaction, replay, Retry, SpaceScheduler } from "systole"
import { causesOf } from "../../src/scheduler/graph/Reads.ts"
import { MAX_NESTING } from "../../src/scheduler/run/ReadSet.ts"
import type { NodeRun } from "../../src/scheduler/graph/Node.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)

describe("K: attempts of nodes", () => {
  it("K27 a run dropped for the depth of its reads runs again as often as needed, with the same causes, and without traces", () => {
    const [chains, depth] = [25, MAX_NESTING + 10]
    const scheduler = new SpaceScheduler()
    const attempts: Array<readonly [status: string, causes: ReadonlyArray<string>]> = []
    for (let chain = 0; chain < chains; chain++) {
      scheduler.set(`/x/${chain}/0`, 1)
      for (let i = 1; i <= depth; i++) {
        const run = (tx: Transaction) => {
          const below = number(tx.get(`/x/${chain}/${i - 1}`))
          // Every second chain has no output, so that its run changes no cell.
          return chain % 2 === 0 ? below + 1 : undefined
        }
        scheduler.register(Computation.make({ name: `step${chain}.${i}`, output: `/x/${chain}/${i}`, run }))
      }
    }
    scheduler.register(Reaction.make({
      name: "top",
      read: (tx) => {
        const { node } = tx as unknown as NodeRun
        attempts.push([present(node.run).children === undefined ? "clean" : "left over", causesOf(node)])
        const isDeep = tx.get("/deep") === true
        tx.start(Computation.make({ name: `child${attempts.length}`, output: `/child/${attempts.length}`, run: () => attempts.length }))
        return isDeep
          ? Array.from({ length: chains }, (_, chain) => number(tx.get(`/x/${chain}/${depth}`))).reduce((sum, x) => sum + x, 0)
          : null
      },
      deliver: (value) => void told.push(value)
    }))
    const told: Array<Value> = []
    scheduler.settle()
    attempts.length = 0
    scheduler.set("/deep", true)
    scheduler.settle()
    assert.isAtLeast(attempts.length, chains)
    for (const [left, causes] of attempts) {
      assert.include(causes, "/deep")
      assert.strictEqual(left, "clean")
    }
    assert.deepStrictEqual(told, [null, Math.ceil(chains / 2) * (depth + 1)])
    assert.deepStrictEqual(scheduler.takeFailures(), [])
    assert.strictEqual(present(scheduler.snapshot().find(({ name }) => name === "top")).runs, 2)
  })

  /** Fails with the error that `fails` has for the value of `/data/x`, for its number of attempts. */
  type Plan = Record<number, { readonly times: number; readonly error: () => unknown }>

  const failing = (log: Graph.Log, plan: Plan) => (tx: Transaction): Value => {
    const x = number(tx.get("/data/x"))
    if (!TestKernel.isOwn(tx)) return x
    log.ran("attempt", tx)
    const { error, times } = plan[x] ?? { times: 0, error: () => undefined }
    tried.set(x, (tried.get(x) ?? 0) + 1)
    if (present(tried.get(x)) <= times) throw error()
    return x
  }
  const tried = new Map<number, number>()
  const passing = () => new Retry({ reason: "not yet" })

  it.effect("K28 a node that fails with Retry runs ten times at most, at growing delays, then at a change; other failures are final", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      tried.clear()
      const space = yield* Graph.open(
        Computation.make({
          name: "failing",
          output: "/data/out",
          run: failing(log, {
            1: { times: 3, error: passing },
            2: { times: 99, error: passing },
            4: { times: 99, error: () => new TypeError("no") },
            6: { times: 3, error: passing }
          })
        }),
        log.effect("watch", (tx) => tx.get("/data/out"))
      )
      const waits = Fx.gen(function*() {
        const found: Array<number> = []
        for (let waited = 250; waited <= 30_000; waited += 250) {
          yield* TestClock.adjust(250)
          yield* space.step
          if (log.take()["attempt"] === 1) found.push(waited)
        }
        return found
      })
      const failures = Fx.map(TestKernel.diagnostics(space), (all) => all.map(({ code, topic }) => `${topic} ${code}`))
      yield* Graph.put(space, ["/data/x", 1])
      log.take()
      assert.deepStrictEqual(yield* waits, [250, 750, 1750])
      assert.strictEqual(yield* space.get("/data/out"), 1)
      assert.deepStrictEqual(yield* failures, [])

      yield* Graph.put(space, ["/data/x", 2])
      log.take()
      assert.deepStrictEqual(yield* waits, [250, 750, 1750, 3750, 5750, 7750, 9750, 11_750, 13_750])
      assert.deepStrictEqual(yield* failures, ["node/failed node/exhausted"])
      assert.strictEqual(yield* space.get("/data/out"), 1)

      yield* Graph.put(space, ["/data/x", 3])
      assert.strictEqual(yield* space.get("/data/out"), 3)
      yield* Graph.put(space, ["/data/x", 4])
      log.take()
      assert.deepStrictEqual(yield* waits, [])
      assert.deepStrictEqual((yield* failures).slice(1), ["node/failed run/failed"])
      // The count begins anew.
      yield* Graph.put(space, ["/data/x", 6])
      log.take()
      assert.deepStrictEqual(yield* waits, [250, 750, 1750])
      assert.strictEqual(log.seen["watch"], 6)
      const head = yield* space.head
      tried.clear()
      assert.isUndefined((yield* space.examine((archive) => replay(archive, head - 3, head))).difference)
    }).pipe(Fx.provide(TestKernel.layer())))
})

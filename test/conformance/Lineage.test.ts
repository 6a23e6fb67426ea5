import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Kernel, Retry } from "systole"
import { controlled, ended, enzyme, steps, turns } from "../kernel/TestSpace.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"
import * as Tournament from "./Tournament.ts"

describe("L: lineage and receipts", () => {
  it.effect("L1 signals of a conflict loser are never handled, and those of its committed attempt are, once", () =>
    Effect.gen(function*() {
      const handled: Array<unknown> = []
      const { enzymes, ran } = Tournament.make(
        2,
        (tx, n, run) => void (n === 1 && tx.signal({ signal: "/signals/follow", payload: `attempt ${run}` }))
      )
      const space = yield* TestKernel.space([...enzymes, enzyme("follow", (_, { payload }) => void handled.push(payload))])
      yield* Tournament.start(space, 2)
      yield* steps(space, 5)
      assert.deepStrictEqual(ran, [1, 2])
      assert.deepStrictEqual(handled, ["attempt 2"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L5 signals of a run without write permission are handled as others are", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("look", (tx) => tx.signal({ signal: "/signals/follow", payload: tx.get("/data/x") ?? null }), { writes: [] }),
        enzyme("follow", (tx) => tx.increment("/data/followed"))
      ])
      yield* space.signal({ signal: "/signals/look" })
      yield* steps(space, 3)
      assert.strictEqual(yield* space.get("/data/followed"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L6 a signal to another space leaves after its beat is durable, is handled once, and never if its run failed", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make([
        enzyme("send", (tx, { attempt, payload }) => {
          tx.signal({ signal: "/signals/take", space: "b", payload: `${payload} ${attempt}` })
          if (payload === "bad") throw new Error("no")
          return attempt < 2 ? new Retry({ reason: "not yet" }) : undefined
        }),
        enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload))
      ])
      const kernel = yield* host.boot()
      const [a, b] = [yield* kernel.space("a"), yield* kernel.space("b")]
      for (const payload of ["good", "bad"]) yield* a.signal({ signal: "/signals/send", payload })
      yield* a.step
      yield* host.hold("a")
      const second = yield* Effect.forkChild(a.step, { startImmediately: true })
      yield* turns()
      yield* steps(b, 2)
      assert.isUndefined(yield* b.get("/data/taken"))
      assert.isUndefined(second.pollUnsafe())
      yield* host.release("a")
      yield* turns()
      yield* steps(a, 3)
      yield* turns()
      yield* steps(b, 3)
      assert.deepStrictEqual(yield* b.get("/data/taken"), ["good 2"])
    }))

  /** Pieces that double a number, and count their runs. */
  const doubling = (log: Graph.Log) =>
    Computation.make({
      name: "double",
      inputs: ["of"],
      output: "/data/double/:of",
      run: (tx, { of }) => (log.ran(`double ${of}`, tx), Number(tx.get(`/data/${of}`) ?? 0) * 2)
    })

  it.effect("L8 a piece started by an unfinished run does not run, and leaves no trace", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      yield* Graph.register(doubling(log), log.effect("watch", (tx) => tx.get("/data/double/x")))
      const ran: Array<number> = []
      const space = yield* TestKernel.space([enzyme("launch", (tx, { attempt }) => {
        ran.push(attempt)
        tx.start("double", { of: "x" })
        return new Retry({ reason: "never" })
      }, { retry: { attempts: 3 } })])
      yield* space.signal({ signal: "/signals/launch", payload: 1 })
      yield* steps(space, 6)
      assert.deepStrictEqual(ran, [1, 2, 3])
      assert.deepStrictEqual(log.take(), { watch: 1 })
      assert.deepStrictEqual(yield* space.list("/sys/pieces"), [])
      assert.isUndefined(yield* space.get("/data/double/x"))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L9 a pending start is dropped with its run, and another start of the same piece stays", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      const parent = (name: string, debounce: number) => log.effect(name, (tx) => tx.start("double", { of: "x" }), { debounce })
      const [slow, quick] = [parent("slow", 100), parent("quick", 0)]
      const kernel = yield* Kernel
      const space = yield* Graph.open(doubling(log), slow)
      yield* space.step
      yield* kernel.unregister(slow)
      yield* TestClock.adjust(100)
      yield* space.step
      assert.deepStrictEqual(log.take(), {})
      yield* kernel.register(slow)
      yield* kernel.register(quick)
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { quick: 1, "double x": 1 })
      yield* kernel.unregister(slow)
      yield* TestClock.adjust(100)
      yield* kernel.register(log.effect("watch", (tx) => tx.get("/data/double/x")))
      yield* Graph.put(space, ["/data/x", 2])
      assert.strictEqual(log.seen["watch"], 4)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L12 an event that starts a piece and is delivered twice starts one, which keeps deriving", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      yield* Graph.register(doubling(log), log.effect("watch", (tx) => tx.get("/data/double/x")))
      const space = yield* TestKernel.space([enzyme("launch", (tx) => tx.start("double", { of: "x" }))])
      for (const n of [1, 2]) {
        const { duplicate } = yield* Effect.andThen(
          Effect.forkChild(space.signal({ signal: "/signals/launch", payload: 1, id: "once" }), { startImmediately: true }),
          (fiber) => Effect.andThen(space.step, Fiber.join(fiber))
        )
        assert.strictEqual(duplicate, n === 2)
      }
      assert.lengthOf(yield* space.list("/sys/pieces"), 1)
      assert.strictEqual(log.take()["double x"], 1)
      yield* controlled(space, space.set("/data/x", 21))
      assert.deepStrictEqual(log.take(), { "double x": 1, watch: 1 })
      assert.strictEqual(log.seen["watch"], 42)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L13 an event that lost a conflict on another document commits at its second attempt, under the same receipt", () =>
    Effect.gen(function*() {
      const { enzymes, ran } = Tournament.make(2)
      const space = yield* TestKernel.space(enzymes)
      const ids = yield* Tournament.start(space, 2)
      yield* space.step
      assert.strictEqual((yield* space.receipt(present(ids[1])))?.status, "pending")
      yield* space.step
      assert.deepStrictEqual(ran, [1, 2])
      assert.deepStrictEqual(yield* ended(space, present(ids[1])), ["contend ok @1 #1"])
      assert.deepInclude((yield* space.get(`/rt/receipts/${ids[1]}/contend`)) as object, { outcome: "ok", beat: 1 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L15 a handling that launches and returns nothing has {} for its receipt, and one that returns a value has that", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("e", (_, { payload }) => payload === "nothing" ? undefined : payload)])
      const ids = []
      for (const payload of ["nothing", "something"]) ids.push((yield* space.signal({ signal: "/signals/e", payload })).id)
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.get(`/rt/receipts/${ids[0]}/e#/value`), {})
      assert.deepStrictEqual(yield* space.get(`/rt/receipts/${ids[1]}/e#/value`), "something")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L16 two signals, or two principals, that share a caller's id have receipts of their own", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("e", (_, { payload }) => payload, { query: "/signals/*" })])
      const ids: Array<string> = []
      for (const [signal, principal, payload] of [["s", "ann", 1], ["t", "ann", 2], ["s", "bob", 3]] as const) {
        ids.push((yield* space.signal({ signal: `/signals/${signal}`, payload, id: "shared", principal })).id)
      }
      yield* steps(space, 3)
      const values = yield* Effect.forEach(ids, (id) => Effect.map(space.receipt(id), (receipt) => receipt?.handlings[0]?.value))
      assert.deepStrictEqual(values, [1, 2, 3])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L18 an event is still known after its receipt is pruned, and does not run again", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("e", () => void runs++)])
      const posted = { signal: "/signals/e", payload: 1, id: "mine" }
      const { id } = yield* space.signal(posted)
      // Stores prune once in 256 rows.
      yield* steps(space, 300)
      assert.strictEqual((yield* space.receipt(id))?.status, "pruned")
      const refused = yield* Effect.flip(space.set(`/rt/receipts/${id}`, undefined))
      assert.strictEqual(refused.code, "cell/refused")
      assert.deepInclude(yield* space.signal(posted), { id, duplicate: true })
      yield* steps(space, 2)
      assert.strictEqual(runs, 1)
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 500 } }))))

  it.effect("L19 a handling without writes has its receipt created the first time, and is refused the second time", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("e", () => ++runs, { writes: [] })])
      const posted = { signal: "/signals/e", payload: 1, id: "mine" }
      const first = yield* space.signal(posted)
      assert.isFalse(first.duplicate)
      yield* space.step
      assert.strictEqual((yield* space.receipt(first.id))?.handlings[0]?.value, 1)
      // While the first one waits, runs, and is handled.
      assert.isTrue((yield* space.signal(posted)).duplicate)
      yield* steps(space, 2)
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual((yield* space.receipt(first.id))?.handlings.map(({ beat, value }) => [beat, value]), [[0, 1]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("L21 a second delivery is permanent, a conflict is retried and costs no attempt, and a violation ends with its own code", () =>
    Effect.gen(function*() {
      const runs: Array<string> = []
      const { enzymes } = Tournament.make(2)
      const space = yield* TestKernel.space([
        ...enzymes.map((one) => ({ ...one, retry: { attempts: 1 } })),
        enzyme("rule", (tx) => {
          runs.push("rule")
          tx.set("/data/elsewhere", 1)
        }, { writes: ["/data/here"] }),
        enzyme("done", () => void runs.push("done"))
      ])
      const posted = { signal: "/signals/done", payload: 1, id: "mine" }
      yield* space.signal(posted)
      const ids = yield* Tournament.start(space, 2)
      const { id } = yield* space.signal({ signal: "/signals/rule", payload: 1 })
      yield* space.step
      assert.strictEqual((yield* Effect.flip(space.signal({ ...posted, payload: 2 }))).code, "signal/id-reused")
      assert.isTrue((yield* space.signal(posted)).duplicate)
      yield* steps(space, 3)
      assert.deepStrictEqual(runs, ["done", "rule"])
      assert.deepStrictEqual(yield* ended(space, present(ids[1])), ["contend ok @1 #1"])
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "envelope/outside")
      assert.deepStrictEqual((yield* space.dead({ limit: 9 })).letters.map(({ enzyme }) => enzyme), ["rule"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

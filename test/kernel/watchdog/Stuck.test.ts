import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { NodeDefinition, Transaction } from "systole"
import { BeatAborted, Computation, Reaction as Fx, Kernel, Materializer } from "systole"
import * as Watchdog from "../../../src/kernel/watchdog/Watchdog.ts"
import * as TestWatchdog from "../../support/TestWatchdog.ts"
import { processes, reached } from "../../support/TestWatchdog.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { ended, enzyme, put, register, replays, steps, write } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

describe("an event whose run never returns", () => {
  it.effect("is given up at once if its enzyme has a single attempt", () =>
    Effect.gen(function*() {
      const { ends, reach, start } = yield* processes("poison", { retry: { attempts: 1 } })
      const first = yield* start()
      const { id } = yield* first.signal({ signal: "/signals/s/1", payload: "poison" })
      yield* reach(first)
      ends.bark()
      const second = yield* start()
      yield* steps(second, 1)
      assert.deepStrictEqual((yield* second.dead({ limit: 10 })).letters.map(({ code, id }) => [id, code]), [[id, "run/stuck"]])
    }))

  it.effect("is found after an unexplained end of the process: on probation each run is marked before it begins", () =>
    Effect.gen(function*() {
      const { ends, reach, start } = yield* processes("poison")
      const first = yield* start()
      for (const payload of ["good", "poison", "better"]) yield* first.signal({ signal: `/signals/s/${payload}`, payload })
      yield* reach(first)
      assert.strictEqual(ends.notes(), 0, "nothing is noted on the normal path")

      yield* reach(yield* start())
      assert.deepStrictEqual(ends.marks("machine").map((mark) => "event" in mark && mark.enzyme), ["poisoned"])
      // Three ends in a row are a failed attempt, and the end of the next one is the last.
      for (let i = 0; i < 3; i++) yield* reach(yield* start())
      const last = yield* start()
      yield* steps(last, 3)
      assert.deepStrictEqual(
        (yield* last.dead({ limit: 10 })).letters.map(({ code, enzyme }) => [enzyme, code]), [["poisoned", "run/stuck"]]
      )
      for (const payload of ["good", "better"]) assert.strictEqual(yield* last.get(`/data/poisoned/${payload}`), 1)
      const notes = ends.notes()
      yield* last.signal({ signal: "/signals/s/1", payload: "late" })
      yield* steps(last, 2)
      assert.strictEqual(ends.notes(), notes, "probation is over")
    }))

  it.effect("is no event that was merely under way when the host ended processes twice", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const ends = TestWatchdog.make()
      let isSlow = true
      const slow = enzyme("slow", async (tx) => {
        if (isSlow) await new Promise(() => {})
        tx.increment("/data/slow")
      }, { query: "/signals/slow", limitMs: 3_600_000, retry: { attempts: 1 } })
      const start = () => Effect.provideService(machine.boot([slow]), Watchdog.CurrentWatchdog, Watchdog.make(ends.start()))
      const first = yield* start()
      const { id } = yield* first.signal({ signal: "/signals/slow" })
      yield* reached(first)
      for (const under of [1, 2]) {
        yield* reached(yield* start())
        assert.deepStrictEqual(ends.marks("machine"), [{ beat: 0, enzyme: "slow", event: id, under }])
      }
      isSlow = false
      const last = yield* start()
      yield* steps(last, 2)
      assert.deepStrictEqual([yield* last.get("/data/slow"), yield* ended(last, id)], [1, ["slow ok @0 #1"]])
      assert.deepStrictEqual([(yield* last.dead({ limit: 10 })).letters, ends.marks("machine")], [[], []])
      yield* replays(last)
    }))

  it.effect("does not affect a space that was closed, or whose head moved", () =>
    Effect.gen(function*() {
      const { ends, start } = yield* processes("poison")
      const first = yield* start()
      yield* first.signal({ signal: "/signals/s/1", payload: "good" })
      yield* steps(first, 1)
      const second = yield* start()
      yield* second.signal({ signal: "/signals/s/1", payload: "better" })
      yield* steps(second, 1)
      ends.close()
      const third = yield* start()
      yield* third.signal({ signal: "/signals/s/1", payload: "best" })
      yield* steps(third, 1)
      assert.strictEqual(ends.notes(), 0)
    }))
})

describe("a run that breaks its beat", () => {
  const breaking: Readonly<Record<string, (tx: Transaction) => unknown>> = {
    "freezes its transaction": (tx) => void Object.freeze(tx),
    "returns a promise whose constructor throws": () => {
      const promise = Promise.resolve()
      Object.defineProperty(promise, "constructor", { get: () => { throw new Error("no constructor") } })
      return promise
    }
  }
  for (const [what, run] of Object.entries(breaking)) {
    it.effect(`costs its own handling alone if it ${what}`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([
          enzyme("breaks", run, { query: "/signals/s" }),
          enzyme("counts", (tx) => tx.increment("/data/count"), { query: "/signals/s" })
        ])
        const { id } = yield* space.signal({ signal: "/signals/s" })
        let aborted = 0
        for (let i = 0; i < 6; i++) {
          const step = yield* Effect.result(space.step)
          if (step._tag === "Failure" && step.failure instanceof BeatAborted) aborted++
        }
        assert.strictEqual(yield* space.get("/data/count"), 1)
        const { letters } = yield* space.dead({ limit: 10 })
        assert.deepStrictEqual(letters.map(({ enzyme, id }) => [enzyme, id]), [["breaks", id]])
        if (letters[0]!.code === "run/stuck") {
          assert.deepStrictEqual([aborted, yield* ended(space, id)], [2, ["counts ok @0 #1", "breaks dead @1 #2"]])
        }
        yield* replays(space)
      }).pipe(Effect.provide(TestKernel.layer())))
  }
})

describe("a node that freezes its transaction", () => {
  const value = (tx: Transaction) => Number(tx.get("/data/in") ?? 0)
  const frozen = (tx: Transaction, look: (tx: Transaction) => number) => {
    const seen = value(tx)
    if (seen % 2 === 1) Object.freeze(tx)
    return look(tx)
  }
  const twice = Computation.make({ name: "twice", output: "/c/twice", run: (tx) => 2 * value(tx) })
  const reads = (tx: Transaction) => Number(tx.get("/c/twice"))
  const catches = (tx: Transaction) => {
    try {
      return reads(tx)
    } catch {
      return -1
    }
  }
  const demand = Fx.make({ name: "sees", read: (tx) => [tx.get("/c/bad"), tx.get("/c/sound")], deliver: () => {}, noDebounce: true })
  const nodes: Readonly<Record<string, NodeDefinition>> = {
    computation: Computation.make({ name: "bad", output: "/c/bad", run: (tx) => frozen(tx, value) }),
    "computation that goes on to read": Computation.make({ name: "bad", output: "/c/bad", run: (tx) => frozen(tx, reads) }),
    "computation that catches what follows": Computation.make({ name: "bad", output: "/c/bad", run: (tx) => frozen(tx, catches) }),
    effect: Fx.make({ name: "bad", read: (tx) => frozen(tx, value), deliver: () => {}, noDebounce: true }),
    materializer: Materializer.make({ name: "bad", writes: ["/c/*"], run: (tx) => tx.set("/c/bad", frozen(tx, value)) })
  }
  for (const [what, bad] of Object.entries(nodes)) {
    it.effect(`fails alone, and runs again when its reads change: ${what}`, () =>
      Effect.gen(function*() {
        const sound = Computation.make({ name: "sound", output: "/c/sound", run: (tx) => value(tx) + 1 })
        const space = yield* TestKernel.space([put])
        yield* register(bad, twice, sound, demand)
        const delivers = bad._tag === "Effect"
        for (const seen of [0, 1, 3, 4]) {
          yield* write(space, ["/data/in", seen])
          assert.strictEqual(yield* space.get("/c/sound"), seen + 1)
          const derived = [4, 8][Number(what.startsWith("computation that"))]
          if (!delivers) assert.strictEqual(yield* space.get("/c/bad"), seen === 4 ? derived : 0, `at ${seen}`)
        }
        const view = yield* space.graph.view
        assert.isUndefined(view.nodes.find(({ name }) => name === "bad")?.error)
        yield* replays(space)
      }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("fails alone, and runs again when its reads change: however else it breaks its transaction", () =>
    Effect.gen(function*() {
      const breaks = Computation.make({
        name: "breaks",
        output: "/c/broken",
        run: (tx) => {
          if (tx.get("/data/break") === true) Object.setPrototypeOf(tx, null)
          return value(tx)
        }
      })
      const kernel = yield* Kernel
      const space = yield* TestKernel.space([put])
      yield* register(
        breaks,
        twice,
        Fx.make({ name: "sees-all", read: (tx) => [tx.get("/c/broken"), tx.get("/c/twice")], deliver: () => {}, noDebounce: true })
      )
      yield* write(space, ["/data/break", true])
      yield* write(space, ["/data/in", 2])
      assert.strictEqual(yield* space.get("/c/twice"), 4)
      yield* write(space, ["/data/break", false])
      assert.strictEqual(yield* space.get("/c/broken"), 2)
      yield* replays(space)
      const other = yield* kernel.space("other", { create: true })
      yield* write(other, ["/data/in", 1])
      assert.strictEqual(yield* other.get("/c/twice"), 2)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a node whose run never returns", () => {
  const world = () => {
    const ran: Array<number> = []
    const looping = Computation.make({
      name: "looping",
      output: "/c/looping",
      run: (tx) => {
        const value = Number(tx.get("/data/in") ?? 0)
        ran.push(value)
        return value * 2
      }
    })
    const sound = Computation.make({ name: "sound", output: "/c/sound", run: (tx) => Number(tx.get("/data/in") ?? 0) + 1 })
    const demand = ["/c/looping", "/c/sound"].map(
      (place) => Fx.make({ name: `see-${place.slice(3)}`, read: (tx) => tx.get(place), deliver: () => {}, noDebounce: true })
    )
    return { ran, modules: (hash: string) => [put, { module: looping, hash }, sound, ...demand] }
  }

  it.effect("fails once without being run after the first end, and until its module changes after the second", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const ends = TestWatchdog.make()
      const { modules, ran } = world()
      const boot = (hash: string) =>
        Effect.provideService(machine.boot(modules(hash)), Watchdog.CurrentWatchdog, Watchdog.make(ends.start()))
      const first = yield* boot("a")
      yield* write(first, ["/data/in", 1])
      assert.deepStrictEqual([yield* first.get("/c/looping"), yield* first.get("/c/sound")], [2, 2])
      // As if the process had ended there, twice.
      for (const isAgain of [false, true]) {
        ends.mark("machine", isAgain ? 9 : 1, "looping")
        const space = yield* boot("a")
        const before = ran.length
        yield* write(space, ["/data/in", isAgain ? 5 : 3])
        yield* steps(space, 1)
        assert.deepStrictEqual([ran.length - before, yield* space.get("/c/looping"), yield* space.get("/c/sound")], [0, 2, isAgain ? 6 : 4])
        assert.deepInclude(ends.marks("machine")[0], isAgain ? { node: "looping", ends: 2 } : { node: "looping", ends: 1, isSettled: true })
        yield* replays(space)
      }
      const held = yield* boot("a")
      const before = ran.length
      yield* write(held, ["/data/in", 7])
      assert.deepStrictEqual([ran.length - before, yield* held.get("/c/looping")], [0, 2])
      const mended = yield* boot("b")
      yield* write(mended, ["/data/in", 8])
      assert.strictEqual(yield* mended.get("/c/looping"), 16)
      assert.deepStrictEqual(ends.marks("machine"), [])
    }))

  it.effect("is run again after two ends that the host may have caused, and fails after three", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const ends = TestWatchdog.make()
      const { modules, ran } = world()
      const boot = (watchdog = ends.start()) =>
        Effect.provideService(machine.boot(modules("a")), Watchdog.CurrentWatchdog, Watchdog.make(watchdog))
      yield* write(yield* boot(), ["/data/in", 1])
      for (const under of [2, 3]) {
        const watchdog = ends.start()
        watchdog.note("machine", [{ beat: 9, node: "looping", ends: 0, under }])
        const space = yield* boot(watchdog)
        const before = ran.length
        yield* write(space, ["/data/in", under])
        yield* steps(space, 1)
        assert.deepStrictEqual([ran.length - before, yield* space.get("/c/looping")], under === 2 ? [1, 4] : [0, 4])
        assert.deepStrictEqual(ends.marks("machine").length, under - 2)
        yield* replays(space)
      }
    }))

  it.effect("is cleared if its next try completes", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const ends = TestWatchdog.make()
      const { modules } = world()
      const boot = () => Effect.provideService(machine.boot(modules("a")), Watchdog.CurrentWatchdog, Watchdog.make(ends.start()))
      const first = yield* boot()
      yield* write(first, ["/data/in", 1])
      ends.mark("machine", 1, "looping")
      const second = yield* boot()
      yield* write(second, ["/data/in", 2])
      assert.strictEqual(yield* second.get("/c/looping"), 2)
      yield* write(second, ["/data/in", 3])
      assert.strictEqual(yield* second.get("/c/looping"), 6)
      assert.deepStrictEqual(ends.marks("machine"), [])
      yield* replays(second)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Enzyme, Kernel, replay, Retry } from "systole"
import { controlled, ended, enzyme, steps, turns } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"
import * as Tournament from "./Tournament.ts"

const again = () => new Retry({ reason: "not yet" })

/** The codes of the dead letters of a space. */
const codes = (space: Effect.Success<ReturnType<typeof TestKernel.space>>) =>
  Effect.map(space.dead({ limit: 100 }), ({ letters }) => letters.map(({ code }) => code))

describe("K: events and lanes", () => {
  it.effect("K1 events run in the order of their sending, on paths of any depth, and not for a withdrawn enzyme", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const log = enzyme("log", (_, { payload, signal }) => void ran.push(`${signal} ${payload}`), { query: "/signals/**" })
      const space = yield* TestKernel.space([enzyme("start", (tx) => {
        for (const n of [1, 2, 3]) tx.signal({ signal: "/signals/a/b/c", payload: n })
      }, { query: "/start" }), log])
      yield* space.signal({ signal: "/start" })
      yield* steps(space, 4)
      assert.deepStrictEqual(ran, ["/signals/a/b/c 1", "/signals/a/b/c 2", "/signals/a/b/c 3"])
      yield* (yield* Kernel).unregister(log)
      const { id } = yield* space.signal({ signal: "/signals/a/b/c", payload: 4 })
      yield* space.step
      assert.lengthOf(ran, 3)
      assert.strictEqual((yield* space.receipt(id))?.status, "no-match")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K2 a second exclusive enzyme on a query is refused by both names, and its next version replaces the first", () =>
    Effect.gen(function*() {
      const version = (n: number) => enzyme("one", (tx) => tx.append("/data/ran", n), { query: "/signals/s", exclusive: true })
      const first = version(1)
      const space = yield* TestKernel.space([first])
      const kernel = yield* Kernel
      const refused = yield* Effect.flip(kernel.register(enzyme("other", () => 1, { query: "/signals/s", exclusive: true })))
      assert.include(refused.message, "\"one\"")
      assert.include(refused.message, "\"other\"")
      yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      yield* kernel.unregister(first)
      yield* kernel.register(version(2))
      yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.deepStrictEqual(yield* space.get("/data/ran"), [1, 2])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K4 a run does not update derived cells that it does not read", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      yield* Graph.register(
        log.computation("read", "/data/read", (tx) => tx.get("/data/x")),
        log.computation("other", "/data/other", (tx) => tx.get("/data/x"))
      )
      const seen: Array<unknown> = []
      const space = yield* TestKernel.space([enzyme("look", (tx) => void seen.push(tx.get("/data/read")), { reads: ["/data/read"] })])
      yield* controlled(space, space.set("/data/x", 1))
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      assert.deepStrictEqual(log.take(), { read: 1 })
      assert.deepStrictEqual(seen, [1])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K5 the reads of a run are up to date before it, including cells invalidated by the update itself", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      yield* Graph.register(
        log.computation("late", "/data/late", (tx) => `late ${tx.get("/data/beside")}`),
        log.computation("a", { output: "/data/a", writes: ["/data/beside"] }, (tx) => {
          tx.set("/data/beside", tx.get("/data/x"))
          return `a ${tx.get("/data/x")}`
        }),
        log.computation("b", "/data/b", (tx) => `b ${tx.get("/data/x")}`)
      )
      const seen: Array<unknown> = []
      const reads = ["/data/late", "/data/a", "/data/b"]
      const space = yield* TestKernel.space([
        enzyme("look", (tx) => void seen.push(reads.map((address) => tx.get(address))), { reads: () => reads })
      ])
      for (const x of [1, 2]) {
        yield* controlled(space, space.set("/data/x", x))
        yield* space.signal({ signal: "/signals/look", payload: x })
        yield* space.step
        assert.deepStrictEqual(seen.pop(), [`late ${x}`, `a ${x}`, `b ${x}`])
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K7 a ring demanded by a run alone runs up to the limit of a pass, and the run waits, longer each time", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      const ring = (name: string, other: string) =>
        log.computation(name, `/data/${name}`, (tx) => Number(tx.get(`/data/${other}`) ?? 0) + 1)
      yield* Graph.register(ring("a", "b"), ring("b", "a"))
      const space = yield* TestKernel.space([enzyme("look", (tx) => tx.set("/data/looked", tx.get("/data/a")), { reads: ["/data/a"] })])
      yield* space.signal({ signal: "/signals/look", payload: 1 })
      yield* space.step
      assert.deepStrictEqual(log.take(), { a: 10, b: 10 })
      for (const wait of [250, 500, 1000]) {
        yield* TestClock.adjust(wait - 1)
        yield* steps(space, 2)
        assert.deepStrictEqual(log.take(), {})
        yield* TestClock.adjust(1)
        yield* space.step
        assert.deepStrictEqual(log.take(), { a: 10, b: 10 })
      }
      assert.isUndefined(yield* space.get("/data/looked"))
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ topic }) => topic), ["node/non-settling"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K7 a converging ring converges before the run that demands it", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      const ring = (name: string, other: string) =>
        log.computation(name, `/data/${name}`, (tx) => Math.min(5, Number(tx.get(`/data/${other}`) ?? 0) + 1))
      yield* Graph.register(ring("a", "b"), ring("b", "a"))
      const space = yield* TestKernel.space([enzyme("look", (tx) => tx.set("/data/looked", tx.get("/data/a")))])
      yield* space.signal({ signal: "/signals/look", payload: 1 })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/looked"), 5)
      assert.deepStrictEqual([yield* space.get("/data/a"), yield* space.get("/data/b")], [5, 5])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K8 a run with undeterminable reads does not start, its caller is answered once, and the queue continues", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      yield* Graph.register(log.computation("double", "/data/double", (tx) => Number(tx.get("/data/x")) * 2))
      const ran: Array<unknown> = []
      const look = enzyme("look", (tx, { payload }) => void ran.push([payload, tx.get("/data/double")]), {
        reads: ({ payload }) => {
          if (payload === 1) throw new RangeError("no such place")
          return payload === 2 ? ["no address"] : ["/data/double"]
        }
      })
      const space = yield* TestKernel.space([look])
      yield* controlled(space, space.set("/data/x", 4))
      const told = yield* Effect.forEach(
        [1, 2, 3],
        (payload) => Effect.forkChild(space.handled({ signal: "/signals/look", payload }), { startImmediately: true })
      )
      yield* turns()
      yield* steps(space, 3)
      const receipts = yield* Effect.forEach(told, Fiber.join)
      assert.deepStrictEqual(receipts.map(({ status }) => status), ["dead", "dead", "handled"])
      assert.deepStrictEqual(receipts.map(({ handlings: [handling] }) => handling?.error?.tag), ["RangeError", "InvalidAddress", undefined])
      assert.deepStrictEqual(ran, [[3, 8]])
      assert.lengthOf(yield* TestKernel.diagnostics(space), 2)
      const { difference } = yield* space.examine((archive) => replay(archive, 0, 9))
      assert.isUndefined(difference)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K10 an enzyme that throws runs once, commits no write or signal, answers its caller once, and has a dead letter", () =>
    Effect.gen(function*() {
      let runs = 0
      let next = 0
      const space = yield* TestKernel.space([
        enzyme("bad", (tx) => {
          runs++
          tx.set("/data/x", 1)
          tx.signal({ signal: "/signals/next", payload: 1 })
          tx.signal({ signal: "/signals/next", space: "other", payload: 1 })
          throw new Error("no")
        }),
        enzyme("next", () => void next++)
      ])
      let told = 0
      const waiting = yield* Effect.forkChild(
        Effect.tap(space.handled({ signal: "/signals/bad", payload: 1 }), () => Effect.sync(() => told++)),
        { startImmediately: true }
      )
      yield* steps(space, 3)
      const receipt = yield* Fiber.join(waiting)
      yield* steps(yield* (yield* Kernel).space("other"), 2)
      assert.deepStrictEqual([runs, next, told, receipt.status], [1, 0, 1, "dead"])
      assert.isUndefined(yield* space.get("/data/x"))
      assert.deepStrictEqual(receipt.handlings.map(({ outcome }) => outcome), ["dead"])
      assert.deepStrictEqual(yield* codes(space), ["run/failed"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K11 the next event of a lane runs before the commit of the previous one is durable", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([enzyme("e", (tx, { payload }) => void ran.push([payload, tx.beat]))], { pace: "demand" })
      yield* machine.hold
      const answers = yield* Effect.forkChild(
        Effect.forEach([1, 2], (payload) => space.handled({ signal: "/signals/e", payload }), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      yield* machine.held
      yield* turns()
      assert.deepStrictEqual(ran, [[1, 0], [2, 1]])
      assert.isUndefined(answers.pollUnsafe())
      yield* machine.release
      assert.deepStrictEqual((yield* Fiber.join(answers)).map(({ status }) => status), ["handled", "handled"])
    }))

  it.effect("K12 the signals of one run share its key and count from 0, other runs have other keys, and external ids are unique", () =>
    Effect.gen(function*() {
      const sent: Array<ReadonlyArray<string>> = []
      const send = (name: string) =>
        enzyme(name, (tx) => void sent.push([0, 1].map((n) => tx.signal({ signal: "/signals/next", payload: n }))), { query: "/signals/s" })
      const space = yield* TestKernel.space([send("a"), send("b")])
      const ids = []
      for (let i = 0; i < 3; i++) ids.push((yield* space.signal({ signal: "/signals/s", payload: i })).id)
      yield* steps(space, 3)
      assert.deepStrictEqual(sent.slice(0, 3), [["0.0.0", "0.0.1"], ["0.1.0", "0.1.1"], ["1.0.0", "1.0.1"]])
      assert.strictEqual(new Set([...ids, ...sent.flat()]).size, 3 + 12)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K13 an event keeps its id through its lane's queue and all attempts", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const space = yield* TestKernel.space([enzyme("e", (_, { attempt, id }) => {
        seen.push(`${id} ${attempt}`)
        return attempt < 3 ? again() : undefined
      })])
      const ids = []
      for (const id of ["first", "second"]) ids.push((yield* space.signal({ signal: "/signals/e", payload: 1, id })).id)
      yield* steps(space, 10)
      assert.deepStrictEqual(seen, ids.flatMap((id) => [1, 2, 3].map((attempt) => `${id} ${attempt}`)))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K14 a caller's id is unique per space, principal, signal and target, and cannot be forged with delimiters", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const here = yield* kernel.space("here")
      const there = yield* kernel.space("there")
      const base = { signal: "/signals/s", target: "/data/x", payload: 1, id: "i", principal: "local" }
      const id = (space: typeof here, changed: Partial<typeof base> = {}) =>
        Effect.map(space.signal({ ...base, ...changed }), (accepted) => accepted.id)
      const first = yield* id(here)
      assert.strictEqual(yield* id(here), first)
      assert.strictEqual((yield* here.signal({ signal: "/signals/s", target: "/data/x", payload: 1, id: "i" })).id, first)
      const others = [
        yield* id(there),
        yield* id(here, { id: "j" }),
        yield* id(here, { principal: "ann" }),
        yield* id(here, { signal: "/signals/t" }),
        yield* id(here, { target: "/data/y" }),
        yield* id(here, { id: "i\",\"/signals/s", signal: "/data/x" }),
        yield* id(here, { principal: "local\",\"signal\",\"i", id: "i" }),
        yield* id(here, { principal: "local,signal", id: "i" })
      ]
      assert.strictEqual(new Set([first, ...others]).size, others.length + 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K17 a run with eight conflict losses is applied once, at its ninth invocation, without an error", () =>
    Effect.gen(function*() {
      const { enzymes, ran } = Tournament.make(9)
      const space = yield* TestKernel.space(enzymes)
      const ids = yield* Tournament.start(space, 9)
      yield* steps(space, 12)
      assert.strictEqual(ran[8], 9)
      assert.strictEqual(yield* space.get("/data/applied/8"), 1)
      assert.deepStrictEqual(yield* ended(space, present(ids[8])), ["contend ok @8 #1"])
      assert.deepStrictEqual(yield* codes(space), [])
      const severities = (yield* TestKernel.diagnostics(space)).map(({ sev }) => sev)
      assert.isTrue(severities.every((severity) => severity === "sev:warn"))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K18 attempts are 1, 2, 4, 8 … 64 beats apart", () =>
    Effect.gen(function*() {
      const beats: Array<number> = []
      const space = yield* TestKernel.space([enzyme("e", (tx) => {
        beats.push(tx.beat)
        return again()
      })])
      yield* space.signal({ signal: "/signals/e" })
      yield* steps(space, 260)
      assert.deepStrictEqual(beats.slice(1).map((beat, i) => beat - present(beats[i])), [1, 2, 4, 8, 16, 32, 64, 64, 64])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K19 rejections beyond the budget end in one dead letter, and no write is applied", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("e", (tx) => {
        runs++
        tx.set("/data/x", runs)
        return again()
      }, { retry: { attempts: 4 } })])
      const { id } = yield* space.signal({ signal: "/signals/e", payload: 1 })
      yield* steps(space, 20)
      assert.strictEqual(runs, 4)
      assert.isUndefined(yield* space.get("/data/x"))
      assert.deepStrictEqual(yield* codes(space), ["run/retry"])
      assert.deepStrictEqual(yield* ended(space, id), ["e dead @7 #4"])
      assert.lengthOf(yield* TestKernel.diagnostics(space), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K20 without a budget the first rejection fails loudly", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("e", again, { retry: { attempts: 1 } })])
      const { id } = yield* space.signal({ signal: "/signals/e", payload: 1 })
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* ended(space, id), ["e dead @0 #1"])
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ sev, topic }) => [sev, topic]), [["sev:crit", "run/dead"]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K21 other errors, permanent ones, and violations cost an invocation each, have distinct codes and stop no beat or space", () =>
    Effect.gen(function*() {
      const runs: Record<string, number> = {}
      const failing = (name: string, fail: (tx: Parameters<Enzyme.Definition["run"]>[0]) => unknown, options = {}) =>
        enzyme(name, (tx) => {
          runs[name] = (runs[name] ?? 0) + 1
          return fail(tx)
        }, options)
      const space = yield* TestKernel.space([
        failing("other", () => { throw new RangeError("odd") }),
        failing("permanent", () => { throw { _tag: "OrderClosed", code: "order/closed", message: "closed" } }),
        failing("rule", (tx) => tx.set("/data/elsewhere", 1), { writes: ["/data/here"] }),
        enzyme("well", (tx) => tx.increment("/data/well"))
      ])
      for (const name of ["other", "permanent", "rule", "well"]) yield* space.signal({ signal: `/signals/${name}`, payload: 1 })
      yield* steps(space, 4)
      assert.deepStrictEqual(runs, { other: 1, permanent: 1, rule: 1 })
      assert.deepStrictEqual(yield* codes(space), ["run/failed", "order/closed", "envelope/outside"])
      assert.strictEqual(yield* space.get("/data/well"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K23 an enzyme without retries is not retried, for any sender", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([
        enzyme("start", (tx) => tx.signal({ signal: "/signals/once", payload: 1 })),
        enzyme("once", () => {
          runs++
          return again()
        }, { retry: { attempts: 1 } })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 10)
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual(yield* codes(space), ["run/retry"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("K25 idle waits for an event that a gate delays, and for those behind it in its lane", () =>
    Effect.gen(function*() {
      const log = new Graph.Log()
      yield* Graph.register(log.computation("slow", { output: "/data/slow", throttle: 100 }, (tx) => tx.get("/data/x")))
      const seen: Array<unknown> = []
      const space = yield* TestKernel.space([
        enzyme("look", (tx, { payload }) => void seen.push([payload, tx.get("/data/slow")]), { reads: ["/data/slow"] })
      ])
      yield* space.set("/data/x", 1)
      yield* space.handled({ signal: "/signals/look", payload: 0 })
      yield* space.set("/data/x", 2)
      for (const payload of [1, 2]) yield* space.signal({ signal: "/signals/look", payload })
      const idle = yield* Effect.forkChild(space.idle, { startImmediately: true })
      yield* turns()
      assert.isUndefined(idle.pollUnsafe())
      assert.deepStrictEqual(seen, [[0, 1]])
      yield* TestClock.adjust(100)
      yield* Fiber.join(idle)
      assert.deepStrictEqual(seen, [[0, 1], [1, 2], [2, 2]])
      assert.deepStrictEqual(log.take(), { slow: 2 })
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))

  it.effect("K26 with one lane for the space events run one by one in order of arrival, and only its head is retried", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const space = yield* TestKernel.space([enzyme("e", (tx, { attempt, payload }) => {
        ran.push(`${payload}@${tx.beat}`)
        return payload === "b" && attempt < 3 ? again() : undefined
      }, { query: "/signals/*", lane: "space" })])
      for (const name of ["a", "b", "c", "d"]) yield* space.signal({ signal: `/signals/${name}`, payload: name })
      yield* steps(space, 8)
      assert.deepStrictEqual(ran, ["a@0", "b@1", "b@2", "b@4", "c@5", "d@6"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Registry, Retry, type SignalRequest } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps } from "../TestSpace.ts"
import { present } from "../../support/Present.ts"

/** An enzyme that sends these signals from one run, on `/signals/start`. */
const sender = (...requests: ReadonlyArray<SignalRequest>) => enzyme("start", (tx) => requests.map((request) => tx.signal(request)))

describe("impulses", () => {
  it.effect("that are equal share one run, and have a line each in the agenda", () =>
    Effect.gen(function*() {
      let runs = 0
      const impulse = { signal: "/signals/i" }
      const space = yield* TestKernel.space([sender(impulse, impulse, impulse), enzyme("i", (tx) => {
        runs++
        tx.signal({ signal: "/signals/next" })
      })])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 3)
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual(
        yield* TestKernel.ledger(space, 1, "agenda"),
        Array.from({ length: 3 }, () => "enzyme=i rc=0 signal=/signals/i target=-")
      )
      assert.lengthOf(present(yield* TestKernel.ledger(space, 2, "inbox")), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that differ in their target do not", () =>
    Effect.gen(function*() {
      const targets: Array<string | undefined> = []
      const space = yield* TestKernel.space([
        sender({ signal: "/signals/i", target: "/data/a" }, { signal: "/signals/i", target: "/data/b" }, { signal: "/signals/i" }),
        enzyme("i", (_, { target }) => void targets.push(target), { bind: ["/data"] })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 2)
      assert.deepStrictEqual(targets, ["/data/a", "/data/b", undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("have a run each if the enzyme is repeatable", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const impulse = { signal: "/signals/i" }
      const space = yield* TestKernel.space([
        sender(impulse, impulse),
        enzyme("often", (tx) => void ran.push(tx.id()), { query: "/signals/i", repeatable: true }),
        enzyme("once", (tx) => void ran.push(tx.id()), { query: "/signals/i" })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 2)
      assert.deepStrictEqual(ran, ["1.0.0", "1.1.0", "1.2.0"])
      assert.lengthOf(present(yield* TestKernel.ledger(space, 1, "agenda")), 4)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("leave events of their pair to later beats", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const space = yield* TestKernel.space([
        sender({ signal: "/signals/i" }, { signal: "/signals/i", payload: 1 }, { signal: "/signals/i", payload: 2 }),
        enzyme("i", (tx, { payload }) => void ran.push([tx.beat, payload]))
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 4)
      assert.deepStrictEqual(ran, [[1, undefined], [2, 1], [3, 2]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("wait behind an event of their pair, as events do behind them", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const [event, impulse] = [{ signal: "/signals/i", payload: 1 }, { signal: "/signals/i" }]
      const space = yield* TestKernel.space([
        sender(event, impulse, { ...event, payload: 2 }, impulse, impulse, { signal: "/signals/i/other" }),
        enzyme("i", (tx, { id, payload }) => void ran.push([tx.beat, id, payload]), { query: "/signals/i/**" })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 5)
      assert.deepStrictEqual(ran, [[1, "0.0.0", 1], [1, "0.0.5", undefined], [2, "0.0.1", undefined], [3, "0.0.2", 2]])
      assert.lengthOf(present(yield* TestKernel.ledger(space, 2, "agenda")), 3)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("wait behind a retry of their pair, and behind a conflict loser", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const [soon, later] = [{ signal: "/signals/i" }, { signal: "/signals/i", at: { beats: 2 } }]
      const space = yield* TestKernel.space([
        sender({ signal: "/signals/first" }, soon, later),
        enzyme("first", (tx) => tx.set("/data/x", 1)),
        enzyme("i", (tx, { attempt, id }) => {
          ran.push(`${id}@${tx.beat} #${attempt}`)
          tx.set("/data/x", 2)
          return tx.get("/data/retried") === undefined && tx.beat > 3 ? new Retry({ reason: "once" }) : undefined
        }),
        enzyme("retried", (tx) => tx.set("/data/retried", true))
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 3)
      assert.deepStrictEqual(ran, ["0.0.1@1 #1", "0.0.1@2 #1"])
      yield* steps(space, 2)
      assert.deepStrictEqual(ran.slice(2), ["0.0.2@3 #1"])
      yield* space.signal({ signal: "/signals/start" })
      yield* space.signal({ signal: "/signals/retried", at: { beats: 4 } })
      yield* steps(space, 8)
      const runs = ran.map((line) => present(line.split(" ")[0]).split("@")[1])
      assert.strictEqual(new Set(runs).size, runs.length, ran.join(", "))
      assert.isTrue(ran.some((line) => line.endsWith("#2")))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("ask the registry once for each pair of a beat, and again in the next", () =>
    Effect.gen(function*() {
      const impulse = { signal: "/signals/i" }
      const space = yield* TestKernel.space([
        sender(impulse, impulse, impulse, { signal: "/signals/j" }),
        enzyme("i", (tx) => tx.signal(impulse))
      ])
      const registry = yield* Registry
      yield* space.signal({ signal: "/signals/start" })
      const asked: Array<number> = []
      for (let i = 0; i < 3; i++) {
        const before = registry.resolutions
        yield* space.step
        asked.push(registry.resolutions - before)
      }
      assert.deepStrictEqual(asked, [1, 2, 1])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a chain of signals", () => {
  it.effect("beyond the limit of hops ends in the dead letters", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([enzyme("loop", (tx) => {
        runs++
        tx.signal({ signal: "/signals/loop" })
      })])
      yield* space.signal({ signal: "/signals/loop" })
      yield* steps(space, 9)
      assert.strictEqual(runs, 6)
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 6, "agenda"), ["enzyme=storm rc=signal/storm signal=/signals/loop target=-"])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 7, "inbox"), [])
      assert.deepInclude((yield* TestKernel.diagnostics(space))[0], { sev: "sev:crit", code: "signal/storm" })
      assert.deepStrictEqual(yield* space.list("/rt/dead"), [])
      assert.lengthOf(yield* space.below("/rt/dead", { limit: 10 }), 1)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, hops: 5 } }))))
})

describe("an impulse", () => {
  it.effect("within the limit of hops runs, although an equal one of its beat exceeds it", () =>
    Effect.gen(function*() {
      let runs = 0
      const space = yield* TestKernel.space([
        enzyme("deep", (tx) => tx.signal({ signal: "/signals/i" })),
        enzyme("start", (tx) => tx.signal({ signal: "/signals/deep" })),
        enzyme("shallow", (tx) => tx.signal({ signal: "/signals/i" })),
        enzyme("i", () => void runs++)
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* space.step
      yield* space.signal({ signal: "/signals/shallow" })
      yield* steps(space, 2)
      assert.strictEqual(runs, 1)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, hops: 1 } }))))
})

describe("a signal sent by a run", () => {
  it.effect("runs in the next beat and never in its own, in the order in which it was sent", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const space = yield* TestKernel.space([
        enzyme("b", (tx) => tx.signal({ signal: "/signals/x/b" }), { query: "/signals/start" }),
        enzyme("a", (tx) => {
          tx.signal({ signal: "/signals/x/a1" })
          tx.signal({ signal: "/signals/x/a2", payload: 1 })
        }, { query: "/signals/start" }),
        enzyme("x", (tx, { id, params }) => void ran.push(`${params["n"]} ${id}@${tx.beat}`), { query: "/signals/x/:n" })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* space.step
      yield* space.signal({ signal: "/signals/x/out" })
      yield* space.step
      assert.deepStrictEqual(ran, ["a1 0.0.0@1", "a2 0.0.1@1", "b 0.1.0@1", "out x.1.0@1"])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "stage"), ["commit: promoted 3 impulses -> beat 1"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

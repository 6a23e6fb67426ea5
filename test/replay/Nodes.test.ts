import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Link, Materializer, type NodeDefinition, Reaction, Retry, Scheduler, type Value } from "systole"
import { enzyme, put, register, replaysFromMany, steps, turns, write } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const watch = (address: string): NodeDefinition => Reaction.make({ name: "watch", read: (tx) => tx.get(address), deliver: () => {} })

const notes = (topic: string) =>
  (found: ReadonlyArray<{ readonly [key: string]: Value }>) => found.filter((each) => each["topic"] === topic).map((each) => each["code"])

describe("A replay of nodes", () => {
  it.effect("calls runs without a receiver, and finds views and content without scopes", () =>
    Fx.gen(function*() {
      const reads = (name: string, address: string) =>
        Computation.make({ name, output: `/data/${name}`, run: (tx) => [tx.get("/data/x"), tx.get(address)].length })
      yield* register(
        Computation.make({ name: "self", output: "/data/self", run(this: unknown, tx) { return [tx.get("/data/x"), typeof this] } }),
        Computation.make({
          name: "then",
          output: "/data/then",
          run: (tx) => tx.get("/data/x") === undefined ? 0 : { get then(): never { throw new Error("no look at this") } }
        }),
        Computation.make({ name: "throws", output: "/data/throws", run: (tx) => { tx.get("/data/x"); throw Object.create(null) } }),
        reads("beat", "/rt/beat?scope=user:bob"),
        Reaction.make({
          name: "watch",
          read: (tx) => ["self", "then", "throws", "beat"].map((name) => tx.get(`/data/${name}`) ?? null),
          deliver: () => {}
        })
      )
      const space = yield* TestKernel.space([put])
      yield* write(space, ["/data/x", 1])
      assert.deepStrictEqual<Value>(yield* space.get("/data/self"), [1, "undefined"])
      assert.deepStrictEqual(
        (yield* TestKernel.diagnostics(space)).map((each) => Link.is(each["subject"]) ? Link.target(each["subject"]).text : "none").sort(),
        ["/data/beat", "/data/then", "/data/throws"]
      )
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("names the run that made a value, even if a later run of the pass made an equal one", () =>
    Fx.gen(function*() {
      yield* register(
        Computation.make({
          name: "a",
          output: "/data/a",
          run: (tx) => Math.min(Number(tx.get("/data/b") ?? 0) + Number(tx.get("/data/x") ?? 0), 3)
        }),
        Computation.make({ name: "b", output: "/data/b", run: (tx) => Number(tx.get("/data/a") ?? 0) }),
        watch("/data/b")
      )
      const space = yield* TestKernel.space([put])
      yield* write(space, ["/data/x", 1])
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/b"), 3)
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  for (const how of ["get", "peek"] as const) {
    it.effect(`is equal if nodes that read each other change an earlier read of a third one with ${how}`, () =>
      Fx.gen(function*() {
        const next = (name: string, above: string) =>
          Computation.make({ name, output: `/data/${name}`, run: (tx) => Math.min(3, Number(tx.get(`/data/${above}`) ?? 0) + 1) })
        yield* register(next("a", "b"), next("b", "a"), next("last", "a"))
        yield* register(Computation.make({ name: "most", output: "/data/most", run: (tx) => {
          const seen = [tx[how]("/data/a"), tx.get("/data/b"), tx.get("/data/last"), tx.get("/data/a")]
          if (seen[0] !== seen[3]) throw new Error("two moments at once")
          return Math.max(2, Number(seen[0]))
        } }))
        const space = yield* TestKernel.space([enzyme("look", (tx) => tx.get("/data/most") ?? null)])
        const { id } = yield* space.signal({ signal: "/signals/look" })
        yield* steps(space, 3)
        assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, 3)
        assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
        yield* replaysFromMany(space)
      }).pipe(Fx.provide(TestKernel.layer({}, undefined, { scheduler: Scheduler.layer() }))))
  }

  it.effect("refuses nodes promises and a handler's additional verbs, with the recorded code", () =>
    Fx.gen(function*() {
      const wrong: ReadonlyArray<readonly [string, NodeDefinition["run"]]> = [
        ["promise", (async () => 1) as never],
        ["report", (tx) => tx.report({ topic: "app/thing", severity: "sev:warn", note: "n" })],
        ["flow", (tx) => void tx.flow],
        ["op", (tx) => void tx.op],
        ["rv", (tx) => void tx.rv],
        ["signal", (tx) => tx.signal({ signal: "/signals/put" })],
        ["stop", (tx) => tx.stop("other")],
        ["random", (tx) => tx.random()],
        ["id", (tx) => tx.id()]
      ]
      const nodes = wrong.map(([name, run]) => Computation.make({ name, output: `/data/out/${name}`, run: (tx) => {
        tx.get("/data/x")
        return run(tx) as Value
      } }))
      yield* register(
        ...nodes,
        Reaction.make({ name: "watch", read: (tx) => wrong.map(([name]) => tx.get(`/data/out/${name}`) ?? null), deliver: () => {} })
      )
      const space = yield* TestKernel.space([put])
      yield* write(space, ["/data/x", 1])
      assert.deepStrictEqual(notes("node/failed")(yield* TestKernel.diagnostics(space)), wrong.map(() => "transaction/refused"))
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("fails a node that threw a value other than an error", () =>
    Fx.gen(function*() {
      const thrown: ReadonlyArray<unknown> = ["text", undefined, { _tag: "Retry" }, { _tag: "Own", code: "own/code" }]
      yield* register(...thrown.map((each, i) => Reaction.make({ name: `n${i}`, read: (tx) => {
        tx.get("/data/x")
        throw each
      }, deliver: () => {} })))
      const space = yield* TestKernel.space([put])
      yield* write(space, ["/data/x", 1])
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("reports a node that failed while a handler read it", () =>
    Fx.gen(function*() {
      yield* register(Computation.make({ name: "bad", output: "/data/bad", run: (tx) => {
        tx.get("/data/x")
        throw new Error("no")
      } }))
      const space = yield* TestKernel.space([put, enzyme("look", (tx) => void tx.get("/data/bad"))])
      yield* write(space, ["/data/x", 1])
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      assert.lengthOf(yield* TestKernel.diagnostics(space), 1)
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("is equal with watchers of an unreadable place: a ring of links fails only the nodes of modules", () =>
    Fx.gen(function*() {
      yield* register(Computation.make({ name: "one", output: "/data/one", run: () => 1 }))
      const space = yield* TestKernel.space([put])
      yield* space.step
      const watching = yield* Fx.forkChild(Stream.runDrain(space.watch("/data/a")), { startImmediately: true })
      yield* turns()
      yield* write(space, ["/data/a", Link.make("/data/a")])
      yield* space.step
      assert.isEmpty(yield* TestKernel.diagnostics(space))
      yield* Fiber.interrupt(watching)
      yield* replaysFromMany(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("retries a node that returned Retry, as one that threw it", () =>
    Fx.gen(function*() {
      const makers = {
        computation: (run: NodeDefinition["run"]) => Computation.make({ name: "n", output: "/data/n", run: run as never }),
        materializer: (run: NodeDefinition["run"]) => Materializer.make({ name: "n", writes: ["/data/n"], run: (tx) => {
          const value = run(tx)
          if (typeof value === "number") tx.set("/data/n", value)
          return value as never
        } })
      }
      for (const [name, make] of Object.entries(makers)) yield* Fx.gen(function*() {
        const run = (tx: Parameters<NodeDefinition["run"]>[0]) =>
          tx.now < 300 ? new Retry({ reason: "not yet" }) as never : Number(tx.get("/data/x"))
        yield* register(make(run), watch("/data/n"))
        const space = yield* TestKernel.space([put])
        yield* write(space, ["/data/x", 7])
        for (let i = 0; i < 4; i++) {
          yield* TestClock.adjust(250)
          yield* space.step
        }
        assert.isEmpty(yield* TestKernel.diagnostics(space), name)
        assert.strictEqual(yield* space.get("/data/n"), 7, name)
        yield* replaysFromMany(space)
      }).pipe(Fx.provide(TestKernel.layer()))
    }))
})

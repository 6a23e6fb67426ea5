import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Fatal, Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { ended, enzyme, steps, turns } from "../TestSpace.ts"

const fatal = () => new Fatal({ reason: "the sky fell" })

describe("a fatal run", () => {
  it.effect("fails the step with enzyme, signal and reason, and leaves no trace of the beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("good", (tx) => tx.increment("/data/n")), enzyme("bad", fatal)])
      yield* space.signal({ signal: "/signals/good" })
      yield* space.step
      yield* space.signal({ signal: "/signals/good" })
      yield* space.signal({ signal: "/signals/bad" })
      const error = yield* Effect.flip(space.step)
      assert.strictEqual(error.code, "beat/aborted")
      for (const part of ["Beat 1", "\"bad\"", "/signals/bad", "the sky fell"]) assert.include(error.message, part)
      assert.strictEqual(yield* space.head, 0)
      assert.strictEqual(yield* space.get("/data/n"), 1)
      assert.strictEqual(yield* space.journal(1), undefined)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("stops the runs after it, and the next beat takes the same input in the same order without it", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const say = (name: string, result?: () => unknown) =>
        enzyme(name, (tx) => {
          log.push(`${name}@${tx.beat}`)
          return result?.()
        }, { onFatal: "continue" })
      const space = yield* TestKernel.space([say("a"), say("b", fatal), say("c")])
      const ids: Array<string> = []
      for (const name of ["a", "b", "c"]) ids.push((yield* space.signal({ signal: `/signals/${name}` })).id)
      yield* Effect.flip(space.step)
      yield* space.signal({ signal: "/signals/a" })
      assert.deepStrictEqual(log, ["a@0", "b@0"])
      assert.strictEqual(yield* space.step, 0)
      assert.deepStrictEqual(log, ["a@0", "b@0", "a@0", "c@0"])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), [
        "enzyme=a rc=0 signal=/signals/a target=-",
        "enzyme=b rc=-2 signal=/signals/b target=-",
        "enzyme=c rc=0 signal=/signals/c target=-"
      ])
      assert.deepStrictEqual(yield* Effect.forEach(ids, (id) => ended(space, id)), [["a ok @0 #1"], ["b dead @0 #1"], ["c ok @0 #1"]])
      yield* space.step
      assert.strictEqual(log.at(-1), "a@1")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("has a dead letter and a diagnostic, committed with the next beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("bad", fatal)])
      const { id } = yield* space.signal({ signal: "/signals/bad", payload: 5 })
      yield* Effect.flip(space.step)
      yield* space.step
      assert.deepInclude((yield* space.get(`/rt/dead/${id}/bad`)) as object, { code: "run/fatal", tag: "Fatal", beat: 0 })
      assert.strictEqual(yield* space.get(`/rt/dead/${id}/bad#/payload`), 5)
      assert.deepInclude((yield* TestKernel.diagnostics(space))[0], {
        sev: "sev:fatal", topic: "beat/aborted", origin: { kind: "enzyme", name: "bad" }, subject: "/signals/bad"
      })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("may be one of several in a beat: all of them end, and no other run is lost", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("bad", fatal, { query: "/signals/s", onFatal: "continue" }),
        enzyme("good", (tx) => tx.increment("/data/n"), { query: "/signals/s", lane: "pair" }),
        enzyme("worse", async () => Promise.reject(fatal()), { query: "/signals/s" })
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* Effect.flip(space.step)
      yield* Effect.flip(space.step)
      assert.strictEqual(yield* space.step, 0)
      assert.deepStrictEqual(yield* ended(space, id), ["bad dead @0 #1", "good ok @0 #1", "worse dead @0 #1"])
      assert.strictEqual(yield* space.get("/data/n"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("leaves control input to the next beat, once", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("bad", fatal)])
      yield* space.signal({ signal: "/signals/bad" })
      const set = yield* Effect.forkChild(space.set("/data/x", 1), { startImmediately: true })
      yield* Effect.flip(space.step)
      yield* turns()
      assert.isUndefined(set.pollUnsafe())
      yield* space.step
      assert.strictEqual(yield* Fiber.join(set), 0)
      assert.strictEqual(yield* space.get("/data/x"), 1)
      yield* steps(space, 1)
      assert.notInclude((yield* space.journal(1))?.text, "\"control\"")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("aborts the beat of a later attempt, and the other handlings of its signal stand", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("late", (_, { attempt }) => attempt === 1 ? new Retry({ reason: "later" }) : fatal(), { query: "/signals/s" }),
        enzyme("well", () => 1, { query: "/signals/s" })
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      yield* Effect.flip(space.step)
      yield* space.step
      assert.deepStrictEqual(yield* ended(space, id), ["well ok @0 #1", "late dead @1 #2"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("on demand costs the aborted beat alone", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("bad", fatal, { onFatal: "continue" }), enzyme("good", () => 1)])
      const bad = yield* Effect.forkChild(space.handled({ signal: "/signals/bad" }), { startImmediately: true })
      const good = yield* space.handled({ signal: "/signals/good" })
      assert.strictEqual(good.status, "handled")
      assert.strictEqual((yield* Fiber.join(bad)).status, "dead")
      assert.strictEqual(yield* space.head, 0)
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))
})

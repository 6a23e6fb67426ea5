import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Schema from "effect/Schema"
import { Cell, Enzyme, type Space } from "systole"
import { CurrentReporter, Reporter } from "../../../src/diagnostic/Reporter.ts"
import { CurrentRunWatch } from "../../../src/kernel/watchdog/RunWatch.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { replays, steps } from "../TestSpace.ts"

const Count = Cell.of("/data/count", Schema.Struct({ count: Schema.Natural }))

const typed = Enzyme.make({ name: "typed", query: "/signals/typed", writes: [Count], run: (tx) => tx.set(Count, { count: 1 }) })

/** Writes its payload to the cell as a text, without its type. */
const untyped = Enzyme.make({
  name: "untyped",
  query: "/signals/untyped/:name",
  run: (tx, { payload }) => {
    tx.set("/data/count", payload)
    tx.signal({ signal: "/signals/untypedd/name" })
  }
})

const bound = Enzyme.make({ name: "bound", query: "/signals/bound", target: "required", run: () => undefined })

/** The reports of a host on a space in which `run` happens, without the ids of events. */
const reports = (isWatched: boolean, run: (space: Space) => Effect.Effect<unknown, unknown>, modules = [typed, untyped, bound]) => {
  const told: Array<string> = []
  const reporter = new Reporter(({ note, topic }) => void told.push(`${topic}: ${note.replaceAll(/\(event [^;]*\)/g, "(event …)")}`))
  const watch = isWatched ? { stop: () => {}, placeOf: () => undefined } : undefined
  const layers = Layer.mergeAll(Layer.succeed(CurrentReporter, reporter), Layer.succeed(CurrentRunWatch, watch))
  return Effect.gen(function*() {
    const space = yield* TestKernel.space(modules)
    yield* run(space)
    yield* steps(space, 3)
    assert.deepStrictEqual(yield* space.list("/data/mailbox/diag/msgs"), [])
    yield* replays(space)
    return told
  }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(layers))))
}

const lost = (space: Space) => Effect.gen(function*() {
  yield* space.signal({ signal: "/signals/tped", payload: 1 })
  yield* space.signal({ signal: "/signals/tped", payload: 2 })
  yield* space.signal({ signal: "/elsewhere/and/far/away", id: "mine" })
  yield* space.signal({ signal: "/signals/bound" })
  yield* space.signal({ signal: "/signals/typed", target: "/data/count" })
  yield* space.signal({ target: "/data/count" })
})

describe("A development host", () => {
  it.effect("reports each signal that no enzyme takes, with the nearest query or the reason", () =>
    Effect.gen(function*() {
      const list = "systole enzyme ls lists the queries"
      assert.sameMembers([...yield* reports(true, lost)], [
        "signal/no-match: no enzyme takes /signals/tped (event …); the nearest query is /signals/typed",
        "signal/no-match: no enzyme takes /signals/tped (event …); the nearest query is /signals/typed",
        `signal/no-match: no enzyme takes /elsewhere/and/far/away (event …); ${list}`,
        "signal/no-match: no enzyme takes /signals/bound (event …); " +
          "\"bound\" has the query /signals/bound and takes no signal without a target",
        "signal/no-match: no enzyme takes /signals/typed with target /data/count (event …); " +
          "\"typed\" has the query /signals/typed and is not bound at /data/count or above",
        `signal/no-match: no enzyme takes target /data/count (event …); ${list}, ` +
          "and an enzyme takes a target at or below which it is bound"
      ])
      assert.deepStrictEqual(yield* reports(false, lost), [])
    }))

  it.effect("reports a value without a type that does not fit that of its cell, once until it fits again", () =>
    Effect.gen(function*() {
      const run = (space: Space) => Effect.gen(function*() {
        for (const payload of [{ count: 2 }, { count: -1 }, { count: "many" }, { count: 3 }, "none"]) {
          yield* space.signal({ signal: "/signals/untyped/x", payload })
          yield* steps(space, 2)
        }
        yield* space.signal({ signal: "/signals/typed" })
      })
      const told = yield* reports(true, run)
      const types = told.filter((note) => note.startsWith("cell/type"))
      assert.lengthOf(types, 2)
      for (const note of types) {
        assert.match(note, /^cell\/type: "untyped" wrote \/data\/count without its type, and it is kept\. The value .* does not fit/)
      }
      // The signal of a run is an impulse.
      assert.include(told, "signal/no-match: no enzyme takes /signals/untypedd/name; the nearest query is /signals/untyped/:name")
      assert.deepStrictEqual(yield* reports(false, run), [])
    }))

  it.effect("goes on where a filter of the schema throws", () =>
    Effect.gen(function*() {
      const filter = Schema.makeFilter((): boolean => {
        throw new Error("of the schema")
      })
      const Odd = Cell.of("/data/count", Schema.Struct({ count: Schema.Natural }).check(filter))
      const odd = Enzyme.make({ name: "odd", query: "/signals/odd", declares: [Odd], run: () => undefined })
      const told = yield* reports(true, (space) =>
        Effect.gen(function*() {
          yield* space.signal({ signal: "/signals/untyped/x", payload: { count: 2 } })
          yield* steps(space, 2)
          assert.deepStrictEqual(yield* space.get("/data/count"), { count: 2 })
        }), [odd, untyped])
      assert.deepStrictEqual(told.map((note) => note.split(":", 1)[0]), ["signal/no-match"])
    }))
})

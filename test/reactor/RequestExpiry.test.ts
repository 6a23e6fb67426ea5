import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { defaults, type Kernel, type Space } from "systole"
import { TestReactor } from "systole/testing"
import { enzyme, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const ask = enzyme("ask", (tx, { payload, signal }) =>
  signal === "/signals/ask/done"
    ? undefined
    : tx.io.request({ channel: "bank", opcode: "charge", payload: { n: payload }, signal: "/signals/ask/done" }), {
  query: "/signals/ask", match: "prefix"
})

/** The documents of requests below their dossier, without its folder. */
const documents = (space: Space) => Effect.map(
  space.examine(({ store }) => store.below("/rt/ops/OPS:io/io_req", { limit: 100 })),
  (keys) => keys.map((key) => key.slice("/rt/ops/OPS:io/io_req/".length)).toSorted()
)

const both = (rid: string): ReadonlyArray<string> => [rid, `${rid}/payload`]

/** Runs a test in a space that keeps few finished records, and replays its journal. */
const withLimits = <A, E>(
  limits: { readonly finishedCount?: number; readonly finishedMillis?: number },
  test: (space: Space, reactor: TestReactor) => Effect.Effect<A, E, Kernel>
) => {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
  const settings = { limits: { ...defaults, ...limits } }
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask])
    yield* test(space, reactor)
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer(settings, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

/** Makes a request, and returns its id. */
const asked = Effect.fnUntraced(function*(space: Space, reactor: TestReactor, n: number) {
  yield* space.signal({ signal: "/signals/ask", payload: n })
  yield* space.step
  return reactor.jobs.at(-1)?.rid ?? ""
})

describe("Finished requests expire", () => {
  it.effect("one by one, each with its payload, and open ones stay", () => withLimits({ finishedCount: 2 }, (space, reactor) =>
    Effect.gen(function*() {
      const open = yield* asked(space, reactor, 0)
      const ended: Array<string> = []
      for (let n = 1; n <= 4; n++) {
        const rid = yield* asked(space, reactor, n)
        reactor.complete(rid)
        yield* steps(space, 3)
        ended.push(rid)
        const kept = [open, ...ended.slice(-2)]
        assert.deepStrictEqual(yield* documents(space), kept.flatMap(both).toSorted(), `after request ${n}`)
      }
      assert.isDefined(yield* space.get("/rt/ops/OPS:io/io_chan/bank"))
    })))

  it.effect("after their time, by the next beat", () => withLimits({ finishedMillis: 1000 }, (space, reactor) =>
    Effect.gen(function*() {
      const first = yield* asked(space, reactor, 1)
      reactor.complete(first)
      yield* steps(space, 3)
      yield* TestClock.adjust(600)
      const second = yield* asked(space, reactor, 2)
      reactor.complete(second)
      yield* steps(space, 3)
      yield* TestClock.adjust(600)
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* documents(space), both(second))
      yield* TestClock.adjust(600)
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* documents(space), [])
    })))
})

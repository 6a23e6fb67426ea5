import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Space, Value } from "systole"
import { Computation, Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, register, replays, turns } from "../TestSpace.ts"

const labels = { cells: { "/data/secret/**": ["secret"] }, declassify: {} }
const number = (value: Value): number => Number(value ?? 0)

/** Looks at what is derived once it knows a secret, and keeps what it saw with it. */
const look = enzyme("look", (tx) => {
  tx.get("/data/secret/a")
  tx.set("/data/secret/seen", [tx.get("/data/above") ?? null, tx.list("/data")])
  return tx.get("/data/open") ?? null
})

const open = (more: Partial<Computation.ComputationDefinition>): ReadonlyArray<NodeDefinition> => [
  Computation.make({ name: "open", output: "/data/open", run: (tx) => number(tx.get("/data/x")), ...more }),
  Computation.make({ name: "above", output: "/data/above", run: (tx) => number(tx.get("/data/open")) * 10 })
]

/** What a reader without clearance is answered within a beat and a millisecond. */
const asked = Fx.fnUntraced(function*(space: Space, address: string) {
  const fiber = yield* Fx.forkChild(Fx.result(space.reader({ name: "web", atoms: [] }).get(address, { wait: 1 })), { startImmediately: true })
  yield* space.step
  yield* turns(1)
  yield* TestClock.adjust(1)
  const answer = yield* Fiber.join(fiber)
  return answer._tag === "Success" ? answer.success : `${answer.failure.code} ${answer.failure.message}`
})

/** What the reader is told of a node, whether a handling that knows a secret looked at it before or not. */
const told = (nodes: ReadonlyArray<NodeDefinition>, isLooked: boolean) =>
  Fx.gen(function*() {
    yield* register(...nodes)
    const space = yield* TestKernel.space([look])
    const seen: Array<unknown> = []
    const looked: Array<unknown> = []
    for (const x of [1, 2, 3]) {
      yield* controlled(space, space.set("/data/x", x))
      if (isLooked) yield* space.signal({ signal: "/signals/look", id: `look-${x}` })
      yield* space.step
      looked.push(yield* space.get("/data/secret/seen"))
      seen.push(yield* space.reader({ name: "web", atoms: [] }).list("/data"), yield* asked(space, "/data/open"), yield* asked(space, "/data/above"))
      yield* TestClock.adjust(600)
    }
    yield* replays(space)
    return { seen, looked }
  }).pipe(Fx.provide(TestKernel.layer({ labels })))

describe("A handling that knows a secret", () => {
  for (const [name, more] of Object.entries({
    throttle: { throttle: 1000 },
    debounce: { debounce: 300 },
    backoff: { run: (tx: Parameters<Computation.ComputationDefinition["run"]>[0]) => {
      const x = number(tx.get("/data/x"))
      if (x === 2) throw new Retry({ reason: "not yet" })
      return x
    } }
  })) {
    it.effect(`moves no gate by a look at what is derived: ${name}`, () =>
      Fx.gen(function*() {
        const [without, within] = [yield* told(open(more), false), yield* told(open(more), true)]
        assert.deepStrictEqual(within.seen, without.seen)
        assert.isTrue(without.seen.some((answer) => String(answer).startsWith("cell/held")) || name === "debounce")
      }))
  }

  it.effect("sees what is derived as it is now, whatever a gate holds back, and alone", () =>
    Fx.gen(function*() {
      const { looked } = yield* told(open({ throttle: 1000 }), true)
      assert.deepStrictEqual(looked.map((seen) => (seen as ReadonlyArray<unknown>)[0]), [10, 20, 30])
    }))
})

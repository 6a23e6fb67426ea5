import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import type { NodeDefinition, Space, Transaction, Value } from "systole"
import { Computation, Materializer, Reaction, replay } from "systole"
import { controlled, glimpsed, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const labels = { cells: { "/data/high": ["secret"], "/data/high/**": ["secret"] }, declassify: {} }

const number = (value: Value): number => Number(value ?? 0)

const set = (space: Space, address: string, value: unknown) => controlled(space, space.set(address, value))

/** The answer of the next beat to a pull. */
const pulled = (space: Space, address: string) =>
  Fx.map(glimpsed(space, space.pull(address)), (answer) => answer?._tag === "Success" ? answer.success : undefined)

/** An open computation in several versions: no node below its label demands it. */
const open = (factor: number) => ({
  module: Computation.make({ name: "open", output: "/data/low/open", run: (tx) => number(tx.get("/data/low/x")) * factor }),
  hash: `version-${factor}`
})

/** The same as a materializer. */
const written = (factor: number) => ({
  module: Materializer.make({
    name: "written",
    writes: ["/data/low/*"],
    throttle: 1000,
    run: (tx) => tx.set("/data/low/open", number(tx.get("/data/low/x")) * factor)
  }),
  hash: `version-${factor}`
})

const read = (tx: Transaction) => number(tx.get("/data/low/open")) + number(tx.get("/data/high/secret"))

/** A computation above the label of the open one. */
const above = Computation.make({ name: "above", output: "/data/high/above", run: read })

type Module = NodeDefinition | TestMachine.Versioned

/** A space with the open node and its reader, in which the story takes place; then what the reader derives. */
const story = (
  [first, reader]: readonly [first: TestMachine.Versioned, reader: NodeDefinition],
  change: (machine: TestMachine.TestMachine, boot: (...modules: ReadonlyArray<Module>) => Fx.Effect<Space>) => Fx.Effect<Space>
) => Fx.scoped(Fx.gen(function*() {
  const machine = yield* TestMachine.make
  const boot = (...modules: ReadonlyArray<Module>) => Fx.orDie(machine.boot([...modules, reader], { labels }))
  const space = yield* boot(first)
  yield* set(space, "/data/high/secret", 1000)
  yield* set(space, "/data/low/x", 1)
  assert.strictEqual(yield* pulled(space, "/data/high/above"), 1010)
  const other = yield* change(machine, boot)
  const found = yield* pulled(other, "/data/high/above")
  // Earlier beats need the former code.
  const head = yield* other.head
  const { difference, impossible } = yield* other.examine((archive) => replay(archive, head, head))
  assert.isUndefined(difference ?? impossible)
  return found
}))

describe("A node that reads an open node from above", () => {
  for (const [kind, make] of [["computation", open], ["materializer", written]] as const) {
    it.effect(`hears that the ${kind} was swapped`, () =>
      Fx.gen(function*() {
        const found = yield* story([make(10), above], (machine) => Fx.gen(function*() {
          yield* machine.unregister(make(10).module)
          yield* machine.register(make(20))
          return yield* Fx.orDie(machine.open)
        }))
        assert.strictEqual(found, 1020)
      }))

    it.effect(`hears that the ${kind} was deployed anew`, () =>
      Fx.gen(function*() {
        assert.strictEqual(yield* story([make(10), above], (_, boot) => boot(make(20))), 1020)
      }))

    it.effect(`hears that the ${kind} was removed, in the open space and between two openings`, () =>
      Fx.gen(function*() {
        const left = (space: Space) => Fx.map(space.get("/data/low/open"), (value) => 1000 + number(value))
        for (const isOpen of [true, false]) {
          let expected = 0
          const found = yield* story([make(10), above], (machine, boot) => Fx.gen(function*() {
            const space = isOpen ? yield* Fx.andThen(machine.unregister(make(10).module), Fx.orDie(machine.open)) : yield* boot()
            expected = yield* Fx.orDie(left(space))
            return space
          }))
          assert.strictEqual(found, expected, `open: ${isOpen}`)
        }
      }))
  }

  it.effect("does not run again at an opening with the same nodes", () =>
    Fx.gen(function*() {
      let runs = 0
      const counted = Computation.make({ name: "above", output: "/data/high/above", run: (tx) => {
        runs++
        return read(tx)
      } })
      const watch = Reaction.make({ name: "watch", read: (tx) => tx.get("/data/high/above"), deliver: () => {} })
      const found = yield* story([open(10), counted], (_, boot) => Fx.gen(function*() {
        const space = yield* boot(open(10), watch)
        yield* Fx.orDie(set(space, "/data/low/x", 2))
        runs = 0
        const other = yield* boot(open(10), watch)
        yield* Fx.orDie(set(other, "/data/low/y", 2))
        yield* turns()
        assert.strictEqual(runs, 0)
        return other
      }))
      assert.strictEqual(found, 1020)
    }))
})

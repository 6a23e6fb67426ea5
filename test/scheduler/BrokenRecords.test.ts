import { assert, describe, it } from "@effect/vitest"
import { Computation, SpaceScheduler, type Transaction } from "systole"

const value = (tx: Transaction): number => Number(tx.get("/n"))

/** Nodes in a scheduler beside a sound one, and the outputs of all after a change of the cell that they read. */
const scheduled = (...nodes: ReadonlyArray<ReturnType<typeof Computation.make>>) => {
  const scheduler = new SpaceScheduler()
  scheduler.register(Computation.make({ name: "sound", output: "/sound", run: (tx) => value(tx) * 10 }))
  for (const node of nodes) scheduler.register(node)
  return (n: number): ReadonlyArray<unknown> => {
    scheduler.set("/n", n)
    return [...nodes.map(({ name }) => scheduler.pull(`/${name}`)), scheduler.pull("/sound")]
  }
}

describe("a node whose record cannot be written", () => {
  const breaks: Readonly<Record<string, (tx: object) => void>> = {
    "its transaction is frozen": (tx) => void Object.freeze(tx),
    "a field is read-only": (tx) => void Object.defineProperty(tx, "phase", { writable: false }),
    "the field of its position is read-only": (tx) => void Object.defineProperty(tx, "cursor", { writable: false }),
    "the count of its runs is read-only": (tx) => void Object.defineProperty(tx, "runs", { writable: false })
  }
  for (const [how, broken] of Object.entries(breaks)) {
    // The run that breaks this field does not move on, so the next one fails.
    const late = how.startsWith("the field of its position")
    it(`fails alone, keeps its value, and runs again at the next change: ${how}`, () => {
      const bad = Computation.make({
        name: "bad",
        output: "/bad",
        run: (tx) => {
          const n = value(tx)
          if (n === 2) broken(tx)
          return n
        }
      })
      const at = scheduled(bad)
      assert.deepStrictEqual([at(1), at(2)], [[1, 10], [late ? 2 : 1, 20]])
      assert.deepStrictEqual([at(3), at(4)], [[late ? 2 : 3, 30], [4, 40]])
    })

    it(`fails alone, keeps its value, and runs again at the next change: ${how}, by a run within its own`, () => {
      let outer: Transaction | undefined
      const inner = Computation.make({
        name: "inner",
        output: "/inner",
        run: (tx) => {
          const n = value(tx)
          if (n === 2 && outer !== undefined) broken(outer)
          return n
        }
      })
      const above = Computation.make({
        name: "above",
        output: "/above",
        run: (tx) => {
          outer = tx
          return Number(tx.get("/n")) + Number(tx.get(tx.get("/n") === 1 ? "/sound" : "/inner"))
        }
      })
      const at = scheduled(above, inner)
      assert.deepStrictEqual([at(1), at(2), at(3)], [[11, 1, 10], [11, 2, 20], [6, 3, 30]])
    })

    it(`fails alone, keeps its value, and runs again at the next change: ${how}, while it rests`, () => {
      let kept: Transaction | undefined
      const bad = Computation.make({
        name: "bad",
        output: "/bad",
        run: (tx) => {
          kept = tx
          return value(tx)
        }
      })
      const breaker = Computation.make({
        name: "breaker",
        output: "/breaker",
        run: (tx) => {
          if (tx.get("/break") === true && kept !== undefined) broken(kept)
          return 0
        }
      })
      const scheduler = new SpaceScheduler()
      scheduler.register(bad)
      scheduler.register(breaker)
      scheduler.set("/n", 1)
      assert.strictEqual(scheduler.pull("/bad"), 1)
      scheduler.set("/break", true)
      assert.strictEqual(scheduler.pull("/breaker"), 0)
      scheduler.set("/n", 2)
      assert.strictEqual(scheduler.pull("/bad"), 1)
      scheduler.set("/n", 3)
      assert.strictEqual(scheduler.pull("/bad"), 3)
    })
  }
})

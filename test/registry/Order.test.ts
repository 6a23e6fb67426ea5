import { assert, describe, it } from "@effect/vitest"
import type { Candidate } from "../../src/registry/Order.ts"
import * as Order from "../../src/registry/Order.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const candidate = (name: string, more: Partial<Candidate> = {}): Candidate =>
  ({ name, before: [], after: [], strength: 1, specificity: 2, order: 0, ...more })

const randomCandidates = (draw: Random.Random, density: number): ReadonlyArray<Candidate> => {
  const names = Array.from({ length: 2 + draw(9) }, (_, i) => `e${draw(3) === 0 ? i - 1 : i}`)
  const others = (name: string) => [...names, "absent"].filter((other) => other !== name && draw(density) === 0)
  return names.map((name, order) =>
    candidate(name, { before: others(name), after: others(name), strength: 1 + draw(2), specificity: draw(3), order })
  )
}

/** The reference model: repeatedly take the best candidate that waits for no other. */
const reference = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> | undefined => {
  const better = (a: Candidate, b: Candidate): boolean => {
    if (a.strength !== b.strength) return a.strength > b.strength
    if (a.specificity !== b.specificity) return a.specificity > b.specificity
    if (a.name !== b.name) return a.name < b.name
    return a.order < b.order
  }
  const best = (some: ReadonlyArray<Candidate>) => some.reduce((best, other) => better(other, best) ? other : best)
  const named = (name: string) => {
    const some = candidates.filter((other) => other.name === name)
    return some.length === 0 ? undefined : best(some)
  }
  const left = new Set(candidates)
  const waits = (one: Candidate): boolean =>
    [...left].some((other) => other !== one && (
      other.before.some((name) => named(name) === one) || one.after.some((name) => named(name) === other)
    ))
  const arranged: Array<Candidate> = []
  while (left.size > 0) {
    const ready = [...left].filter((one) => !waits(one))
    if (ready.length === 0) return undefined
    const next = best(ready)
    left.delete(next)
    arranged.push(next)
  }
  return arranged
}

describe("Order.arrange", () => {
  it("takes the best ready candidate, one after another", () => {
    let cycles = 0
    const seeds = Trials.seeds(600)
    for (const seed of seeds) {
      const draw = Random.make(seed)
      const candidates = randomCandidates(draw, 3 + seed % 12)
      const arranged = Order.arrange(candidates)
      const expected = reference(candidates)
      if (expected === undefined) cycles++
      assert.deepStrictEqual("cycle" in arranged ? undefined : arranged, expected)
    }
    assert.isAbove(cycles, seeds.length / 6)
    assert.isBelow(cycles, seeds.length * 5 / 6)
  })

  it("does not depend on the order in which the candidates are given", () => {
    for (const seed of Trials.seeds(100)) {
      const draw = Random.make(seed)
      const candidates = randomCandidates(draw, 8)
      const arranged = Order.arrange(candidates)
      for (let round = 0; round < 5; round++) assert.deepStrictEqual(Order.arrange(Random.shuffled(draw, candidates)), arranged)
    }
  })

  it("lets one that becomes ready compete at once", () => {
    const late = candidate("late", { after: ["first"], specificity: 9 })
    const [first, second] = [candidate("first", { specificity: 5 }), candidate("second", { specificity: 4 })]
    assert.deepStrictEqual(Order.arrange([second, late, first]), [first, late, second])
  })

  it("counts a constraint once that both sides state", () => {
    const [a, b] = [candidate("a", { after: ["b", "b"] }), candidate("b", { before: ["a"] })]
    assert.deepStrictEqual(Order.arrange([a, b]), [b, a])
  })

  it("names the candidates in a cycle, and the ones behind it, in order", () => {
    const arranged = Order.arrange([
      candidate("free"),
      candidate("c", { after: ["b"] }),
      candidate("b", { after: ["a"] }),
      candidate("a", { after: ["b"] })
    ])
    assert.deepStrictEqual(arranged, { cycle: ["a", "b", "c"] })
  })

  it("does not modify its input", () => {
    const [a, b] = [candidate("a"), candidate("b")]
    assert.deepStrictEqual(Order.arrange(Object.freeze([b, a])), [a, b])
    assert.deepStrictEqual(Order.arrange([]), [])
  })
})

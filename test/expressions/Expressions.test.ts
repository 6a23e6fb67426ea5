import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as Expressions from "./Expressions.ts"
import * as Proofs from "./Proofs.ts"

/** The most expressions that a run proves without kept proofs. */
const MOST = 20

const { known, unknown } = Expressions.ofSources()
const kept = Proofs.read()

/** The expressions that take more steps, and their places. */
const slow = (expressions: ReadonlyArray<Expressions.Expression>): ReadonlyArray<string> =>
  expressions.flatMap((expression) => {
    const judged = Proofs.judged(expression)
    return "proved" in judged ? [] : [`${judged.steps}: ${Proofs.literal(expression)} in ${expression.places.join(", ")}`]
  })

describe("Regular expressions", () => {
  it("are constant", () => {
    assert.deepStrictEqual(unknown, [])
  })

  it("that backtrack are found", () => {
    assert.deepStrictEqual(Proofs.judged({ source: "^(a+)+$", flags: "" }), { steps: "exponential" })
    assert.deepStrictEqual(Proofs.judged({ source: "\\s+$", flags: "" }), { steps: "2nd degree polynomial" })
  })

  it("take linear time in the length of any text: all without a kept proof", () => {
    assert.isAbove(known.length, 150)
    const fresh = known.filter((expression) => !kept.has(Proofs.literal(expression)))
    assert.deepStrictEqual(slow(fresh), [])
    assert.isAtMost(fresh.length, MOST, "`node test/scripts/run.mjs test/expressions/prove.ts` keeps their proofs")
  })

  it("take linear time in the length of any text: some with a kept proof by an automaton, and in a soak all", () => {
    const proved = known.filter((expression) => kept.get(Proofs.literal(expression)) === "automaton")
    assert.isAbove(proved.length, 100)
    assert.deepStrictEqual(slow(Trials.some(proved)), [])
  })

  it("of which a proof is kept stand in the sources", () => {
    const literals = new Set(known.map(Proofs.literal))
    assert.deepStrictEqual([...kept.keys()].filter((literal) => !literals.has(literal)), [])
  })
})

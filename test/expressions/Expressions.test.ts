import { assert, describe, it } from "@effect/vitest"
import { checkSync } from "recheck"
import * as Expressions from "./Expressions.ts"

/** The flags that change no number of steps, and that the checker does not know. */
const IRRELEVANT = /[dgv]/g

/** The steps that an expression takes in the length of its text: `safe` if they are linear. */
const judged = (source: string, flags: string): string => {
  const found = checkSync(source, flags.replaceAll(IRRELEVANT, ""), { timeout: 60_000 })
  if (found.status === "unknown") return `unknown: ${found.error.kind}`
  return found.status === "vulnerable" ? found.complexity.summary : found.status
}

const { known, unknown } = Expressions.below(["src", "plugins", "enzymes"])

describe("Regular expressions", () => {
  it("are constant", () => {
    assert.deepStrictEqual(unknown, [])
  })

  it("that backtrack are found", () => {
    assert.strictEqual(judged("^(a+)+$", ""), "exponential")
    assert.strictEqual(judged("\\s+$", ""), "2nd degree polynomial")
  })

  it("take linear time in the length of any text", () => {
    assert.isAbove(known.length, 150)
    const slow = known.map(({ flags, places, source }) => `${judged(source, flags)}: /${source}/${flags} in ${places.join(", ")}`)
    assert.deepStrictEqual(slow.filter((line) => !line.startsWith("safe: ")), [])
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Glob from "../../src/agent/store/Glob.ts"
import * as Random from "../support/Random.ts"

/** The reference model: each way in which a pattern can take a name. */
const model = (pattern: string, name: string): boolean => {
  const [first, rest] = [pattern[0], pattern.slice(1)]
  if (first === undefined) return name === ""
  if (first === "*") return model(rest, name) || (name !== "" && model(pattern, name.slice(1)))
  return name !== "" && (first === "?" || first === name[0]) && model(rest, name.slice(1))
}

describe("Glob", () => {
  it("matches exactly the names of the reference model", () => {
    const draw = Random.make(7)
    const text = (letters: string, most: number): string =>
      Array.from({ length: draw(most + 1) }, () => letters[draw(letters.length)]).join("")
    let matched = 0
    for (let trial = 0; trial < 5_000; trial++) {
      const [pattern, name] = [text("ab*?.", 6), text("ab.", 7)]
      assert.strictEqual(Glob.matches(pattern, name), model(pattern, name), `${pattern} and ${name}`)
      if (model(pattern, name)) matched++
    }
    assert.isAbove(matched, 500)
  })

  it("takes no long time for a pattern of many stars", () => {
    assert.isFalse(Glob.matches(`${"*a".repeat(2_000)}b`, "a".repeat(5_000)))
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Folders from "./Folders.ts"
import * as Language from "./Language.ts"

describe("The language", () => {
  it.each([...Folders.measured()])("of %s is no worse than the best it has reached", (folder, shares) => {
    const limits = Folders.limits(folder)
    const names = Object.keys(shares) as ReadonlyArray<keyof Language.Shares>
    const worse = names.filter((name) => shares[name] > limits[name])
    assert.deepStrictEqual(worse.map((name) => `${name} is ${shares[name]}, and its limit is ${limits[name]}`), [])
  })

  it("is measured in docstrings without code, and in code without comments", () => {
    const source = [
      "/** What nobody knows: `nothing` is code. */",
      "const a = b!.c ?? d![0] // who asks here is no docstring (Architecture, section 3)",
      "/** A value! */",
      "const e = f !== g && !h && \"i!.j\"",
      `const long = "${"x".repeat(140)}"`
    ].join("\n")
    const { docstrings, ...figures } = Language.measure(source)
    assert.strictEqual(docstrings, 2)
    assert.deepInclude(figures, { openings: 1, indefinite: 2, assertions: 2, citations: 1, longLines: 1, longSentences: 0 })
    assert.strictEqual(Language.measure(`/** ${"word ".repeat(36)}. ${"word ".repeat(35)}. */`).longSentences, 1)
  })

  it("is measured in the prose of pages, without their code", () => {
    const page = [
      "# What a page is",
      "Whose page? `nobody` [knows](what.md) <nothing>.",
      "| a | what it is |",
      "```sh\nsomebody\n```",
      "    anybody",
      `- ${"word ".repeat(36)}. ${"word ".repeat(35)}.`
    ].join("\n")
    assert.deepInclude(Language.measurePage(page), { openings: 0, indefinite: 3, longSentences: 1 })
    assert.deepInclude(Language.measurePage("What it does is this.\n\nWhat does it do?"), { openings: 1, docstrings: 2 })
  })
})

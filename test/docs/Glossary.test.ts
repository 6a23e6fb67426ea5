import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import * as Pages from "./Pages.ts"

const glossary = Pages.read("src/GLOSSARY.md").text

/** The terms of a table with two columns. */
const termsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^\| ([^|`]+?) \| .+ \|$/gm)].map(([, cell = ""]) => cell).filter((cell) => cell !== "term" && !cell.startsWith("---"))

const own = Pages.sections(glossary).filter(([title]) => title !== "Words of other systems").flatMap(([, text]) => termsOf(text))
  .flatMap((cell) => cell.split(", "))

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts")).map((file) => readFileSync(join(root, "src", file), "utf8")).join("\n").toLowerCase()

describe("The glossary", () => {
  it("has the words of the README, and each term once", () => {
    assert.includeMembers([...own], ["space", "cell", "signal", "enzyme", "beat", "receipt"])
    assert.isAbove(own.length, 60)
    assert.deepStrictEqual(own.filter((term, i) => own.indexOf(term) !== i), [])
  })

  it("has no term that the sources do not use", () => {
    assert.deepStrictEqual(own.filter((term) => !sources.includes(term.toLowerCase())), [])
  })
})

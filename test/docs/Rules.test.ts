import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"
import * as Pages from "./Pages.ts"

const PAGE = "src/RULES.md"

const files = ["src", "plugins", "enzymes", "test", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:ts|md)$/.test(file) && !file.split("/").includes("node_modules"))
    .map((file) => join(folder, file)))
  .filter((file) => file !== PAGE && file !== "test/docs/Rules.test.ts")

/** The rules that a citation names: `S2 §2 P1` and `S2 §6.1` of `[S2 §2 P1, §6.1]`. */
const rulesOf = (citation: string): ReadonlyArray<string> => {
  const [source = "", ...rest] = citation.split(" ")
  const sections = rest.join(" ").split(", ").filter((section) => section !== "")
  return sections.length === 0 ? [source] : sections.map((section) => `${source} ${section}`)
}

/** A citation, which a docstring may break over two lines. */
const CITATION = /\[(S\d(?:[ \n][^\]]*)?)\](?!\()/g

const cited = files.flatMap((file) =>
  [...readFileSync(join(root, file), "utf8").matchAll(CITATION)]
    .flatMap(([, citation = ""]) => rulesOf(citation.replaceAll(/\s*\n[ *]*/g, " ")))
    .map((rule) => ({ file, rule })))

/** The rules of the page, by their headings, each with the principles that it states: `S2 §2` and `S2 §2 P1`. */
const stated: ReadonlyMap<string, string> = new Map([2, 3].flatMap((depth) =>
  Pages.sections(Pages.read(PAGE).text, depth).flatMap(([title, text]) => {
    const own = text.split(/^#/m)[0] ?? ""
    const principles = [...own.matchAll(/^- \*\*([A-Z]\d+)\.\*\* (.+)$/gm)]
      .map(([, name, rule = ""]) => [`${title} ${name}`, rule] as const)
    return [[title, own] as const, ...principles]
  })))

const isStated = (rule: string): boolean => {
  const [, section = "", principles = ""] = /^(\S+ §\S+)((?: [A-Z]\d+)+)$/.exec(rule) ?? []
  const names = principles.trim().split(" ").filter((name) => name !== "").map((name) => `${section} ${name}`)
  return names.length === 0 ? stated.has(rule) : names.every((name) => stated.has(name))
}

describe("The citations of rules", () => {
  it("are found, also over two lines and with several rules", () => {
    const rules = cited.map(({ rule }) => rule)
    assert.isAbove(cited.length, 60)
    assert.includeMembers(rules, ["S0 §Matching and Determinism", "S2 §6.1", "S2 §2 P1 P2", "S2 §13", "S4"])
  })

  it("each lead to a heading that states the rule", () => {
    assert.deepStrictEqual(cited.filter(({ rule }) => !isStated(rule)), [])
    for (const [rule, text] of stated) assert.match(text, /\w\.(?:\s|$)/, `${rule} states no rule`)
  })

  it("use each rule of the page", () => {
    const used = new Set(cited.flatMap(({ rule }) => [rule, rule.replace(/(?: [A-Z]\d+)+$/, ""), rule.split(" ")[0]]))
    assert.deepStrictEqual([...stated.keys()].filter((rule) => !used.has(rule) && !/ [A-Z]\d+$/.test(rule)), [])
  })
})

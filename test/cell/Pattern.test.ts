import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Pattern from "../../src/cell/Pattern.ts"
import * as Trials from "../support/Trials.ts"

const match = (pattern: string, path: string, mode: Pattern.Mode = "exact") =>
  Pattern.matches(Pattern.parse(pattern), path.slice(1).split("/"), mode)

const fits = (glob: string, name: string): boolean => {
  if (glob === "") return name === ""
  if (glob[0] === "*") return fits(glob.slice(1), name) || (name !== "" && fits(glob, name.slice(1)))
  return glob[0] === name[0] && fits(glob.slice(1), name.slice(1))
}

/** The reference model: it tries every match, the shortest first. */
type Names = ReadonlyArray<string>

const reference = (segments: Names, names: Names, mode: Pattern.Mode): Names | undefined => {
  const [segment, ...others] = segments
  if (segment === undefined) return names.length === 0 || mode === "prefix" ? [] : undefined
  if (segment === "**") {
    for (let taken = 0; taken <= names.length; taken++) {
      const rest = reference(others, names.slice(taken), mode)
      if (rest !== undefined) return rest
    }
    return undefined
  }
  const [name, ...left] = names
  if (name === undefined) return undefined
  if (!segment.startsWith(":") && !fits(segment, name)) return undefined
  const rest = reference(others, left, mode)
  return rest === undefined ? undefined : segment.startsWith(":") ? [name, ...rest] : rest
}

const SegmentText = Schema.Literals(["a", "b", "*", "**", "**", ":one", ":two", "a*", "*b", "a*b", "a*a", "*a*b*", "a-*"])
const NameText = Schema.Literals(["a", "b", "ab", "aab", "ba", "a-b"])
const segments = Schema.NonEmptyArray(SegmentText)
const names = Schema.NonEmptyArray(NameText)

describe("Pattern", () => {
  describe("matches", () => {
    it.each(["exact", "prefix"] as const)("agrees with the reference model: %s", (mode) => {
      assert.strictEqual(match("/a/*/c", "/a/b/c", mode), true)
      assert.strictEqual(match("/a/**/c", "/a/c", mode), true)
      assert.strictEqual(match("/a/**/c", "/a/x/y/c", mode), true)
      assert.strictEqual(match("/a/:x", "/a/b", mode), true)
      assert.strictEqual(match("/a/img*", "/a/img12", mode), true)
      assert.strictEqual(match("/a/img*", "/a/im", mode), false)
      assert.strictEqual(match("/a", "/ab", mode), false)
      assert.strictEqual(match("/a/b", "/a", mode), false)
    })

    it("allows further names only in prefix mode", () => {
      assert.isFalse(match("/h", "/h/m"))
      assert.isTrue(match("/h", "/h/m", "prefix"))
      assert.isTrue(match("/h/**", "/h/m/n"))
    })

    it("matches everything when empty", () => {
      assert.isTrue(match("", "/a/b"))
      assert.isTrue(match("", "/a", "prefix"))
    })

    it("matches the special characters of regular expressions literally", () => {
      for (const name of ["a-b", "a.b", "a+b", "a(b", "a[b", "a$b", "a^b", "a|b", "a{b"]) {
        assert.isTrue(match(`/${name[0]}${name[1]}*`, `/${name}`))
        assert.isFalse(match(`/x${name[1]}*`, `/${name}`))
      }
      assert.isFalse(match("/a.*", "/axb"))
    })

    it("does not count a character for both the prefix and the suffix of a star", () => {
      assert.isFalse(match("/ab*ba", "/aba"))
      assert.isTrue(match("/ab*ba", "/abba"))
    })

    it("does not lose itself in many stars", () => {
      assert.isFalse(match(`/${"a*".repeat(60)}b`, `/${"a".repeat(250)}`))
      assert.isFalse(Pattern.matches(Pattern.parse(`${"/**/a".repeat(30)}/b`), Array.from({ length: 64 }, () => "a"), "exact"))
    })

    it.prop("agrees with the reference", [segments, names, Schema.Literals(["exact", "prefix"])], ([segments, names, mode]) => {
      const pattern = Pattern.parse(`/${segments.join("/")}`)
      assert.strictEqual(Pattern.matches(pattern, names, mode), reference(segments, names, mode) !== undefined)
    }, Trials.draws(1000))
  })

  describe("params", () => {
    it("captures by name", () => {
      assert.deepStrictEqual(Pattern.params(Pattern.parse("/a/:id/:rest"), ["a", "7", "x"], "exact"), { id: "7", rest: "x" })
      assert.isUndefined(Pattern.params(Pattern.parse("/a/:id"), ["b", "7"], "exact"))
      assert.deepStrictEqual(Pattern.params(Pattern.parse("/a"), ["a"], "exact"), {})
    })

    it.prop("captures after the shortest stretches", [segments, names], ([segments, names]) => {
      let count = 0
      const distinct = segments.map((segment) => segment.startsWith(":") ? `:c${count++}` : segment)
      const expected = reference(distinct, names, "exact")
      const found = Pattern.params(Pattern.parse(`/${distinct.join("/")}`), names, "exact")
      assert.deepStrictEqual(found && Object.values(found), expected)
    }, Trials.draws())
  })

  describe("parse", () => {
    it("counts literal and partly literal segments", () => {
      const weights = [
        "", "/a", "/a/b", "/a/*", "/a/img*", "/a/dom:*", "/**", "/:x", "/a/**/b"
      ].map((text) => Pattern.parse(text).specificity)
      assert.deepStrictEqual(weights, [0, 2, 4, 2, 3, 3, 0, 0, 4])
    })

    it.each([
      ["a", "a path starts with a slash"],
      ["/", "a path needs at least one name"],
      ["/a**", "mixes ** with other characters"],
      ["/***", "mixes ** with other characters"],
      ["/a//b", "is empty"],
      ["/:", "empty domain or tag"],
      ["/:1", "empty domain or tag"],
      ["/*:", "empty domain or tag"],
      ["/a b*", "holds the character"],
      ["/..", "would be relative"]
    ])("refuses %j", (text, why) => {
      assert.throws(() => Pattern.parse(text), why)
    })
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import * as Frontmatter from "../../plugins/agent/text/Frontmatter.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as RandomFrontmatter from "./RandomFrontmatter.ts"

/** A key with its new value. */
type Written = readonly [key: string, value: Frontmatter.Scalar | undefined]

const values: ReadonlyArray<Frontmatter.Scalar | undefined> = [
  "idle", "a: it's \"so\" # no", "- x", "two\nlines", "", "no", "2026-01-15T10:30:00Z", "...", "---", "|", "[x", 0, 12, null,
  true, undefined
]

const of = (body: string): ControlFile.ControlFile => ControlFile.parse(`---\n${body}\n\n## Pending Actions\n`)

const written = (file: ControlFile.ControlFile, ...changes: ReadonlyArray<Written>): string =>
  Edit.update(file, changes.map(([key, value]) => ({ kind: "frontmatter", key, value })))

describe("The frontmatter that an agent writes", () => {
  it("reads each written key once, with its value, and has each byte of a person, in all styles of YAML", () => {
    let damaged = 0
    for (const seed of Trials.seeds(4_000, { least: 500, always: [648] })) {
      const draw = Random.make(seed)
      const { marks, text } = RandomFrontmatter.make(draw)
      let file = ControlFile.parse(text)
      if (ControlFile.isDamaged(file)) {
        damaged++
        continue
      }
      for (let wake = 0; wake < 4; wake++) {
        const keys = RandomFrontmatter.KEYS.filter((key) => key === "status" || draw(3) > 0)
        const changes = keys.map((key): Written => [key, Random.pick(draw, key === "status" ? Frontmatter.STATES : values)])
        const after = ControlFile.parse(written(file, ...changes))
        const shown = `seed ${seed}: ${JSON.stringify(changes)}\n${file.text}\n=>\n${after.text}`
        assert.deepStrictEqual(after.issues.filter(({ severity }) => severity === "error"), [], shown)
        for (const [key, value] of changes) {
          const found = after.frontmatter?.entries.filter((entry) => entry.key === key) ?? []
          const expected = value === undefined ? [] : [typeof value === "string" ? Edit.inline(value) : value]
          assert.deepStrictEqual(found.map((entry) => entry.value), expected, shown)
        }
        for (const mark of marks) assert.isTrue(after.text.includes(mark), `${mark} of ${shown}`)
        for (const { key, span } of file.frontmatter?.entries ?? []) {
          if (changes.some(([name]) => name === key)) continue
          assert.isTrue(after.text.includes(file.text.slice(span.start, span.end)), `${key} of ${shown}`)
        }
        file = after
      }
    }
    assert.isAtMost(damaged, Trials.count(4_000, 500) / 20)
  })

  it("does not grow from wake to wake where its document ends with …", () => {
    const file = of("version: 1\nstatus: idle\n...")
    const once = written(file, ["status", "running"], ["error_count", 1])
    assert.strictEqual(once, file.text.replace("idle\n", "running\nerror_count: 1\n"))
    assert.strictEqual(written(ControlFile.parse(once), ["error_count", 1]), once)
  })

  it("replaces a value that a formatter folded, and no key below it", () => {
    for (const folded of ["last_error: >-\n  a: one\n  two", "last_error:\n- a\n- b", "last_error: |+\n  one\n", "last_error:\n  a: b"]) {
      const file = of(`version: 1\n${folded}\nowner: me\n---`)
      const { frontmatter, text } = ControlFile.parse(written(file, ["last_error", "b: two"]))
      assert.strictEqual(Frontmatter.get(frontmatter, "last_error"), "b: two", text)
      assert.include(text, "\nowner: me\n", folded)
    }
  })

  it("is refused where a second document begins in it", () => {
    const [issue] = of("version: 1\n--- # more\nstatus: idle\n---").issues
    assert.strictEqual(issue?.code, "agent/frontmatter-invalid")
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Block from "../../plugins/agent/text/Block.ts"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import * as Frontmatter from "../../plugins/agent/text/Frontmatter.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as RandomFile from "./RandomFile.ts"
import { control, sample } from "./Sample.ts"
import * as Untouched from "./Untouched.ts"

const set = (id: string, key: string, value: string | undefined): Edit.Change => ({ kind: "field", id, key, value })

const edited = (text: string, ...changes: ReadonlyArray<Edit.Change>): string => Edit.update(ControlFile.parse(text), changes)

describe("Edit", () => {
  it("gives the same bytes without a change, whatever the file contains", () => {
    for (const seed of Trials.seeds(2_000, { least: 300 })) {
      const draw = Random.make(seed)
      const text = draw(2) === 0 ? RandomFile.valid(draw) : RandomFile.mutated(draw, RandomFile.valid(draw))
      const bytes = ControlFile.encode(text)
      const decoded = ControlFile.decode(bytes)
      if (typeof decoded !== "string") return assert.fail(decoded.message)
      assert.deepStrictEqual(ControlFile.encode(Edit.update(ControlFile.parse(decoded), [])), bytes)
    }
  })

  it("changes the lines of its fields alone, and the file reads back as it was changed", () => {
    for (const seed of Trials.seeds(4_000, { least: 600 })) {
      const draw = Random.make(seed)
      const text = draw(4) > 0 ? RandomFile.valid(draw) : RandomFile.mutated(draw, RandomFile.valid(draw))
      const file = ControlFile.parse(text)
      const changes = RandomFile.changes(draw, file)
      const after = ControlFile.parse(Edit.update(file, changes))
      const shown = `seed ${seed}: ${JSON.stringify(changes)}\n${text}\n=>\n${after.text}`
      assert.strictEqual(Untouched.of(after, changes), Untouched.of(file, changes), shown)
      const last = new Map(changes.flatMap((change) => change.kind === "field" ? [[`${change.id} ${change.key}`, change] as const] : []))
      for (const { id, key, value } of last.values()) {
        const block = Block.byId(after.blocks).get(id)
        if (block === undefined) continue
        const expected = Edit.inline(value ?? "") === "" ? undefined : Edit.inline(value ?? "")
        const isRepeated = file.blocks.some(({ fields }) => fields.filter((field) => field.key === key).length > 1)
        const found = Block.field(block, key)?.value
        if (expected === undefined && (isRepeated || found === "-")) continue
        assert.strictEqual(found, expected?.replace(/^`([^`]+)`$/, "$1"), shown)
      }
      const keys = new Map(changes.flatMap((change) => change.kind === "frontmatter" ? [[change.key, change.value] as const] : []))
      if (file.frontmatter === undefined || file.issues.some(({ block, severity }) => block === undefined && severity === "error")) continue
      for (const [key, value] of keys) {
        assert.strictEqual(Frontmatter.get(after.frontmatter, key), typeof value === "string" ? Edit.inline(value) : value, shown)
      }
    }
  })

  it("is the same when it is applied twice", () => {
    for (const seed of Trials.seeds(2_000, { least: 300 })) {
      const draw = Random.make(seed)
      const file = ControlFile.parse(RandomFile.valid(draw))
      const changes = RandomFile.changes(draw, file).filter(({ kind }) => kind !== "reset")
      const once = Edit.update(file, changes)
      assert.strictEqual(edited(once, ...changes), once, `seed ${seed}`)
    }
  })

  it("keeps spaces, ends of lines and the byte order mark", () => {
    const block = "### [HIGH] A\n*   **id** :\ta  \n- **type**: shell\n- **command**: x\n-  **status**:   pending  \n"
    const text = `\ufeff${control(block).replaceAll("\n", "\r\n")}`
    const expected = text.replace("pending  ", "completed  \r\n- **result**: OK")
    assert.strictEqual(edited(text, set("a", "status", "completed"), set("a", "result", "OK")), expected)
  })

  it("adds a field behind the last one, on a new line if the file ends without an end of line", () => {
    const text = "---\nversion: 1\n---\n## Pending Actions\n### [LOW] A\n- **id**: a"
    assert.strictEqual(edited(text, set("a", "status", "running")), `${text}\n- **status**: running`)
  })

  it("replaces nested lists and | blocks, and removes whole fields", () => {
    const block = "### [LOW] A\n- **id**: a\n- **params**:\n  - k: v\n- **prompt**: |\n    one\n\n    two\n- **x**: y\n"
    const text = control(block)
    assert.strictEqual(edited(text, set("a", "params", "p")), text.replace("- **params**:\n  - k: v\n", "- **params**: p\n"))
    assert.strictEqual(edited(text, set("a", "prompt", undefined)), text.replace("- **prompt**: |\n    one\n\n    two\n", ""))
  })

  it("keeps the comment behind a value of the frontmatter, and quotes what YAML would read otherwise", () => {
    const text = sample.replace("status: idle\n", "status: idle # now\n")
    const changed = edited(
      text,
      { kind: "frontmatter", key: "status", value: "running" },
      { kind: "frontmatter", key: "last_error", value: "no: \"x\"" },
      { kind: "frontmatter", key: "error_count", value: 2 }
    )
    const expected = "status: running # now\nlast_error: \"no: \\\"x\\\"\"\nerror_count: 2\n"
    assert.strictEqual(changed, text.replace("status: idle # now\n", expected))
  })

  it("lists a completed action once, above the person's lines that follow the list", () => {
    const done = (id: string, time: string): Edit.Change => ({ kind: "completed", id, name: "Check", time })
    const line = "- [x] action-000: System startup check (10:00:00)\n"
    const one = edited(sample, done("action-001", "10:32:15"))
    assert.strictEqual(one, sample.replace(line, `${line}- [x] action-001: Check (10:32:15)\n`))
    assert.strictEqual(edited(one, done("action-001", "11:00:00")), one.replace("10:32:15", "11:00:00"))
    assert.strictEqual(edited(one, { kind: "reset" }), sample.replace(line, ""))
    assert.strictEqual(edited(one, { kind: "reset" }, done("b", "04:00:00")), sample.replace(line, "- [x] b: Check (04:00:00)\n"))
  })

  it("makes the section of completed actions behind the pending ones where the file has none", () => {
    const text = control("### [LOW] A\n- **id**: a\n")
    const changed = edited(text, { kind: "completed", id: "a", name: "A", time: "10:00:00" })
    assert.strictEqual(changed, text.replace("## Notes", "## Completed Today\n\n- [x] a: A (10:00:00)\n\n## Notes"))
  })

  it("brings values onto one line, and cuts long ones", () => {
    assert.strictEqual(Edit.inline(" a\r\n\u0000b\u2028c "), "a b c")
    assert.strictEqual(Edit.inline("x".repeat(1_000)).length, Edit.MAX_VALUE)
    assert.isTrue(Edit.inline("𝄞".repeat(1_000)).isWellFormed())
    assert.strictEqual(Edit.inline("|"), "`|`")
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import * as Plan from "../../plugins/agent/wake/Plan.ts"
import * as PlanFacts from "../agent/PlanFacts.ts"
import { control, sample } from "../agent/Sample.ts"

const block = (fields: string, heading = "[HIGH] A"): string => `### ${heading}\n${fields}`

const sound = (id: string): string => block(`- **id**: ${id}\n- **type**: shell\n- **command**: true\n`)

/** The issues of a file, each as `code line:column`. */
const issuesOf = (text: string): ReadonlyArray<string> =>
  ControlFile.parse(text).issues.map(({ code, column, line }) => `${code} ${line}:${column}`)

describe("O: the control file", () => {
  it("O1 the sample has two actions, HIGH then MEDIUM, four keys and its notes", () => {
    const file = ControlFile.parse(sample)
    assert.deepStrictEqual(file.issues, [])
    assert.deepStrictEqual(file.actions.map(({ id, priority, type }) => [id, priority, type]), [
      ["action-001", "HIGH", "http_check"],
      ["action-002", "MEDIUM", "shell"]
    ])
    assert.deepStrictEqual(file.frontmatter?.entries.map(({ key }) => key), ["version", "last_wake", "next_wake", "status"])
    assert.include(Edit.update(file, []), "Agent initialized successfully.")
  })

  it("O3 a frontmatter that is missing, unclosed, of version 2 or of unknown status is an error of the file", () => {
    const rest = "## Pending Actions\n"
    const cases = [
      [rest, "agent/frontmatter-missing 1:1"],
      [`---\nversion: 1\n${rest}`, "agent/frontmatter-unclosed 1:1"],
      [`---\nversion: 2\n---\n${rest}`, "agent/version-unknown 2:10"],
      [`---\nstatus: idle\n---\n${rest}`, "agent/version-unknown 2:1"],
      [`---\nversion: 1\nstatus: asleep\n---\n${rest}`, "agent/frontmatter-invalid 3:9"],
      [`---\nversion: 1\nversion: 1\n---\n${rest}`, "agent/frontmatter-invalid 3:1"],
      [`---\n{version: 1, status: idle}\n---\n${rest}`, "agent/frontmatter-invalid 2:1"],
      [`---\nversion: [1\n---\n${rest}`, "agent/frontmatter-invalid 3:1"]
    ] as const
    for (const [text, issue] of cases) {
      assert.include(issuesOf(text), issue, text)
      const file = ControlFile.parse(`${text}\n${sound("a")}`)
      assert.isTrue(ControlFile.isDamaged(file), text)
      assert.deepStrictEqual(file.actions.map(({ id }) => id), ["a"], text)
    }
    assert.deepStrictEqual(issuesOf(`---\nversion: 1\nstatus: Running\n---\n${rest}`), [])
  })

  it("O4 a wrong action is an error with its line, and the others are listed", () => {
    const cases = [
      [block("- **type**: shell\n- **command**: x\n"), "agent/field-missing 10:1", "write - **id**: a"],
      [block("- **id**: b\n"), "agent/field-missing 10:1", "write - **type**: TYPE"],
      [block("- **id**: b\n- **type**: shell\n"), "agent/field-missing 10:1", "write - **command**: VALUE"],
      [block("- **id**: b\n- **type**: shell\n- **command**: x\n", "[HIHG] A"), "agent/priority-unknown 10:1", "write ### [HIGH] A"],
      [block("- **id**: b\n- **type**: shell\n- **command**: x\n", "A"), "agent/priority-unknown 10:1", "write ### [MEDIUM] A"],
      [block("- **id**: b c\n- **type**: shell\n- **command**: x\n"), "agent/field-invalid 11:11", "write - **id**: a"],
      [block("- **id**: b\n- **type**: shell\n- **command**: x\n- **timeout**: 5x\n"), "agent/field-invalid 14:16", "30s"],
      [block("- **id**: b\n- **type**: shell\n- **command**: x\n- **retry**: 0\n"), "agent/field-invalid 14:14", "3"]
    ] as const
    for (const [wrong, issue, suggestion] of cases) {
      const file = ControlFile.parse(control(wrong, sound("z")))
      assert.deepStrictEqual(issuesOf(file.text), [issue])
      assert.include(file.issues[0]?.suggestion, suggestion)
      assert.deepStrictEqual(file.actions.map(({ id }) => id), ["z"])
      assert.isFalse(ControlFile.isDamaged(file))
    }
  })

  it("O4 a repeated id is an error, and none of its actions is listed", () => {
    const file = ControlFile.parse(control(sound("a"), sound("z"), sound("a")))
    assert.deepStrictEqual(issuesOf(file.text), ["agent/id-repeated 21:11"])
    assert.deepStrictEqual(file.actions.map(({ id }) => id), ["z"])
  })

  it("O4 unknown dependencies and circles are errors that name the actions", () => {
    const needing = (id: string, other: string): string => `${sound(id)}- **depends_on**: ${other}\n`
    const circle = [needing("a", "b"), needing("b", "a")]
    const file = ControlFile.parse(control(...circle, needing("c", "backup"), sound("backups"), needing("d", "c")))
    assert.deepStrictEqual(file.actions.map(({ id }) => id), ["backups"])
    const messages = file.issues.map(({ message }) => message)
    assert.include(messages, "The actions need each other in a circle: a → b → a")
    assert.include(messages, "The action \"c\" refers to \"backup\" in depends_on, and no action has this id")
    assert.include(messages, "The action \"d\" needs \"c\", which has an error")
    assert.include(file.issues.map(({ suggestion }) => suggestion), "write backups")
  })

  it("O5 a heading in a fence, a comment, a | block or another section is no action", () => {
    const hidden = sound("hidden")
    const indented = hidden.replaceAll(/^/gm, "    ")
    const text = control(
      `\`\`\`\n${hidden}\`\`\`\n`,
      `<!--\n${hidden}-->\n`,
      `${sound("a")}- **prompt**: |\n${indented.trimEnd()}\n- **x**: y\n`
    ) + `\n## Completed Today\n\n${hidden}\n## Notes\n\n${hidden}`
    const file = ControlFile.parse(text)
    assert.deepStrictEqual(file.issues, [])
    assert.deepStrictEqual(file.actions.map(({ id }) => id), ["a"])
    assert.strictEqual(file.actions[0]?.params.get("prompt"), hidden.trimEnd())
    assert.strictEqual(file.actions[0]?.params.get("x"), "y")
  })

  it("O6 nested lists, prompts of several lines, and values with \": \" and ** are read", () => {
    const fields = [
      "- **id**: a",
      "- **type**: http",
      "- **url**: https://example.com/a: b?**c**",
      "- **headers**:",
      "  - Accept: text/html: x",
      "  - X-A: **bold**",
      "- **env**:",
      "  - A: 1",
      "- **params**:",
      "  - method: POST",
      "  - tags:",
      "    - one",
      "    - two",
      "- **prompt**: |",
      "    First: line",
      "",
      "      - deeper",
      "- **schedule**: `cron:*/5 * * * *`"
    ]
    for (const eol of ["\n", "\r\n"]) {
      const { actions, issues } = ControlFile.parse(control(block(`${fields.join("\n")}\n`)).replaceAll("\n", eol))
      assert.deepStrictEqual(issues, [])
      const [action] = actions
      assert.deepStrictEqual([...action?.params ?? []], [
        ["url", "https://example.com/a: b?**c**"],
        ["headers", new Map([["Accept", "text/html: x"], ["X-A", "**bold**"]])],
        ["env", new Map([["A", "1"]])],
        ["method", "POST"],
        ["tags", ["one", "two"]],
        ["prompt", "First: line\n\n  - deeper"]
      ])
      assert.strictEqual(action?.schedule.kind, "cron")
    }
  })

  it("O18 completion writes its fields, and leaves other lines unchanged", () => {
    const file = ControlFile.parse(sample)
    const text = Edit.update(file, [
      { kind: "field", id: "action-001", key: "status", value: "completed" },
      { kind: "field", id: "action-001", key: "completed_at", value: "2024-01-15T10:32:15Z" },
      { kind: "field", id: "action-001", key: "duration", value: "1.2s" },
      { kind: "field", id: "action-001", key: "result", value: "OK (200)" }
    ])
    const written = [
      "- **status**: completed",
      "- **completed_at**: 2024-01-15T10:32:15Z",
      "- **duration**: 1.2s",
      "- **result**: OK (200)"
    ].join("\n")
    assert.strictEqual(text, sample.replace("- **status**: pending", written))
  })

  it("O40 a status is read in any letter case; an unknown one is kept and told", () => {
    const status = (text: string) => ControlFile.parse(control(`${sound("a")}- **status**: ${text}\n`))
    for (const text of ["COMPLETED", "Completed", "completed"]) assert.strictEqual(status(text).actions[0]?.status, "completed")
    const file = status("NEEDS_CLARIFICATION")
    assert.strictEqual(file.actions[0]?.status, "other")
    assert.deepStrictEqual(file.issues.map(({ code, severity }) => [code, severity]), [["agent/status-unknown", "warning"]])
    assert.deepStrictEqual(Plan.make(file.actions, PlanFacts.of(file.actions)).map(({ kind }) => kind), ["rest"])
    assert.strictEqual(Edit.update(file, []), file.text)
  })
})

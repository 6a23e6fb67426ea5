import { assert, describe, it } from "@effect/vitest"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { render } from "../../plugins/agent/text/Issue.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as NearlyRight from "./NearlyRight.ts"
import { action, fileOf } from "./TestAgent.ts"

const issuesOf = (text: string): ReadonlyArray<string> => ControlFiles.parse(text).issues.map(render)

describe("A block that is nearly right", () => {
  it("has each of its lines read, told, or left as prose", () => {
    for (const part of NearlyRight.parts) {
      const text = NearlyRight.fileOf([part])
      assert.strictEqual(issuesOf(text).length > 0, part.isTold, `${part.lines.join("\n")}\n${issuesOf(text).join("\n")}`)
    }
  })

  it("has each of its lines read, told, or left as prose, with others beside it", () => {
    for (const seed of Trials.seeds(4_000, { least: 500 })) {
      const { isTold, text } = NearlyRight.make(Random.make(seed))
      assert.strictEqual(issuesOf(text).length > 0, isTold, `seed ${seed}\n${text}\n${issuesOf(text).join("\n")}`)
    }
  })

  it.each([
    ["- **shedule**: every:5m", "error agent/field-unknown: No action of the type shell reads the field \"shedule\"; write schedule"],
    ["- **cwd**: /srv", "error agent/field-unknown: No action of the type shell reads the field \"cwd\"; write working_dir"],
    ["- [ ] **schedule**: daily:02:00",
      "warning agent/line-unread: The line \"- [ ] **schedule**: daily:02:00\" looks like a field, " +
      "and is none; write - **key**: value at the beginning of a line, or make it a sentence"],
    ["- **env**:\n  - MODE=full", "error agent/line-unread: \"MODE=full\" is no entry of env: it has no name; write - name: value"],
    [" ### [HIGH] Another", "warning agent/heading-ignored: The line \"### [HIGH] Another\" is no heading of an action; " +
      "write ### [PRIORITY] NAME, with ### at the margin and a space behind it"]
  ])("has a suggestion for %s", (lines, expected) => {
    const [first = ""] = issuesOf(fileOf(`${action("a", { type: "shell", command: "ls" })}${lines}\n`))
    assert.include(first, expected)
  })

  it("has one issue for a heading without fields", () => {
    assert.strictEqual(issuesOf(fileOf("### Thoughts\n\nSome.\n")).length, 1)
  })

  it("may have fields of its own in a type of a plugin, and only a warning for one that is nearly a known one", () => {
    const greet = action("a", { type: "greet", command: "ls | wc", environment: "test", retries: "x", message: "hi" })
    assert.deepStrictEqual(issuesOf(fileOf(greet)), [])
    assert.include(issuesOf(fileOf(action("a", { type: "greet", shedule: "x" })))[0], "warning agent/field-unknown")
  })

  it.each([
    ["a line for a shell", { type: "shell", command: "cat a | mail b" }, "| at character 7 needs a shell"],
    ["a substitution", { type: "shell", command: "echo $(date)" }, "needs a shell"],
    ["an unknown operation", { type: "file", operation: "watch", source: "a" }, "write - **schedule**: on_change:PATH"],
    ["an unknown mode", { type: "composite", actions: "b", mode: "serial" }, "write one of sequential, parallel"],
    ["an output of nobody", { type: "http", url: "http://x.test/${output:nobody}" }, "refers to \"nobody\" in url"]
  ])("is an error of a check where an attempt would fail: %s", (_, fields, expected) => {
    const file = fileOf(action("a", fields), action("b", { type: "shell", command: "ls" }))
    const [first = "", ...others] = issuesOf(file)
    assert.include(first, expected)
    assert.deepStrictEqual(others, [])
  })

  it("tells circles of on_change, over other actions too, and no path that nobody of the circle writes", () => {
    const copy = (id: string, from: string, to: string) =>
      action(id, { type: "file", operation: "copy", source: from, target: to, schedule: `on_change:${from}` })
    const loops = (...blocks: ReadonlyArray<string>) => issuesOf(fileOf(...blocks)).filter((line) => line.includes("agent/schedule-loop"))
    assert.strictEqual(loops(copy("a", "in.txt", "out.txt")).length, 0)
    assert.strictEqual(loops(copy("a", "in.txt", "in.txt")).length, 1)
    assert.strictEqual(loops(copy("a", "in.txt", "out.txt"), copy("b", "files/out.txt", "in.txt")).length, 2)
    const list = { type: "shell", command: "ls", output_file: "src/log.txt", schedule: "on_change:src" }
    assert.strictEqual(loops(action("a", list)).length, 1)
  })
})

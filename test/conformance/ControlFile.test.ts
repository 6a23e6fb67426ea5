import { assert, describe, it } from "@effect/vitest"
import * as ControlFile from "../../src/agent/ControlFile.ts"
import * as Edit from "../../src/agent/Edit.ts"
import { sample } from "../agent/Sample.ts"

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
})

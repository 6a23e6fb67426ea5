import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { action, fileOf } from "./TestAgent.ts"
import { withCellAgent } from "./TestCellAgent.ts"

const check = (id: string, fields: Readonly<Record<string, string>>) =>
  action(id, { type: "http_check", target: "http://example.com", status: "pending", ...fields })

describe("A save of a control file in a cell", () => {
  it.effect("tells which actions depend on files and variables, of which a cell has none", () =>
    withCellAgent(({ save }) => Effect.gen(function*() {
      const { issues = [] } = yield* save(fileOf(
        check("watch", { schedule: "on_change:config.json" }),
        check("gate", { condition: "file_exists:flag AND env_set:HOME" }),
        check("fine", { condition: "time_after:10:00 AND NOT any_failed" })
      ))
      assert.deepStrictEqual(issues.map((issue) => issue.split(", and")[0]), [
        "The action \"watch\" has on_change:config.json",
        "The action \"gate\" has file_exists:flag",
        "The action \"gate\" has env_set:HOME"
      ])
    })))

  it.effect("keeps a file with more such tests than a reply can tell", () =>
    withCellAgent(({ save }) => Effect.gen(function*() {
      const many = Array.from({ length: 100 }, (_, i) => `file_exists:data/${i}`).join(" OR ")
      const long = `on_change:${"x".repeat(4000)}`
      const few = Array.from({ length: 50 }, (_, i) => check(`long${i}`, { schedule: long }))
      const others = Array.from({ length: 100 }, (_, i) => check(`a${i}`, { condition: many }))
      const { issues = [], saved } = yield* save(fileOf(...few, ...others))
      assert.deepStrictEqual([saved, issues.length], [true, 1000])
      assert.isBelow(issues[0]?.length ?? 0, 400)
    })))
})

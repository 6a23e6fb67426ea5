import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { replays } from "../kernel/TestSpace.ts"
import { action, fileOf } from "./TestAgent.ts"
import { withCellAgent } from "./TestCellAgent.ts"

describe("An agent of a file in a cell", () => {
  it.effect("wakes for each kind of schedule by the clock of its beats alone", () => {
    let asked = 0
    const schedules = ["every:1h", "daily:11:00", "cron:0 11 * * *", "cron:*/30 * * * MON"]
    const check = (schedule: string, i: number): string =>
      action(`a${i}`, { type: "http_check", target: "http://example.com/health", status: "pending", schedule })
    const http = () => ({ status: 200, headers: {}, url: "", body: String(asked++) })
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      assert.deepInclude(yield* save(fileOf(...schedules.map(check))), { saved: true })
      yield* pass("1 hour")
      assert.isAtLeast(asked, schedules.length)
      assert.isUndefined((yield* space.dead({ limit: 1 })).letters[0])
      yield* replays(space)
    }), { scripts: { http } })
  })
})

import { assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Cron from "../../src/time/Cron.ts"
import * as Condition from "../../plugins/agent/schedule/Condition.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import * as Plan from "../../plugins/agent/wake/Plan.ts"
import * as Schedule from "../../plugins/agent/schedule/Schedule.ts"
import { command, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { block, hostile, TIMES } from "./HostileFiles.ts"
import * as PlanFacts from "./PlanFacts.ts"
import * as RandomFile from "./RandomFile.ts"

/** The young objects of some runs have room, so that few collections fall into one. */
const ROOM = "--max-semi-space-size=64"

let costs: Readonly<Record<string, number>> = {}

beforeAll(async () => {
  const [node, ...args] = command("node", join(root, "test/agent/HostileCosts.ts"))
  const { code, output } = await run([node, ROOM, ...args])
  assert.strictEqual(code, 0, output)
  costs = JSON.parse(output) as typeof costs
})

describe("A hostile control file", () => {
  it.each(Object.keys(hostile()))("costs at most four times an ordinary one: %s", (name) => {
    assert.isBelow(costs[name] ?? Number.NaN, TIMES)
  })

  it("is refused by its size and by its encoding, with the limit", () => {
    const refused = (bytes: Uint8Array) => {
      const issue = ControlFile.decode(bytes)
      return typeof issue === "string" ? "decoded" : issue.code
    }
    assert.strictEqual(refused(new Uint8Array(10_000_000)), "agent/too-large")
    assert.strictEqual(refused(new Uint8Array(ControlFile.MAX_BYTES)), "decoded")
    assert.strictEqual(refused(new Uint8Array([0x61, 0xff])), "agent/not-text")
  })

  it("has aliases, anchors and tags refused, so that no text expands", () => {
    const bomb = Array.from({ length: 20 }, (_, i) => `k${i + 1}: &k${i + 1} [*k${i}, *k${i}]`).join("\n")
    const others = ["status: &a idle", "a: *b", "status: !!binary aWRsZQ==", "a: !own b"]
    for (const yaml of [`k0: &k0 x\n${bomb}`, ...others]) {
      const { actions, issues } = ControlFile.parse(`---\nversion: 1\n${yaml}\n---\n## Pending Actions\n${block("a")}`)
      assert.include(issues.map(({ code }) => code), "agent/frontmatter-invalid", yaml)
      assert.strictEqual(actions.length, 1)
    }
  })

  it("is parsed, planned and changed without an exception, however it is damaged", () => {
    for (const seed of Trials.seeds(4_000, { least: 600 })) {
      const draw = Random.make(seed)
      const file = ControlFile.parse(RandomFile.mutated(draw, RandomFile.mutated(draw, RandomFile.valid(draw))))
      for (const { block, column, line, message, suggestion } of file.issues) {
        assert.isTrue(line >= 1 && column >= 1 && line <= Math.max(file.lines.length, 1), message)
        assert.isTrue(message !== "" && suggestion !== "" && (block === undefined || block < file.blocks.length), message)
      }
      const plan = Plan.make(file.actions, PlanFacts.of(file.actions))
      assert.strictEqual(plan.length, file.actions.length)
      Edit.update(file, RandomFile.changes(draw, file))
    }
  })

  it("has each schedule, condition and cron expression parsed or refused", () => {
    const words = [
      "cron:", "every:", "at:", "daily:", "*", "/", "-", ",", "5", "60", "MON", "SUN", "JAN", " ", "  ", "m", "h",
      "2026-02-30", "T10:00", "Z"
    ]
    const tests = [
      "NOT", "AND", "OR", "any_failed", "weekday:mon", "time_after:22:00", "\"", ":", "\n", " ", " ", "file_exists:", "x", "(",
      "constructor"
    ]
    for (const seed of Trials.seeds(20_000, { least: 3_000 })) {
      const draw = Random.make(seed)
      const text = Array.from({ length: draw(10) }, () => Random.pick(draw, words)).join("")
      const schedule = Schedule.parse(text, "UTC")
      if (!("refused" in schedule)) Schedule.next(schedule, 0)
      const cron = Cron.parse(Array.from({ length: 5 }, () => Random.pick(draw, words)).join(" "), { zone: "UTC" })
      if (!("refused" in cron)) assert.isAbove(cron.next(0) ?? 0, 0, cron.expression)
      const condition = Condition.parse(Array.from({ length: draw(8) }, () => Random.pick(draw, tests)).join(" "))
      const environment = { now: 0, zone: "UTC", files: new Set<string>(), variables: new Set<string>(), outcomes: new Map(), self: "a" }
      if (!("refused" in condition)) assert.isBoolean(Condition.evaluate(condition, environment))
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Block from "../../plugins/agent/text/Block.ts"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import { merge3 } from "../../plugins/agent/document/Merge.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import * as RandomFile from "./RandomFile.ts"
import { sample } from "./Sample.ts"
import * as Untouched from "./Untouched.ts"

const set = (id: string, key: string, value: string | undefined): Edit.Change => ({ kind: "field", id, key, value })

const merged = (base: string, changes: ReadonlyArray<Edit.Change>, theirs: string) =>
  merge3(ControlFile.parse(base), changes, ControlFile.parse(theirs))

describe("Merge", () => {
  it("equals the update where the person changed nothing", () => {
    for (const seed of Trials.seeds(2_000, { least: 300 })) {
      const draw = Random.make(seed)
      const base = ControlFile.parse(RandomFile.valid(draw))
      const changes = RandomFile.changes(draw, base)
      const known = changes.filter((change) => change.kind !== "field" || Block.byId(base.blocks).has(change.id))
      assert.deepStrictEqual(merge3(base, changes, base), {
        text: Edit.update(base, changes),
        left: changes.filter((change) => !known.includes(change))
      })
    }
  })

  it("loses no byte of the person, and no field that the person changed, whatever both change", () => {
    for (const seed of Trials.seeds(4_000, { least: 600 })) {
      const draw = Random.make(seed)
      const base = ControlFile.parse(RandomFile.valid(draw))
      const theirs = ControlFile.parse(RandomFile.mutated(draw, base.text))
      const changes = RandomFile.changes(draw, base)
      const { left, text } = merge3(base, changes, theirs)
      const kept = changes.filter((change) => !left.includes(change))
      const after = ControlFile.parse(text)
      const shown = `seed ${seed}: ${JSON.stringify(changes)}\n${theirs.text}\n=>\n${text}`
      assert.strictEqual(Untouched.of(after, kept), Untouched.of(theirs, kept), shown)
      for (const block of Block.byId(theirs.blocks).values()) {
        const before = Block.byId(base.blocks).get(block.id)
        for (const { key, value } of before === undefined ? [] : block.fields) {
          const own = before === undefined ? undefined : Block.field(before, key)
          const now = Block.byId(after.blocks).get(block.id)
          if (Block.field(block, key)?.value !== value || value === own?.value || now === undefined) continue
          assert.strictEqual(Block.field(now, key)?.value, value, shown)
        }
      }
    }
  })

  it("applies the agent's status beside the person's new schedule", () => {
    const theirs = sample.replace("every:5m", "every:10m").replace("# Heartbeat", "# My heartbeat")
    const { left, text } = merged(sample, [set("action-001", "status", "running")], theirs)
    assert.strictEqual(text, theirs.replace("pending", "running"))
    assert.deepStrictEqual(left, [])
  })

  it("lets the person win on a field that both changed, and tells the change that gave way", () => {
    const theirs = sample.replace("- **status**: pending", "- **status**: skipped")
    const change = set("action-001", "status", "completed")
    assert.deepStrictEqual(merged(sample, [change], theirs), { text: theirs, left: [change] })
  })

  it("writes nothing to an action that the person removed, renamed or doubled", () => {
    const change = set("action-001", "status", "running")
    const block = sample.slice(sample.indexOf("### [HIGH]"), sample.indexOf("### [MEDIUM]"))
    for (const theirs of [sample.replace(block, ""), sample.replace("action-001", "other"), sample.replace(block, block + block)]) {
      assert.deepStrictEqual(merged(sample, [change], theirs), { text: theirs, left: [change] })
    }
  })

  it("follows an action that the person moved", () => {
    const start = sample.indexOf("### [HIGH]")
    const middle = sample.indexOf("### [MEDIUM]")
    const end = sample.indexOf("## Completed")
    const theirs = sample.slice(0, start) + sample.slice(middle, end) + sample.slice(start, middle) + sample.slice(end)
    const { text } = merged(sample, [set("action-001", "status", "running")], theirs)
    assert.deepStrictEqual(ControlFile.parse(text).actions.map(({ id, status }) => [id, status]), [
      ["action-002", "pending"],
      ["action-001", "running"]
    ])
  })
})

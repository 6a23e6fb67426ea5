import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { enzyme, replays } from "../kernel/TestSpace.ts"
import { action, fileOf } from "./TestAgent.ts"
import { CELL, withCellAgent } from "./TestCellAgent.ts"

const send = (id: string, payload: string) => action(id, { type: "signal", signal: "/signals/take", payload, status: "pending" })

const take = enzyme("take", (tx, { payload }) => tx.append("/data/agent/taken", payload))

const labels = { cells: { "/data/agent/**": ["ops"] }, declassify: {} }

describe("A control file that label rules make confidential", () => {
  it.effect("is saved and woken, and only readers who may read its cell have its text", () =>
    withCellAgent(({ content, pass, save, space }) => Effect.gen(function*() {
      const { reason, saved } = yield* save(fileOf(send("a", "1"), send("b", "2")))
      assert.isTrue(saved, reason)
      yield* pass("1 minute")
      assert.deepStrictEqual(yield* space.get("/data/agent/taken"), [1, 2])
      const address = yield* content
      const text = yield* space.get(`${CELL}/${address.slice("/cas/".length)}`)
      assert.include(text, "**status**: completed")
      // No content tells of the file.
      assert.isUndefined(yield* space.get(address))
      const web = space.reader({ name: "web", atoms: [] })
      for (const cell of [CELL, `${CELL}/${address.slice("/cas/".length)}`]) {
        assert.strictEqual((yield* Effect.flip(web.get(cell))).code, "label/withheld")
      }
      assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters, [])
      yield* replays(space)
    }), { enzymes: [take], labels }))

  it.effect("merges a save with the changes of the agent since, and keeps the newest versions alone", () =>
    withCellAgent(({ content, pass, save, space }) => Effect.gen(function*() {
      for (let round = 1; round <= 12; round++) {
        const text = fileOf(...Array.from({ length: round }, (_, i) => send(`a${i}`, String(i))))
        const first = yield* save(text)
        yield* pass("1 minute")
        const { reason, saved } = yield* save(text.replace("Mine", `Mine ${round}`), first.content)
        assert.isTrue(saved, reason)
        const address = yield* content
        assert.include(yield* space.get(`${CELL}/${address.slice("/cas/".length)}`), `Mine ${round}`)
        assert.include(yield* space.get(`${CELL}/${address.slice("/cas/".length)}`), "**status**: completed")
      }
      assert.isAtMost((yield* space.list(CELL)).length, 9)
    }), { enzymes: [take], labels }))

  it.effect("is content again once no rule names it", () =>
    withCellAgent(({ content, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(send("a", "1")))
      assert.instanceOf(yield* space.get(yield* content), Uint8Array)
      assert.deepStrictEqual(yield* space.list(CELL), [])
    }), { enzymes: [take], labels: { cells: { "/data/pay/**": ["salary"] }, declassify: {} } }))

  it.effect("has wakes that know no dead letter that tells more: the time limit ends an attempt whose run was given up", () =>
    withCellAgent(({ fields, pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(action("program", { type: "shell", command: "x", timeout: "5s", status: "pending" }), send("next", "1")))
      yield* pass("1 minute")
      assert.deepInclude(yield* fields("program"), { status: "failed" })
      assert.include((yield* fields("program"))["error"], "its event")
      assert.deepStrictEqual(yield* space.get("/data/agent/taken"), [1])
      assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters.map(({ enzyme }) => enzyme), ["agent_shell"])
      yield* replays(space)
    }), { enzymes: [take], labels: { cells: { "/data/pay/**": ["salary"] }, declassify: {} }, without: ["shell"] }))

  it.effect("has wakes that know dead letters if they may declassify them", () =>
    withCellAgent(({ fields, pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(action("program", { type: "shell", command: "x", status: "pending" })))
      yield* pass("1 minute")
      assert.deepInclude(yield* fields("program"), { status: "failed", error: "this host has no channel for it (io/channel-absent)" })
      assert.deepStrictEqual((yield* space.dead({ limit: 10 })).letters.map(({ enzyme }) => enzyme), ["agent_shell"])
    }), {
      labels: { cells: { "/data/pay/**": ["salary"] }, declassify: { heartbeat_wake: ["salary"] } }, without: ["shell"]
    }))
})

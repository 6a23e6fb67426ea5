import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Channel, Enzyme, type Space } from "systole"
import { APPROVE, WAKE } from "../../plugins/agent/cells/CellAgent.ts"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { RECORDED } from "../../plugins/agent/document/ActionFields.ts"
import { replays } from "../kernel/TestSpace.ts"
import { action, fileOf, START } from "./TestAgent.ts"
import { CELL, withCellAgent } from "./TestCellAgent.ts"
import * as Untouched from "./Untouched.ts"

const target = "http://example.com/health"
const check = (id: string, fields: Readonly<Record<string, string>> = {}) =>
  action(id, { type: "http_check", target, status: "pending", ...fields })
const health = check("health", { schedule: "every:5m" })
const answer = { status: 200, headers: {}, url: "", body: "" }

/** A channel that counts its requests, and answers each with what `then` returns. */
const counting = (then: (count: number) => unknown = () => answer) => {
  const asked: Array<number> = []
  return { asked, scripts: { http: () => then(asked.push(asked.length)) } }
}

/** The cell of the record of an action. */
const recordOf = (space: Space, id: string) =>
  Effect.map(space.below("/data/agent", { limit: 100 }), (cells) => cells.find((cell) => cell.endsWith(`/actions/${id}`)) ?? "/data/none")

/** A file without all that the agent writes. */
const untouched = (text: string): string => {
  const file = ControlFiles.parse(text)
  const fields = file.blocks.flatMap(({ fields, id = "" }) =>
    fields.filter(({ key }) => key === "status" || RECORDED.has(key)).map(({ key }) => ({ kind: "field" as const, id, key, value: "" })))
  const keys = (file.frontmatter?.entries ?? []).map(({ key }) => ({ kind: "frontmatter" as const, key, value: undefined }))
  return Untouched.of(file, [...fields, ...keys, { kind: "reset" }])
}

describe("An agent of a file in a cell", () => {
  it.effect("wakes for its actions by their times, writes their status, and its space replays", () => {
    const { asked, scripts } = counting()
    return withCellAgent(({ fields, pass, save, space, text }) => Effect.gen(function*() {
      assert.deepInclude(yield* save(fileOf(health)), { saved: true, issues: [] })
      yield* pass("1 second")
      assert.strictEqual(asked.length, 1)
      assert.deepInclude(yield* fields("health"), { status: "pending", result: "OK (200)" })
      assert.include(yield* text, "\nMine.\n")
      yield* pass("11 minutes")
      assert.strictEqual(asked.length, 3)
      yield* replays(space)
    }), { scripts })
  })

  it.effect("runs firings that it missed once", () => {
    const { asked, scripts } = counting()
    return withCellAgent(({ pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(check("health", { schedule: "every:5m", timeout: "48h" })))
      yield* pass("1 second")
      yield* TestClock.setTime(START + 86_400_000)
      yield* pass("1 second")
      assert.strictEqual(asked.length, 2)
      yield* pass("5 minutes")
      assert.strictEqual(asked.length, 3)
    }), { scripts })
  })

  it.effect("tries an action again after its delay, and calls the action of on_failure after the last attempt", () => {
    const { asked, scripts } = counting((count) => count <= 2 ? { ...answer, status: 503 } : answer)
    const site = check("site", { retry: "2", retry_delay: "fixed:1m", on_failure: "alert" })
    const alert = check("alert", { schedule: "at:2100-01-01T00:00:00Z" })
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(site, alert))
      yield* pass("1 second")
      assert.deepInclude(yield* fields("site"), { status: "pending", retry_count: "1/2" })
      yield* pass("61 seconds")
      assert.deepInclude(yield* fields("site"), { status: "failed", retry_count: "2/2" })
      assert.deepInclude(yield* fields("alert"), { status: "completed" })
      assert.strictEqual(asked.length, 3)
    }), { scripts })
  })

  it.effect("runs dependencies first, and the members of a composite action", () => {
    const { asked, scripts } = counting()
    const file = fileOf(
      check("last", { depends_on: "all" }),
      action("all", { type: "composite", actions: "one, two", status: "pending" }),
      check("one", { schedule: "at:2100-01-01T00:00:00Z" }),
      check("two", { schedule: "at:2100-01-01T00:00:00Z" })
    )
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(file)
      yield* pass("1 second")
      assert.strictEqual(asked.length, 3)
      assert.deepInclude(yield* fields("all"), { result: "2 of 2 completed" })
      assert.deepInclude(yield* fields("last"), { status: "completed" })
    }), { scripts })
  })

  it.effect("keeps a save that comes while an action runs, from the version before or from that of the moment", () => {
    let end: (() => void) | undefined
    const { scripts } = counting(() => new Promise((resolve) => void (end = () => resolve(answer))))
    return withCellAgent(({ content, fields, pass, save, space, text }) => Effect.gen(function*() {
      const first = fileOf(health, check("other", { schedule: "at:2100-01-01T00:00:00Z" }))
      const { content: from = "" } = yield* save(first)
      yield* pass("1 second")
      assert.strictEqual((yield* fields("health"))["status"], "running")
      assert.deepInclude(yield* save(first.replace("Mine.", "Mine, and more."), from), { saved: true })
      assert.strictEqual((yield* fields("health"))["status"], "running")
      const now = yield* content
      assert.deepInclude(yield* save((yield* text).replace("### [MEDIUM] other", "### [LOW] other"), now), { saved: true })
      end?.()
      yield* pass("1 second")
      assert.deepInclude(yield* fields("health"), { status: "pending", result: "OK (200)" })
      assert.include(yield* text, "Mine, and more.")
      assert.include(yield* text, "### [LOW] other")
      assert.deepStrictEqual((yield* space.dead({ limit: 1 })).letters, [])
    }), { scripts })
  })

  it.effect("refuses a save from a version that another person has replaced, and one of an empty text", () =>
    withCellAgent(({ content, pass, save, text }) => Effect.gen(function*() {
      const first = fileOf(health)
      const { content: from = "" } = yield* save(first)
      yield* pass("1 second")
      yield* save(first.replace("Mine.", "Hers."))
      yield* pass("1 second")
      const refused = yield* save(first.replace("Mine.", "His."), from)
      assert.deepInclude(refused, { saved: false, content: yield* content })
      assert.include(refused.reason, "saved meanwhile")
      assert.isFalse((yield* save("")).saved)
      assert.include(yield* text, "Hers.")
    })))

  it.effect("refuses a text with a half of a character, and one that was made from no version", () =>
    withCellAgent(({ pass, save, text }) => Effect.gen(function*() {
      const first = fileOf(health)
      assert.isFalse((yield* save(`${first}\ud800`)).saved)
      yield* save(first)
      yield* pass("1 second")
      const before = yield* text
      for (const from of ["", "garbage", "/data/agent/settings"]) {
        assert.deepInclude(yield* save(first.replace("Mine.", "His."), from), { saved: false })
      }
      assert.strictEqual(yield* text, before)
    })))

  it.effect("keeps a file without room for status lines, and runs nothing of it", () => {
    const { asked, scripts } = counting()
    const file = fileOf(check("once"))
    const full = file + "\u20ac".repeat(Math.floor((ControlFiles.MAX_BYTES - file.length) / 3))
    return withCellAgent(({ pass, save, send, text }) => Effect.gen(function*() {
      assert.deepInclude(yield* save(full), { saved: true })
      yield* pass("1 second")
      assert.deepInclude(yield* send(WAKE), { code: "agent/file-damaged" })
      assert.strictEqual(asked.length, 0)
      assert.isTrue((yield* text) === full)
    }), { scripts })
  })

  it.effect("changes no byte outside of the status lines", () => {
    const odd = `\ufeff${fileOf(health, check("once")).replaceAll("\n", "\r\n")}\r\n\t \u00e9`
    return withCellAgent(({ pass, save, text }) => Effect.gen(function*() {
      yield* save(odd)
      yield* pass("1 second")
      assert.include(yield* text, "- [x] once: once (10:30:0")
      assert.strictEqual(untouched(yield* text), untouched(odd))
    }))
  })

  it.effect("runs nothing of a file with an error as a whole, and goes on after its correction", () => {
    const { asked, scripts } = counting()
    return withCellAgent(({ pass, save, send, text }) => Effect.gen(function*() {
      const broken = fileOf(health).replace("version: 1", "version: 2")
      const { issues = [] } = yield* save(broken)
      assert.isAtLeast(issues.length, 1)
      yield* pass("1 second")
      assert.deepInclude(yield* send(WAKE), { code: "agent/file-damaged" })
      assert.deepStrictEqual([asked.length, yield* text], [0, broken])
      yield* save(fileOf(health))
      yield* pass("1 second")
      assert.strictEqual(asked.length, 1)
    }), { scripts })
  })

  it.effect("goes on with the latest valid version where the cell holds damage, and keeps the damage in a cell beside", () => {
    const damage = Enzyme.make({
      name: "damage",
      query: "/signals/damage",
      run: (tx) => tx.set(CELL, { content: tx.blob(new Uint8Array([0, 255])), bytes: 2 })
    })
    return withCellAgent(({ fields, pass, save, space, text }) => Effect.gen(function*() {
      yield* save(fileOf(health))
      yield* pass("1 second")
      const valid = yield* text
      yield* space.signal({ signal: "/signals/damage" })
      yield* pass("6 minutes")
      assert.strictEqual(untouched(yield* text), untouched(valid))
      assert.strictEqual((yield* fields("health"))["result"], "OK (200)")
      const names = yield* space.list("/data/agent/files")
      assert.deepStrictEqual(names.filter((name) => name.includes("damaged")).length, 1)
    }), { enzymes: [damage] })
  })

  it.effect("tells in the file that the host has no channel for an action", () =>
    withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(action("program", { type: "shell", command: "echo hello", status: "pending" })))
      yield* pass("3 seconds")
      assert.deepInclude(yield* fields("program"), { status: "failed", error: "this host has no channel for it (io/channel-absent)" })
    }), { without: ["shell"] }))

  it.effect("holds a program until its hash is approved, and tells the hash", () => {
    const run: Array<unknown> = []
    const shell = () => {
      run.push(1)
      return { code: 0, stdout: "", stderr: "" }
    }
    return withCellAgent(({ pass, save, send }) => Effect.gen(function*() {
      yield* save(fileOf(action("program", { type: "shell", command: "echo hello", status: "pending" })))
      const { held = [] } = (yield* send(WAKE)) as { readonly held?: ReadonlyArray<string> }
      const [, hash = ""] = /^program: ([0-9a-f]{32})$/.exec(held[0] ?? "") ?? []
      assert.deepStrictEqual([run.length, hash.length], [0, 32])
      assert.deepStrictEqual(yield* send(APPROVE, { hash }), { approved: hash })
      yield* pass("1 second")
      assert.strictEqual(run.length, 1)
    }), { scripts: { shell }, settings: {} })
  })

  it.effect("lets no action approve a program of the file", () => {
    const run: Array<unknown> = []
    const program = action("program", { type: "shell", command: "echo hello", status: "pending" })
    return withCellAgent(({ fields, pass, save, send }) => Effect.gen(function*() {
      yield* save(fileOf(program))
      const { held = [] } = (yield* send(WAKE)) as { readonly held?: ReadonlyArray<string> }
      const payload = JSON.stringify({ hash: held[0]?.split(": ")[1] })
      yield* save(fileOf(program, action("approve", { type: "signal", signal: APPROVE, target: CELL, payload, status: "pending" })))
      yield* pass("5 seconds")
      assert.strictEqual(run.length, 0)
      assert.deepInclude(yield* fields("approve"), { status: "failed" })
    }), { scripts: { shell: () => void run.push(1) }, settings: {} })
  })

  it.effect("writes neither the file nor a cell of its ledger in a wake with nothing due", () =>
    withCellAgent(({ content, pass, save, send, space }) => Effect.gen(function*() {
      yield* save(fileOf(health))
      yield* pass("1 second")
      const cells = Effect.gen(function*() {
        const addresses = yield* space.below("/data/agent", { limit: 1000 })
        return yield* Effect.forEach(addresses, (address) => Effect.map(space.get(address), (value) => JSON.stringify([address, value])))
      })
      const before = [yield* content, ...yield* cells]
      assert.deepInclude(yield* send(WAKE), { ran: [] })
      yield* pass("10 seconds")
      assert.deepStrictEqual([yield* content, ...yield* cells], before)
    })))

  it.effect("beats only when an action is due", () =>
    withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(check("daily", { schedule: "every:1h" })))
      yield* pass("10 seconds")
      const before = yield* space.head
      yield* pass("50 minutes")
      assert.strictEqual(yield* space.head, before)
      yield* pass("11 minutes")
      assert.isAbove(yield* space.head, before)
    })))

  it.effect("wakes again for an action that took longer than its interval", () => {
    const ends: Array<() => void> = []
    const { asked, scripts } = counting(() => new Promise((resolve) => void ends.push(() => resolve(answer))))
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(check("slow", { schedule: "every:5s" })))
      yield* pass("7 seconds")
      ends.shift()?.()
      yield* pass("3 seconds")
      assert.strictEqual(asked.length, 2)
      assert.strictEqual((yield* fields("slow"))["status"], "running")
    }), { scripts })
  })

  it.effect("wakes again for an attempt without a delay, and for what a CRITICAL failure left out", () => {
    const { asked, scripts } = counting((count) => count <= 3 ? { ...answer, status: 503 } : answer)
    const first = check("first", { retry: "3", retry_delay: "immediate" }).replace("[MEDIUM]", "[CRITICAL]")
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(first, check("second")))
      yield* pass("10 seconds")
      assert.deepInclude(yield* fields("first"), { status: "failed", retry_count: "3/3" })
      assert.deepInclude(yield* fields("second"), { status: "completed" })
      assert.strictEqual(asked.length, 4)
    }), { scripts })
  })

  it.effect("does not beat for actions that no time makes due, nor for a program that waits for its approval", () =>
    withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      const program = action("program", { type: "shell", command: "echo hello", status: "pending" })
      const never = check("never", { condition: "action_completed:program" })
      yield* save(fileOf(check("once", { schedule: "startup" }), check("watch", { schedule: "on_change:x" }), never, program))
      yield* pass("5 seconds")
      const before = yield* space.head
      yield* pass("10 minutes")
      assert.strictEqual(yield* space.head, before)
    }), { settings: {} }))

  it.effect("looks at a condition on the time of day each minute", () =>
    withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(check("later", { condition: "time_after:10:32" })))
      yield* pass("1 minute")
      assert.strictEqual((yield* fields("later"))["status"], "pending")
      yield* pass("2 minutes")
      assert.strictEqual((yield* fields("later"))["status"], "completed")
    })))

  it.effect("runs a LOW action for which a long wake had no time in the next one", () => {
    const ends: Array<() => void> = []
    const { scripts } = counting((count) =>
      count === 1 ? new Promise((resolve) => void ends.push(() => resolve(answer))) : answer)
    const low = check("low").replace("[MEDIUM]", "[LOW]")
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(check("long"), low))
      yield* pass("20 seconds")
      ends.shift()?.()
      yield* pass("2 seconds")
      assert.deepInclude(yield* fields("long"), { status: "completed" })
      assert.deepInclude(yield* fields("low"), { status: "pending" })
      yield* pass("61 seconds")
      assert.deepInclude(yield* fields("low"), { status: "completed" })
    }), { scripts, settings: { approval: "none", budget: "30s" } })
  })

  it.effect("wakes for a time that is further away than a signal can wait", () =>
    withCellAgent(({ pass, save, send, space }) => Effect.gen(function*() {
      yield* save(fileOf(check("far", { schedule: "at:9999-12-31T00:00:00Z" })))
      yield* pass("1 second")
      assert.deepInclude(yield* send(WAKE), { next: "9999-12-31T00:00:00Z" })
      assert.deepStrictEqual((yield* space.dead({ limit: 1 })).letters, [])
    })))

  it.effect("gives up an action of a type that no enzyme runs, and refuses a signal to another cell", () =>
    withCellAgent(({ save, space }) => Effect.gen(function*() {
      const { issues = [] } = yield* save(fileOf(check("odd").replace("http_check", "htp_check")))
      assert.isTrue(issues.some((issue) => issue.includes("htp_check") && issue.includes("http_check")))
      const { handlings } = yield* space.handled({ signal: WAKE, target: "/data/agent/files/a/b" })
      assert.deepInclude(handlings[0]?.value, { saved: false })
    })))

  it.effect("inserts the output of an earlier action, also in a later wake", () => {
    const asked: Array<string> = []
    const http = (_: string, { url }: { readonly url: string }) => {
      asked.push(url)
      return { ...answer, body: "x".repeat(3) }
    }
    const first = check("first", { capture_output: "true" })
    const second = action("second", { type: "http", url: "http://example.com/${output:first}", schedule: "every:1m", status: "pending" })
    return withCellAgent(({ pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(first, second))
      yield* pass("65 seconds")
      assert.deepStrictEqual(asked, [target, "http://example.com/xxx", "http://example.com/xxx"])
    }), { scripts: { http } })
  })

  it.effect("keeps no output of an action in the log of its wake", () => {
    const body = "x".repeat(60_000)
    const { scripts } = counting((count) => count === 1 ? { ...answer, body } : new Promise(() => undefined))
    const first = check("first", { capture_output: "true" })
    return withCellAgent(({ pass, save, space }) => Effect.gen(function*() {
      yield* save(fileOf(first, check("second")))
      yield* pass("5 seconds")
      assert.strictEqual((yield* space.get(`${yield* recordOf(space, "first")}#/output`)), body)
      const operations = yield* space.list("/rt/ops")
      const steps = (yield* Effect.forEach(operations, (oid) => space.below(`/rt/ops/${oid}/step`, { limit: 100 }))).flat()
      assert.isAbove(steps.length, 2)
      const logs = yield* Effect.forEach(steps, (step) => Effect.map(space.get(step), (value) => JSON.stringify(value) ?? ""))
      assert.isBelow(Math.max(...logs.map((log) => log.length)), 30_000)
    }), { scripts })
  })

  it.effect("takes an order that no cell can hold as a failed attempt, and goes on with the others", () => {
    const composite = (id: string, actions: string, schedule = "at:2100-01-01T00:00:00Z") =>
      action(id, { type: "composite", actions, status: "pending", schedule })
    const body = action("body", { type: "http", url: target, body: "x".repeat(400_000), status: "pending" })
    const parts = [composite("large", "one, two, three", "every:1h"), ...["one", "two", "three"].map((id) => composite(id, "body"))]
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(...parts, body, check("other")))
      yield* pass("1 second")
      assert.include((yield* fields("large"))["error"], "the space refuses its order")
      assert.deepInclude(yield* fields("other"), { status: "completed" })
    }))
  })

  it.effect("takes a failure of a channel as the failure of its attempt alone", () => {
    const { scripts } = counting((count) => {
      if (count === 1) throw Channel.fail("http/dns", "the name has no address")
      return answer
    })
    return withCellAgent(({ fields, pass, save }) => Effect.gen(function*() {
      yield* save(fileOf(check("bad"), check("good")))
      yield* pass("1 second")
      assert.deepInclude(yield* fields("bad"), { status: "failed", error: "the name has no address" })
      assert.deepInclude(yield* fields("good"), { status: "completed" })
    }), { scripts })
  })
})

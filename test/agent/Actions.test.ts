import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme } from "systole"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { MAX_MEMBERS } from "../../plugins/agent/document/Dependencies.ts"
import { action, fileOf, START, withAgent } from "./TestAgent.ts"

const DAY = 86_400_000

const shell = (id: string, fields: Readonly<Record<string, string>> = {}, priority?: string): string =>
  action(id, { type: "shell", command: `echo ${id}`, status: "pending", ...fields }, priority)

describe("Actions in wakes", () => {
  it.effect("a LOW action begins only while half of the budget is left, and else in the next wake", () => {
    const started: Array<string> = []
    const slow = async (_: string, { argv }: { readonly argv: ReadonlyArray<string> }) => {
      started.push(argv[1] ?? "")
      // The clock of the test moves while the host takes turns.
      for (let turn = 0; argv[1] === "slow" && turn < 1_500; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
      return { code: 0, stdout: "", stderr: "" }
    }
    const file = fileOf(shell("low", {}, "LOW"), shell("slow"), shell("other"))
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      const { plan } = yield* wake()
      assert.deepStrictEqual(started, ["slow", "other"])
      assert.strictEqual(fields("low")["status"], "pending")
      assert.strictEqual(plan.find(({ action: { id } }) => id === "low")?.kind, "wait")
      yield* wake()
      assert.deepStrictEqual(started, ["slow", "other", "low"])
    }), { scripts: { shell: slow }, settings: { budget: 10_000 } })
  })

  it.effect("the finished actions of a day are listed until the reset, in the time zone of the agent", () =>
    withAgent(fileOf(shell("once"), shell("often", { schedule: "hourly" })), ({ text, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.include(text(), "- [x] once: ")
      yield* TestClock.setTime(START - START % DAY + DAY + 3.5 * 3_600_000)
      assert.strictEqual((yield* wake()).ran.length, 1)
      assert.include(text(), "- [x] once: ")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* wake()).ran.length, 1)
      assert.notInclude(text(), "- [x] once: ")
    })))

  it.effect("a signed message goes to the channel that signs, and a Slack message is a plain request", () => {
    const sent: Array<unknown> = []
    const notify = (id: string, channel: string): string =>
      action(id, { type: "notify", channel, target: "https://x.test/hook", message: "It is down", status: "pending" })
    const scripts = {
      http: (opcode: string, payload: { readonly body: string }) => {
        sent.push([opcode, payload.body])
        return { status: 200 }
      },
      "webhook-out": (opcode: string, payload: unknown) => {
        sent.push([opcode, payload])
        return { status: 200 }
      }
    }
    return withAgent(fileOf(notify("a", "signed"), notify("b", "slack"), notify("c", "pigeon")), ({ wake }) =>
      Effect.gen(function*() {
        const { issues } = yield* wake()
        assert.deepStrictEqual(sent, [
          ["send", { url: "https://x.test/hook", type: "agent.notify", data: { message: "It is down", action: "a", name: "a" } }],
          ["fetch", "{\"text\":\"It is down\"}"]
        ])
        const [{ message = "", suggestion = "" } = {}] = issues
        assert.strictEqual(message, "The channel \"pigeon\" of the type notify is unknown")
        assert.strictEqual(suggestion, "write one of webhook, slack, discord, signed")
      }), { scripts })
  })

  it.effect("a payload in JSON whose number would change is refused, and a text that is not JSON is sent as it is", () => {
    const send = (id: string, payload: string): string =>
      action(id, { type: "signal", signal: "/signals/take", payload, status: "pending" })
    const got: Array<unknown> = []
    const take = Enzyme.make({ name: "take", query: "/signals/take", run: (_, { payload }) => void got.push(payload) })
    const file = fileOf(send("a", `{"id":616581622363398142}`), send("b", "order 616581622363398142"), send("c", `{"id":1}`))
    return withAgent(file, ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.include(fields("a")["error"], "The payload is refused: the number 616581622363398142 at /id has more digits")
      assert.deepStrictEqual(got, ["order 616581622363398142", { id: 1 }])
    }), { enzymes: [take] })
  })

  it.effect("a file action with older_than takes the files of its pattern that were not changed since", () => {
    const asked: Array<string> = []
    const modified: Readonly<Record<string, number>> = { "logs/old.log": START - 8 * DAY, "logs/new.log": START - 6 * DAY }
    const file = (opcode: string, { path = "", pattern = "" }: { readonly path?: string; readonly pattern?: string }) => {
      asked.push(`${opcode} ${path}${pattern}`)
      if (opcode === "glob") return { paths: Object.keys(modified).sort() }
      return opcode === "stat" ? { modified: modified[path] } : {}
    }
    const clean = action("clean", { type: "file", operation: "delete", pattern: "logs/*.log", older_than: "7d", status: "pending" })
    return withAgent(fileOf(clean), ({ fields, wake }) => Effect.gen(function*() {
      yield* wake()
      assert.deepStrictEqual(asked, ["glob logs/*.log", "stat logs/new.log", "stat logs/old.log", "delete logs/old.log"])
      assert.strictEqual(fields("clean")["result"], "1 file deleted")
    }), { scripts: { file } })
  })

  it.effect("a field or an entry with a reserved name is an error of its action, and the others run", () => {
    const names = { constructor: "x", headers: "\n  - __proto__: x", params: "\n  - Prototype: x", env: "\n  - constructor: x" }
    const bad = Object.entries(names).map(([key, value]) => shell(`with-${key}`, { [key]: value }))
    return withAgent(fileOf(...bad, shell("good")), ({ fields, wake }) => Effect.gen(function*() {
      const { issues, ran } = yield* wake()
      assert.deepStrictEqual(ran.map(({ action: { id } }) => id), ["good"])
      assert.deepStrictEqual(issues.map(({ code }) => code), Object.keys(names).map(() => "agent/field-invalid"))
      assert.strictEqual(fields("with-constructor")["status"], "pending")
    }))
  })

  it("composite actions that name each other level by level have a bound on all members together", () => {
    const level = (i: number) => ["a", "b"].map((side) => action(`${side}${i}`, { type: "composite", actions: `a${i + 1}, b${i + 1}` }))
    const all = Array.from({ length: 40 }, (_, i) => level(i)).flat()
    const { actions, issues } = ControlFiles.parse(fileOf(...all, shell("a40"), shell("b40")))
    // A level has twice the members of the one below it, and two more.
    let [levels, members] = [0, 0]
    for (; 2 * members + 2 <= MAX_MEMBERS; levels++) members = 2 * members + 2
    assert.strictEqual(actions.length, 2 * levels + 2)
    assert.strictEqual(issues.filter(({ code }) => code === "agent/field-invalid").length, 2)
    assert.strictEqual(issues.filter(({ code }) => code === "agent/reference-broken").length, 2 * (40 - levels - 1))
  })
})

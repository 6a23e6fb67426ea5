import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ControlCell from "../../plugins/agent/commands/ControlCell.ts"
import { Client } from "../../src/cli/Client.ts"
import { action, fileOf } from "../agent/TestAgent.ts"
import { CELL } from "../agent/TestCellAgent.ts"
import { terminal } from "./Terminal.ts"

const config = `import { defineConfig } from "systole"
export default defineConfig({ agent: {}, channels: { shell: { use: "shell", options: { allow: ["echo"] } } } })
`

const file = fileOf(
  action("ping", { type: "signal", signal: "/signals/ping", wait: "false", schedule: "every:1h", status: "pending" }),
  action("hello", { type: "shell", command: "echo", status: "pending" }),
  action("odd", { type: "signal", signal: "/signals/odd", schedule: "on_change:here", status: "pending" })
)

describe("systole agent with a control file in a cell", () => {
  it.live("checks, shows, explains and approves it, also on a server elsewhere", () =>
    Effect.gen(function*() {
      const { json, run, serve } = yield* terminal({ "systole.config.ts": config })
      const elsewhere = yield* terminal()
      yield* Effect.promise(async () => {
        const server = await serve("start")
        const signal = (name: string, payload: object) => {
          const sent = ["--signal", `/signals/heartbeat/${name}`, "--target", CELL, "--payload", JSON.stringify(payload)]
          return run("signal", "home", ...sent, "--wait", "60")
        }
        await run("space", "create", "home")
        assert.strictEqual((await signal("save", { text: file })).code, 0)
        const cell = ["--cell", CELL, "--space", "home"]
        const remote = (...args: ReadonlyArray<string>) => elsewhere.run("agent", ...args, ...cell, "--server", server.url)
        for (const checked of [await run("agent", "check", ...cell), await remote("check")]) {
          assert.deepStrictEqual([checked.code, checked.stderr], [0, ""])
          assert.match(checked.stdout, /^warning agent\/cell-limit: The action "odd" has on_change:here, and .*\n3 actions, 1 issue$/m)
        }
        const status = await remote("status")
        assert.match(status.stdout, /^ping .* due /m)
        assert.include(status.stderr, "hello waits for an approval")
        const { next } = await json("agent", "explain", "ping", "--next", "2", ...cell) as { readonly next: ReadonlyArray<string> }
        assert.strictEqual(next.length, 2)
        const [held] = await json("agent", "approve", ...cell) as ReadonlyArray<{ readonly hash: string }>
        assert.strictEqual((await remote("approve", held?.hash ?? "")).code, 0)
        await signal("wake", {})
        const rows = await json("agent", "history", ...cell) as ReadonlyArray<{ readonly action: string; readonly status: string }>
        assert.sameDeepMembers(rows.map(({ action, status }) => [action, status]), [["ping", "completed"], ["hello", "completed"]])
        assert.strictEqual((await run("agent", "history", "--restore", ...cell)).code, 2)
        await server.stop("SIGTERM")
      })
    }))

  it.live("checks one that label rules make confidential", () =>
    Effect.gen(function*() {
      const labels = config.replace("agent: {},", "agent: {}, labels: { cells: { \"/data/agent/**\": [\"ops\"] } },")
      const { run } = yield* terminal({ "systole.config.ts": labels })
      yield* Effect.promise(async () => {
        await run("space", "create", "home")
        const payload = JSON.stringify({ text: file })
        const saved = await run(
          "signal", "home", "--signal", "/signals/heartbeat/save", "--target", CELL, "--payload", payload, "--wait", "60"
        )
        assert.strictEqual(saved.code, 0, saved.stderr)
        const { code, stdout } = await run("agent", "check", "--cell", CELL, "--space", "home")
        assert.deepStrictEqual([code, stdout.trimEnd().split("\n").at(-1)], [0, "3 actions, 1 issue"])
      })
    }))

  it.effect("has approved a program only when the space has handled that", () =>
    Effect.gen(function*() {
      const exitAfter = (answer: object) => {
        const client = Client.of({
          ask: <A>() => Effect.succeed(answer as A),
          bytes: () => Effect.die("no bytes"),
          events: () => assert.fail("no stream")
        })
        return ControlCell.approve({ cell: CELL, hash: "0".repeat(32), space: "home" }).pipe(
          Effect.provideService(Client, client),
          Effect.match({ onFailure: ({ exit }) => exit, onSuccess: () => 0 })
        )
      }
      const answers = [
        { receipt: "/v1/x" }, { status: "pending" }, { status: "no-match", code: "signal/no-match" },
        { status: "dead", code: "cell/locked" }, { status: "handled" }
      ]
      assert.deepStrictEqual(yield* Effect.forEach(answers, (answer) => exitAfter({ id: "x.1.0", ...answer })), [5, 5, 3, 1, 0])
    }))

  it.effect("refuses what a cell has not, and makes no space", () =>
    Effect.gen(function*() {
      const { json, run } = yield* terminal({ "systole.config.ts": config })
      yield* Effect.promise(async () => {
        const codeOf = async (...args: ReadonlyArray<string>) => (await run("agent", ...args)).code
        assert.strictEqual(await codeOf("status", "--cell", "/data/other"), 2)
        assert.strictEqual(await codeOf("check", "--cell", CELL, "--heartbeat", "heartbeat.md"), 2)
        assert.strictEqual(await codeOf("check", "--cell", CELL, "--space", "nowhere"), 3)
        assert.deepStrictEqual(await json("space", "ls"), [])
        await run("space", "create", "home")
        assert.strictEqual(await codeOf("check", "--cell", CELL, "--space", "home"), 3)
        for (const value of [7, null, "text", { content: 7 }, { content: "/data/x" }]) {
          await run("cell", "set", "home", CELL, JSON.stringify(value))
          const { code, stderr } = await run("agent", "check", "--cell", CELL, "--space", "home")
          assert.strictEqual(code, 3)
          assert.match(stderr, /^The cell \S+ of space "home" holds no control file: .* \(agent\/file-absent\)\n$/)
        }
        assert.strictEqual((await run("agent", "wake", "--server", "http://127.0.0.1:1")).code, 2)
      })
    }))
})

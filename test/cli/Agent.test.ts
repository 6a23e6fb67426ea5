import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { action, fileOf } from "../agent/TestAgent.ts"
import { terminal } from "./Terminal.ts"

const config = `import { defineConfig } from "systole"
export default defineConfig({
  agent: { approval: "none" },
  channels: { shell: { use: "shell", options: { allow: [{ program: "echo", args: "any" }, "false"] } }, file: "file" }
})
`

const files = {
  "systole.config.ts": config,
  "files/.keep": "",
  "heartbeat.md": fileOf(action("hello", { type: "shell", command: "echo hello", capture_output: "true", status: "pending" }))
}

const held = {
  ...files,
  "systole.config.ts": config.replace("approval: \"none\"", "timezone: \"Europe/Vienna\", profiles: { test: { timezone: \"UTC\" } }"),
  "heartbeat.md": fileOf(
    action("hello", { type: "shell", command: "echo hello", schedule: "daily:02:00" }),
    action("typo", { type: "shel", command: "echo", status: "pending" })
  )
}

describe("systole agent", () => {
  it.effect("runs the actions that are due, once, and backs the file up", () =>
    Effect.gen(function*() {
      const { json, root, run } = yield* terminal(files)
      const first = yield* Effect.promise(() => run("agent", "wake"))
      assert.deepStrictEqual([first.code, first.stderr], [0, ""])
      assert.match(first.stdout, /^hello {2}completed {2}\d+\.\ds {2}exit 0$/m)
      const text = readFileSync(join(root, "heartbeat.md"), "utf8")
      assert.include(text, "- **status**: completed\n")
      assert.isFalse(existsSync(join(root, "heartbeat.md.lock")))
      assert.strictEqual(readdirSync(join(root, "history")).length, 2)
      const again = yield* Effect.promise(() => json("agent", "wake")) as Effect.Effect<{ readonly ran: ReadonlyArray<unknown> }>
      assert.deepStrictEqual(again.ran, [])
      assert.strictEqual(readFileSync(join(root, "heartbeat.md"), "utf8"), text)
    }))

  it.effect("runs an action once more that ended, and none for an older copy of the file", () =>
    Effect.gen(function*() {
      const { json, root, run, write } = yield* terminal(files)
      const report = Effect.promise(() => json("agent", "wake")) as Effect.Effect<{ readonly ran: ReadonlyArray<unknown> }>
      const ran = Effect.map(report, (made) => made.ran)
      const first = yield* Effect.promise(() => run("agent", "again", "hello"))
      assert.include(first.stderr, "hello has not run yet")
      assert.lengthOf(yield* ran, 1)
      write("heartbeat.md", files["heartbeat.md"])
      const wake = yield* Effect.promise(() => run("agent", "wake"))
      assert.match(wake.stderr, /hello ended before, .* systole agent again ID/)
      assert.strictEqual((yield* Effect.promise(() => run("agent", "again", "hello"))).stdout, "hello runs in the next wake\n")
      assert.include(readFileSync(join(root, "heartbeat.md"), "utf8"), "- **status**: pending\n- **completed_at**: ")
      assert.lengthOf(yield* ran, 1)
      assert.lengthOf(yield* ran, 0)
      assert.strictEqual((yield* Effect.promise(() => run("agent", "again", "other"))).code, 3)
    }))

  it.effect("runs a script of the project, as the seed writes it", () =>
    Effect.gen(function*() {
      const backup = action("backup", { type: "shell", command: "./scripts/backup.sh", capture_output: "true", status: "pending" })
      const { json, root } = yield* terminal({
        "systole.config.ts": config.replace("{ allow: [", "{ root: \".\", allow: [\"./scripts/backup.sh\", "),
        "files/.keep": "",
        "scripts/backup.sh": "#!/bin/sh\necho saved\n",
        "heartbeat.md": fileOf(backup)
      })
      chmodSync(join(root, "scripts", "backup.sh"), 0o755)
      const { ran } = yield* Effect.promise(() => json("agent", "wake")) as Effect.Effect<{ readonly ran: ReadonlyArray<object> }>
      assert.deepInclude(ran[0], { action: "backup", status: "completed", output: "saved\n" })
    }))

  it.effect("ends with 1 where an action failed, and with 3 without a file", () =>
    Effect.gen(function*() {
      const fail = action("fail", { type: "shell", command: "false", status: "pending" })
      const { run } = yield* terminal({ ...files, "heartbeat.md": fileOf(fail) })
      const failed = yield* Effect.promise(() => run("agent", "wake"))
      assert.strictEqual(failed.code, 1)
      assert.include(failed.stdout, "exit code 1")
      const absent = yield* Effect.promise(() => run("agent", "wake", "--heartbeat", "other.md"))
      assert.strictEqual(absent.code, 3)
    }))

  it.effect("holds a program until it is approved by its hash", () =>
    Effect.gen(function*() {
      const file = fileOf(action("hello", { type: "shell", command: "echo hello", status: "pending" }))
      const { json, run, write } = yield* terminal({ ...held, "heartbeat.md": file })
      const first = yield* Effect.promise(() => run("agent", "wake"))
      const [, hash = ""] = /^hello waits for an approval: systole agent approve ([0-9a-f]{12})$/m.exec(first.stderr) ?? []
      assert.strictEqual(first.stdout, "")
      yield* Effect.promise(() => json("agent", "approve", hash))
      const second = yield* Effect.promise(() => run("agent", "wake"))
      assert.include(second.stdout, "completed")
      write("heartbeat.md", file.replace("echo hello", "echo other"))
      assert.include((yield* Effect.promise(() => run("agent", "wake"))).stderr, "waits for an approval")
      assert.strictEqual((yield* Effect.promise(() => run("agent", "approve", hash))).code, 3)
      const history = yield* Effect.promise(() => json("agent", "history", "hello"))
      assert.deepInclude((history as ReadonlyArray<object>)[0], { action: "hello", status: "completed", attempt: 1 })
    }))

  it.effect("checks, formats and explains a file, with flags before variables before the configuration", () =>
    Effect.gen(function*() {
      const { json, root, run } = yield* terminal(held)
      const check = yield* Effect.promise(() => run("agent", "check"))
      assert.strictEqual(check.code, 1)
      assert.match(check.stdout, /^\d+:\d+ error agent\/field-invalid: The type "shel" is unknown; write shell/m)
      yield* Effect.promise(() => run("agent", "fmt"))
      assert.include(readFileSync(join(root, "heartbeat.md"), "utf8"), "- **schedule**: daily:02:00\n- **status**: pending\n")
      const next = async (...flags: ReadonlyArray<string>) =>
        (await json("agent", "explain", "hello", "--next", "2", ...flags) as { readonly next: ReadonlyArray<string> }).next
      assert.match((yield* Effect.promise(() => next("--profile", "test")))[1] ?? "", /T02:00:00Z$/)
      assert.match((yield* Effect.promise(() => next()))[1] ?? "", /T02:00:00\+0[12]:00$/)
      assert.strictEqual((yield* Effect.promise(() => run("agent", "explain", "nobody"))).code, 3)
      assert.strictEqual((yield* Effect.promise(() => run("agent", "wake", "--profile", "other"))).code, 2)
      assert.strictEqual((yield* Effect.promise(() => run("agent", "init"))).code, 1)
      yield* Effect.promise(() => run("agent", "init", "--heartbeat", "new.md"))
      assert.strictEqual((yield* Effect.promise(() => run("agent", "check", "--heartbeat", "new.md"))).code, 0)
    }))

  it.live("wakes through a running server, whose space keeps the ledger, and a forged order runs nothing there", () =>
    Effect.gen(function*() {
      const { json, root, run, serve } = yield* terminal(files)
      yield* Effect.promise(async () => {
        const server = await serve("start")
        const first = await run("agent", "wake")
        assert.deepStrictEqual([first.code, first.stderr], [0, ""])
        assert.match(first.stdout, /^hello {2}completed /m)
        assert.include(readFileSync(join(root, "heartbeat.md"), "utf8"), "- **status**: completed\n")
        const cells = await json("cell", "ls", "agent", "/data/agent") as ReadonlyArray<string>
        const cell = cells.find((each) => each.endsWith("/permits/hello")) ?? ""
        const permit = await json("cell", "get", "agent", cell) as Readonly<Record<string, unknown>>
        assert.deepInclude(permit, { action: "hello", fields: { command: "echo hello", capture_output: "true" } })
        const forged = JSON.stringify({ ...permit, occurrence: "forged", fields: { command: "echo forged", capture_output: "true" } })
        await run("signal", "agent", "--signal", "/signals/agent/shell", "--payload", forged, "--wait", "60")
        const rows = await json("agent", "history", "hello") as ReadonlyArray<object>
        assert.strictEqual(rows.length, 1)
        assert.deepInclude(rows[0], { action: "hello", status: "completed" })
        await server.stop("SIGTERM")
      })
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
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
    }), 60_000)

  it.effect("ends with 1 where an action failed, and with 3 without a file", () =>
    Effect.gen(function*() {
      const fail = action("fail", { type: "shell", command: "false", status: "pending" })
      const { run } = yield* terminal({ ...files, "heartbeat.md": fileOf(fail) })
      const failed = yield* Effect.promise(() => run("agent", "wake"))
      assert.strictEqual(failed.code, 1)
      assert.include(failed.stdout, "exit code 1")
      const absent = yield* Effect.promise(() => run("agent", "wake", "--heartbeat", "other.md"))
      assert.strictEqual(absent.code, 3)
    }), 60_000)
})

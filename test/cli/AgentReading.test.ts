/**
 * Commands of the agent that only read, in a project that has run nothing yet.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { action, fileOf } from "../agent/TestAgent.ts"
import { terminal } from "./Terminal.ts"

const config = `import { defineConfig } from "systole"
export default defineConfig({ agent: {}, channels: { shell: { use: "shell", options: { allow: ["echo"] } } } })
`

/** All paths below a folder, with the digests of files. */
const pathsOf = (root: string): ReadonlyArray<string> =>
  readdirSync(root, { recursive: true, encoding: "utf8" }).sort().map((path) => {
    const file = join(root, path)
    return statSync(file).isDirectory() ? path : `${path} ${createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 8)}`
  })

const READING = [["check"], ["status"], ["explain", "a"], ["wake", "--dry-run"], ["approve"], ["history"]] as const

describe("Commands of the agent that only read", () => {
  it.effect("tell that the times of a clone count as history", () =>
    Effect.gen(function*() {
      const fields = { type: "shell", command: "echo", schedule: "every:1h", status: "pending", last_run: "2024-01-15T10:30:00Z" }
      const block = action("a", fields)
      const { run } = yield* terminal({ "systole.config.ts": config, "files/.keep": "", "heartbeat.md": fileOf(block) })
      const { stderr } = yield* Effect.promise(() => run("agent", "status"))
      assert.include(stderr, "a: the ledger has no record")
    }))

  it.effect("create no data, no space, no lock and no history", () =>
    Effect.gen(function*() {
      const text = fileOf(action("a", { type: "shell", command: "echo", status: "pending" }))
      const { root, run } = yield* terminal({ "systole.config.ts": config, "files/.keep": "", "heartbeat.md": text })
      const before = pathsOf(root)
      for (const args of READING) {
        const { code, stderr } = yield* Effect.promise(() => run("agent", ...args))
        assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
        assert.deepStrictEqual(pathsOf(root), before, args.join(" "))
      }
      yield* Effect.promise(() => run("space", "create", "other"))
      const { stdout } = yield* Effect.promise(() => run("agent", "status"))
      assert.include(stdout, "due now")
      const { stdout: spaces } = yield* Effect.promise(() => run("space", "ls"))
      assert.notInclude(spaces, "agent")
      const { stdout: held } = yield* Effect.promise(() => run("agent", "approve"))
      const [, hash = ""] = /^a +(\w+)/.exec(held) ?? []
      assert.strictEqual((yield* Effect.promise(() => run("agent", "approve", hash))).code, 0)
      assert.include((yield* Effect.promise(() => run("agent", "wake"))).stdout, "completed")
    }))
  it.effect("write nothing beside data that are there, and run no work of them", () =>
    Effect.gen(function*() {
      const text = fileOf(
        action("a", { type: "shell", command: "echo", schedule: "every:1h", status: "pending" }),
        action("b", { type: "signal", signal: "/signals/b", wait: "false", status: "pending" })
      )
      const late = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "late", query: "/signals/late", run: (tx) => tx.set("/data/late", true) })
`
      const { root, run } = yield* terminal({
        "systole.config.ts": config, "files/.keep": "", "heartbeat.md": text, "enzymes/late.ts": late
      })
      yield* Effect.promise(() => run("agent", "wake"))
      const sent = yield* Effect.promise(() => run("signal", "agent", "--signal", "/signals/late", "--at", "{\"ms\":300}"))
      assert.strictEqual(sent.code, 0, sent.stderr)
      const before = pathsOf(root)
      for (const args of READING) {
        const { code, stderr } = yield* Effect.promise(() => run("agent", ...args))
        assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
        assert.deepStrictEqual(pathsOf(root), before, args.join(" "))
      }
      assert.include((yield* Effect.promise(() => run("agent", "history"))).stdout, "completed")
    }))
})

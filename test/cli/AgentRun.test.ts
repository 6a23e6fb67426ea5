import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, type ChildProcess } from "node:child_process"
import { existsSync, readFileSync, watch } from "node:fs"
import { dirname, join } from "node:path"
import { action, fileOf } from "../agent/TestAgent.ts"
import * as Command from "../scripts/Command.ts"
import { current } from "../scripts/Host.ts"
import { terminal } from "./Terminal.ts"

const config = `import { defineConfig } from "systole"
export default defineConfig({
  agent: { approval: "none" },
  channels: { shell: { use: "shell", options: { allow: ["echo", { program: "/bin/sh", args: ["*"] }] } } }
})
`

const file = (fields: Readonly<Record<string, string>>): string => fileOf(action("job", { type: "shell", status: "pending", ...fields }))

/** Waits until the control file, or another one, contains a text. */
const whenWritten = (root: string, text: string, name = "heartbeat.md"): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      const path = join(root, name)
      if (!existsSync(path) || !readFileSync(path, "utf8").includes(text)) return
      watcher.close()
      resolve()
    }
    const watcher = watch(dirname(join(root, name)), look)
    look()
  })

/** A command in the background, killed when the scope closes. */
const background = (root: string, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync((): ChildProcess => {
      const [program, ...first] = Command.line(current())
      return spawn(program, [...first, ...args], { cwd: root, stdio: "ignore", env: { ...process.env, NODE_OPTIONS: undefined } })
    }),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

const ended = (child: ChildProcess): Promise<void> => new Promise((resolve) => void child.once("exit", () => resolve()))

describe("systole agent run", () => {
  it.effect("stays, wakes when the file changes, and refuses a second one", () =>
    Effect.gen(function*() {
      const files = { "systole.config.ts": config, "files/.keep": "", "heartbeat.md": file({ command: "echo" }) }
      const { root, run, write } = yield* terminal(files)
      const child = yield* background(root, "agent", "run")
      yield* Effect.promise(() => whenWritten(root, "- **status**: completed"))
      yield* Effect.promise(() => whenWritten(root, "next_wake: "))
      const second = yield* Effect.promise(() => run("agent", "wake", "--data", "other"))
      assert.strictEqual(second.code, 4)
      assert.include(second.stderr, `process ${child.pid} on `)
      write("heartbeat.md", fileOf(action("other", { type: "shell", command: "echo", status: "pending" })))
      yield* Effect.promise(() => whenWritten(root, "- [x] other: "))
      const end = ended(child)
      child.kill("SIGTERM")
      yield* Effect.promise(() => end)
      assert.isFalse(existsSync(join(root, "heartbeat.md.lock")))
    }))

  it.effect("counts a program that a crash ended as a failed attempt, and goes on", () =>
    Effect.gen(function*() {
      const text = file({ command: "/bin/sh job.sh", retry: "2", retry_delay: "fixed:1h" })
      const job = "echo > begun; exec sleep 400\n"
      const { root, run } = yield* terminal({ "systole.config.ts": config, "files/job.sh": job, "heartbeat.md": text })
      const child = yield* background(root, "agent", "wake")
      yield* Effect.promise(() => whenWritten(root, "\n", join("files", "begun")))
      const end = ended(child)
      child.kill("SIGKILL")
      yield* Effect.promise(() => end)
      assert.isTrue(existsSync(join(root, "heartbeat.md.lock")))
      const { code, stderr } = yield* Effect.promise(() => run("agent", "wake"))
      assert.deepStrictEqual([code, stderr.includes("job failed")], [1, true])
      const after = readFileSync(join(root, "heartbeat.md"), "utf8")
      assert.include(after, "- **retry_count**: 1/2\n")
      assert.include(after, "- **status**: pending\n")
      assert.include(after, "error_count: 1\n")
    }))
})

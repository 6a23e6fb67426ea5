import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as Command from "../scripts/Command.ts"
import { environment, type Host, root, tool } from "../scripts/Host.ts"

/** A shell that waits for a command line. */
const shellOf = (line: ReadonlyArray<string>): ReadonlyArray<string> => ["sh", "-c", `"$0" "$@"; exit $?`, ...line]

/** Runs a command line in a shell that waits for it, as npm does for a script; answers its first line, and the text on standard error. */
const script = async (line: ReadonlyArray<string>, cwd: string) => {
  const [file = "", ...args] = shellOf(line)
  const shell = spawn(file, args, {
    cwd, env: { ...environment(), npm_lifecycle_event: "start" }, stdio: ["ignore", "pipe", "pipe"]
  })
  const told: Array<string> = []
  shell.stderr.setEncoding("utf8").on("data", (text: string) => told.push(text))
  // The outputs are closed when the last process that has them has ended.
  const closed = once(shell, "close")
  const [first] = await once(createInterface({ input: shell.stdout }), "line") as [string]
  return { shell, first, closed, told }
}

const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-parent-"))
  try {
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const hosts: ReadonlyArray<Host> = ["node", "deno", "bun"]

describe("A process of a script of package.json", () => {
  for (const host of hosts) {
    it(`stops as by a signal when the shell of npm is ended, on ${host}`, () =>
      inFolder(async (folder) => {
        const { closed, first, shell, told } = await script([...Command.line(host), "start", "--port", "0", "--json"], folder)
        assert.property(JSON.parse(first), "url")
        shell.kill("SIGTERM")
        await closed
        assert.strictEqual(told.join(""), "stopped\n")
      }))

    it.skipIf(!existsSync("/proc/self/stat"))(`stops as by a signal when npm is killed and its shell goes on, on ${host}`, () =>
      inFolder(async (folder) => {
        // The outer shell stands for npm, which cannot tell the inner one.
        const line = shellOf([...Command.line(host), "start", "--port", "0", "--json"])
        const { closed, first, shell, told } = await script(line, folder)
        assert.property(JSON.parse(first), "url")
        shell.kill("SIGKILL")
        await closed
        assert.strictEqual(told.join(""), "stopped\n")
      }))
  }

  it("ends the processes that its children started, also those that left their groups", () =>
    inFolder(async (folder) => {
      const server = createServer().listen(join(folder, "socket"))
      try {
        const leaf = `require("net").connect(${JSON.stringify(join(folder, "socket"))})`
        const child = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(leaf)}], { detached: true })`
        const parent = `import { follow } from ${JSON.stringify(join(root, "src/main/watchdog/ParentProcess.ts"))}
import { run } from ${JSON.stringify(join(root, "test/scripts/Process.ts"))}
follow()
console.log("begun")
await run([process.execPath, "-e", ${JSON.stringify(child)}])`
        const connected = once(server, "connection") as Promise<[Socket]>
        const { closed, shell } = await script([tool("node"), "--input-type=module", "-e", parent], folder)
        const [socket] = await connected
        const ended = once(socket.resume(), "close")
        shell.kill("SIGTERM")
        await Promise.all([closed, ended])
      } finally {
        server.close()
      }
    }))
})

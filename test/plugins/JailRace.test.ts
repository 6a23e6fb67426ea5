import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import type { Plugin, Value } from "systole"
import file from "systole/plugins/file"
import shell from "systole/plugins/shell"
import { current } from "../scripts/Host.ts"
import * as TestJob from "../support/TestJob.ts"

/**
 * A thread that puts a link out of the root in the place of a folder and of a file, and back, until it is told to stop. It
 * counts its rounds.
 */
const PROGRAM = `
const { renameSync } = require("node:fs")
const { workerData } = require("node:worker_threads")
const { memory, root } = workerData
const view = new Int32Array(memory)
const swap = (name, link, spare) => {
  renameSync(root + "/" + name, root + "/" + spare)
  renameSync(root + "/" + link, root + "/" + name)
  for (let i = 0; i < 2000; i++) Atomics.load(view, 0)
  renameSync(root + "/" + name, root + "/" + link)
  renameSync(root + "/" + spare, root + "/" + name)
}
const attempt = (step) => { try { step() } catch {} }
while (Atomics.load(view, 0) === 0) {
  attempt(() => swap("folder", "folder-link", "folder-spare"))
  attempt(() => swap("plain.txt", "plain-link", "plain-spare"))
  Atomics.add(view, 1, 1)
}
`

/** The settings of a channel, its root, and the folder outside. */
interface Place {
  readonly settings: Plugin.ChannelSettings
  readonly root: string
  readonly outside: string
}

/** A root in which a thread swaps links to a folder outside. */
const raced = async (use: (place: Place) => Promise<void>): Promise<number> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "systole-race-")))
  const [root, outside] = [join(folder, "files"), join(folder, "outside")]
  mkdirSync(join(root, "folder"), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(outside, "a.txt"), "secret")
  writeFileSync(join(root, "folder", "a.txt"), "inside")
  writeFileSync(join(root, "plain.txt"), "inside")
  symlinkSync(outside, join(root, "folder-link"))
  symlinkSync(join(outside, "a.txt"), join(root, "plain-link"))
  const view = new Int32Array(new SharedArrayBuffer(8))
  const thread = new Worker(PROGRAM, { eval: true, workerData: { memory: view.buffer, root } })
  const ended = new Promise((resolve) => thread.once("exit", resolve))
  try {
    while (Atomics.load(view, 1) === 0) await new Promise((resolve) => setImmediate(resolve))
    await use({ settings: { id: "raced", root: folder, folder, host: current(), options: {} }, root, outside })
    return Atomics.load(view, 1)
  } finally {
    Atomics.store(view, 0, 1)
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The operations on the swapped folder and file, each with a payload that would reach the outside over a link. */
const operations: ReadonlyArray<readonly [opcode: string, payload: Value]> = [
  ["read", { path: "folder/a.txt" }], ["read", { path: "plain.txt" }],
  ["write", { path: "folder/a.txt", text: "inside" }], ["write", { path: "folder/new/b.txt", text: "inside" }],
  ["append", { path: "folder/a.txt", text: "" }], ["append", { path: "folder/c.txt", text: "inside" }],
  ["copy", { from: "folder/a.txt", to: "folder/d.txt" }], ["move", { from: "folder/d.txt", to: "folder/e.txt" }],
  ["delete", { path: "folder/c.txt" }], ["list", { path: "folder" }], ["glob", { pattern: "folder/**" }], ["stat", { path: "folder/a.txt" }]
]

describe.skipIf(!existsSync("/proc/self/fd"))("The jail of a channel, while a thread swaps links", () => {
  it("lets no operation on files out of the root", async () => {
    const done = new Map<string, number>()
    const rounds = await raced(async ({ outside, settings }) => {
      const channel = file.provides.channels?.["file"]?.(settings) ?? assert.fail("there is no channel")
      writeFileSync(join(outside, "c.txt"), "")
      for (let n = 0; n < 120; n++) {
        for (const [opcode, payload] of operations) {
          const result = await TestJob.run(channel, TestJob.make(opcode, payload, { rid: `R${n}` })).catch(() => undefined)
          if (result === undefined) continue
          done.set(opcode, (done.get(opcode) ?? 0) + 1)
          assert.notInclude(JSON.stringify(result.value), "secret", opcode)
          if (opcode === "list") assert.notInclude(JSON.stringify(result.value), "hidden.txt")
        }
        if (n === 0) writeFileSync(join(outside, "hidden.txt"), "")
      }
      assert.deepStrictEqual(readdirSync(outside).sort(), ["a.txt", "c.txt", "hidden.txt"])
      assert.deepStrictEqual(["a.txt", "c.txt"].map((name) => readFileSync(join(outside, name), "utf8")), ["secret", ""])
    })
    assert.isAbove(rounds, 1)
    for (const [opcode] of operations) assert.isAbove(done.get(opcode) ?? 0, 0, `${opcode} never succeeded, so nothing was tried`)
  })

  it("lets no program begin outside of the root", async () => {
    const folders = new Set<string>()
    await raced(async ({ root, settings }) => {
      const options = { allow: ["/bin/pwd"] }
      const channel = shell.provides.channels?.["shell"]?.({ ...settings, options }) ?? assert.fail("there is no channel")
      for (let n = 0; n < 100; n++) {
        const job = TestJob.make("run", { argv: ["/bin/pwd"], cwd: "folder" })
        const result = await TestJob.run(channel, job).catch(() => undefined)
        if (result !== undefined) folders.add((result.value as { readonly stdout: string }).stdout.trim())
      }
      // The thread moves the folder itself within the root.
      assert.isAbove(folders.size, 0)
      for (const each of folders) assert.isTrue(each.startsWith(`${root}/folder`), each)
    })
  })
})

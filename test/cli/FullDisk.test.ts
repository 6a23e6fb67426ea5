import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import * as Command from "../scripts/Command.ts"
import { run as runProcess } from "../scripts/Process.ts"
import { terminal } from "./Terminal.ts"

const project = {
  "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n`,
  "enzymes/fill.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "fill", query: "/signals/fill", run: (tx) => tx.set("/data/text", "x".repeat(600_000)) })
`
}

/** Mounts a disk of 512 KiB for a program alone, at the folder of its first argument, runs it, and prints the files that it leaves. */
const MOUNTED = `mount -t tmpfs -o size=512k none "$0" || exit 99
"$@"; code=$?; echo "files:"; find "$0" -type f; exit $code`
const onSmallDisk = (folder: string, line: ReadonlyArray<string>) =>
  ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED, folder, ...line] as const

/** Whether this host mounts a disk for a program. */
const canMount = spawnSync("unshare", ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0

/** A project with a space of more than 512 KiB, and its frame. */
const filled = Effect.tap(terminal(project), ({ json }) => Effect.promise(async () => {
  await json("signal", "home", "--signal", "/signals/fill", "--wait", "60")
  await json("export", "home", "home.frame")
}))

describe("On a full disk", () => {
  it.live("an export is refused by name, and leaves no file", () =>
    Effect.flatMap(filled, ({ root, run }) => Effect.promise(async () => {
      // Each write to this device fails as on a full disk.
      symlinkSync("/dev/full", join(root, "again.frame.partial"))
      const { code, stderr } = await run("export", "home", "again.frame")
      assert.strictEqual(code, 1)
      assert.include(stderr, "file/io")
      assert.include(stderr, "again.frame")
      assert.include(stderr, "ENOSPC")
      assert.deepStrictEqual(readdirSync(root).filter((name) => name.startsWith("again")), [])
    })))

  const title = "a backup and a restore are refused by name, and leave no file"
  it.live.skipIf(!canMount)(canMount ? title : `${title}: none can be mounted here`, () =>
    Effect.flatMap(filled, ({ root }) => Effect.promise(async () => {
      await Command.ensure()
      const disk = join(root, "disk")
      mkdirSync(disk)
      const commands = [
        ["backup/io", ["backup", "disk"]],
        ["store/unavailable", ["restore", "home.frame", "other", "--data", "disk"]]
      ] as const
      for (const [name, args] of commands) {
        const { code, output } = await runProcess(onSmallDisk(disk, [...Command.line("node"), ...args]), { cwd: root })
        const [told = "", files = ""] = output.split("files:\n")
        assert.strictEqual(code, name === "store/unavailable" ? 4 : 1, output)
        assert.include(told, name)
        assert.deepStrictEqual(files.split("\n").filter((file) => file.endsWith(".sqlite") || file.includes(".frame")), [], output)
      }
      assert.isFalse(existsSync(join(disk, "home")))
    })))
})

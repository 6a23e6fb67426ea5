import { assert, describe, it } from "@effect/vitest"
import { generateIdentity, identityToRecipient } from "age-encryption"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { terminal } from "./Terminal.ts"

const count = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`
const project = {
  "enzymes/count.ts": count,
  "systole.config.ts": `export default { key: { file: "node.key" }, spaces: { create: "on-demand" } }\n`
}

const unsigned = { ...project, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

/** A line of a backup, as JSON. */
interface Made {
  readonly space: string
  readonly kind: string
  readonly file: string
  readonly beat: number
}

interface Row extends Made {
  readonly chain: number
  readonly state: string
}

const lines = <A>(stdout: string): ReadonlyArray<A> => stdout.trim().split("\n").map((line) => JSON.parse(line) as A)

describe("systole backup", () => {
  it.live("writes a snapshot and then what came since, of the node's key, and lists both", () =>
    Effect.flatMap(terminal(project), ({ json, root, run, serve }) =>
      Effect.promise(async () => {
        const folder = join(root, "backups")
        await json("key", "new", "node.key")
        await serve("start")
        const count = () => json("signal", "home", "--signal", "/signals/count", "--wait", "60")
        const backup = (...args: ReadonlyArray<string>) => json("backup", folder, ...args) as Promise<Made>
        await count()
        const full = await backup()
        assert.deepInclude(full, { space: "home", kind: "snapshot" })
        assert.deepInclude(await backup(), { kind: "unchanged", file: full.file })
        await count()
        const range = await backup("home")
        assert.strictEqual(range.kind, "range")
        assert.isAbove(range.beat, full.beat)
        assert.match((await run("frame", "verify", join(folder, "home", range.file))).stdout, /signed by ed25519:/)
        assert.strictEqual((await backup("--full")).kind, "snapshot")
        const listed = await json("backups", "ls", folder) as ReadonlyArray<Row>
        assert.deepStrictEqual(listed.map(({ chain, kind, state }) => [chain, kind, state]), [
          [1, "snapshot", "whole"], [1, "range", "whole"], [2, "snapshot", "whole"]
        ])
        const [first = "", second = ""] = readdirSync(join(folder, "home")).sort()
        const at = (file: string): string => join(folder, "home", file)
        writeFileSync(at(second), readFileSync(at(second)).map((byte, i, all) => i === all.length >> 1 ? byte ^ 1 : byte))
        writeFileSync(at(first.replace("000001", "000009")), readFileSync(at(first)).subarray(9))
        const damaged = await json("backups", "ls", folder) as ReadonlyArray<Row>
        assert.deepStrictEqual(damaged.map(({ state }) => state), ["whole", "frame/changed", "whole", "frame/magic"])
        assert.include((await run("backups", "ls", folder, "--quick")).stdout, "unread")
      })))

  it.live("of all spaces leaves out copies that were not released", () =>
    Effect.flatMap(terminal(unsigned), ({ json, root, run }) =>
      Effect.promise(async () => {
        const folder = join(root, "backups")
        for (const space of ["home", "other"]) await json("signal", space, "--signal", "/signals/count", "--wait", "60")
        await json("export", "home", join(root, "home.frame"))
        await json("import", join(root, "home.frame"), "copy")
        const made = lines<Made>((await run("backup", folder, "--all", "--json")).stdout)
        assert.deepStrictEqual(made.map(({ kind, space }) => [space, kind]), [["home", "snapshot"], ["other", "snapshot"]])
        // A space that was removed and made again has another history: its range would follow nothing.
        await json("space", "delete", "other", "--yes")
        await json("signal", "other", "--signal", "/signals/count", "--wait", "60")
        const [home, other] = lines<Made>((await run("backup", folder, "--all", "--json")).stdout)
        assert.notStrictEqual(home?.kind, "snapshot")
        assert.deepInclude(other, { space: "other", kind: "snapshot" })
        assert.strictEqual((await run("backup", folder, "absent")).code, 3)
        const recipient = await identityToRecipient(await generateIdentity())
        assert.strictEqual((await run("backup", folder, "absent", "--encrypt", recipient)).code, 3)
        assert.isFalse(existsSync(join(folder, "absent")))
      })))

  it.live("refuses a place that is no folder, and leaves no file where it may not write", () =>
    Effect.flatMap(terminal(project), ({ json, root, run }) =>
      Effect.promise(async () => {
        await json("key", "new", "node.key")
        await json("signal", "home", "--signal", "/signals/count", "--wait", "60")
        const channel = await run("backup", "channel:files")
        assert.include(channel.stderr, "backup/place")
        assert.strictEqual(channel.code, 2)
        writeFileSync(join(root, "file"), "x")
        assert.include((await run("backup", join(root, "file"))).stderr, "backup/io")
        const closed = join(root, "closed")
        mkdirSync(closed)
        chmodSync(closed, 0o500)
        if (process.getuid?.() !== 0) assert.include((await run("backup", closed)).stderr, "EACCES")
        assert.deepStrictEqual(readdirSync(closed), [])
      })))
})

import { assert, describe, it } from "@effect/vitest"
import { generateIdentity, identityToRecipient } from "age-encryption"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as BackupName from "../../src/archive/BackupName.ts"
import { terminal } from "./Terminal.ts"

const count = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`

const project = { "enzymes/count.ts": count, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

const holder = {
  "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n`,
  "enzymes/holder.ts": `import { Enzyme } from "systole"
export default [
  Enzyme.make({ name: "hold", query: "/signals/hold", run: (tx) => void tx.set("/data/held", tx.blob(new Uint8Array(200_000))) }),
  Enzyme.make({ name: "look", query: "/signals/look", run: (tx) =>
    void tx.set("/data/length", tx.get(tx.get("/data/held"))?.length ?? -1) })
]
`
}

const outward = {
  "systole.config.ts": `export default { spaces: { create: "on-demand" }, channels: { files: "file" } }\n`,
  "enzymes/outward.ts": `import { Enzyme } from "systole"
const enzyme = (name, run) => Enzyme.make({ name, query: "/signals/" + name, run })
export default [
  enzyme("noop", () => undefined),
  enzyme("tell", (tx, { payload }) => void tx.signal({ signal: "/signals/told", space: "other", payload })),
  enzyme("told", (tx, { payload }) => void tx.set("/data/told", payload)),
  enzyme("later", (tx) => void tx.signal({ signal: "/signals/mark", at: { ms: 1 } })),
  enzyme("mark", (tx) => void tx.increment("/data/later")),
  Enzyme.make({ name: "ask", query: "/signals/ask", durable: true, run: async (tx, { payload }) => {
    await tx.io.request({ channel: "files", opcode: "write", payload: { path: payload + ".txt", text: "x" } })
    tx.increment("/data/asked")
  } })
]
`
}

describe("systole export and import", () => {
  it.live("write a space to a file, check it, and make a detached copy of it that goes on when it is released", () =>
    Effect.flatMap(terminal(project), ({ json, root: folder, run, spawned }) =>
      Effect.promise(async () => {
        const home = join(folder, "home.frame")
        await json("signal", "home", "--signal", "/signals/count", "--wait", "60")
        const written = await json("export", "home", home) as { readonly beat: number; readonly root: string }
        assert.isFalse(existsSync(join(folder, "home.frame.partial")))
        assert.deepInclude(await json("frame", "verify", home) as object, { root: written.root })
        const shown = await run("frame", "show", home)
        assert.include(shown.stdout, "snapshot of home (home@")
        assert.include(shown.stdout, `beat ${written.beat}`)
        assert.include((await run("export", "home", home)).stderr, "file/exists")
        assert.strictEqual((await spawned("export", "home", join(folder, "again.frame"))).code, 0, "its process ends with the export")
        assert.deepInclude(await json("import", home, "copy") as object, { space: "copy", root: written.root, beat: written.beat })
        assert.include((await run("import", home, "copy")).stderr, "space/exists")
        assert.strictEqual(await json("cell", "get", "copy", "/data/n"), 1)
        const born = (space: string) => json("cell", "get", space, "/sys/state/born")
        const source = `a copy of home@${String(await born("home"))} at beat ${written.beat}`
        assert.include((await run("space", "state", "copy")).stdout, `detached: ${source}`)
        await json("signal", "copy", "--signal", "/signals/count", "--wait", "60")
        assert.strictEqual(await json("cell", "get", "copy", "/data/n"), 2)
        assert.notStrictEqual(await born("copy"), await born("home"), "drawn in its first beat")
        assert.strictEqual((await run("journal", "verify", "copy")).code, 0)
        assert.strictEqual((await run("replay", "copy")).code, 0)
        assert.deepInclude(await json("replay", "copy", "--last", "2") as object, { beats: 2 })
        assert.strictEqual((await run("space", "prune", "copy", "--before", "1")).code, 2)
        assert.deepInclude(await json("space", "prune", "copy", "--before", "1", "--yes") as object, { anchor: 0 })
        const again = await json("frame", "verify", home, "--replay", "1000") as { readonly beats: number; readonly difference?: unknown }
        assert.isAbove(again.beats, 0)
        assert.isUndefined(again.difference)
        assert.notInclude(JSON.stringify(await json("space", "ls")), "frame-")
        assert.strictEqual((await run("space", "release", "copy")).code, 2)
        const dropping = await run("space", "release", "copy", "--drop", "requests,timers", "--yes")
        assert.match(dropping.stdout, /^released copy in beat \d+, without its requests, timers/)
        assert.notInclude((await run("space", "state", "copy")).stdout, "detached")
      })))

  it.live("N21 find content by reference in the space that it is of, and name what is nowhere", () =>
    Effect.flatMap(terminal(holder), ({ json, root: folder, run }) =>
      Effect.promise(async () => {
        const home = join(folder, "home.frame")
        await json("signal", "home", "--signal", "/signals/hold", "--wait", "60")
        const held = await json("cell", "get", "home", "/data/held") as string
        await json("export", "home", home, "--content", "refs")
        assert.notProperty(await json("import", home, "copy") as object, "absent")
        const length = async (space: string) => {
          await json("signal", space, "--signal", "/signals/look", "--wait", "60")
          return await json("cell", "get", space, "/data/length")
        }
        assert.strictEqual(await length("copy"), 200_000)
        await run("space", "delete", "home", "--yes")
        const digest = held.slice("/cas/".length)
        // The text of its module is content, too.
        assert.include((await run("import", home, "later")).stdout, "2 contents came by reference and were found nowhere")
        const { absent } = await json("import", home, "last") as { readonly absent: { readonly count: number; readonly hashes: string[] } }
        assert.strictEqual(absent.count, 2)
        assert.include(absent.hashes, digest)
        assert.strictEqual(await length("last"), -1)
        const listed = await run("cell", "ls", "last", "/data/mailbox/diag/msgs")
        const [fact = ""] = /\/data\/mailbox\/diag\/msgs\/\d+\.\d+/.exec(listed.stdout) ?? []
        assert.include(JSON.stringify(await json("cell", "get", "last", fact)), `"topic":"persist.recover"`)
      })))

  it.live("refuse a file that is damaged, that ends early, or that is none, and leave no space", () =>
    Effect.flatMap(terminal(project), ({ json, root: folder, run }) =>
      Effect.promise(async () => {
        const home = join(folder, "home.frame")
        await json("signal", "home", "--signal", "/signals/count", "--wait", "60")
        await json("export", "home", home)
        const frame = readFileSync(home)
        writeFileSync(join(folder, "flipped.frame"), frame.map((byte, i) => i === frame.length - 400 ? byte ^ 1 : byte))
        writeFileSync(join(folder, "short.frame"), frame)
        truncateSync(join(folder, "short.frame"), frame.length - 10)
        writeFileSync(join(folder, "none.frame"), "nothing at all of it")
        for (const [file, code] of [["flipped", "frame/changed"], ["short", "frame/unsealed"], ["none", "frame/magic"]] as const) {
          const path = join(folder, `${file}.frame`)
          for (const args of [["frame", "verify", path], ["import", path, "copy"]]) {
            const refused = await run(...args)
            assert.include(refused.stderr, code, args.join(" "))
            assert.strictEqual(refused.code, 2, args.join(" "))
          }
          assert.deepStrictEqual(await json("space", "ls"), ["home"])
        }
        assert.strictEqual((await run("frame", "verify", join(folder, "absent.frame"))).code, 3)
      })))

  it.live("let no signal, request or delayed signal out of a detached copy until its release", () =>
    Effect.flatMap(terminal(outward), ({ json, root: folder, serve }) =>
      Effect.promise(async () => {
        const { url } = await serve("start")
        const send = async (space: string, signal: string): Promise<void> => {
          const { status } = await fetch(`${url}/v1/spaces/${space}/signals`, {
            method: "POST", headers: { "content-type": "application/json", prefer: "wait=1" },
            body: JSON.stringify({ signal: `/signals/${signal}`, payload: space })
          })
          assert.isBelow(status, 300)
        }
        const cell = async (space: string, name: string): Promise<unknown> => {
          const answer = await fetch(`${url}/v1/spaces/${space}/cells/data/${name}`)
          return answer.ok ? await answer.json() : undefined
        }
        /** Asks until the value is there, at most 5,000 times. */
        const until = async (space: string, name: string, value: unknown): Promise<void> => {
          for (let asked = 0; await cell(space, name) !== value; asked++) assert.isBelow(asked, 5000, `${space} has no ${name}`)
        }
        await send("other", "noop")
        await send("home", "noop")
        const file = join(folder, "home.frame")
        await json("export", "home", file)
        await json("import", file, "copy")
        for (const signal of ["tell", "ask", "later"]) await send("copy", signal)
        // The same work of a space that is not detached is over by then.
        for (const signal of ["ask", "later"]) await send("home", signal)
        await until("home", "later", 1)
        await until("home", "asked", 1)
        assert.isTrue(existsSync(join(folder, "files/home.txt")))
        assert.isFalse(existsSync(join(folder, "files/copy.txt")))
        for (const [space, name] of [["copy", "later"], ["copy", "asked"], ["other", "told"]] as const) {
          assert.isUndefined(await cell(space, name), name)
        }
        await json("space", "release", "copy", "--yes")
        await until("copy", "later", 1)
        await until("copy", "asked", 1)
        await until("other", "told", "copy")
        assert.isTrue(existsSync(join(folder, "files/copy.txt")))
      })))
})

describe("systole restore", () => {
  it.live("N32 brings a lost space back: its state is checked, what waits is listed, and goes on", () =>
    Effect.flatMap(terminal(outward), ({ json, root: folder, run }) =>
      Effect.promise(async () => {
        const file = join(folder, "home.frame")
        await json("signal", "home", "--signal", "/signals/told", "--payload", "1", "--wait", "60")
        await json("export", "home", file)
        await json("signal", "home", "--signal", "/signals/told", "--payload", "2", "--wait", "60")
        assert.include((await run("restore", file, "home")).stderr, "space/exists")
        await run("space", "delete", "home", "--yes")
        const restored = await run("restore", file, "home")
        assert.strictEqual(restored.code, 0, restored.stderr)
        assert.include(restored.stdout, "restored ")
        assert.include(restored.stderr, "nothing waits")
        assert.strictEqual(await json("cell", "get", "home", "/data/told"), 1)
        assert.notInclude((await run("space", "state", "home")).stdout, "detached")
        assert.include((await run("restore", folder, "home", "--at", "1970-01-01T00:00:00Z")).stderr, "backup/absent")
        assert.include((await run("restore", folder, "home", "--at", "soon")).stderr, "backup/at")
        assert.include((await run("restore", file, "apart", "--detached")).stdout, "systole space release apart")
        assert.include((await run("space", "state", "apart")).stdout, "detached: a restore of home@")
      })))

  it.live("takes of a folder the frames of its space alone, and leaves out what it cannot read", () =>
    Effect.flatMap(terminal(project), ({ json, root, run }) =>
      Effect.promise(async () => {
        const folder = join(root, "kept")
        mkdirSync(folder)
        for (const space of ["home", "other", "other"]) await json("signal", space, "--signal", "/signals/count", "--wait", "60")
        for (const space of ["home", "other"]) await json("export", space, join(folder, `${space}.frame`))
        writeFileSync(join(folder, "damaged.frame"), "no frame at all")
        const third = await run("restore", folder, "third")
        assert.include(third.stderr, "backup/space")
        assert.include(third.stderr, `"home", "other"`)
        assert.strictEqual(third.code, 3)
        assert.deepStrictEqual(await json("space", "ls"), ["home", "other"])
        await run("space", "delete", "home", "--yes")
        const restored = await run("restore", folder, "home")
        assert.strictEqual(restored.code, 0, restored.stderr)
        assert.match(restored.stderr, /left out .*damaged\.frame/)
        assert.strictEqual(await json("cell", "get", "home", "/data/n"), 1)
      })))

  it.live("decrypts backups with an identity, and takes the time of a backup from its name", () =>
    Effect.flatMap(terminal(project), ({ json, root, run }) =>
      Effect.promise(async () => {
        const folder = join(root, "kept")
        const secret = await generateIdentity()
        writeFileSync(join(root, "age.key"), `# a key\n${secret}\n`)
        writeFileSync(join(root, "none.key"), "AGE-SECRET-KEY-1NONE\n")
        const count = () => json("signal", "home", "--signal", "/signals/count", "--wait", "60")
        const recipient = await identityToRecipient(secret)
        const backup = () => json("backup", folder, "home", "--encrypt", recipient) as Promise<{ file: string }>
        await count()
        const { file } = await backup()
        await count()
        await backup()
        await run("space", "delete", "home", "--yes")
        const path = join(folder, "home", file)
        const closed = await run("restore", folder, "home")
        assert.include(closed.stderr, "backup/encrypted")
        assert.include(closed.stderr, "A backup of the newest state up to this point cannot be read")
        assert.include(closed.stderr, "age --decrypt -i KEY")
        assert.strictEqual(closed.code, 2)
        const none = await run("frame", "verify", path, "--identity", join(root, "none.key"))
        assert.include(none.stderr, "backup/key")
        assert.notInclude(none.stderr, "NONE")
        const identity = ["--identity", join(root, "age.key")]
        assert.include((await run("frame", "show", path, ...identity)).stdout, "snapshot of home (home@")
        const made = BackupName.read(file)?.at ?? 0
        const before = await run("restore", folder, "home", ...identity, "--at", new Date(made - 1).toISOString())
        assert.include(before.stderr, "backup/absent")
        const restored = await run("restore", folder, "home", ...identity)
        assert.strictEqual(restored.code, 0, restored.stderr)
        assert.strictEqual(await json("cell", "get", "home", "/data/n"), 2)
      })))
})

import { assert, describe, it } from "@effect/vitest"
import { generateX25519Identity, identityToRecipient } from "age-encryption"
import { Effect } from "effect"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { terminal } from "./Terminal.ts"

const project = {
  "systole.config.ts": `export default { spaces: { create: "on-demand" }, key: { file: "node.key" } }\n`,
  "enzymes/count.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`
}

/** A project with a space that counted to a number, with a backup after each, and no space then. */
const backedUp = (to: number, ...flags: ReadonlyArray<string>) => Effect.map(terminal(project), (made) => {
  const { json, root, run } = made
  const folder = join("kept", "home")
  /** Counts once, and backs the space up. Returns the path of the file. */
  const backup = async (): Promise<string> => {
    await json("signal", "home", "--signal", "/signals/count", "--wait", "60")
    const { file } = await json("backup", "kept", "home", ...flags) as { readonly file: string }
    return join(folder, file)
  }
  const lose = () => json("space", "delete", "home", "--yes")
  const begin = async (): Promise<ReadonlyArray<string>> => {
    await json("key", "new", "node.key")
    for (let n = 0; n < to; n++) await backup()
    await lose()
    return readdirSync(join(root, folder)).sort().map((file) => join(folder, file))
  }
  const restore = (...args: ReadonlyArray<string>) => run("restore", "kept", "home", ...args)
  /** Asserts that a restore fails by name with no space left, and goes on with the point that it tells. */
  const failsWith = async (code: string, file: string, left: number): Promise<void> => {
    const refused = await restore()
    assert.include(refused.stderr, code)
    assert.include(refused.stderr, file)
    assert.notStrictEqual(refused.code, 0)
    assert.deepStrictEqual(await json("space", "ls"), [])
    const [, at = ""] = /--at (\S+)/.exec(refused.stderr) ?? []
    const restored = await restore("--at", at)
    assert.strictEqual(restored.code, 0, restored.stderr)
    assert.strictEqual(await json("cell", "get", "home", "/data/n"), left)
    await lose()
  }
  return { ...made, backup, begin, lose, restore, failsWith }
})

const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => i === bytes.length >> 1 ? byte ^ 1 : byte)

describe("systole restore names the file, and the newest state without it, if", () => {
  it.live("the newest backup is none any more, is changed, or another one before it is missing", () =>
    Effect.flatMap(backedUp(3), ({ begin, failsWith, root, run }) => Effect.promise(async () => {
      const [, middle = "", newest = ""] = await begin()
      const at = join(root, newest)
      const whole = readFileSync(at)
      writeFileSync(at, flipped(whole))
      await failsWith("frame/changed", newest, 2)
      writeFileSync(at, "no byte of it is left")
      await failsWith("frame/magic", newest, 2)
      writeFileSync(at, whole)
      for (const args of [["restore", newest, "home"], ["import", newest, "copy"]]) {
        assert.include((await run(...args)).stderr, "Give the folder of its chain")
      }
      assert.include((await run("restore", "kept", "another")).stderr, `of "another", but of "home"`)
      assert.strictEqual((await run("backups", "ls", "keep")).code, 3)
      rmSync(join(root, middle))
      await failsWith("backup/gap", newest, 1)
    })))

  it.live("it cannot be decrypted with the identity", () =>
    Effect.gen(function*() {
      const [own, other] = yield* Effect.promise(() => Promise.all([generateX25519Identity(), generateX25519Identity()]))
      const recipient = yield* Effect.promise(() => identityToRecipient(own))
      const { begin, json, restore, write } = yield* backedUp(1, "--encrypt", recipient)
      yield* Effect.promise(async () => {
        const [file = ""] = await begin()
        write("own.key", own)
        write("other.key", other)
        for (const flags of [[], ["--identity", "other.key"]]) {
          const refused = await restore(...flags)
          assert.include(refused.stderr, "backup/encrypted")
          assert.include(refused.stderr, file)
          assert.strictEqual(refused.code, 2)
        }
        const [listed] = await json("backups", "ls", "kept", "--identity", "own.key") as ReadonlyArray<{ readonly state: string }>
        assert.strictEqual(listed?.state, "whole")
        assert.strictEqual((await restore("--identity", "own.key")).code, 0)
      })
    }))

  it.live("the backups are of two spaces of one name, and the newest has fewer beats", () =>
    Effect.flatMap(backedUp(3), ({ backup, begin, json, lose, restore }) => Effect.promise(async () => {
      await begin()
      await backup()
      await lose()
      const refused = await restore()
      assert.include(refused.stderr, "backup/ambiguous")
      assert.strictEqual(refused.code, 2)
      const points = Array.from(refused.stderr.matchAll(/--at (\S+)/g), ([, at = ""]) => at)
      for (const [at, n] of [[points[0] ?? "", 3], [points[1] ?? "", 1]] as const) {
        assert.strictEqual((await restore("--at", at)).code, 0)
        assert.strictEqual(await json("cell", "get", "home", "/data/n"), n)
        await lose()
      }
    })))

  it.live("another key signed it", () =>
    Effect.flatMap(backedUp(1), ({ begin, json, restore, run }) => Effect.promise(async () => {
      const [file = ""] = await begin()
      const { key } = await json("key", "show") as { readonly key: string }
      const { key: other } = await json("key", "new", "other.key") as { readonly key: string }
      for (const args of [["restore", "kept", "home"], ["import", file, "home"]]) {
        const refused = await run(...args, "--key", other)
        assert.include(refused.stderr, "frame/signature")
        assert.include(refused.stderr, file)
        assert.strictEqual(refused.code, 7)
        assert.deepStrictEqual(await json("space", "ls"), [])
      }
      assert.strictEqual((await restore("--key", key)).code, 0)
    })))
})

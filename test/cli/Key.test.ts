import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as Signature from "../../src/frame/Signature.ts"
import { terminal } from "./Terminal.ts"

const configured = (key: string): string => `export default { persistence: "memory", key: ${key} }\n`

describe("systole key", () => {
  it.live("makes a key in a file of its owner, prints the public one, and show names it", () =>
    Effect.flatMap(terminal({ "systole.config.ts": configured(`{ file: "node.key" }`) }), (project) => Effect.promise(async () => {
      const { json, root, run } = project
      const made = await run("key", "new", "node.key")
      assert.strictEqual(made.code, 0, made.stderr)
      assert.isTrue(Signature.isPublicKey(made.stdout.trim()))
      assert.strictEqual(statSync(join(root, "node.key")).mode & 0o777, 0o600)
      assert.deepStrictEqual(await json("key", "show"), { key: made.stdout.trim() })
      const again = await run("key", "new", "node.key")
      assert.strictEqual(again.code, 1)
      assert.include(again.stderr, "file/exists")
      const secret = readFileSync(join(root, "node.key"), "utf8")
      const { key } = await Effect.runPromise(Signature.signer(Redacted.make(secret), "node.key"))
      assert.strictEqual(key, made.stdout.trim())
      for (const { stderr, stdout } of [made, again, await run("key", "show")]) assert.notInclude(stdout + stderr, secret.trim())
    })))

  it.live("signs exports, and frame verify tells whose they are", () =>
    Effect.flatMap(terminal({
      "systole.config.ts": `export default { key: { file: "node.key" }, spaces: { create: "on-demand" } }\n`
    }), ({ root, run }) => Effect.promise(async () => {
      const file = join(root, "home.syf")
      const key = (await run("key", "new", "node.key")).stdout.trim()
      const other = (await run("key", "new", "other.key")).stdout.trim()
      assert.strictEqual((await run("space", "create", "home")).code, 0)
      const exported = await run("export", "home", file)
      assert.strictEqual(exported.code, 0, exported.stderr)
      const verified = await run("frame", "verify", file, "--key", key)
      assert.deepStrictEqual([verified.code, verified.stdout.includes(`signed by ${key}`)], [0, true], verified.stderr)
      const refused = await run("frame", "verify", file, "--key", other)
      assert.strictEqual(refused.code, 7)
      assert.include(refused.stderr, "frame/signature")
      assert.strictEqual((await run("frame", "verify", file, "--key", "node.key")).code, 2)
    })))

  it.live("prints a secret for a variable, and refuses a key that is not there or is none by its place", () =>
    Effect.flatMap(terminal(), ({ run, write }) => Effect.promise(async () => {
      const { stderr, stdout } = await run("key", "new")
      assert.match(stdout, /^syskey_[\w-]{43}\n$/)
      assert.match(stderr, /The public key is ed25519:[\w-]{43}\./)
      const absent = await run("key", "show")
      assert.deepStrictEqual([absent.code, absent.stderr.includes("key/absent")], [3, true])
      for (const [key, place] of [
        ["{ env: \"SYSTOLE_TEST_KEY_THAT_IS_NOT_SET\" }", "the variable SYSTOLE_TEST_KEY_THAT_IS_NOT_SET"],
        ["{ file: \"absent.key\" }", "the file absent.key, which cannot be read (ENOENT)"],
        ["{ file: \"systole.config.ts\" }", "the file systole.config.ts, which has no secret key"]
      ] as const) {
        write("systole.config.ts", configured(key))
        const refused = await run("key", "show")
        assert.deepStrictEqual([refused.code, refused.stderr.includes("config/invalid")], [2, true], refused.stderr)
        assert.include(refused.stderr, place)
      }
    })))
})

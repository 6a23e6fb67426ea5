import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Value } from "systole"
import * as Config from "../../src/loader/Config.ts"
import * as Loader from "../../src/loader/Loader.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import { current } from "../scripts/Host.ts"
import * as TestJob from "../support/TestJob.ts"

const secret = { file: "hook.secret" }

/** The first-party channels, each with the options of a configuration, and a request with its value. */
const channels: ReadonlyArray<readonly [use: string, options: Record<string, unknown>, opcode: string, payload: Value, value: unknown]> = [
  ["file", {}, "write", { path: "a.txt", text: "a" }, { path: "a.txt", bytes: 1 }],
  ["http", {}, "fetch", { url: 1 }, undefined],
  ["kv", {}, "kv_put", { key: "a", value: 1 }, { key: "a", bytes: 1 }],
  ["s3", { endpoint: "https://s3.test", accessKeyId: secret, secretAccessKey: secret }, "s3_get", {}, undefined],
  ["shell", { allow: ["true"] }, "run", { argv: ["true"] }, { code: 0, stdout: "", stderr: "" }],
  ["timer", {}, "sleep", { ms: 2 ** 44 }, undefined],
  ["webhook-out", { secrets: [secret] }, "send", { url: 1 }, undefined],
  ["worker", { module: "twice.mjs" }, "run", { input: 21 }, 42]
]

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-channels-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("The first-party channels", () => {
  it.effect("are found by their names in a configuration, and work as bundles", () =>
    Effect.gen(function*() {
      const root = yield* folder
      writeFileSync(join(root, "twice.mjs"), "export default (number) => 2 * number\n")
      writeFileSync(join(root, "hook.secret"), `whsec_${Buffer.alloc(32).toString("base64")}\n`)
      const config = yield* Config.decode({
        channels: Object.fromEntries(channels.map(([use, options]) => [`my-${use}`, { use, options }]))
      })
      const required = Object.values(config.channels).map(({ use }) => use)
      const found = yield* Loader.load({ enzymes: [], plugins: [], required, millis: 120_000 }).pipe(
        Effect.provide(Layer.fresh(HostModules.layer(root).pipe(Layer.provide(HostHash.layer))))
      )
      assert.deepStrictEqual(found.broken, [])
      const made = yield* Loader.channels(found, config, { root, folder: join(root, ".data"), host: current() })
      assert.deepStrictEqual(made.map(({ id }) => id), channels.map(([use]) => `my-${use}`))
      for (const [i, [use, , opcode, payload, value]] of channels.entries()) {
        const channel = made[i]
        if (channel === undefined) throw new Error(`there is no channel ${use}`)
        const job = TestJob.make(opcode, payload)
        if (value === undefined) assert.strictEqual((yield* Effect.promise(() => TestJob.failure(channel, job))).code, "io/invalid")
        else assert.deepStrictEqual((yield* Effect.promise(() => TestJob.run(channel, job))).value, value, use)
        yield* Effect.promise(async () => channel.close?.())
      }
    }).pipe(Effect.scoped))
})

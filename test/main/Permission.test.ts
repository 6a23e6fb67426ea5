import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ModuleHost } from "../../src/loader/ModuleHost.ts"
import * as Permission from "../../src/main/module/Permission.ts"

/** A project whose modules were bundled at the start: none is there. */
const project = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "systole-"))
    mkdirSync(join(root, ".systole/modules"), { recursive: true })
    writeFileSync(join(root, ".systole/modules/bundled.json"), "{}")
    return root
  }),
  (root) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("A process under the permission model", () => {
  it.effect("says of a module that came after the start where it is, why it is not loaded, and what to do", () =>
    Effect.gen(function*() {
      const root = yield* project
      const loaded = Effect.flatMap(ModuleHost, (host) => host.load("enzymes/late.ts"))
      const error = yield* Effect.flip(Effect.provide(loaded, Permission.bundled(root)))
      assert.strictEqual(
        error.message,
        `Module enzymes/late.ts is not loaded: ${join(root, "enzymes/late.ts")} came after the start. ` +
          "Under --permission no program may run, " +
          "so modules are bundled at the start alone. Start the server again to load it"
      )
    }))

  it.effect("says of the code of an old beat which bundle is missing, why, and what to do", () =>
    Effect.gen(function*() {
      const root = yield* project
      const restored = Effect.flatMap(ModuleHost, (host) => host.restore("abc", "text"))
      const error = yield* Effect.flip(Effect.provide(restored, Permission.bundled(root)))
      assert.strictEqual(
        error.message,
        `Module /cas/abc is not loaded: an old beat ran this code, and ${join(root, ".systole/modules/abc.mjs")} is not there. ` +
          "Under --permission no program may run, so code of earlier versions is not bundled. " +
          "Start the server without --permission to verify, replay or explain that beat"
      )
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Persistence } from "systole"
import sqlite from "../../plugins/sqlite.ts"
import * as HashLayer from "../support/HashLayer.ts"
import { problem, serve } from "../ingress/TestIngress.ts"

/** A folder of stores until the scope closes. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-full-"))),
  (root) => Effect.sync(() => rmSync(root, { recursive: true }))
)

/** The answer of a store in a folder: whether it takes data. */
const ready = (root: string) => Effect.result(Persistence.use(({ ready = Effect.void }) => ready)).pipe(
  Effect.provide(Layer.fresh(Layer.provide(sqlite.provides.persistence!({ folder: root, options: {} }), HashLayer.layer)))
)

describe("A full disk", () => {
  it.live("is told by the store, which leaves nothing of its probe", () =>
    Effect.gen(function*() {
      const root = yield* folder
      assert.strictEqual((yield* ready(root))._tag, "Success")
      // Each write to this device fails as on a full disk.
      symlinkSync("/dev/full", join(root, "probe.tmp"))
      const full = yield* ready(root)
      assert.isTrue(full._tag === "Failure" && full.failure.code === "store/unavailable" && full.failure.message.includes("ENOSPC"))
      assert.deepStrictEqual(readdirSync(root), [])
      assert.strictEqual((yield* ready(join(root, "absent")))._tag, "Success")
    }))

  it.live("is told by the readiness probe, until there is room again", () =>
    Effect.gen(function*() {
      const root = yield* folder
      symlinkSync("/dev/full", join(root, "probe.tmp"))
      const { ask } = yield* serve({
        kernel: (kernel) => ({ ...kernel, ready: Effect.flatMap(ready(root), Effect.fromResult) })
      })
      const full = yield* Effect.promise(() => ask("/readyz"))
      assert.deepStrictEqual(problem(full), [503, "store/unavailable"])
      assert.notInclude(JSON.stringify(full.body), root)
      assert.strictEqual((yield* Effect.promise(() => ask("/readyz"))).status, 200)
      assert.strictEqual((yield* Effect.promise(() => ask("/livez"))).status, 200)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import * as Lease from "../../src/agent/store/Lease.ts"
import * as HostDisk from "../../src/main/HostDisk.ts"

/** All processes are alive, as if each number had been given away again. */
const services = HostDisk.layer(() => true)

const file = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(realpathSync(tmpdir()), "systole-lease-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(Effect.map((folder) => join(folder, "heartbeat.md")))

/** The lock of this process, as the first take wrote it. */
const lockOf = (path: string): Readonly<Record<string, unknown>> => JSON.parse(readFileSync(`${path}.lock`, "utf8")) as never

describe.skipIf(process.platform !== "linux")("The lease of a process on Linux", () => {
  it.effect("is taken over from a dead owner whose number another process has", () =>
    Effect.gen(function*() {
      const path = yield* file
      const own = yield* Effect.scoped(Effect.andThen(Lease.take({ path }, "run"), Effect.sync(() => lockOf(path))))
      writeFileSync(`${path}.lock`, JSON.stringify({ ...own, born: "of another start" }))
      const taken = yield* Effect.scoped(Effect.andThen(Lease.take({ path }, "run"), Effect.sync(() => lockOf(path))))
      assert.strictEqual(taken["born"], own["born"])
      assert.notStrictEqual(own["born"], undefined)
    }).pipe(Effect.provide(services)))

  it.effect("is not taken over from a live owner, nor from one whose start is not known", () =>
    Effect.gen(function*() {
      const path = yield* file
      const own = yield* Effect.scoped(Effect.andThen(Lease.take({ path }, "run"), Effect.sync(() => lockOf(path))))
      for (const lock of [own, { ...own, born: undefined }]) {
        writeFileSync(`${path}.lock`, JSON.stringify(lock))
        assert.strictEqual((yield* Effect.flip(Effect.scoped(Lease.take({ path }, "run")))).code, "agent/locked")
      }
    }).pipe(Effect.provide(services)))
})

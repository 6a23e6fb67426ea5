import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import * as Lease from "../../plugins/agent/store/Lease.ts"
import { Disk } from "../../src/cli/Disk.ts"
import * as HostDisk from "../../src/main/host/HostDisk.ts"

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

describe("The files of a host", () => {
  it.effect.skipIf(process.getuid?.() !== 0)("keep their owner, their group and their permissions in a new version", () =>
    Effect.gen(function*() {
      const path = yield* file
      writeFileSync(path, "old")
      chownSync(path, 4321, 1234)
      chmodSync(path, 0o664)
      yield* Disk.use((disk) => disk.create(`${path}.new`, new Uint8Array(2), path))
      const { gid, mode, uid } = statSync(`${path}.new`)
      assert.deepStrictEqual([uid, gid, mode & 0o777], [4321, 1234, 0o664])
    }).pipe(Effect.provide(services)))

  it.effect.skipIf(!existsSync("/dev/shm"))("are copied as a whole where no hard link leads", () =>
    Effect.gen(function*() {
      const path = yield* file
      const from = join("/dev/shm", `systole-${process.pid}`)
      yield* Effect.acquireRelease(Effect.sync(() => writeFileSync(from, "text")), () => Effect.sync(() => rmSync(from)))
      const link = Disk.use((disk) => disk.link(from, path))
      assert.deepStrictEqual([yield* link, yield* link], [true, false])
      assert.deepStrictEqual([readFileSync(path, "utf8"), readdirSync(dirname(path))], ["text", ["heartbeat.md"]])
    }).pipe(Effect.provide(services)))
})

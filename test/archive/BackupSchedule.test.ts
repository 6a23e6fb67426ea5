import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, PlatformError, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme } from "systole"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BackupFolder from "../../src/archive/BackupFolder.ts"
import * as BackupName from "../../src/archive/BackupName.ts"
import { BackupSchedule, type Parts } from "../../src/archive/BackupSchedule.ts"
import * as Encryption from "../../src/archive/Encryption.ts"
import * as Redacted from "../../src/cell/Redacted.ts"
import { FrameReader } from "../../src/frame/FrameReader.ts"
import { PersistenceError, SpaceImporting, StoreBusy } from "../../src/persistence/PersistenceError.ts"
import { hash } from "../frame/Frames.ts"
import { serve } from "../ingress/TestIngress.ts"

const count = Enzyme.make({ name: "count", query: "/count", run: (tx) => tx.increment("/data/n") })

const minute = 60_000
const hour = 60 * minute
const settings = { every: hour, full: 24 * hour, keep: 48 * hour }

/** A kernel with spaces, a folder, and schedules over both. */
const world = Effect.gen(function*() {
  const app = yield* serve({ enzymes: [count], config: { spaces: { create: "on-demand" } } })
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-backups-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  yield* TestClock.setTime(Date.UTC(2026, 0, 1))
  const folder = yield* BackupFolder.make(join(root, "backups"), hash)
  const told: Array<{ readonly code: string; readonly space: string; readonly message: string }> = []
  let age = 0
  const schedule = (more: Partial<Parts> = {}) => new BackupSchedule({
    kernel: app.kernel, hash, folder, maker: { hash },
    telemetry: { add: (_, value) => age += value },
    report: (failure) => void told.push(failure as typeof told[number]),
    ...more
  }, settings)
  const beat = (space = "home") => Effect.promise(() => app.ask(`/v1/spaces/${space}/signals`, {
    method: "POST", headers: { "content-type": "application/json", prefer: "wait=5" }, body: JSON.stringify({ signal: "/count" })
  }))
  /** The chains and numbers of the files of a space. */
  const files = (space = "home") => {
    const path = join(root, "backups", space)
    return existsSync(path) ? readdirSync(path).sort().map((file) => file.slice(0, 11)) : []
  }
  return { app, beat, files, folder, root, schedule, told, age: () => age }
})

/** Waits in turns of the host until something is so. */
const settled = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
  })

/** Runs a test over a world. */
const over = <E, R>(body: (made: Effect.Success<typeof world>) => Effect.Effect<void, E, R>) =>
  Effect.scoped(Effect.flatMap(world, body)).pipe(Effect.provide(NodeServices.layer))

describe("Scheduled backups", () => {
  it.effect("are a snapshot and then ranges, each after its time, and none of a space without a beat", () =>
    over(({ age, beat, files, schedule, told }) => Effect.gen(function*() {
      const { pass } = schedule()
      yield* beat()
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000"])
      yield* beat()
      yield* TestClock.adjust(59 * minute)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000"])
      assert.strictEqual(age(), 59 * 60)
      yield* TestClock.adjust(minute)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001"])
      assert.strictEqual(age(), 0)
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001"])
      assert.strictEqual(age(), 0)
      assert.deepStrictEqual(told, [])
    })))

  it.effect("go on after a restart by the newest file", () =>
    over(({ beat, files, schedule }) => Effect.gen(function*() {
      yield* beat()
      yield* schedule().pass
      yield* beat()
      yield* TestClock.adjust(30 * minute)
      yield* schedule().pass
      assert.deepStrictEqual(files(), ["000001-0000"])
      yield* TestClock.adjust(30 * minute)
      yield* schedule().pass
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001"])
    })))

  it.effect("begin another chain when the snapshot is old, and remove whole chains alone", () =>
    over(({ beat, files, schedule }) => Effect.gen(function*() {
      const { pass } = schedule()
      for (let i = 0; i < 5; i++) {
        yield* beat()
        yield* pass
        yield* TestClock.adjust(12 * hour)
      }
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001", "000002-0000", "000002-0001", "000003-0000"])
      yield* beat()
      yield* TestClock.adjust(12 * hour)
      yield* pass
      assert.deepStrictEqual(files(), ["000002-0000", "000002-0001", "000003-0000", "000004-0000"])
    })))

  it.effect("of a space without a beat since expire, too, up to the newest chain", () =>
    over(({ beat, files, folder, schedule, told }) => Effect.gen(function*() {
      const { pass } = schedule()
      for (let i = 0; i < 3; i++) {
        yield* beat()
        yield* pass
        yield* TestClock.adjust(24 * hour)
      }
      assert.deepStrictEqual(files(), ["000001-0000", "000002-0000", "000003-0000"])
      yield* pass
      assert.deepStrictEqual(files(), ["000002-0000", "000003-0000"])
      yield* TestClock.adjust(24 * hour)
      // Another host of the folder was faster.
      const [oldest] = yield* folder.list("home")
      const list: BackupFolder.BackupFolder["list"] = (name) => Effect.tap(folder.list(name), () => folder.remove(name, oldest?.file ?? ""))
      yield* schedule({ folder: { ...folder, list } }).pass
      assert.deepStrictEqual(files(), ["000003-0000"])
      yield* TestClock.adjust(1000 * hour)
      yield* schedule().pass
      assert.deepStrictEqual([files(), told], [["000003-0000"], []])
    })))

  it.effect("wait for as long as they move, also where the read-back takes long", () =>
    over(({ beat, files, root, schedule, told }) => Effect.gen(function*() {
      yield* beat()
      const fs = yield* FileSystem.FileSystem
      let [slices, waiting] = [0, 0]
      const slow = FileSystem.FileSystem.of({
        ...fs,
        stream: (path, options) => Stream.tap(fs.stream(path, { ...options, chunkSize: 256 }), () => {
          waiting++
          slices++
          return Effect.ensuring(Effect.sleep(4 * minute), Effect.sync(() => waiting--))
        })
      })
      const folder = yield* Effect.provideService(BackupFolder.make(join(root, "backups"), hash), FileSystem.FileSystem, slow)
      const passing = yield* Effect.forkChild(schedule({ folder }).pass)
      const isOver = () => passing.pollUnsafe() !== undefined
      while (!isOver()) {
        yield* settled(() => waiting > 0 || isOver())
        if (waiting > 0) yield* TestClock.adjust(4 * minute)
      }
      assert.isAbove(slices, 2)
      assert.deepStrictEqual([told, files()], [[], ["000001-0000"]])
    })))

  it.effect("begin once an import is whole, which is no failure", () =>
    over(({ age, app, beat, files, schedule, told }) => Effect.gen(function*() {
      yield* beat()
      let isWhole = false
      const importing = new PersistenceError({ reason: new SpaceImporting({ space: "home" }) })
      const progress: Parts["kernel"]["progress"] = (name) => isWhole ? app.kernel.progress(name) : Effect.fail(importing)
      const { pass } = schedule({ kernel: { ...app.kernel, progress } })
      for (let i = 0; i < 3; i++) {
        yield* pass
        yield* TestClock.adjust(5 * minute)
      }
      assert.deepStrictEqual([told, files(), age()], [[], [], 0])
      isWhole = true
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000"])
    })))

  it.effect("of one space fail alone, are told with a code, and are tried again", () =>
    over(({ app, beat, files, schedule, told }) => Effect.gen(function*() {
      for (const space of ["a", "b", "c"]) yield* beat(space)
      let isBroken = true
      const failing: Parts["kernel"] = {
        ...app.kernel,
        spaces: Effect.map(app.kernel.spaces, (names) => ["absent", ...names]),
        space: (name, options) => isBroken && name === "b"
          ? Effect.fail(new PersistenceError({ reason: new StoreBusy({ space: name, place: "here" }) }))
          : app.kernel.space(name, options)
      }
      const { pass } = schedule({ kernel: failing })
      yield* pass
      assert.deepStrictEqual([files("a"), files("c")], [["000001-0000"], ["000001-0000"]])
      // A space that was removed meanwhile is no failure.
      assert.deepStrictEqual(told.map(({ code, space }) => [code, space]), [["backup/failed", "b"]])
      assert.include(told[0]?.message, "(store/busy)")
      isBroken = false
      yield* TestClock.adjust(5 * minute)
      yield* pass
      assert.deepStrictEqual(files("b"), ["000001-0000"])
    })))

  it.effect("go on for all other spaces, and later, after a defect in one", () =>
    over(({ app, beat, files, schedule, told }) => Effect.gen(function*() {
      for (const space of ["a", "b"]) yield* beat(space)
      let broken = "a"
      const failing: Parts["kernel"] = {
        ...app.kernel,
        spaces: Effect.suspend(() => broken === "all" ? Effect.die(new Error("the list is damaged")) : app.kernel.spaces),
        space: (name, options) => broken === name ? Effect.die(new Error("a damaged space")) : app.kernel.space(name, options)
      }
      const { pass } = schedule({ kernel: failing })
      yield* pass
      assert.deepStrictEqual(files("b"), ["000001-0000"])
      assert.include(told[0]?.message, "a damaged space")
      broken = "all"
      yield* pass
      assert.include(told[1]?.message, "the list is damaged")
      broken = "none"
      yield* TestClock.adjust(5 * minute)
      yield* pass
      assert.deepStrictEqual(files("a"), ["000001-0000"])
    })))

  it.effect("have the signals that wait for their time, of a space without a beat since", () =>
    over(({ app, beat, files, schedule }) => Effect.gen(function*() {
      const { pass } = schedule()
      yield* beat()
      yield* pass
      const body = JSON.stringify({ signal: "/count", payload: 1, at: { ms: 1_000_000_000 } })
      const posted = yield* Effect.promise(() =>
        app.ask("/v1/spaces/home/signals", { method: "POST", headers: { "content-type": "application/json" }, body }))
      assert.strictEqual(posted.status, 202)
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001"])
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001"], "no signal came since")
    })))

  it.effect("open the spaces alone that have come further than their newest file: 3 of 1,000", () =>
    over(({ app, beat, files, folder, root, schedule, told }) => Effect.gen(function*() {
      const changed = ["s100", "s500", "s900"]
      const names = Array.from({ length: 1000 }, (_, n) => `s${n}`)
      const end = { beat: 7, hash: "0123456789abcdef" }
      const file = BackupName.write({ chain: 1, n: 0, end, at: Date.UTC(2025, 0, 1), isEncrypted: false })
      for (const name of changed) {
        mkdirSync(join(root, "backups", name), { recursive: true })
        writeFileSync(join(root, "backups", name, file), "")
        yield* beat(name)
      }
      const list: BackupFolder.BackupFolder["list"] = (name) =>
        changed.includes(name) ? folder.list(name) : Effect.succeed(BackupName.all([file]))
      const opened: Array<string> = []
      let looks = 0
      const kernel: Parts["kernel"] = {
        spaces: Effect.succeed(names),
        progress: (name) => Effect.suspend(() => {
          looks++
          return changed.includes(name)
            ? app.kernel.progress(name)
            : Effect.succeed({ head: { beat: 7, hash: "0123456789abcdef".repeat(4) }, turn: "1.0", isQueued: false })
        }),
        space: (name, options) => Effect.suspend(() => {
          opened.push(name)
          return app.kernel.space(name, options)
        })
      }
      const { pass } = schedule({ kernel, folder: { ...folder, list } })
      yield* pass
      assert.deepStrictEqual([looks, opened, told], [1000, changed, []])
      assert.deepStrictEqual(files("s500"), ["000001-0000", "000002-0000"])
      yield* TestClock.adjust(minute)
      yield* pass
      assert.strictEqual(looks, 1000, "none is due")
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual([looks, opened], [2000, changed])
      for (const { file } of yield* folder.list("s500")) yield* folder.remove("s500", file)
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual([opened, files("s500")], [[...changed, "s500"], ["000001-0000"]], "a removed backup is made again")
    })))

  it.effect("of a space that does not answer are given up, and stop no other one", () =>
    over(({ app, age, beat, files, schedule, told }) => Effect.gen(function*() {
      for (const space of ["a", "b", "c"]) yield* beat(space)
      let hangs = 0
      let isHanging = true
      const kernel: Parts["kernel"] = {
        ...app.kernel,
        space: (name, options) => isHanging && name === "b"
          ? Effect.andThen(Effect.sync(() => void hangs++), Effect.uninterruptible(Effect.callback<never>((resume) => {
            release = () => resume(Effect.die(new Error("too late")))
          })))
          : app.kernel.space(name, options)
      }
      let release = (): void => {}
      const { pass } = schedule({ kernel })
      const passing = yield* Effect.forkChild(pass)
      yield* settled(() => files("a").length > 0 && hangs > 0)
      yield* TestClock.adjust(5 * minute)
      yield* Fiber.join(passing)
      assert.deepStrictEqual([files("a"), files("c")], [["000001-0000"], ["000001-0000"]])
      assert.deepStrictEqual(told.map(({ code, space }) => [code, space]), [["backup/failed", "b"]])
      assert.include(told[0]?.message, "backup/stalled")
      assert.strictEqual(age(), 5 * 60)
      yield* beat("a")
      yield* TestClock.adjust(2 * hour)
      yield* pass
      assert.deepStrictEqual([hangs, files("a")], [1, ["000001-0000", "000001-0001"]], "one that has not ended is not begun again")
      isHanging = false
      release()
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual(files("b"), ["000001-0000"])
    })))

  it.effect("to a folder that cannot be written are told once in a pass, and begin again by themselves", () =>
    over(({ age, beat, files, root, schedule, told }) => Effect.gen(function*() {
      for (const space of ["a", "b"]) yield* beat(space)
      writeFileSync(join(root, "backups"), "in the way")
      const { pass } = schedule()
      yield* pass
      assert.deepStrictEqual(told.map(({ code, space }) => [code, space]), [["backup/failed", "a"]])
      assert.include(told[0]?.message, "backup/io")
      yield* TestClock.adjust(minute)
      yield* pass
      assert.strictEqual(age(), 60, "the age is that of the first look")
      rmSync(join(root, "backups"))
      yield* TestClock.adjust(5 * minute)
      yield* pass
      assert.deepStrictEqual([files("a"), files("b")], [["000001-0000"], ["000001-0000"]])
    })))

  it.effect("on a full disk are told by its code, leave no half file, and go on once there is room", () =>
    over(({ beat, files, root, schedule, told }) => Effect.gen(function*() {
      for (const space of ["a", "b"]) yield* beat(space)
      const fs = yield* FileSystem.FileSystem
      const cause = Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
      const full = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "writeAll", cause })
      let room = 1000
      const small = FileSystem.FileSystem.of({
        ...fs,
        open: (path, options) => Effect.map(fs.open(path, options), (file) => Object.assign(Object.create(file) as FileSystem.File, {
          writeAll: (bytes: Uint8Array) => Effect.suspend(() => (room -= bytes.length) < 0 ? Effect.fail(full) : file.writeAll(bytes))
        }))
      })
      const folder = yield* Effect.provideService(BackupFolder.make(join(root, "backups"), hash), FileSystem.FileSystem, small)
      const { pass } = schedule({ folder })
      yield* pass
      assert.deepStrictEqual(told.map(({ code, space }) => [code, space]), [["backup/failed", "a"]])
      assert.match(told[0]?.message ?? "", /backup\/io.*ENOSPC.*room on its disk/s)
      assert.deepStrictEqual([files("a"), files("b")], [[], []])
      room = Infinity
      yield* TestClock.adjust(5 * minute)
      yield* pass
      assert.deepStrictEqual([files("a"), files("b")], [["000001-0000"], ["000001-0000"]])
    })))

  it.effect("are made again after a clock that was ahead", () =>
    over(({ beat, files, schedule }) => Effect.gen(function*() {
      yield* beat()
      yield* TestClock.setTime(Date.UTC(2030, 0, 1))
      yield* schedule().pass
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      yield* beat()
      const { pass } = schedule()
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000002-0000"])
      yield* beat()
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000002-0000", "000002-0001"])
    })))

  it.effect("are encrypted, and their chain goes on without a secret", () =>
    over(({ beat, files, folder, root, schedule }) => Effect.gen(function*() {
      const { generateX25519Identity, identityToRecipient } = yield* Effect.promise(() => import("age-encryption"))
      const identity = yield* Effect.promise(() => generateX25519Identity())
      const recipient = yield* Effect.promise(() => identityToRecipient(identity))
      const { pass } = schedule({ encrypt: yield* Encryption.encryptTo([recipient], "test") })
      yield* beat()
      yield* pass
      yield* beat()
      yield* TestClock.adjust(hour)
      yield* pass
      assert.deepStrictEqual(files(), ["000001-0000", "000001-0001"])
      for (const { file, isEncrypted } of yield* folder.list("home")) {
        assert.isTrue(isEncrypted)
        const bytes = readFileSync(join(root, "backups/home", file))
        assert.isTrue(bytes.toString("latin1").startsWith(Encryption.MAGIC))
        assert.notInclude(bytes.toString("latin1"), "SYF1")
        const decrypt = yield* Encryption.decryptWith(Redacted.make(`# a key\n${identity}\n`), "test")
        const reader = new FrameReader(hash)
        yield* Stream.runForEach(decrypt(Stream.make(new Uint8Array(bytes))), (piece) => reader.feed(piece))
        assert.property(yield* reader.sealed(), "root")
        const flipped = Stream.make(new Uint8Array(bytes).map((byte, i) => i === bytes.length - 9 ? byte ^ 1 : byte))
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(decrypt(flipped)))).code, "backup/encrypted")
      }
    })))
})

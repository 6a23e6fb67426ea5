import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ControlFiles from "../../plugins/agent/document/ControlFile.ts"
import { Disk } from "../../src/cli/Disk.ts"
import * as Facts from "../../plugins/agent/store/Facts.ts"
import * as HostDisk from "../../src/main/host/HostDisk.ts"
import type { Place } from "../../plugins/agent/store/StoredFile.ts"
import * as HashLayer from "../support/HashLayer.ts"
import { action, fileOf } from "./TestAgent.ts"

const services = Layer.mergeAll(HostDisk.layer(() => true), HashLayer.layer)

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-facts-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The place of a control file in a folder. */
const placeIn = (folder: string): Place =>
  ({ folder, path: join(folder, "heartbeat.md"), name: "heartbeat.md", stem: "heartbeat", extension: ".md", key: "" })

/** An action that depends on a path: it watches it, and its condition looks for it. */
const over = (id: string, path: string): string =>
  action(id, { type: "shell", command: "echo", schedule: `on_change:${path}`, condition: `file_exists:"${path}"`, status: "pending" })

describe("Facts of a real disk", () => {
  it.effect("no pipe, no device, no long name and no pattern stops a wake", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      execFileSync("mkfifo", [join(folder, "pipe")])
      mkdirSync(join(folder, "folder"))
      execFileSync("mkfifo", [join(folder, "folder", "inner")])
      writeFileSync(join(folder, `${"a".repeat(60)}c`), "")
      const paths = {
        pipe: "pipe", device: "/dev/zero", long: "x".repeat(3_000), below: "pipe/x", folder: "folder", absent: "no",
        stars: `${"*a".repeat(60)}b`
      }
      const { actions } = ControlFiles.parse(fileOf(...Object.entries(paths).map(([id, path]) => over(id, path))))
      const { digests, files } = yield* Facts.capture(placeIn(folder), actions)
      assert.deepStrictEqual([...files].sort(), ["/dev/zero", "folder", "pipe"])
      assert.deepStrictEqual([...digests.keys()].sort(), Object.keys(paths).sort())
      assert.strictEqual(digests.get("long"), "absent")
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("of a pattern, a star is any text of a name, a question mark one sign, and brackets and braces are themselves", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const names = ["day[1].log", "day1.log", "{a,b}.txt", "a.txt", ".hidden"]
      for (const name of names) writeFileSync(join(folder, name), "")
      const met = ["day[1].*", "{a,b}.t?t", "?.txt", "day*.log"]
      const missed = ["day[2].*", "{c,d}.*", "??.txt", "*hidden", "*.log.*"]
      const { actions } = ControlFiles.parse(fileOf(...[...met, ...missed].map((path, i) => over(`a${i}`, path))))
      assert.strictEqual(actions.length, met.length + missed.length)
      const { files } = yield* Facts.capture(placeIn(folder), actions)
      assert.deepStrictEqual([...files].sort(), met.toSorted())
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("a watched folder with many files counts by its own version, which a new name changes", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      mkdirSync(join(folder, "many"))
      for (let file = 0; file <= 10_000; file++) writeFileSync(join(folder, "many", `${file}.txt`), "")
      const { actions } = ControlFiles.parse(fileOf(over("many", "many")))
      let looked = 0
      const disk = yield* Disk
      const counting = { ...disk, version: (path: string) => Effect.andThen(Effect.sync(() => looked++), disk.version(path)) }
      const digest = Effect.map(Facts.capture(placeIn(folder), actions), ({ digests }) => digests.get("many")).pipe(
        Effect.provideService(Disk, Disk.of(counting))
      )
      const before = yield* digest
      assert.isBelow(looked, 10)
      writeFileSync(join(folder, "many", "new.txt"), "")
      assert.notStrictEqual(yield* digest, before)
      for (let file = 0; file <= 10; file++) rmSync(join(folder, "many", `${file}.txt`))
      yield* digest
      assert.isAbove(looked, 9_000)
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("a watched folder has another digest after a change at any depth, but not in a hidden folder", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      mkdirSync(join(folder, "src", "deep", "er"), { recursive: true })
      mkdirSync(join(folder, "src", ".git"))
      const { actions } = ControlFiles.parse(fileOf(over("a", "src")))
      const digest = Effect.map(Facts.capture(placeIn(folder), actions), ({ digests }) => digests.get("a"))
      const first = yield* digest
      writeFileSync(join(folder, "src", "deep", "er", "file.ts"), "1")
      const second = yield* digest
      writeFileSync(join(folder, "src", "deep", "er", "file.ts"), "22")
      const third = yield* digest
      assert.strictEqual(new Set([first, second, third]).size, 3)
      assert.deepStrictEqual((yield* Facts.foldersOf(join(folder, "src"))).length, 3)
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("a control file that is a pipe is refused with a remedy, and nothing waits for its writer", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const path = join(folder, "heartbeat.md")
      execFileSync("mkfifo", [path])
      const failed = yield* Effect.flip(Disk.use((disk) => disk.read(path)))
      assert.include(failed.message, "It is no regular file")
    }).pipe(Effect.scoped, Effect.provide(services)))
})

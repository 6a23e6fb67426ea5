import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Disk, DiskFailed } from "../../src/cli/Disk.ts"
import * as StoredFile from "../../plugins/agent/store/StoredFile.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { MemoryDisk } from "./MemoryDisk.ts"

const PATH = "/home/ann/heartbeat.md"
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const provide = (disk: MemoryDisk) => Effect.provide(Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer))

const replace = (from: string, to: string) =>
  Effect.flatMap(StoredFile.place(PATH), (place) => StoredFile.replace(place, encode(from), encode(to)))

const tend = Effect.flatMap(StoredFile.place(PATH), StoredFile.tend)

describe("StoredFile", () => {
  it.effect("replaces a file whose bytes are the expected ones, and leaves another one alone", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "one")
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* replace("one", "two"), { _tag: "Replaced", conflict: undefined })
      assert.strictEqual(disk.text(PATH), "two")
      assert.deepStrictEqual(yield* replace("one", "three"), { _tag: "Changed" })
      assert.strictEqual(disk.text(PATH), "two")
    }).pipe(provide(disk))
  })

  it.effect("keeps the old file where the process ends before the replacement, and cleans up at the next wake", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.before = (operation, path) => {
      if (operation === "rename" && path === PATH) throw new Error("killed")
    }
    return Effect.gen(function*() {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(replace("old", "new"))))
      disk.before = () => {}
      assert.strictEqual(disk.text(PATH), "old")
      assert.deepStrictEqual(yield* tend, [])
      assert.deepStrictEqual(disk.list("/home/ann"), ["heartbeat.md"])
    }).pipe(provide(disk))
  })

  it.effect("restores the old file where the process ends between the move and the link", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.before = (operation, path) => {
      if (operation === "link" && path === PATH) throw new Error("killed")
    }
    return Effect.gen(function*() {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(replace("old", "new"))))
      disk.before = () => {}
      yield* tend
      assert.strictEqual(disk.text(PATH), "old")
    }).pipe(provide(disk))
  })

  it.effect("keeps the old file where another process removes the temporary one as a leftover", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.before = (operation, path) => {
      if (operation === "rename" && path === PATH) disk.names.delete("/home/ann/.heartbeat.md.1.tmp")
    }
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* replace("old", "new"), { _tag: "Changed" })
      assert.strictEqual(disk.text(PATH), "old")
    }).pipe(provide(disk))
  })

  it.effect("has the old or the new file after an end between any two calls, also without hard links", () =>
    Effect.gen(function*() {
      for (let kill = 1, isOver = false; !isOver; kill++) {
        const disk = new MemoryDisk()
        disk.isLinkless = true
        disk.save(PATH, "an old text")
        let calls = 0
        const dies = (): void => {
          if (++calls >= kill) throw new Error("killed")
        }
        disk.before = dies
        isOver = Exit.isSuccess(yield* Effect.exit(replace("an old text", "a new and longer text")).pipe(provide(disk)))
        // The process that mends may end, too.
        calls = kill - 3
        if (!isOver) yield* Effect.exit(tend).pipe(provide(disk))
        disk.before = () => {}
        yield* tend.pipe(provide(disk))
        assert.include(["an old text", "a new and longer text"], disk.text(PATH), `killed before call ${kill}`)
        yield* TestClock.adjust("1 minute")
        yield* tend.pipe(provide(disk))
        assert.deepStrictEqual(disk.list("/home/ann"), ["heartbeat.md"], `killed before call ${kill}`)
      }
    }))

  it.effect("takes a short text of a person for no cut copy", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.save("/home/ann/.heartbeat.md.7.tmp", "older")
    return Effect.gen(function*() {
      yield* tend
      assert.strictEqual(disk.text(PATH), "old")
    }).pipe(provide(disk))
  })

  it.effect("tells that a file cannot be replaced that is mounted by itself, and leaves it", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.before = (operation, path) => {
      if (operation === "rename" && path === PATH) throw new DiskFailed({ operation, path, reason: "EBUSY" })
    }
    return Effect.gen(function*() {
      assert.include((yield* Effect.flip(replace("old", "new"))).message, "mount its folder")
      assert.deepStrictEqual([disk.text(PATH), disk.list("/home/ann")], ["old", ["heartbeat.md"]])
    }).pipe(provide(disk))
  })

  it.effect("keeps the file where the disk is full", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.before = (operation, path) => {
      if (operation === "create") throw new DiskFailed({ operation, path, reason: "ENOSPC" })
    }
    return Effect.gen(function*() {
      const failed = yield* Effect.flip(replace("old", "new"))
      assert.strictEqual(failed.code, "agent/disk")
      assert.include(failed.message, "The disk is full")
      assert.strictEqual(disk.text(PATH), "old")
    }).pipe(provide(disk))
  })

  it.effect("names backups by their second, with a suffix for a further one, and keeps ten", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "text")
    return Effect.gen(function*() {
      const place = yield* StoredFile.place(PATH)
      yield* TestClock.setTime(Date.UTC(2024, 0, 15, 10, 30))
      for (let i = 0; i < 11; i++) yield* StoredFile.backUp(place, encode(`${i}`))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* StoredFile.backUp(place, encode("11")), "heartbeat-20240115-103001.md")
      const kept = yield* StoredFile.backups(place)
      assert.strictEqual(kept.length, StoredFile.BACKUPS)
      assert.isFalse(kept.includes("heartbeat-20240115-103000.md"))
      assert.isTrue(kept.includes("heartbeat-20240115-103000-11.md"))
    }).pipe(provide(disk))
  })

  it.effect("makes backups as a whole, and removes what earlier processes left of theirs", () => {
    const disk = new MemoryDisk()
    disk.save("/home/ann/history/heartbeat.md.7.tmp", "cu")
    disk.save("/home/ann/history/heartbeat-latest-valid.md.7.tmp", "cu")
    return Effect.gen(function*() {
      const place = yield* StoredFile.place(PATH)
      disk.before = (operation) => {
        if (operation === "rename") assert.isEmpty(disk.list("/home/ann/history").filter((name) => /^heartbeat-\d/.test(name)))
      }
      const name = yield* StoredFile.backUp(place, encode("whole"))
      assert.deepStrictEqual([disk.list("/home/ann/history"), disk.text(`/home/ann/history/${name}`)], [[name], "whole"])
    }).pipe(provide(disk))
  })

  it.effect("names at once the copy of a save that came between the comparison and the replacement", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "old")
    disk.before = (operation, path) => {
      if (operation === "rename" && path === PATH) disk.replace(PATH, "mine")
    }
    return Effect.gen(function*() {
      const replaced = yield* replace("old", "new")
      const conflict = replaced._tag === "Replaced" ? replaced.conflict : undefined
      assert.strictEqual(disk.text(`/home/ann/${conflict ?? ""}`), "mine")
      assert.strictEqual(disk.text(PATH), "new")
    }).pipe(provide(disk))
  })

  it.effect("keeps the newest backup also after the clock was set back", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "text")
    return Effect.gen(function*() {
      const place = yield* StoredFile.place(PATH)
      yield* TestClock.setTime(Date.UTC(2024, 0, 15))
      for (let i = 0; i < 12; i++) yield* StoredFile.backUp(place, encode(`${i}`))
      yield* TestClock.setTime(Date.UTC(2023, 0, 15))
      const name = yield* StoredFile.backUp(place, encode("new"))
      const kept = yield* StoredFile.backups(place)
      assert.deepStrictEqual([kept.includes(name), kept.length], [true, StoredFile.BACKUPS])
    }).pipe(provide(disk))
  })

  it.effect("keeps a bounded number of old versions aside, and each save that came late into one", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "v0")
    return Effect.gen(function*() {
      const first = disk.open(PATH)
      for (let i = 1; i <= 2 * StoredFile.MAX_ASIDE; i++) {
        if (i === 3) disk.write(first, "late")
        yield* replace(`v${i - 1}`, `v${i}`)
        yield* TestClock.adjust("10 millis")
      }
      const names = disk.list("/home/ann")
      assert.strictEqual(names.filter((name) => name.endsWith(".old")).length, StoredFile.MAX_ASIDE)
      assert.deepStrictEqual(names.filter((name) => name.includes("conflict")).map((name) => disk.text(`/home/ann/${name}`)), ["late"])
    }).pipe(provide(disk))
  })

  it.effect("restores the latest valid bytes, and keeps the damaged ones", () => {
    const disk = new MemoryDisk()
    disk.save(PATH, "\0")
    return Effect.gen(function*() {
      const place = yield* StoredFile.place(PATH)
      assert.deepStrictEqual(yield* StoredFile.restore(place, encode("\0")), { _tag: "Unknown" })
      yield* StoredFile.noteValid(place, encode("valid"))
      const restored = yield* StoredFile.restore(place, encode("\0"))
      const copy = restored._tag === "Restored" ? restored.copy : undefined
      assert.strictEqual(disk.text(PATH), "valid")
      assert.strictEqual(disk.text(`/home/ann/${copy ?? ""}`), "\0")
      assert.deepStrictEqual(yield* StoredFile.copies(place), copy === undefined ? [] : [copy])
    }).pipe(provide(disk))
  })

  it.effect("keeps each save of a person in the file or in a named copy, whatever calls interleave", () =>
    Effect.gen(function*() {
      for (const seed of Trials.seeds(20_000, { from: 1, least: 1_000 })) {
        const disk = new MemoryDisk()
        yield* interleaved(disk, seed).pipe(provide(disk))
      }
    }))
})

/** The way in which a person saves: into the file, in two calls, or by a new file. */
type Save = "in place" | "partly" | "rename"

/** A person who saves up to four times, at any call of the agent. */
class Person {
  /** The saves that no later one replaced at the path. */
  readonly expected = new Set<string>()
  private saves = 0
  private seen = ""
  private late: { readonly file: ReturnType<MemoryDisk["open"]>; readonly save: string; readonly seen: string } | undefined
  private readonly disk: MemoryDisk
  private readonly draw: Random.Random

  constructor(disk: MemoryDisk, draw: Random.Random) {
    this.disk = disk
    this.draw = draw
  }

  /** Looks at the file. A person who saves while it is moved aside replaces the text that was seen last. */
  look(): void {
    const text = this.disk.text(PATH) ?? ""
    if (text !== "") this.seen = text
  }

  act(): void {
    if (this.late !== undefined) return this.finish()
    if (this.saves === 4) return
    this.look()
    const save = `person ${++this.saves}`
    const kind = Random.pick<Save>(this.draw, ["in place", "partly", "rename"])
    if (kind === "partly") this.late = { file: this.disk.open(PATH), save, seen: this.seen }
    else this.put(save, () => kind === "rename" ? this.disk.replace(PATH, save) : this.disk.save(PATH, save))
  }

  /** Writes into the file that the person opened before. It may be another one than the file at the path by now. */
  finish(): void {
    if (this.late === undefined) return
    const { file, save, seen } = this.late
    this.late = undefined
    if (this.disk.names.get(PATH) !== file) this.seen = new TextDecoder().decode(file.bytes) || seen
    else this.look()
    this.put(save, () => this.disk.write(file, save))
  }

  private put(save: string, write: () => void): void {
    for (const other of this.expected) if (this.seen.includes(other)) this.expected.delete(other)
    write()
    this.expected.add(save)
  }
}

/** A person saves while the agent writes three times. */
const interleaved = (disk: MemoryDisk, seed: number) =>
  Effect.gen(function*() {
    const draw = Random.make(seed)
    const person = new Person(disk, draw)
    disk.save(PATH, "base")
    disk.before = () => {
      person.look()
      if (draw(6) === 0) person.act()
    }
    for (let write = 1; write <= 3; write++) {
      yield* tend
      const text = disk.text(PATH) ?? ""
      yield* replace(text, `${text} +${write}`)
    }
    disk.before = () => {}
    person.finish()
    yield* tend
    const visible = disk.list("/home/ann").filter((name) => !name.startsWith(".")).map((name) => disk.text(`/home/ann/${name}`) ?? "")
    for (const save of person.expected) {
      assert.isTrue(visible.some((text) => text.includes(save)), `seed ${seed}: ${save} is in none of ${JSON.stringify(visible)}`)
    }
  })

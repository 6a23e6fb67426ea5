import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as CellStore from "../../plugins/agent/cells/CellStore.ts"
import { ControlStore } from "../../plugins/agent/store/ControlStore.ts"
import { Disk } from "../../src/cli/Disk.ts"
import * as FileStore from "../../plugins/agent/store/FileStore.ts"
import { hash } from "../../src/persistence/PureSha256.ts"
import * as HashLayer from "../support/HashLayer.ts"
import { MemoryDisk } from "./MemoryDisk.ts"
import { PATH, START } from "./TestAgent.ts"

/** A store, with the acts of a person on it. */
interface Fixture {
  readonly store: ControlStore["Service"]
  readonly save: (bytes: Uint8Array) => void
  readonly copy: (name: string) => Uint8Array | undefined
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const onDisk = Effect.gen(function*(): Effect.fn.Return<Fixture, unknown> {
  const disk = new MemoryDisk()
  const host = Layer.mergeAll(Layer.succeed(Disk, disk.service()), HashLayer.layer)
  const layer = Layer.fresh(Layer.provide(FileStore.layer(PATH), host))
  const store = yield* Effect.service(ControlStore).pipe(Effect.provide(layer))
  const bytesOf = (name: string) => disk.names.get(`/home/ann/${name}`)?.bytes
  const save = (bytes: Uint8Array): void => {
    const file = disk.open(PATH)
    file.bytes = bytes
    file.version++
  }
  return { store, copy: bytesOf, save }
})

/** Cells as one beat after another sees them. */
const inCells = Effect.map(Effect.clockWith((clock) => Effect.succeed(clock)), (clock): Fixture => {
  const cells = new Map<string, unknown>()
  const at = (address: string): unknown => {
    const [id = "", path = ""] = address.split("#/")
    const value = cells.get(id)
    return path === "" ? value : (value as Record<string, unknown> | undefined)?.[path]
  }
  const tx: CellStore.Cells = {
    get now() {
      return clock.currentTimeMillisUnsafe()
    },
    get: (address: unknown) => at(String(address)) as never,
    set: (address: unknown, value: unknown) => void cells.set(String(address), value),
    list: (folder: unknown) => {
      const prefix = `${String(folder)}/`
      return [...cells.keys()].filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length)).sort()
    },
    blob: (bytes) => {
      const content = `/cas/${hash.hex(bytes)}`
      cells.set(content, bytes)
      return content
    }
  }
  const place = CellStore.place("/data/agent/files/heartbeat.md") ?? assert.fail("the cell is no place")
  return {
    store: CellStore.make(tx, place),
    save: (bytes) => void CellStore.put(tx, place, bytes),
    copy: (name) => at(String(at(`/data/agent/files/${name}#/content`))) as Uint8Array | undefined
  }
})

const stores: Readonly<Record<string, Effect.Effect<Fixture, unknown>>> = { "a file": onDisk, "a cell": inCells }

const ODD = "\ufeff---\r\nversion: 1\n---\r\n\n# Mine \t\r\n\u00e9\ud83d\ude00"

describe.each(Object.keys(stores))("The store of a control file in %s", (name) => {
  const fixture = stores[name] ?? assert.fail("no such store")

  it.effect("has no bytes and no version of a file that is absent", () =>
    Effect.gen(function*() {
      const { store } = yield* fixture
      assert.deepStrictEqual([yield* store.read, yield* store.version], [undefined, undefined])
      assert.deepStrictEqual(yield* store.restore(undefined), { _tag: "Unknown" })
      assert.deepStrictEqual(yield* store.copies, [])
    }))

  it.effect("keeps each byte, and has another version after each save", () =>
    Effect.gen(function*() {
      const { save, store } = yield* fixture
      save(encode("one"))
      const first = yield* store.version
      save(encode(ODD))
      assert.deepStrictEqual(yield* store.read, encode(ODD))
      assert.notStrictEqual(yield* store.version, first)
      assert.strictEqual(yield* store.version, yield* store.version)
    }))

  it.effect("replaces the bytes that a write was made from, and leaves a save alone that came before", () =>
    Effect.gen(function*() {
      const { save, store } = yield* fixture
      save(encode("one"))
      assert.deepStrictEqual(yield* store.replace(encode("one"), encode("two")), { _tag: "Replaced", conflict: undefined })
      assert.deepStrictEqual(yield* store.read, encode("two"))
      save(encode("mine"))
      assert.deepStrictEqual(yield* store.replace(encode("two"), encode("three")), { _tag: "Changed" })
      assert.deepStrictEqual(yield* store.read, encode("mine"))
      const read = (yield* store.read) ?? assert.fail("no file")
      assert.deepStrictEqual(yield* store.replace(read, encode("four")), { _tag: "Replaced", conflict: undefined })
    }))

  it.effect("restores the latest valid bytes, and keeps and names the damaged ones", () =>
    Effect.gen(function*() {
      const { copy, save, store } = yield* fixture
      yield* TestClock.setTime(START)
      save(encode("\0"))
      assert.deepStrictEqual(yield* store.restore(encode("\0")), { _tag: "Unknown" })
      yield* store.noteValid(encode("valid"))
      const name = "heartbeat.damaged-20240115-103000.md"
      assert.deepStrictEqual(yield* store.restore(encode("\0")), { _tag: "Restored", copy: name })
      assert.deepStrictEqual(yield* store.read, encode("valid"))
      assert.deepStrictEqual(copy(name), encode("\0"))
      save(encode("\0\0"))
      assert.deepStrictEqual(yield* store.restore(encode("\0\0")), { _tag: "Restored", copy: "heartbeat.damaged-20240115-103000-2.md" })
      assert.deepStrictEqual(yield* store.copies, ["heartbeat.damaged-20240115-103000-2.md", "heartbeat.damaged-20240115-103000.md"])
    }))

  it.effect("gives the lease, and tends and backs up without a change of the file", () =>
    Effect.gen(function*() {
      const { save, store } = yield* fixture
      save(encode("one"))
      const before = yield* store.version
      yield* Effect.scoped(store.lease("wake"))
      assert.deepStrictEqual(yield* store.tend, [])
      yield* store.backUp(encode("one"))
      assert.strictEqual(yield* store.version, before)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import {
  type Kernel, Persistence, type PersistenceError, type Registry, type Space, type SpaceStore, type Transaction, verify
} from "systole"
import * as Checksum from "../../src/persistence/Checksum.ts"
import { enzyme, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { beat, cell, reason, thrown, using, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

const fileOf = (folder: string) => join(folder, "shop.sqlite")

/** A test with a folder; it may open the store any number of times. */
const inFolder = (name: string, body: (folder: string) => Effect.Effect<void, PersistenceError, Persistence | Scope.Scope>) =>
  it.effect(
    name,
    () => Effect.flatMap(SqliteFolder.folder, (folder) => Effect.provide(body(folder), SqliteFolder.layerIn(folder))).pipe(Effect.scoped)
  )

const change = (folder: string, sql: string) => {
  const database = new DatabaseSync(fileOf(folder))
  database.exec(sql)
  database.close()
}

/** A row of each kind. From this number on, callers' receipts gather in rows. */
const filled = (store: SpaceStore) => {
  const content = store.writeBlob()
  content.write(new Uint8Array(3000).fill(7))
  content.finish("content")
  return write(store, beat(0, {
    cells: [cell("/data/one", "\"one\""), cell("/data/two", JSON.stringify("two".repeat(3000)))],
    receipts: [
      { id: "0.0.0", enzyme: "e", beat: 0 },
      ...Array.from({ length: 40 }, (_, i) => ({ id: `caller-number-${i}`, enzyme: "", beat: 0, digest: "d" }))
    ],
    queued: [{ seq: 3, id: "waits", text: "{\"n\":3}" }],
    observations: [{ node: "sum", text: "{\"v\":1}" }]
  }))
}

const examine = (store: SpaceStore) => [...store.examine()].length

const damages: ReadonlyArray<readonly [what: string, sql: string, read: (store: SpaceStore) => unknown]> = [
  ["a cell's text", "UPDATE cell SET text = '\"ona\"' WHERE key = '/data/one'", (store) => store.read("/data/one")],
  [
    "a long cell's text",
    "UPDATE cell SET text = replace(text, 'otwotwotwo', 'otwotwptwo') WHERE key = '/data/two'",
    (store) => store.read("/data/two")
  ],
  ["a cell's sum", "UPDATE cell SET sum = sum + 1 WHERE key = '/data/one'", (store) => store.read("/data/one")],
  [
    "two cells that changed places",
    "UPDATE cell SET (text, sum) = (SELECT text, sum FROM cell WHERE key = '/data/two') WHERE key = '/data/one'",
    (store) => store.read("/data/one")
  ],
  ["a receipt", "UPDATE receipt SET beat = 1", (store) => store.receipts("0.0.0")],
  ["a signal that waits", "UPDATE queue SET text = '{\"n\":2}'", (store) => [...store.queue()]],
  ["an observation", "UPDATE observation SET text = '{\"v\":2}'", (store) => store.observations()],
  ["where content lies", "UPDATE blob SET upload = 9", (store) => store.blob("content")],
  ["the mark of a module's text", "UPDATE blob SET code = 1", (store) => store.isCode("content")],
  ["content", "UPDATE part SET bytes = zeroblob(3000)", (store) => store.blob("content")],
  ["a part of content", "UPDATE part SET bytes = zeroblob(3000)", (store) => store.blobPart("content", 0)]
]

/** Leaves a store of one beat as a process that was killed does: all of it stands in its log. */
const leftOpen = Effect.fnUntraced(function*(folder: string) {
  const copy = `${folder}-copy`
  yield* using("shop", (store) => Effect.gen(function*() {
    yield* write(store, beat(0))
    cpSync(folder, copy, { recursive: true })
  }))
  rmSync(folder, { recursive: true })
  cpSync(copy, folder, { recursive: true })
  rmSync(copy, { recursive: true })
})

describe("Damage to a store", () => {
  for (const [what, sql, read] of damages) {
    inFolder(`is noticed in ${what}, when it is read and when all is examined`, (folder) =>
      Effect.gen(function*() {
        yield* using("shop", filled)
        yield* using("shop", (store) => Effect.sync(() => {
          read(store)
          assert.isAbove(examine(store), 0)
        }))
        change(folder, sql)
        yield* using("shop", (store) => Effect.sync(() => {
          assert.strictEqual(thrown(() => read(store)), "StoreDamaged")
          assert.strictEqual(thrown(() => examine(store)), "StoreDamaged")
        }))
      }))
  }

  inFolder("is noticed in callers' receipts when the store opens, which reads the newest, and else when they are read", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      yield* using("shop", (store) => Effect.sync(() => {
        change(folder, "UPDATE caller SET text = replace(text, '\"d\"', '\"e\"')")
        assert.strictEqual(thrown(() => store.receipts("caller-number-7")), "StoreDamaged")
        assert.strictEqual(thrown(() => examine(store)), "StoreDamaged")
      }))
      assert.strictEqual(yield* reason(using("shop", () => Effect.void)), "StoreDamaged")
    }))

  const unseen: ReadonlyArray<readonly [what: string, sql: string]> = [
    ["a cell's key", "UPDATE cell SET key = '/data/ona' WHERE key = '/data/one'"],
    ["the folder of a cell", "UPDATE cell SET parent = '/dat' WHERE key = '/data/one'"]
  ]
  for (const [what, sql] of unseen) {
    inFolder(`is noticed in ${what}, when all is examined`, (folder) =>
      Effect.gen(function*() {
        yield* using("shop", filled)
        change(folder, sql)
        yield* using("shop", (store) => Effect.sync(() => assert.strictEqual(thrown(() => examine(store)), "StoreDamaged")))
      }))
  }

  inFolder("is noticed in the newest row of the journal when the store opens", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      change(folder, "UPDATE journal SET hash = 'hash1'")
      assert.strictEqual(yield* reason(using("shop", () => Effect.void)), "StoreDamaged")
    }))

  inFolder("is noticed in the file, whichever bit of a text is the other one", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      const bytes = readFileSync(fileOf(folder))
      const at = bytes.indexOf("twotwotwo")
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(bytes)
        flipped[at + 4]! ^= 1 << bit
        writeFileSync(fileOf(folder), flipped)
        yield* using("shop", (store) => Effect.sync(() => {
          assert.strictEqual(thrown(() => store.read("/data/two")), "StoreDamaged", `bit ${bit}`)
          assert.strictEqual(store.read("/data/one"), "\"one\"")
        }))
      }
    }))

  inFolder("is a file without a byte, and one that vanished, whether a space is to be created or not", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      for (const create of [true, false]) {
        writeFileSync(fileOf(folder), "")
        assert.strictEqual(yield* reason(using("shop", () => Effect.void, { create })), "StoreDamaged")
        rmSync(fileOf(folder))
        assert.strictEqual(yield* reason(using("shop", () => Effect.void, { create })), "StoreDamaged")
        assert.isFalse(existsSync(fileOf(folder)))
      }
      assert.strictEqual(yield* reason(using("other", () => Effect.void, { create: false })), "NoSuchSpace")
    }))

  inFolder("is a log that is missing though the store was not closed, until its mark is removed", (folder) =>
    Effect.gen(function*() {
      const copy = `${folder}-copy`
      yield* using("shop", (store) => Effect.gen(function*() {
        yield* write(store, beat(0))
        // The files as a process leaves them that is killed now.
        cpSync(folder, copy, { recursive: true })
      }))
      yield* using("shop", (store) => Effect.sync(() => assert.strictEqual(store.head().beat, 0)))
      rmSync(folder, { recursive: true })
      cpSync(copy, folder, { recursive: true })
      rmSync(copy, { recursive: true })
      assert.isTrue(existsSync(`${fileOf(folder)}-wal`))
      rmSync(`${fileOf(folder)}-wal`)
      assert.strictEqual(yield* reason(using("shop", () => Effect.void)), "StoreDamaged")
      const persistence = yield* Persistence
      assert.strictEqual(yield* reason(persistence.due("shop")), "StoreDamaged")
      rmSync(join(folder, ".made", "shop"))
      yield* using("shop", (store) => Effect.sync(() => assert.strictEqual(store.head().beat, -1)))
    }))

  for (const [how, harm] of [["of which the first byte changed", 0], ["that is cut before its first commit", 40]] as const) {
    inFolder(`is a log ${how}, with all of a store that was not closed`, (folder) =>
      Effect.gen(function*() {
        yield* leftOpen(folder)
        const log = readFileSync(`${fileOf(folder)}-wal`)
        const harmed = harm === 0 ? log.map((byte, i) => i === 0 ? byte ^ 1 : byte) : log.subarray(0, harm)
        writeFileSync(`${fileOf(folder)}-wal`, harmed)
        const persistence = yield* Persistence
        for (const create of [true, false]) {
          assert.strictEqual(yield* reason(using("shop", () => Effect.void, { create })), "StoreDamaged")
          assert.strictEqual(yield* reason(persistence.due("shop")), "StoreDamaged")
        }
        // What is left of the log stays for a person who mends it.
        assert.isTrue(readFileSync(`${fileOf(folder)}-wal`).equals(harmed))
        rmSync(join(folder, ".made", "shop"))
        yield* using("shop", (store) => Effect.sync(() => assert.strictEqual(store.head().beat, -1)))
      }))
  }

  inFolder("is made by no look at a store that is closed, that was not closed, or that another process has open", (folder) =>
    Effect.gen(function*() {
      const { due, progress } = yield* Persistence
      /** Each file of the store with its bytes, without the memory that connections share. */
      const files = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()
        .filter((file) => statSync(join(folder, file)).isFile() && !file.endsWith("-shm"))
        .map((file) => [file, readFileSync(join(folder, file)).toString("latin1")])
      const looked = (beat: number) => Effect.gen(function*() {
        const before = files()
        yield* due("shop")
        assert.strictEqual((yield* progress("shop")).head.beat, beat)
        assert.deepStrictEqual(files(), before)
      })
      yield* using("shop", (store) => Effect.andThen(write(store, beat(0)), looked(0)))
      yield* looked(0)
      rmSync(folder, { recursive: true })
      yield* leftOpen(folder)
      yield* looked(0)
      assert.strictEqual(readFileSync(join(folder, ".made", "shop"), "utf8"), "open")
      yield* using("shop", (store) => Effect.andThen(write(store, beat(1)), looked(1)))
      yield* looked(1)
    }))

  inFolder("is a file that vanishes, or is replaced, while it is open: nothing is acknowledged any more", (folder) =>
    Effect.gen(function*() {
      for (const replace of [() => {}, () => writeFileSync(fileOf(folder), "")]) {
        yield* using("shop", (store) => Effect.gen(function*() {
          yield* write(store, beat(store.head().beat + 1))
          renameSync(fileOf(folder), `${fileOf(folder)}-away`)
          replace()
          store.append(beat(store.head().beat + 1))
          assert.strictEqual(yield* reason(store.flush), "StoreDamaged")
          renameSync(`${fileOf(folder)}-away`, fileOf(folder))
        }))
      }
      yield* using("shop", (store) => Effect.sync(() => assert.strictEqual(store.head().beat, 1)))
    }))
})

describe("The wake time of a store", () => {
  inFolder("is at once if its files are from later than the host's clock", (folder) =>
    Effect.gen(function*() {
      const hour = 3_600_000
      const soon = Math.floor(Date.now() / 1000) * 1000 + hour
      const persistence = yield* Persistence
      yield* using("shop", (store) => Effect.gen(function*() {
        store.setDue(soon)
        yield* write(store, beat(0))
      }))
      assert.strictEqual(yield* persistence.due("shop"), soon)
      const later = new Date(Date.now() + 24 * hour)
      utimesSync(fileOf(folder), later, later)
      assert.strictEqual(yield* persistence.due("shop"), 0)
    }))
})

describe("A checksum", () => {
  it("is another one for each text in which one code unit or one bit differs", () => {
    for (const text of ["", "a", "{\"n\":1,\"t\":\"Grüße\"}", "x".repeat(300)]) {
      const sum = Checksum.ofText(text)
      assert.strictEqual(sum, Checksum.ofText(text))
      assert.notStrictEqual(sum, Checksum.ofText(`${text}x`))
      for (let i = 0; i < text.length; i++) {
        for (let bit = 0; bit < 16; bit++) {
          const other = text.slice(0, i) + String.fromCharCode(text.charCodeAt(i) ^ 1 << bit) + text.slice(i + 1)
          assert.notStrictEqual(sum, Checksum.ofText(other), `${i} ${bit}`)
        }
      }
      const bytes = new TextEncoder().encode(text)
      for (let i = 0; i < bytes.length * 8; i++) {
        const other = bytes.slice()
        other[i >> 3]! ^= 1 << (i & 7)
        assert.notStrictEqual(Checksum.ofBytes(bytes), Checksum.ofBytes(other))
      }
    }
  })
})

describe("A space over a damaged store", () => {
  const set = enzyme("set", (tx: Transaction, { payload }) => tx.set("/data/x", payload))

  const inSpace = <A>(folder: string, body: (space: Space) => Effect.Effect<A, unknown, Kernel | Registry | Scope.Scope>) =>
    Effect.flatMap(TestKernel.space([set], "shop"), body).pipe(
      Effect.provide(TestKernel.layer({}, SqliteFolder.layerIn(folder))),
      Effect.scoped
    )

  const codeOf = <A>(read: Effect.Effect<A, unknown>) =>
    Effect.map(Effect.flip(read), (error) => (error as { readonly code?: string }).code)

  it.effect("serves no cell and no beat that is damaged, and a verification tells of it", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      yield* inSpace(folder, (space) => Effect.gen(function*() {
        yield* space.signal({ signal: "/signals/set", payload: "kept" })
        yield* space.step
        assert.isUndefined((yield* space.examine(verify)).fault)
      }))
      change(folder, "UPDATE cell SET text = '\"kent\"' WHERE key = '/data/x'")
      yield* inSpace(folder, (space) => Effect.gen(function*() {
        assert.strictEqual(yield* codeOf(space.get("/data/x")), "store/damaged")
        yield* space.signal({ signal: "/signals/set", payload: "new" })
        assert.strictEqual(yield* codeOf(space.step), "store/damaged")
      }))
      yield* inSpace(folder, (space) => Effect.gen(function*() {
        const { fault } = yield* space.examine(verify)
        assert.deepStrictEqual(fault, { code: "store/damaged", reason: "the cell /data/x is not what was written there" })
      }))
      change(folder, "UPDATE cell SET text = '\"kept\"' WHERE key = '/data/x'")
      change(folder, "UPDATE journal SET text = replace(text, 'kept', 'kent')")
      yield* inSpace(folder, (space) => Effect.gen(function*() {
        assert.strictEqual(yield* space.get("/data/x"), "kept")
        assert.strictEqual(yield* codeOf(space.journal(0)), "store/damaged")
        const { fault } = yield* space.examine(verify)
        assert.deepStrictEqual([fault?.code, fault?.beat], ["journal/changed", 0])
      }))
    }).pipe(Effect.scoped))

  it.effect("answers store/damaged where a signal for another space is damaged", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const send = enzyme("send", (tx: Transaction) => {
        for (let n = 0; n < 50; n++) tx.signal({ signal: "/signals/set", space: "other", payload: n })
      })
      const limits = { ...TestKernel.settings.limits, captureSignals: 4 }
      yield* Effect.gen(function*() {
        const space = yield* TestKernel.space([set, send], "shop")
        yield* space.signal({ signal: "/signals/send" })
        yield* space.step
        change(folder, "UPDATE queue SET text = replace(text, '/signals/set', '/signals/sat')")
        yield* TestKernel.space([], "other")
        yield* turns(20)
        assert.strictEqual(yield* codeOf(space.step), "store/damaged")
      }).pipe(Effect.provide(TestKernel.layer({ limits }, SqliteFolder.layerIn(folder))))
    }).pipe(Effect.scoped))
})

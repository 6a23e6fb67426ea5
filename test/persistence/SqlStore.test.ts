import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { Persistence, type PersistenceError, type SqlDriver, SqlStore, type SpaceStore } from "systole"
import { persistenceContract } from "systole/testing"
import * as SortKey from "../../src/persistence/SortKey.ts"
import { command, current } from "../scripts/Host.ts"
import { beat, cell, reason, thrown, using, write } from "../../src/main/testing/contract/Batches.ts"
import sqlite from "../../plugins/sqlite.ts"
import * as SqliteFolder from "./SqliteFolder.ts"
import * as Trials from "../support/Trials.ts"

describe("SqlStore over node:sqlite keeps the contract of persistence", () => {
  const { hold, layer: persistence } = SqliteFolder
  for (const { name, run } of persistenceContract({ hold, persistence, seeds: Trials.seeds(6, { from: 1 }) })) it(name, run)
})

/** A test with a folder; it may open the store any number of times. */
const inFolder = (name: string, body: (folder: string) => Effect.Effect<void, PersistenceError, Persistence | Scope.Scope>) =>
  it.effect(
    name,
    () => Effect.flatMap(SqliteFolder.folder, (folder) => Effect.provide(body(folder), SqliteFolder.layerIn(folder))).pipe(Effect.scoped)
  )

const fileOf = (folder: string) => join(folder, "shop.sqlite")
const open = using("shop", () => Effect.void)
const refused = Effect.orDie(Effect.flip(open))

const one = (file: string, sql: string): Record<string, unknown> => {
  const database = new DatabaseSync(file)
  const row = database.prepare(sql).get()
  database.close()
  return { ...row }
}

const filled = (store: SpaceStore) =>
  write(store, ...Array.from({ length: 50 }, (_, n) => beat(n, { cells: [cell(`/data/${n}`, "x".repeat(1000))] })))

describe("SqlStore over node:sqlite, with many rows in one flush", () => {
  inFolder("deletes exactly the cells and the signals of the group", () =>
    Effect.gen(function*() {
      const keys = Array.from({ length: 30 }, (_, n) => `/data/${n}`)
      const queued = keys.map((text, seq) => ({ seq, text }))
      const kept = (n: number) => n === 3 || n === 17
      yield* using("shop", (store) => write(store, beat(0, { cells: keys.map((key) => cell(key, "1")), queued })))
      const gone = keys.flatMap((key, n) => kept(n) ? [] : [cell(key, undefined)])
      const dequeued = queued.flatMap(({ seq }) => kept(seq) ? [] : [seq])
      yield* using("shop", (store) => write(store, beat(1, { cells: gone, dequeued })))
      const left = yield* using("shop", (store) =>
        Effect.sync(() => [keys.filter((key) => store.read(key) !== undefined), store.children("space", "/data"), [...store.queue()]]))
      assert.deepStrictEqual(left, [["/data/3", "/data/17"], ["17", "3"], queued.filter(({ seq }) => kept(seq))])
    }))
})

describe("SqlStore over node:sqlite, when a file is not as it should be", () => {
  inFolder("opens a locked database to read, reports it at the flush, and flushes the same group after it", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      const other = new DatabaseSync(fileOf(folder))
      other.exec("BEGIN EXCLUSIVE")
      assert.strictEqual(yield* using("shop", (store) => Effect.succeed(store.read("/data/49")?.length)), 1000)
      other.exec("COMMIT")
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          other.exec("BEGIN EXCLUSIVE")
          store.append(beat(50))
          assert.strictEqual(yield* reason(store.flush), "StoreBusy")
          other.exec("COMMIT")
          assert.strictEqual(yield* using("shop", (store) => Effect.succeed(store.head().beat)), 49)
          yield* store.flush
        }))
      other.close()
      assert.strictEqual(yield* using("shop", (store) => Effect.succeed(store.head().beat)), 50)
    }))

  inFolder("refuses a file of garbage and leaves it as it is", (folder) =>
    Effect.gen(function*() {
      for (const garbage of ["short", "garbage ".repeat(2000)]) {
        writeFileSync(fileOf(folder), garbage)
        assert.strictEqual(yield* reason(open), "StoreDamaged")
        assert.strictEqual(readFileSync(fileOf(folder), "latin1"), garbage)
        assert.isFalse(existsSync(`${fileOf(folder)}-wal`))
      }
    }))

  inFolder("refuses a truncated file", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      for (const size of [statSync(fileOf(folder)).size - 4096, 20_000, 4096, 50]) {
        truncateSync(fileOf(folder), size)
        assert.strictEqual(yield* reason(open), "StoreDamaged", `${size} bytes`)
      }
    }))

  inFolder("refuses a file whose pages are overwritten", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      const bytes = readFileSync(fileOf(folder))
      writeFileSync(fileOf(folder), bytes.fill(0x5a, 4096))
      assert.strictEqual(yield* reason(open), "StoreDamaged")
    }))

  inFolder("leaves another program's database untouched", (folder) =>
    Effect.gen(function*() {
      const other = new DatabaseSync(fileOf(folder))
      other.exec("PRAGMA journal_mode = WAL; CREATE TABLE cell (a); INSERT INTO cell VALUES (1)")
      other.close()
      const before = readFileSync(fileOf(folder))
      const failed = yield* refused
      assert.strictEqual(failed.reason._tag, "StoreDamaged")
      assert.include(failed.message, "another program")
      assert.isTrue(before.equals(readFileSync(fileOf(folder))))
    }))

  inFolder("refuses a store of another format", (folder) =>
    Effect.gen(function*() {
      yield* open
      for (const [format, version] of [[13, "A newer"], [9, "an older"]] as const) {
        one(fileOf(folder), `UPDATE meta SET format = ${format} RETURNING format`)
        const before = readFileSync(fileOf(folder))
        const failed = yield* refused
        assert.strictEqual(failed.code, "store/version")
        assert.include(failed.message, `has format ${format}`)
        assert.include(failed.message, version!)
        assert.isTrue(before.equals(readFileSync(fileOf(folder))))
      }
    }))

  inFolder("does not write behind a head that is not its own", (folder) =>
    using("shop", (store) =>
      Effect.gen(function*() {
        yield* write(store, beat(0, { cells: [cell("/a", "0")] }))
        one(fileOf(folder), "UPDATE journal SET hash = 'other' RETURNING beat")
        store.append(beat(1, { cells: [cell("/a", "1")] }))
        assert.strictEqual(yield* reason(store.flush), "BeatConflict")
        assert.deepStrictEqual(one(fileOf(folder), "SELECT text FROM cell"), { text: "0" })
      })))

  inFolder("says that a folder cannot be written to", (folder) =>
    Effect.gen(function*() {
      const file = join(folder, "file")
      writeFileSync(file, "")
      assert.strictEqual(yield* reason(Effect.provide(open, SqliteFolder.layerIn(file))), "StoreUnavailable")
    }))

  inFolder("takes a file that was made and never filled for none", (folder) =>
    Effect.gen(function*() {
      const made = new DatabaseSync(fileOf(folder))
      made.exec(`PRAGMA application_id = ${0x53797374}`)
      made.close()
      assert.strictEqual(yield* reason(using("shop", () => Effect.void, { create: false })), "NoSuchSpace")
      assert.strictEqual(yield* reason(open), "succeeded")
    }))
})

describe("SqlStore over node:sqlite, on disk", () => {
  inFolder("writes ahead, syncs each commit and marks its files", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", filled)
      assert.strictEqual(one(fileOf(folder), "PRAGMA journal_mode").journal_mode, "wal")
      assert.strictEqual(one(fileOf(folder), "PRAGMA application_id").application_id, 0x53797374)
      writeFileSync(join(folder, "notes.txt"), "")
      writeFileSync(join(folder, "Not a space.sqlite"), "")
      assert.deepStrictEqual([...yield* Persistence.use((persistence) => persistence.spaces)], ["shop"])
    }))

  inFolder("writes nothing when a space is opened, read and closed, and answers its next moment from the file's header", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", (store) => {
        store.setDue(1_790_000_000_123)
        return filled(store)
      })
      const state = () => [readFileSync(fileOf(folder)).toString("latin1"), statSync(fileOf(folder)).mtimeMs, readdirSync(folder)]
      const before = state()
      yield* using("shop", (store) => Effect.sync(() => {
        assert.strictEqual(store.read("/data/1")?.length, 1000)
        assert.strictEqual([...store.scanJournal(0, Infinity)].length, 50)
        assert.deepStrictEqual([store.receipts("x"), [...store.queue()], store.observations(), store.blob("x")], [[], [], [], undefined])
      }))
      const prepare = DatabaseSync.prototype.prepare
      DatabaseSync.prototype.prepare = () => assert.fail("the database was opened")
      const due = Persistence.use((persistence) => persistence.due("shop"))
      assert.strictEqual(yield* Effect.ensuring(due, Effect.sync(() => void (DatabaseSync.prototype.prepare = prepare))), 1_790_000_000_000)
      assert.deepStrictEqual(state(), before)
    }))

  inFolder("removes uploads that nobody finished, and writes the same content once", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const upload = () => {
            const writer = store.writeBlob()
            writer.write(new Uint8Array(1_048_576))
            return writer
          }
          upload().finish("kept")
          yield* store.flush
          upload().finish("kept")
          yield* store.flush
          upload()
        }))
      assert.strictEqual(one(fileOf(folder), "SELECT count(*) AS parts FROM part").parts, 2)
      yield* open
      assert.strictEqual(one(fileOf(folder), "SELECT count(*) AS parts FROM part").parts, 2)
      yield* using("shop", (store) => write(store, beat(0)))
      assert.strictEqual(one(fileOf(folder), "SELECT count(*) AS parts FROM part").parts, 1)
    }))

  inFolder("keeps the hash of the last journal row that it pruned", (folder) =>
    Effect.gen(function*() {
      const first = yield* using("shop", (store) =>
        Effect.gen(function*() {
          for (let n = 0; n < 600; n++) yield* write(store, beat(n))
          return [...store.scanJournal(0, Infinity)][0]?.beat ?? -1
        }), { create: true, retention: { journalMillis: 10_000 } })
      assert.isAbove(first, 0)
      const { anchor_beat, anchor_hash, journal_size, size } = one(
        fileOf(folder),
        "SELECT *, (SELECT sum(size) FROM journal WHERE beat <= counted) AS size FROM meta"
      )
      assert.deepStrictEqual([anchor_beat, anchor_hash, journal_size], [first - 1, `hash${first - 1}`, size])
    }))

  inFolder("refuses a journal that lost its end", (folder) =>
    Effect.gen(function*() {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          for (let n = 0; n < 300; n++) yield* write(store, beat(n))
        }))
      one(fileOf(folder), "DELETE FROM journal WHERE beat > 3 RETURNING beat")
      const { epoch } = one(fileOf(folder), "SELECT epoch FROM meta")
      const failed = yield* refused
      assert.strictEqual(one(fileOf(folder), "SELECT epoch FROM meta").epoch, epoch)
      assert.strictEqual(failed.reason._tag, "StoreDamaged")
      assert.match(failed.message, /ends with beat 3, and had beat 2\d\d/)
    }))

  inFolder("knows after it is opened again how large its journal is", (folder) =>
    Effect.gen(function*() {
      const retention = { journalBytes: 400 * JSON.stringify(beat(0).entry).length }
      for (let n = 0; n < 3000;) {
        yield* using("shop", (store) =>
          Effect.gen(function*() {
            for (const end = n + 37; n < end; n++) yield* write(store, beat(n))
          }), { create: true, retention })
        const { counted, journal_size, size } = one(
          fileOf(folder),
          "SELECT counted, journal_size, (SELECT sum(size) FROM journal WHERE beat <= counted) AS size FROM meta"
        )
        if ((counted as number) >= 0) assert.strictEqual(journal_size, size)
      }
    }))

  inFolder("refuses options, and times of a simulated sync that are out of range", (folder) =>
    Effect.sync(() => {
      assert.throws(() => sqlite.provides.persistence?.({ folder, options: { syncMicros: 0 } }), /has no option "syncMicros"/)
      for (const micros of [-1, 1_000_001, Number.NaN]) {
        assert.throws(() => SqliteFolder.layerIn(folder, micros), `take ${micros} microseconds`)
      }
    }))

  inFolder("can wait in place of the disk", (folder) =>
    Effect.provide(using("shop", filled), SqliteFolder.layerIn(folder, 60)))

  it.effect("is a whole prefix after kill -9 in the middle of writing", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const seen = yield* Effect.promise(() => killWriter(folder))
      yield* using("shop", (store) =>
        Effect.sync(() => {
          const head = store.head().beat
          assert.isAtLeast(head, seen)
          assert.strictEqual(head % 3, 2, "a group is whole")
          assert.deepStrictEqual(
            Array.from(store.scanJournal(0, Infinity), (row) => row.beat),
            Array.from({ length: head + 1 }, (_, n) => n)
          )
          assert.deepStrictEqual(["/a", "/b", "/c"].map((key) => store.read(key)), Array.from({ length: 3 }, () => String(head)))
          assert.strictEqual(store.receipts(`id${head}`).length, 1)
          assert.strictEqual([...store.queue()].length, (head + 1) / 3)
        })).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
    }).pipe(Effect.scoped))
})

/** Starts a process that writes until it is killed. Returns the newest beat that it reported as durable. */
const killWriter = async (folder: string): Promise<number> => {
  const [program, ...args] = command(current(), fileURLToPath(new URL("./Writer.ts", import.meta.url)))
  const child = spawn(program, [...args, folder], { stdio: ["ignore", "pipe", "inherit"] })
  let text = ""
  child.stdout.on("data", (chunk) => {
    text += String(chunk)
    if (text.split("\n").length > 40) child.kill("SIGKILL")
  })
  const [, signal] = await once(child, "close") as [number | null, string | null]
  assert.strictEqual(signal, "SIGKILL", text)
  return Number(text.split("\n").at(-2))
}

describe("SqlStore where a commit is not yet durable", () => {
  const setup = () => {
    const database = new DatabaseSync(":memory:")
    const waiting: Array<(result: Effect.Effect<void, PersistenceError>) => void> = []
    const driver: SqlDriver = {
      place: "memory",
      prepare: (sql) => {
        const statement = database.prepare(sql)
        statement.setReturnArrays(true)
        return statement as never
      },
      define: (statements) => database.exec(statements.join(";")),
      transaction: (body) => {
        database.exec("BEGIN")
        const result = body()
        database.exec("COMMIT")
        return result
      },
      due: () => 0,
      setDue: () => {},
      sync: Effect.callback((resume) => void waiting.push(resume)),
      close: () => database.close()
    }
    const layer = SqlStore.layer({
      spaces: () => [],
      remove: () => Effect.void,
      due: () => 0,
      look: (_, body) => body(driver),
      open: () => driver
    })
    return { layer, waiting }
  }

  it.effect("ends a flush when the sync ends, and takes batches meanwhile", () => {
    const { layer, waiting } = setup()
    return using("shop", (store) =>
      Effect.gen(function*() {
        store.append(beat(0))
        const first = yield* Effect.forkChild(store.flush, { startImmediately: true })
        store.append(beat(1, { cells: [cell("/a", "1")] }))
        assert.strictEqual(store.read("/a"), "1")
        const second = yield* Effect.forkChild(store.flush, { startImmediately: true })
        const third = yield* Effect.forkChild(store.flush, { startImmediately: true })
        assert.deepStrictEqual([first, second, third].map((fiber) => fiber.pollUnsafe()), [undefined, undefined, undefined])
        assert.strictEqual(waiting.length, 3, "nothing is called durable before its own sync")
        for (const resume of waiting) resume(Effect.void)
        yield* Effect.forEach([first, second, third], Fiber.await)
        yield* store.flush
        assert.strictEqual(waiting.length, 3, "what is durable is not synced again")
      })).pipe(Effect.provide(layer))
  })

  it.effect("ends the handle when the sync fails", () => {
    const { layer, waiting } = setup()
    return using("shop", (store) =>
      Effect.gen(function*() {
        store.append(beat(0))
        const flush = yield* Effect.forkChild(Effect.flip(store.flush), { startImmediately: true })
        const failure = yield* Effect.flip(using("Bad name", () => Effect.void))
        waiting[0]!(Effect.fail(failure))
        yield* Fiber.await(flush)
        assert.strictEqual(thrown(() => store.append(beat(1))), "InvalidSpaceName")
        assert.strictEqual(yield* reason(store.flush), "InvalidSpaceName")
      })).pipe(Effect.provide(layer))
  })
})

describe("SortKey", () => {
  it("puts keys in code-unit order by their UTF-8 bytes", () => {
    const keys = [
      "", "a", "\u07ff", "\ud7ff", "\u{10000}", "\u{1f600}", "\u{10fffe}", "\u{10ffff}", "\u{10ffff}a", "\ue000", "\uff21", "\uffff",
      "\uffff\u{1f600}"
    ]
    const stored = keys.map(SortKey.encode)
    assert.deepStrictEqual(stored.map(SortKey.decode), keys)
    const inBytes = [...stored].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepStrictEqual(inBytes.map(SortKey.decode), [...keys].sort())
  })
})

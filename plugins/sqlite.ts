/**
 * Persistence in SQLite files, one per space, through `node:sqlite`: the same on Node, Deno and Bun.
 *
 * The file of a space is `<folder>/<space>.sqlite`. Each commit waits for the disk. There are no options.
 *
 * @module
 */
import { Buffer } from "node:buffer"
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import {
  Backend, checkSpaceName, NoSuchSpace, PersistenceError, Plugin, type SqlDriver, type SqlRow, type SqlSource, type SqlStatement, SqlStore,
  type SqlValue, StoreBusy, StoreDamaged, StoreLocked, StoreUnavailable
} from "systole"
import * as CommitLog from "./sqlite/CommitLog.ts"
import { isFromLater } from "./sqlite/FileTime.ts"
import * as Folder from "./sqlite/Folder.ts"
import * as NewFile from "./sqlite/NewFile.ts"
import * as OpenMark from "./sqlite/OpenMark.ts"
import { PageCache, PageCaches, shrink } from "./sqlite/PageCache.ts"
import * as WakeMark from "./sqlite/WakeMark.ts"

/** "Syst" in the header of each file, so that another program's database is not opened as a space. */
const APPLICATION = 0x53797374

/** The time to wait for another process to release the file, in milliseconds. */
const BUSY = 250

const HEADER = 100
const MAGIC = "SQLite format 3\0"

interface Place {
  readonly space: string
  readonly place: string
}

/** The failure of a transaction's begin: a locked database has applied nothing. */
const notBegun = (at: Place, cause: unknown): unknown =>
  cause instanceof PersistenceError && cause.code === "store/locked" ? new PersistenceError({ reason: new StoreBusy(at) }) : cause

const damaged = (at: Place, detail: string) => new PersistenceError({ reason: new StoreDamaged({ ...at, detail }) })

/**
 * Converts an error of SQLite into a {@link PersistenceError}. Deno does not report the number of every error, so the
 * message is examined, too.
 */
const failure = (at: Place, cause: unknown): PersistenceError => {
  if (cause instanceof PersistenceError) return cause
  const { errcode, message } = cause as { readonly errcode?: number; readonly message?: string }
  const detail = String(message ?? cause)
  const code = (errcode ?? 0) & 0xff
  if (code === 5 || code === 6 || /\b(?:is|table is) locked\b/.test(detail)) return new PersistenceError({ reason: new StoreLocked(at) })
  if (code === 11 || code === 26 || /not a database|malformed/.test(detail)) return damaged(at, detail)
  return new PersistenceError({ reason: new StoreUnavailable({ ...at, detail }) })
}

const guard = <A>(at: Place, body: () => A): A => {
  try {
    return body()
  } catch (cause) {
    throw failure(at, cause)
  }
}

/** Reads the first bytes of the file, or `undefined` if it does not exist. SQLite is not used, because opening may write. */
const readHeader = (path: string): Buffer | undefined => {
  let file: number
  try {
    file = openSync(path, "r")
  } catch (cause) {
    if ((cause as { readonly code?: string }).code === "ENOENT") return undefined
    throw cause
  }
  try {
    const header = Buffer.alloc(HEADER)
    return header.subarray(0, readSync(file, header, 0, HEADER, 0))
  } finally {
    closeSync(file)
  }
}

const logOf = ({ place }: Place): string => `${place}-wal`

const markerOf = ({ place, space }: Place): string => join(dirname(place), NewFile.MADE, space)

/** Returns the header of the file, or `undefined` if the file is to be created. Throws if it is not a space, or is lost. */
const headerOf = (at: Place): Buffer | undefined => {
  const header = readHeader(at.place)
  if (header === undefined) {
    if (existsSync(markerOf(at)) || existsSync(logOf(at))) throw damaged(at, "its file vanished")
    return undefined
  }
  if (header.length === 0) throw damaged(at, "its file is empty")
  if (header.length < HEADER || header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw damaged(at, "it is not an SQLite database")
  if (header.readUInt32BE(68) !== APPLICATION) throw damaged(at, "it is the SQLite database of another program")
  const fault = OpenMark.isSet(markerOf(at)) ? CommitLog.faultOf(at.place, header) : undefined
  if (fault === undefined) return header
  const accept = `to go on without its newest commits, remove ${markerOf(at)}`
  throw damaged(at, `it was not closed, and ${fault}. Bring the log back; ${accept}`)
}

/** Tests whether the log holds changes that the file lacks. */
const isAhead = (at: Place): boolean => (statSync(logOf(at), { throwIfNoEntry: false })?.size ?? 0) > 0

/** Reads the mark from the file. SQLite is used only if the log is not empty; a clean close empties it. */
const readMark = (at: Place): number => {
  const header = headerOf(at)
  if (header === undefined) throw new PersistenceError({ reason: new NoSuchSpace({ space: at.space }) })
  return isAhead(at) ? reading(at, (database) => WakeMark.inRow(database.prepare("PRAGMA user_version").get())) : header.readInt32BE(60)
}

/**
 * Reads the file of a space that is not open here. One with a log is open in another process, or was not closed: a connection that
 * only reads leaves the log and the mark as they are. Without a log it would leave an empty one, which any other removes.
 */
const reading = <A>(at: Place, body: (database: DatabaseSync) => A): A => {
  const database = new DatabaseSync(at.place, { timeout: BUSY, readOnly: existsSync(logOf(at)) })
  try {
    return body(database)
  } finally {
    database.close()
  }
}

/** Writes a note that the file was created. */
const note = (at: Place): void => {
  const marker = markerOf(at)
  if (existsSync(marker)) return
  mkdirSync(dirname(marker), { recursive: true, mode: 0o700 })
  closeSync(openSync(marker, "a"))
}

/** The page caches that the databases of a source share, and the duration of a simulated sync in microseconds, if there is one. */
interface Settings {
  readonly caches: PageCaches
  readonly syncMicros: number | undefined
}

const openDatabase = (at: Place, { syncMicros }: Settings): DatabaseSync => {
  const database = new DatabaseSync(at.place, { timeout: BUSY })
  try {
    database.exec("PRAGMA journal_mode = WAL")
    database.exec(`PRAGMA synchronous = ${syncMicros === undefined ? "FULL" : "OFF"}`)
    // A statement of several rows keeps a journal of its own, which would otherwise be a file as soon as it has 64 KiB.
    database.exec("PRAGMA temp_store = MEMORY")
    shrink(database)
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

/** No thread notifies it, so each wait ends with its timeout. */
const bell = new Int32Array(new SharedArrayBuffer(4))

/** A statement that converts SQLite's errors. */
class Statement implements SqlStatement {
  private readonly at: Place
  private readonly cache: Pick<PageCache, "use">
  private readonly statement: StatementSync

  constructor(at: Place, cache: Pick<PageCache, "use">, statement: StatementSync) {
    statement.setReturnArrays(true)
    this.at = at
    this.cache = cache
    this.statement = statement
  }

  get(...values: ReadonlyArray<SqlValue>): SqlRow | undefined {
    try {
      this.cache.use()
      return this.statement.get(...values) as unknown as SqlRow | undefined
    } catch (cause) {
      throw failure(this.at, cause)
    }
  }

  all(...values: ReadonlyArray<SqlValue>): ReadonlyArray<SqlRow> {
    try {
      this.cache.use()
      return this.statement.all(...values) as unknown as ReadonlyArray<SqlRow>
    } catch (cause) {
      throw failure(this.at, cause)
    }
  }

  run(...values: ReadonlyArray<SqlValue>): void {
    try {
      this.cache.use()
      this.statement.run(...values)
    } catch (cause) {
      throw failure(this.at, cause)
    }
  }
}

/** The files of a space. The one with its rows comes after its marker and before its log. */
const filesOf = (at: Place): ReadonlyArray<string> => [markerOf(at), at.place, logOf(at), `${at.place}-shm`]

/** The settings of an open database, and whether this opening is to make its tables. */
interface Opened extends Settings {
  readonly isFresh: boolean
}

const driverOf = (at: Place, database: DatabaseSync, { caches, isFresh, syncMicros }: Opened): SqlDriver => {
  const cache = new PageCache(caches, database)
  const prepare = (sql: string) => guard(at, () => new Statement(at, cache, database.prepare(sql)))
  const begin = prepare("BEGIN IMMEDIATE")
  const commit = prepare("COMMIT")
  const rollback = prepare("ROLLBACK")
  const file = statSync(at.place).ino
  let isMarked = false
  return {
    place: at.place,
    prepare,
    define: (statements) => guard(at, () => database.exec(statements.join(";\n"))),
    due: () => WakeMark.read(WakeMark.inRow(prepare("PRAGMA user_version").get())),
    // Not prepared, because a prepared statement stays in memory until it is collected.
    setDue: (moment) => guard(at, () => database.exec(`PRAGMA user_version = ${WakeMark.write(moment)}`)),
    transaction: (body) => {
      // Writes to a file without a name are lost when it is closed.
      if (statSync(at.place, { throwIfNoEntry: false })?.ino !== file) throw damaged(at, "its file vanished, or another one has its place")
      try {
        begin.run()
      } catch (cause) {
        throw notBegun(at, cause)
      }
      try {
        const result = body()
        commit.run()
        if (!isMarked) OpenMark.set(markerOf(at))
        isMarked = true
        if (syncMicros !== undefined) Atomics.wait(bell, 0, 0, syncMicros / 1000)
        return result
      } catch (cause) {
        if (database.isTransaction) rollback.run()
        throw cause
      }
    },
    sync: undefined,
    close: () => {
      cache.close()
      OpenMark.clear(markerOf(at))
      if (isFresh && !isMarked) NewFile.closeEmpty(database, filesOf(at))
      else database.close()
    }
  }
}

const extension = ".sqlite"

/**
 * Removes the files of a space, also of a damaged one. The log is emptied first, so that a removal that breaks off leaves
 * the whole space or none.
 */
const remove = (at: Place, settings: Settings): void => {
  if (!existsSync(at.place) && !existsSync(markerOf(at))) throw new PersistenceError({ reason: new NoSuchSpace({ space: at.space }) })
  if (existsSync(at.place)) emptyLog(at, settings)
  for (const file of filesOf(at)) rmSync(file, { force: true })
}

/** SQLite's words for a full disk, which a file of shared memory cannot tell from a broken one. */
const FULL = /disk is full|disk I\/O error/

/** Writes the log into the file. Throws `StoreLocked` if another process has the file open. */
const emptyLog = (at: Place, settings: Settings): void => {
  try {
    headerOf(at)
    const database = openDatabase(at, settings)
    try {
      database.exec("PRAGMA journal_mode = DELETE")
    } finally {
      database.close()
    }
  } catch (cause) {
    const error = failure(at, cause)
    // A full disk has no room for the log. The removal is what makes room, so it goes on.
    if (error.code !== "store/damaged" && !FULL.test(error.message)) throw error
  }
}

const isSpace = (name: string): boolean => {
  try {
    checkSpaceName(name)
    return true
  } catch {
    return false
  }
}

const source = (folder: string, settings: Settings): SqlSource => ({
  open: (space, { create }) => {
    const at = { space, place: join(folder, space + extension) }
    return guard(at, () => {
      const fresh = headerOf(at) === undefined
      if (fresh && !create) throw new PersistenceError({ reason: new NoSuchSpace({ space }) })
      if (fresh) NewFile.make(at, { application: APPLICATION, timeout: BUSY })
      const database = openDatabase(at, settings)
      note(at)
      return driverOf(at, database, { ...settings, isFresh: fresh })
    })
  },
  due: (space) => {
    const at = { space, place: join(folder, space + extension) }
    return guard(at, () => {
      const due = WakeMark.read(readMark(at))
      // A wait by a clock that was set back would last as much longer. The open space knows better.
      return due !== undefined && due > 0 && isFromLater(at.place) ? 0 : due
    })
  },
  look: (space, body) => {
    const at = { space, place: join(folder, space + extension) }
    return guard(at, () => {
      if (headerOf(at) === undefined) throw new PersistenceError({ reason: new NoSuchSpace({ space }) })
      return reading(at, (database) => body({
        place: at.place,
        prepare: (sql) => guard(at, () => new Statement(at, { use: () => {} }, database.prepare(sql)))
      }))
    })
  },
  remove: (space) => {
    const at = { space, place: join(folder, space + extension) }
    return Backend.attempt(() => guard(at, () => remove(at, settings)))
  },
  spaces: () => {
    const at = { space: "", place: folder }
    return Folder.files(folder, { extension, isSpace, attempt: (read) => guard(at, read) })
  },
  ready: () => guard({ space: "", place: folder }, () => Folder.probe(folder))
})

const refused = (reason: string) => new Plugin.InvalidPlugin({ name: "sqlite", reason })

type Provider = NonNullable<Plugin.Plugin["provides"]["persistence"]>

/** A driver in the place of that of a space. */
type Around = (driver: SqlDriver, space: string) => SqlDriver

const provider = (syncMicros: number | undefined, around: Around = (driver) => driver): Provider => ({ folder, options }) => {
  const [option] = Object.keys(options)
  if (option !== undefined) throw refused(`it has no option "${option}". Remove it from the configuration`)
  const files = source(folder, { caches: new PageCaches(), syncMicros })
  return SqlStore.layer({ ...files, open: (space, choice) => around(files.open(space, choice), space) })
}

/**
 * The provider with a simulated disk, for tests and benchmarks: each commit waits for a fixed time in microseconds instead
 * of the disk, and `around` may put a faulty driver in the place of each. A power failure may damage its files. No
 * configuration selects it.
 *
 * @throws InvalidPlugin for a time that is not from 0 to 1,000,000
 * @example Fast tests
 * ```ts
 * import { unsynced } from "systole/plugins/sqlite"
 *
 * const persistence = unsynced(0)({ folder: ".data", options: {} })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const unsynced = (syncMicros: number, around?: Around): Provider => {
  if (syncMicros >= 0 && syncMicros <= 1_000_000) return provider(syncMicros, around)
  throw refused(`a sync cannot take ${syncMicros} microseconds. Give a number from 0 to 1000000`)
}

export default Plugin.make({ name: "sqlite", version: "0.1.0", provides: { persistence: provider(undefined) } })

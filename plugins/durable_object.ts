/**
 * Persistence in the storage of a Durable Object of Cloudflare Workers: one object holds one space.
 *
 * The classes of `systole/workers` select it; a configuration cannot, because only an object has such a storage. The wake
 * time of the space is a row and the object's alarm, both written with the commit that sets them.
 *
 * A commit is durable before anything leaves the object: the platform's output gate holds answers, messages and outgoing
 * requests back until the writes before them are stored. If they cannot be stored, it resets the object instead.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Layer } from "effect"
import {
  Backend, NoSuchSpace, type Persistence, PersistenceError, Plugin, type SqlDriver, type SqlRow, type SqlSource, type SqlStatement,
  SqlStore, type SqlValue, StoreUnavailable
} from "systole"

/** A value that the database returns. */
type Stored = string | number | ArrayBuffer | null

/**
 * The part of a Durable Object's storage that is used.
 *
 * @category models
 * @since 0.1.0
 */
export interface ObjectStorage {
  readonly sql: {
    /** Bytes. */
    readonly databaseSize: number
    readonly exec: (query: string, ...values: ReadonlyArray<SqlValue>) => {
      readonly raw: () => { readonly toArray: () => ReadonlyArray<ReadonlyArray<Stored>> }
    }
  }
  readonly transactionSync: <A>(body: () => A) => A
  readonly deleteAlarm: () => Promise<void>
  readonly deleteAll: () => Promise<void>
}

/**
 * A space in an object.
 *
 * @category models
 * @since 0.1.0
 */
export interface ObjectPlace {
  /** The name of the only space. */
  readonly space: string
  readonly storage: ObjectStorage
  /**
   * Arms the alarm of the object for a wake time, in milliseconds since 1970; 0 is at once. It is called after each change
   * of the wake time, in the turn of its transaction, so that both are stored together.
   */
  readonly arm: (moment: number) => void
}

const guard = <A>(space: string, body: () => A): A => {
  try {
    return body()
  } catch (cause) {
    if (cause instanceof PersistenceError) throw cause
    throw unavailable(space, cause instanceof Error ? cause.message : String(cause))
  }
}

const unavailable = (space: string, detail: string): PersistenceError =>
  new PersistenceError({ reason: new StoreUnavailable({ space, place: placeOf(space), detail }) })

const placeOf = (space: string): string => `the Durable Object of space "${space}"`

/** A row as the store reads it: the database returns blobs as buffers. */
const rowOf = (stored: ReadonlyArray<Stored>): SqlRow =>
  stored.some((value) => value instanceof ArrayBuffer)
    ? stored.map((value) => value instanceof ArrayBuffer ? new Uint8Array(value) : value)
    : stored as SqlRow

/** An open store. The database stays open after it, and may hold another space of the same name. */
interface Handle extends ObjectPlace {
  isClosed: boolean
}

/** A statement by its text: the database caches the prepared form. */
class Statement implements SqlStatement {
  private readonly handle: Handle
  private readonly sql: string

  constructor(handle: Handle, sql: string) {
    this.handle = handle
    this.sql = sql
  }

  get(...values: ReadonlyArray<SqlValue>): SqlRow | undefined {
    return this.all(...values)[0]
  }

  all(...values: ReadonlyArray<SqlValue>): ReadonlyArray<SqlRow> {
    return this.using((sql) => sql.exec(this.sql, ...values).raw().toArray().map(rowOf))
  }

  run(...values: ReadonlyArray<SqlValue>): void {
    this.using((sql) => sql.exec(this.sql, ...values))
  }

  private using<A>(body: (sql: ObjectStorage["sql"]) => A): A {
    const { isClosed, space, storage: { sql } } = this.handle
    if (isClosed) throw unavailable(space, "this handle is closed")
    return guard(space, () => body(sql))
  }
}

const TABLE = "CREATE TABLE IF NOT EXISTS wake (id INTEGER PRIMARY KEY CHECK (id = 1), due REAL) STRICT"

const has = (prepare: SqlDriver["prepare"], table: string): boolean =>
  prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined

/**
 * Whether the storage of an object holds a space. The look writes nothing.
 *
 * @category predicates
 * @since 0.1.0
 */
export const holdsSpace = ({ sql }: Pick<ObjectStorage, "sql">): boolean =>
  sql.exec("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", "meta").raw().toArray().length > 0

const wakeOf = (prepare: SqlDriver["prepare"]): SqlRow | undefined =>
  has(prepare, "wake") ? prepare("SELECT due FROM wake").get() : undefined

/** The stored wake time: 0 before the first one, `undefined` for never. */
const dueOf = (prepare: SqlDriver["prepare"]): number | undefined => {
  const row = wakeOf(prepare)
  return row === undefined ? 0 : row[0] as number | null ?? undefined
}

const driverOf = (place: ObjectPlace): SqlDriver => {
  const { arm, space, storage } = place
  const handle: Handle = { ...place, isClosed: false }
  const prepare = (sql: string): SqlStatement => new Statement(handle, sql)
  /** The wake time to arm once its transaction is applied; `undefined` for none. */
  let pending: number | undefined
  /** Whether no wake time was stored yet. It is 0 then, and its alarm has to be armed with the first transaction of data. */
  let isNew = guard(space, () => wakeOf(prepare)) === undefined
  /** Whether the transaction creates the tables. They are no data, so a space without any needs no alarm. */
  let isCreation = false
  return {
    place: placeOf(space),
    prepare,
    // One call: each takes as long as the statements. The table of the wake time is among them, because the database parses all
    // statements anew after each table.
    define: (statements) => {
      isCreation = true
      guard(space, () => void storage.sql.exec([...statements, TABLE].join(";\n")))
    },
    due: () => dueOf(prepare),
    setDue: (moment) => {
      prepare("INSERT OR REPLACE INTO wake VALUES (1, ?)").run(moment ?? null)
      pending = moment
    },
    transaction: (body) => {
      isCreation = false
      pending = isNew ? 0 : undefined
      const result = guard(space, () => storage.transactionSync(body))
      if (isCreation) return result
      isNew = false
      if (pending !== undefined) arm(pending)
      return result
    },
    // The output gate waits for the disk.
    sync: undefined,
    close: () => {
      handle.isClosed = true
    }
  }
}

const sourceOf = (place: ObjectPlace): SqlSource => {
  const handle: Handle = { ...place, isClosed: false }
  const prepare = (sql: string): SqlStatement => new Statement(handle, sql)
  const isThere = (space: string): boolean => space === place.space && guard(space, () => has(prepare, "meta"))
  const missing = (space: string) => new PersistenceError({ reason: new NoSuchSpace({ space }) })
  return {
    open: (space, { create }) => {
      if (space !== place.space || (!create && !isThere(space))) throw missing(space)
      return driverOf(place)
    },
    due: (space) => {
      if (!isThere(space)) throw missing(space)
      return dueOf(prepare)
    },
    look: (space, body) => {
      if (!isThere(space)) throw missing(space)
      return body({ place: placeOf(space), prepare })
    },
    remove: (space) => Backend.attempt(() => {
      if (!isThere(space)) throw missing(space)
    }).pipe(Effect.andThen(Effect.promise(async () => {
      // Calls take effect in their order.
      await Promise.all([place.storage.deleteAlarm(), place.storage.deleteAll()])
    }))),
    spaces: () => isThere(place.space) ? [place.space] : []
  }
}

/**
 * Persistence in the storage of one object. Opening a space that exists writes nothing.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (place: ObjectPlace): Layer.Layer<Persistence> => SqlStore.layer(sourceOf(place))

export default Plugin.make({
  name: "durable_object",
  version: "0.1.0",
  provides: {
    persistence: () => {
      throw new Plugin.InvalidPlugin({
        name: "durable_object",
        reason: "only a Durable Object has its storage. Build for Workers, where each space is an object without any setting"
      })
    }
  }
})

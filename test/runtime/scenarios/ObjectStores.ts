/**
 * The store of durable objects in the place of the memory store: each layer has spaces of its own in the object of a test.
 *
 * An object holds one space, and a test may have several, so the tables of each space get a prefix.
 *
 * @module
 */
import { Context, Effect, Layer } from "effect"
import { Persistence } from "systole"
import * as DurableObjectStore from "../../../plugins/durable_object.ts"
import type { Storage } from "../../../src/main/workers/Platform.ts"

/** All tables and indexes of a space. */
const NAMES = new RegExp(`\\b(?:${[
  "meta", "cell", "cell_parent", "journal", "caller", "caller_index", "caller_state", "receipt", "receipt_beat", "queue", "queue_id",
  "blob", "blob_due", "mention", "mention_hash", "observation", "part", "upload", "piece", "wake"
].join("|")})\\b`, "g")

let storage: Storage | undefined
let spaces = 0

/** Puts the stores of the next layers into a storage. */
export const use = (given: Storage): void => {
  storage = given
  spaces = 0
}

/** The number of spaces in the storage. */
export const count = (): number => spaces

/** A part of a storage, for one space. */
const partOf = ({ sql, ...rest }: DurableObjectStore.ObjectStorage, prefix: string): DurableObjectStore.ObjectStorage => ({
  ...rest,
  sql: {
    databaseSize: sql.databaseSize,
    exec: (query, ...values) => {
      const named = (text: string) => text.replace(NAMES, `${prefix}$&`)
      // The schema is asked for tables by values.
      const own = query.includes("sqlite_schema") ? values.map((value) => typeof value === "string" ? named(value) : value) : values
      return sql.exec(named(query), ...own)
    }
  },
  deleteAll: async () => {
    const tables = sql.exec("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?", `${prefix}*`).raw().toArray()
    for (const [name] of tables) sql.exec(`DROP TABLE ${String(name)}`)
  }
})

const objectOf = (storage: Storage): DurableObjectStore.ObjectStorage => ({
  sql: { databaseSize: 0, exec: (query, ...values) => storage.sql.exec(query, ...values) },
  transactionSync: (body) => storage.transactionSync(body),
  deleteAlarm: async () => {},
  deleteAll: async () => {}
})

export const layer: Layer.Layer<Persistence> = Layer.sync(Persistence, () => {
  if (storage === undefined) throw new Error("no object was given")
  const object = objectOf(storage)
  const known = new Map<string, Persistence["Service"]>()
  const of = (space: string): Persistence["Service"] => {
    const found = known.get(space)
    if (found !== undefined) return found
    const own = DurableObjectStore.layer({ space, storage: partOf(object, `s${++spaces}_`), arm: () => {} })
    const made = Context.get(Effect.runSync(Effect.scoped(Layer.build(own))), Persistence)
    known.set(space, made)
    return made
  }
  return {
    open: (space, options) => of(space).open(space, options),
    progress: (space) => of(space).progress(space),
    due: (space) => of(space).due(space),
    remove: (space) => of(space).remove(space),
    spaces: Effect.suspend(() =>
      Effect.map(Effect.all([...known.values()].map(({ spaces }) => spaces)), (names) => names.flatMap((each) => [...each])))
  }
})

/**
 * SQLite persistence in a temporary folder, for tests.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Layer, type Scope } from "effect"
import type { Persistence, PersistenceError } from "systole"
import { unsynced } from "../../plugins/sqlite.ts"
import * as HashLayer from "../support/HashLayer.ts"

/** SQLite files in `folder`. Nothing waits for the disk: tests end processes, and never the power. */
export const layerIn = (
  folder: string,
  syncMicros = 0,
  around?: Parameters<typeof unsynced>[1]
): Layer.Layer<Persistence, PersistenceError> =>
  unsynced(syncMicros, around)({ folder, options: {} }).pipe(Layer.provide(HashLayer.layer))

/** A folder that is removed with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Holds a database in a writing transaction until the scope closes. */
export const hold = (file: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const database = new DatabaseSync(file)
      database.exec("BEGIN IMMEDIATE")
      return database
    }),
    (database) => Effect.sync(() => database.close())
  ))

/** SQLite files in a folder that is removed with the layer. */
export const layer: Layer.Layer<Persistence, PersistenceError> = Layer.unwrap(Effect.map(
  folder,
  (path) => layerIn(join(path, "made", "when needed"))
))

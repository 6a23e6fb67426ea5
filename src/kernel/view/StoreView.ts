/**
 * The store of a space: its format, and the upgrade to a newer one.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import type * as Contract from "../../contract/Stores.ts"
import type { StorePinned, StoreUnfinished } from "../model/SpaceError.ts"
import type { ReadError } from "./Expected.ts"

/** The errors of an upgrade. */
export type UpgradeError = ReadError | StoreUnfinished

/** The format of a store, and the numbers that this version reads. */
export type StoreStatus = AnswerOf<typeof Contract.state>

/** The number of rows that a page rewrote, and the number of the last row that it looked at; `undefined` at the end. */
export type CarriedPage = AnswerOf<typeof Contract.carry>

/**
 * The store of a space.
 */
export interface SpaceStorage {
  readonly status: Effect.Effect<StoreStatus, UpgradeError>
  /** Raises the format of the store to the newest one, in a step that takes as long for each size. No earlier version opens it then. */
  readonly finish: Effect.Effect<StoreStatus, UpgradeError>
  /** Rewrites the rows of an older form among the next `limit` ones. Fails with `StoreUnfinished` before {@link finish}. */
  readonly carry: (page: { readonly after?: number | undefined; readonly limit: number }) => Effect.Effect<CarriedPage, UpgradeError>
  /**
   * Removes the beats before one from the journal, and the receipts that point to them, but never the newest beat. Returns the newest
   * beat that is gone; -1 if all are there. Fails with `StorePinned` while an export is in progress.
   */
  readonly prune: (before: number) => Effect.Effect<number, ReadError | StorePinned>
}

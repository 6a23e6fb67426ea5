/**
 * Counted rows: a store that counts the rows that a page of a list looks at.
 *
 * A page ends when it has looked at {@link MAX_ROWS}, whatever a record costs: its cell, the cells below it, and the cells
 * that these lead to. So no record makes a page long.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import { MAX_NAME } from "../../cell/Name.ts"
import type { PageStore } from "../../ledger/Outside.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { CommittedState } from "../../stage/BeatClock.ts"
import * as Journal from "../journal/Journal.ts"
import { MAX_ROWS } from "./PageTurns.ts"

/** Comes after each name. A name may consist of the greatest character alone. */
const LAST = "\uffff".repeat(MAX_NAME + 1)

/** The last key that a cursor covers. A cursor with `/` or `?` at its end covers all keys that begin with it. */
export const behind = (cursor: string): string => /[/?]$/.test(cursor) ? cursor + LAST : cursor

/** The reads of a store by which lists look at it. */
export type ListedStore = Pick<SpaceStore, "below" | "entry" | "head" | "read" | "receipts" | "waiting">

/**
 * The reads of one store, counted since the page in progress began.
 */
export class CountedRows implements ListedStore, PageStore {
  private readonly store: ListedStore
  private looked = 0

  constructor(store: ListedStore) {
    this.store = store
  }

  /** Begins a page. */
  begin(): void {
    this.looked = 0
  }

  /** Whether the page in progress has to end. */
  get isSpent(): boolean {
    return this.looked >= MAX_ROWS
  }

  /** The number of rows that the page in progress may still look at. */
  get left(): number {
    return Math.max(0, MAX_ROWS - this.looked)
  }

  below(id: string, page: Parameters<SpaceStore["below"]>[1]): ReadonlyArray<string> {
    const keys = this.store.below(id, page)
    this.looked += keys.length
    return keys
  }

  /** Committed documents, each read of which counts. */
  documents(committed: CommittedState): CommittedState {
    const read = (key: string): Document | undefined => {
      this.looked++
      return committed.read(key)
    }
    return { read, children: (scope, id) => committed.children(scope, id), blob: (hash) => committed.blob(hash) }
  }

  entry(beat: number): ReturnType<SpaceStore["entry"]> {
    this.looked++
    return this.store.entry(beat)
  }

  head(): ReturnType<SpaceStore["head"]> {
    return this.store.head()
  }

  read(key: string): string | undefined {
    this.looked++
    return this.store.read(key)
  }

  changed(beat: number): ReadonlyArray<string> | undefined {
    const row = this.entry(beat)
    return row === undefined ? undefined : Journal.parse(row.text).cells.map(([key]) => key)
  }

  receipts(id: string): ReturnType<SpaceStore["receipts"]> {
    this.looked++
    return this.store.receipts(id)
  }

  waiting(id: string): ReturnType<SpaceStore["waiting"]> {
    const rows = this.store.waiting(id)
    this.looked += rows.length
    return rows
  }
}

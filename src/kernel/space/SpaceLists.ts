/**
 * The lists of an open space that belong to no ledger: its names, cells, beats, waiting signals and dead letters.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as DeadLetter from "../beat/DeadLetter.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { EventReceipts } from "./EventReceipts.ts"
import type { DurableReads } from "../view/DurableReads.ts"
import type { CountedRows } from "../view/CountedRows.ts"
import * as NameList from "../view/NameList.ts"
import { MAX_ROWS } from "../view/PageTurns.ts"
import * as Queries from "../view/Queries.ts"
import type { Space } from "../view/Space.ts"
import * as WaitingList from "../view/WaitingList.ts"

/**
 * The lists of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveLists implements Pick<Space, "below" | "beatsBefore" | "cells" | "dead" | "letter" | "list" | "names" | "waiting"> {
  readonly beatsBefore: Space["beatsBefore"]
  readonly cells: Space["cells"]
  readonly dead: Space["dead"]
  readonly letter: Space["letter"]
  readonly names: Space["names"]
  readonly waiting: Space["waiting"]

  constructor(state: LiveState, { reads, receipts, rows }: {
    readonly rows: CountedRows
    readonly reads: Pick<DurableReads, "page" | "read">
    readonly receipts: Pick<EventReceipts, "find" | "letterId">
  }) {
    this.beatsBefore = (before, limit) => reads.page(() => Queries.beatsBefore(state, before, limit))
    this.cells = (id, page) => reads.page(() => Queries.cells(state, rows, { ...page, id }))
    this.dead = (page) => reads.page(() => DeadLetter.list(rows, page))
    this.letter = (text, enzyme) => reads.read(() => {
      const id = receipts.letterId(text, enzyme)
      const letter = DeadLetter.find(state.store, id, enzyme)
      const handling = letter && receipts.find(id)?.handlings.find((handling) => handling.enzyme === enzyme)
      return letter === undefined ? undefined : { ...letter, message: handling?.error?.message }
    })
    this.names = (id, page) => reads.page(() => NameList.page(state, rows, { ...page, id }))
    this.waiting = (page) => reads.page(() => WaitingList.page(state, page))
  }

  readonly list: Space["list"] = (id) =>
    Effect.gen({ self: this }, function*() {
      const all: Array<string> = []
      for (let after: string | undefined; ;) {
        const { names, next } = yield* this.names(id, { after, limit: MAX_ROWS })
        all.push(...names)
        if (next === undefined) return all
        after = next
      }
    })

  readonly below: Space["below"] = (id, { after, limit }) =>
    Effect.gen({ self: this }, function*() {
      const keys: Array<string> = []
      for (let from = after; keys.length < limit;) {
        const { cells, next } = yield* this.cells(id, { after: from, limit: limit - keys.length })
        keys.push(...cells.map(({ key }) => key))
        if (next === undefined) break
        from = next
      }
      return keys
    })
}

/**
 * The lists of an open space that belong to no ledger: its cells, beats, waiting signals and dead letters.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as DeadLetter from "../beat/DeadLetter.ts"
import type { LiveState } from "../beat/SpaceState.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { DurableReads } from "../view/DurableReads.ts"
import * as Queries from "../view/Queries.ts"
import type { Space } from "../view/Space.ts"
import * as WaitingList from "../view/WaitingList.ts"

/**
 * The lists of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveLists implements Pick<Space, "below" | "beatsBefore" | "cells" | "dead" | "letter" | "waiting"> {
  readonly beatsBefore: Space["beatsBefore"]
  readonly cells: Space["cells"]
  readonly dead: Space["dead"]
  readonly letter: Space["letter"]
  readonly waiting: Space["waiting"]

  constructor(state: LiveState, reads: Pick<DurableReads, "page" | "read">, receiptOf: (id: string) => Receipt | undefined) {
    this.beatsBefore = (before, limit) => reads.page(() => Queries.beatsBefore(state, before, limit))
    this.cells = (id, page) => reads.page(() => Queries.cells(state, id, page))
    this.dead = (page) => reads.page(() => DeadLetter.list(state.store, page))
    this.letter = (id, enzyme) => reads.read(() => {
      const letter = DeadLetter.find(state.store, id, enzyme)
      const handling = receiptOf(id)?.handlings.find((handling) => handling.enzyme === enzyme)
      return letter === undefined ? undefined : { ...letter, message: handling?.error?.message }
    })
    this.waiting = (page) => reads.page(() => WaitingList.page(state, page))
  }

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

/**
 * The lists of an open space that belong to no ledger: its names, cells, beats, waiting signals and dead letters.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as DeadLetter from "../beat/command/DeadLetter.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { PendingSignal } from "../model/Signal.ts"
import * as DetachedList from "../view/DetachedList.ts"
import type { FlushedReads } from "../view/FlushedReads.ts"
import type { ReadError } from "../view/Expected.ts"
import * as NameList from "../view/NameList.ts"
import type { Page } from "../view/Pages.ts"
import { MAX_ROWS } from "../view/PageTurns.ts"
import * as Queries from "../view/Queries.ts"
import type { Space, SpaceControl } from "../view/Space.ts"
import * as WaitingList from "../view/WaitingList.ts"

/** The members of the state of a space that lists use. */
type State = Pick<
  LiveState,
  "bindings" | "clock" | "documents" | "enzymes" | "hash" | "inbox" | "ledgers" | "mode" | "settings" | "states" | "store"
>

/**
 * The lists of a space.
 */
export class LiveLists implements Pick<Space, "below" | "beatsBefore" | "cells" | "dead" | "list" | "names" | "waiting"> {
  private readonly state: State
  private readonly reads: Pick<FlushedReads, "page" | "search">

  constructor(state: State, reads: Pick<FlushedReads, "page" | "search">) {
    this.state = state
    this.reads = reads
  }

  beatsBefore(before: number, limit: number): ReturnType<Space["beatsBefore"]> {
    return this.reads.page(() => Queries.beatsBefore(this.state, before, limit))
  }

  cells(id: string, page: Parameters<Space["cells"]>[1]): ReturnType<Space["cells"]> {
    return this.reads.page((rows) => Queries.cells(this.state, rows, { ...page, id }))
  }

  dead(page: Page): ReturnType<Space["dead"]> {
    return this.reads.page((rows) => DeadLetter.list(rows, page))
  }

  names(id: string, page: Page): ReturnType<Space["names"]> {
    return this.reads.page((rows) => NameList.page(this.state, rows, { ...page, id }))
  }

  waiting(page: Page<number>): ReturnType<Space["waiting"]> {
    return this.reads.page(() => WaitingList.page(this.state, page))
  }

  /** The work that waits for the release of a detached space. */
  get detached(): SpaceControl["detached"] {
    return this.reads.search(() => DetachedList.find(this.state))
  }

  /** The waiting list, as far as a condition admits it. */
  queued(page: Page<number>, admits: (pending: PendingSignal) => boolean): Effect.Effect<WaitingList.FoundPage, ReadError> {
    return this.reads.page(() => WaitingList.find(this.state, page, admits))
  }

  list(id: string): ReturnType<Space["list"]> {
    return Effect.gen({ self: this }, function*() {
      const all: Array<string> = []
      for (let after: string | undefined; ;) {
        const { names, next } = yield* this.names(id, { after, limit: MAX_ROWS })
        all.push(...names)
        if (next === undefined) return all
        after = next
      }
    })
  }

  below(id: string, { after, limit }: Page): ReturnType<Space["below"]> {
    return Effect.gen({ self: this }, function*() {
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
}

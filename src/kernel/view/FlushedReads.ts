/**
 * Durable reads: reads of a space once all visible state is durable.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { ReadCallbacks, ReadError } from "./Expected.ts"
import type { PageTurns } from "./PageTurns.ts"
import type { CountedRows } from "./CountedRows.ts"
import * as Queries from "./Queries.ts"

/** The turns of pages, and the rows that a page looks at. */
export interface Pages {
  readonly turns: Pick<PageTurns, "take">
  readonly rows: CountedRows
}

/**
 * The durable reads of one space.
 */
export class FlushedReads {
  private readonly barrier: Pick<OutputBarrier, "error" | "whenDurable">
  private readonly pages: Pages

  constructor(barrier: Pick<OutputBarrier, "error" | "whenDurable">, pages: Pages) {
    this.barrier = barrier
    this.pages = pages
  }

  /** Reads the value at an address, by {@link read} or at once if it is {@link Queries.isImmediate}. */
  at<A>(address: string, see: () => A): Effect.Effect<A, ReadError> {
    return Queries.isImmediate(address) ? Effect.try({ try: see, catch: Queries.asReadError }) : this.read(see)
  }

  /** Reads at once, or after the next flush. */
  read<A>(see: (rows: CountedRows) => A): Effect.Effect<A, ReadError> {
    return Effect.callback<A, ReadError>((resume) =>
      Effect.sync(this.look(() => see(this.pages.rows), { seen: (found) => resume(Effect.succeed(found)), fail: resume }))
    )
  }

  /**
   * Reads a page of a list in its turn, over rows that are counted, and returns it once its state is durable. An interrupted
   * caller gives up its turn.
   */
  page<A>(see: (rows: CountedRows) => A): Effect.Effect<A, ReadError> {
    return Effect.callback<A, ReadError>((resume) => {
      const answer = (found: A): (() => void) =>
        this.look(() => found, { seen: (found) => resume(Effect.succeed(found)), fail: resume })
      const { rows, turns } = this.pages
      let cancel = (): void => {}
      const leave = turns.take(() => {
        const { error } = this.barrier
        if (error !== undefined) return resume(Effect.fail(error))
        rows.begin()
        try {
          cancel = answer(see(rows))
        } catch (error) {
          resume(Queries.refuse(error))
        }
      })
      return Effect.sync(() => {
        leave()
        cancel()
      })
    })
  }

  /** Runs a search to its end, a page at a time. */
  search<A>(begin: (rows: CountedRows) => Generator<void, A, void>): Effect.Effect<A, ReadError> {
    return Effect.gen({ self: this }, function*() {
      const search = begin(this.pages.rows)
      for (;;) {
        const step = yield* this.page(() => search.next())
        if (step.done === true) return step.value
      }
    })
  }

  /** The same as {@link read} with callbacks. Returns the call that cancels it. */
  look<A>(see: () => A, { fail, seen }: ReadCallbacks<A>): () => void {
    let isHeard = true
    const look = (): void => {
      if (!isHeard) return
      let found: A
      try {
        found = see()
      } catch (error) {
        return fail(Queries.refuse(error))
      }
      seen(found)
    }
    this.barrier.whenDurable(look, (error) => isHeard && fail(Effect.fail(error)))
    return () => {
      isHeard = false
    }
  }
}

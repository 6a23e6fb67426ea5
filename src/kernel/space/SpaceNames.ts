/**
 * The names of all spaces, as their store has them. No space is opened.
 *
 * A store gives its names in no order. So a page passes all of them, in turns of the host, and keeps the first after its
 * cursor.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { Heap } from "../../cell/Heap.ts"
import type { Persistence } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { expect } from "../view/Expected.ts"
import { MAX_ROWS, type PageTurns } from "../view/PageTurns.ts"
import type { NamePage, Page } from "../view/Pages.ts"

/**
 * The names of the spaces of one kernel.
 */
export class SpaceNames {
  private readonly persistence: Pick<Persistence["Service"], "spaces">
  private readonly turns: Pick<PageTurns, "take">

  constructor(persistence: Pick<Persistence["Service"], "spaces">, turns: Pick<PageTurns, "take">) {
    this.persistence = persistence
    this.turns = turns
  }

  /** All names, in code-unit order. */
  readonly all: Effect.Effect<ReadonlyArray<string>, PersistenceError> = Effect.suspend(() => {
    const names: Array<string> = []
    return Effect.map(this.pass((name) => names.push(name)), () => names.sort())
  })

  /** The names after a cursor, in code-unit order. */
  page({ after = "", limit }: Page): Effect.Effect<NamePage, PersistenceError> {
    return Effect.suspend(() => {
      const greatest = new Heap<string>((a, b) => a < b ? 1 : -1)
      const see = (name: string): void => {
        // One more than is answered tells whether there is another page.
        if (name <= after || greatest.size > limit && name > (greatest.peek() ?? "")) return
        greatest.push(name)
        if (greatest.size > limit + 1) greatest.pop()
      }
      return Effect.map(this.pass(see), () => {
        const found = Array.from({ length: greatest.size }, () => greatest.pop() ?? "").reverse()
        const names = found.slice(0, limit)
        return { names, next: limit > 0 && found.length > limit ? names.at(-1) : undefined }
      })
    })
  }

  /** Sees all names, at most {@link MAX_ROWS} in a turn. An interrupted caller gives up its turn. */
  private pass(see: (name: string) => void): Effect.Effect<void, PersistenceError> {
    return Effect.flatMap(this.persistence.spaces, (spaces) => Effect.callback<void, PersistenceError>((resume) => {
      const names = spaces[Symbol.iterator]()
      const look = (): void => {
        try {
          for (let looked = 0; looked < MAX_ROWS; looked++) {
            const { done, value } = names.next()
            if (done === true) return resume(Effect.void)
            see(value)
          }
        } catch (error) {
          return resume(Effect.suspend(() => Effect.fail(expect<PersistenceError>(PersistenceError)(error))))
        }
        cancel = this.turns.take(look)
      }
      let cancel = this.turns.take(look)
      return Effect.sync(() => {
        cancel()
        names.return?.()
      })
    }))
  }
}

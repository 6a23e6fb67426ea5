/**
 * Imports that are not whole: their stores, which nobody else opens, and their end after an hour without a part.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Hash } from "../../persistence/Hash.ts"
import type { Persistence, PlacedStore, Retention } from "../../persistence/Persistence.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import * as Journal from "../journal/Journal.ts"
import * as Arrived from "../model/Arrived.ts"

/** The retention of an import, which prunes nothing. */
const UNLIMITED: Retention = { journalMillis: Infinity, journalBytes: Infinity, receiptMillis: Infinity, contentMillis: 86_400_000 }

/** The dependencies of imports. */
interface Dependencies {
  readonly persistence: Persistence["Service"]
  readonly hash: Hash["Service"]
  readonly now: () => number
  /** Removes a space with all its data, and its objects. */
  readonly remove: (name: string) => Effect.Effect<void, PersistenceError>
  /** Runs one opening at a time. */
  readonly alone: <A, E, R>(opening: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Has the kernel look at a space at a time, in milliseconds since 1970. */
  readonly wake: (name: string, moment: number) => void
}

/**
 * The unfinished imports of one kernel.
 */
export class UnfinishedImports {
  private readonly deps: Dependencies
  /** The open stores. */
  private readonly stores = new Map<string, Scope.Closeable>()

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** The store of an import, new or unfinished, until the scope closes. */
  open(name: string, create = true): Effect.Effect<PlacedStore, PersistenceError, Scope.Scope> {
    const { alone, hash, now, persistence, wake } = this.deps
    const digest = (text: string): string => hash.hex(Journal.hashedText(text))
    return Effect.gen({ self: this }, function*() {
      const own = yield* Scope.fork(yield* Effect.scope)
      const store = yield* alone(Scope.provide(persistence.open(name, { create, importing: true, retention: UNLIMITED, digest }), own))
      this.stores.set(name, own)
      yield* Scope.addFinalizer(own, Effect.sync(() => {
        if (this.stores.get(name) === own) this.stores.delete(name)
      }))
      wake(name, now() + Arrived.GIVEN_UP)
      return store
    })
  }

  /** Closes the store of an import, so that it can be removed. */
  close(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const store = this.stores.get(name)
      return store === undefined ? Effect.void : Scope.close(store, Exit.void)
    })
  }

  /** The opening of a due space. In place of an unfinished import, it looks whether that is over. */
  around<A>(name: string, opening: Effect.Effect<A, PersistenceError>): Effect.Effect<A | void, PersistenceError> {
    return Effect.catchIf(opening, ({ code }) => code === "space/importing", () => this.look(name))
  }

  /** Removes an import without a new part for an hour, and has the kernel look at any other one again. */
  private look(name: string): Effect.Effect<void, PersistenceError> {
    const { now, remove } = this.deps
    const newest = Effect.map(this.open(name, false), (store) => Arrived.importing(store.arrival()?.note ?? "")?.at ?? 0)
    return Effect.flatMap(Effect.scoped(newest), (at) => now() - at < Arrived.GIVEN_UP ? Effect.void : remove(name))
  }
}

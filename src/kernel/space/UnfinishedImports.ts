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

/** The failures to open the store of an import where there is none. */
const NO_IMPORT: ReadonlySet<string> = new Set(["space/exists", "space/unknown"])

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

/** The one that writes the store of an import. */
export interface Importer {
  /** Runs when the store closes, also where the import is removed. */
  readonly ended: Effect.Effect<void>
  /** Whether a part is being taken: the import is not given up meanwhile. */
  readonly isBusy: () => boolean
}

/** An open store. */
interface Opened {
  readonly importer: Importer
  readonly scope: Scope.Closeable
  readonly store: PlacedStore
  /** The time of its newest part as of the opening, or of the opening of a new one, in milliseconds since 1970. */
  readonly at: number
}

/**
 * The unfinished imports of one kernel.
 */
export class UnfinishedImports {
  private readonly deps: Dependencies
  /** The open stores. */
  private readonly opened = new Map<string, Opened>()

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** The store of an import, new or unfinished, until the scope closes. */
  open(name: string, importer: Importer): Effect.Effect<PlacedStore, PersistenceError, Scope.Scope> {
    const { alone, now, wake } = this.deps
    return Effect.gen({ self: this }, function*() {
      const scope = yield* Scope.fork(yield* Effect.scope)
      const store = yield* alone(Scope.provide(this.stored(name, true), scope))
      const opened: Opened = { importer, scope, store, at: newest(store) ?? now() }
      this.opened.set(name, opened)
      yield* Scope.addFinalizer(scope, Effect.suspend(() => {
        if (this.opened.get(name) === opened) this.opened.delete(name)
        return importer.ended
      }))
      wake(name, opened.at + Arrived.GIVEN_UP)
      return store
    })
  }

  private stored(name: string, create: boolean): Effect.Effect<PlacedStore, PersistenceError, Scope.Scope> {
    const { hash, persistence } = this.deps
    const digest = (text: string): string => hash.hex(Journal.hashedText(text))
    return persistence.open(name, { create, importing: true, retention: UNLIMITED, digest })
  }

  /** Closes the store of an import, so that it can be removed. */
  close(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const opened = this.opened.get(name)
      return opened === undefined ? Effect.void : Scope.close(opened.scope, Exit.void)
    })
  }

  /**
   * The beginning of the names of the uploads that go with a removal. An unfinished import has its own ones: all others below its name
   * are of the space that it restores. `undefined` for none, also where its store cannot tell which they are.
   */
  uploads(name: string): Effect.Effect<string | undefined> {
    const own = (store: PlacedStore): string | undefined => {
      const { isWhole, note } = store.arrival() ?? { isWhole: true, note: "" }
      const known = isWhole ? undefined : Arrived.importing(note)
      return known === undefined ? undefined : Arrived.uploadsOf(this.deps.hash.hex, known)
    }
    return Effect.suspend(() => {
      const opened = this.opened.get(name)
      return opened === undefined ? Effect.scoped(Effect.map(this.stored(name, false), own)) : Effect.succeed(own(opened.store))
    }).pipe(Effect.catch(({ code }) => Effect.succeed(NO_IMPORT.has(code) ? "" : undefined)))
  }

  /** The opening of a due space. In place of an unfinished import, it looks whether that is over. */
  around<A>(name: string, opening: Effect.Effect<A, PersistenceError>): Effect.Effect<A | void, PersistenceError> {
    return Effect.catchIf(opening, ({ code }) => code === "space/importing", () => this.look(name))
  }

  /** Removes an import without a new part for an hour, and has the kernel look at any other one once that hour is over. */
  private look(name: string): Effect.Effect<void, PersistenceError> {
    const { alone, now, remove, wake } = this.deps
    const newestOf = Effect.suspend(() => {
      const opened = this.opened.get(name)
      if (opened === undefined) return Effect.scoped(Effect.map(this.stored(name, false), newest))
      return Effect.succeed(opened.importer.isBusy() ? now() : newest(opened.store) ?? opened.at)
    })
    return Effect.flatMap(alone(newestOf), (at = 0) => {
      const end = at + Arrived.GIVEN_UP
      return now() < end ? Effect.sync(() => wake(name, end)) : remove(name)
    })
  }
}

/** The time of the newest part of an import, in milliseconds since 1970; `undefined` before its header is there. */
const newest = (store: PlacedStore): number | undefined => Arrived.importing(store.arrival()?.note ?? "")?.at

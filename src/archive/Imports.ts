/**
 * Imports that a client sends in parts: one for each name, which goes on after a lost connection, an eviction or a crash.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { FrameRefused } from "../frame/FrameRefused.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import * as Arrived from "../kernel/model/Arrived.ts"
import type { Hash } from "../persistence/Hash.ts"
import { PersistenceError, SpaceImporting } from "../persistence/PersistenceError.ts"
import { Import, type ImportEnd, type ImportIdentity } from "./Import.ts"
import type { Sender } from "./ReferencedContent.ts"
import { type ArchiveFull, type Options, Sessions } from "./Sessions.ts"

/** The place at which an import goes on: the number of the frame in its chain, and that of its next chunk. */
interface Place {
  readonly frame: number
  readonly next: number
}

/** The state of an import after a part: its place, or its last seal. */
export type ImportProgress = Place | ImportEnd

/** A part of a frame. */
export interface FramePart<E> {
  readonly space: string
  /** The id of the import. */
  readonly id: string
  readonly why: Arrived.Arrived["why"]
  /** The number of the first chunk; 0 for a part that begins with the header. */
  readonly from: number
  /** The number of its frame in the chain, from 0, and the number of frames; by default, of one frame. */
  readonly frame?: number | undefined
  readonly frames?: number | undefined
  readonly bytes: Stream.Stream<Uint8Array, E>
  /** Whether the sender may read a space of this host, which is asked for the content of a frame of that space. By default, none. */
  readonly mayRead?: ((space: string) => boolean) | undefined
}

/** Runs an Effect in the context of a request. */
type Run = ReturnType<typeof Effect.runPromiseWith<never>>

/** An import in progress. */
interface Session extends ImportIdentity {
  readonly importer: Import
  /** Whether a part is being taken. */
  isBusy: boolean
}

/** The failures of an import. */
export type ImportError = ArchiveFull | FrameRefused | PersistenceError

const now = Clock.currentTimeMillis

/** The time without a byte after which a part ends, as one that its sender broke off. */
const STALLED = "1 minute"

/**
 * The imports of one host.
 */
export class Imports {
  private readonly kernel: Pick<Kernel["Service"], "contents" | "importing" | "remove" | "space">
  private readonly hash: Hash["Service"]
  private readonly sessions: Sessions<Session>
  /** The names of which an import begins, so that none is begun twice. */
  private readonly beginning = new Set<string>()

  constructor(
    { hash, kernel }: { readonly hash: Hash["Service"]; readonly kernel: Imports["kernel"] },
    host: Pick<Options<Session>, "fork" | "limit">
  ) {
    this.kernel = kernel
    this.hash = hash
    // The store has its progress.
    this.sessions = new Sessions({ ...host, kind: "import", isSpare: ({ isBusy }) => !isBusy })
  }

  /** Ends all imports in progress. Each goes on from its store. */
  get end(): Effect.Effect<void> {
    return this.sessions.endAll
  }

  /** Takes a part, unless it is not the next one. The space opens with the seal. */
  take<E>(
    { bytes: sent, frame = 0, frames = 1, from, mayRead = () => false, space, ...named }: FramePart<E>
  ): Effect.Effect<ImportProgress, E | ImportError> {
    const bytes = Stream.timeout(sent, STALLED)
    const fed = (session: Session): Effect.Effect<ImportProgress, E | ImportError> => Effect.gen({ self: this }, function*() {
      const { importer } = session
      if (importer.frame !== frame || importer.next !== from) {
        // A host that answers before it has the body may close the connection under its sender.
        yield* Effect.ignore(Stream.runDrain(bytes))
        return placeOf(importer)
      }
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const sender: Sender = (from, hash) => this.contentOf(run, from, mayRead(from) && from !== space ? hash : undefined)
      // An interruption waits until the bytes that came are taken: between two of its steps, an importer cannot go on.
      const take = (piece: Uint8Array) => Effect.uninterruptible(Effect.flatMap(now, (now) => importer.take(piece, now, sender)))
      yield* Stream.runForEach(bytes, take)
      return yield* Effect.uninterruptible(this.taken(space, session, frame + 1 >= frames))
    })
    return Effect.acquireUseRelease(this.session(space, named), fed, (session, exit) => this.left(space, session, exit))
  }

  /** The content of another space of this host. It rejects without a digest, and where that space is without the content. */
  private async *contentOf(run: Run, space: string, hash: string | undefined): AsyncGenerator<Uint8Array> {
    if (hash === undefined) throw new Error(`space "${space}" is not asked`)
    const source = await run(this.kernel.space(space, { create: false }))
    for (let part = 0, taken = 0, size = 1; taken < size; part++) {
      const found = await run(source.blobPart(hash, part))
      const isShort = found !== undefined && found.bytes.length === 0 && found.size > taken
      if (found === undefined || isShort) throw new Error(`space "${space}" has no content ${hash}`)
      yield found.bytes
      taken += found.bytes.length
      size = found.size
    }
  }

  /** The session of an import, for one part. */
  private session(space: string, { id, why }: ImportIdentity): Effect.Effect<Session, ImportError> {
    return Effect.suspend(() => {
      // It may wait for a removal, and imports of other names do not wait with it.
      if (this.beginning.has(space)) return Effect.fail(busy(space))
      this.beginning.add(space)
      return Effect.ensuring(this.found(space, { id, why }), Effect.sync(() => this.beginning.delete(space)))
    })
  }

  private found(space: string, { id, why }: ImportIdentity): Effect.Effect<Session, ImportError> {
    return Effect.gen({ self: this }, function*() {
      const known = this.sessions.of(space)
      if (known !== undefined && (known.id !== id || known.why !== why || known.isBusy)) return yield* busy(space)
      const session = known ?? (yield* this.sessions.begin(space, this.begun(space, { id, why })))
      session.isBusy = true
      this.sessions.use(space, session)
      return session
    })
  }

  private begun(space: string, { id, why }: ImportIdentity): Effect.Effect<Session, PersistenceError, Scope.Scope> {
    return Effect.gen({ self: this }, function*(): Effect.fn.Return<Session, PersistenceError, Scope.Scope> {
      let session: Session | undefined
      const ended = Effect.suspend(() => session === undefined ? Effect.void : this.sessions.end(space, session))
      const store = yield* this.kernel.importing(space, { ended, isBusy: () => session?.isBusy === true })
      const note = Arrived.importing(store.arrival()?.note ?? "")
      // A copy never goes on as a restore, which sends the signals of its original.
      if (note !== undefined && (note.id !== id || (note.why ?? why) !== why)) return yield* busy(space)
      // Its rows are of no known place of a frame, which may be another one now.
      if (note !== undefined && note.progress === undefined) {
        yield* this.kernel.remove(space)
        return yield* this.begun(space, { id, why })
      }
      const importer = new Import(store, { hash: this.hash, contents: this.kernel.contents }, { id, why })
      return session = { id, why, importer, isBusy: false }
    })
  }

  /** All bytes of a part were taken. */
  private taken(space: string, session: Session, isLast: boolean): Effect.Effect<ImportProgress, FrameRefused | PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const { importer } = session
      if (importer.isSealed && isLast) {
        const sealed = yield* importer.end()
        yield* this.sessions.end(space, session)
        yield* this.kernel.space(space, { create: false })
        return sealed
      }
      yield* Effect.flatMap(now, (now) => importer.isSealed ? importer.follow(now) : importer.pause(now))
      return placeOf(importer)
    })
  }

  /** A refused frame and a failed store leave no space; a sender that broke off may go on. */
  private left(space: string, session: Session, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      // Another one may have this name by now.
      if (this.sessions.of(space) !== session) return
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        if (error instanceof PersistenceError || isRefused(error)) {
          // The store is still open for it, since a full disk may not open it again.
          yield* Effect.ignore(this.kernel.remove(space))
          return yield* this.sessions.end(space, session)
        }
        yield* Effect.ignore(Effect.flatMap(now, (now) => session.importer.pause(now)))
      }
      session.isBusy = false
      this.sessions.rest(space, session)
    })
  }
}

const placeOf = ({ frame, next }: Import): Place => ({ frame, next })

const isRefused = (error: unknown): boolean => (error as { readonly _tag?: unknown } | undefined)?._tag === "FrameRefused"

const busy = (space: string): PersistenceError => new PersistenceError({ reason: new SpaceImporting({ space }) })

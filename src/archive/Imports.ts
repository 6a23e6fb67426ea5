/**
 * Imports that a client sends in parts: one for each name, which goes on after a lost connection, an eviction or a crash.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { FrameRefused } from "../frame/FrameRefused.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import * as Arrived from "../kernel/model/Arrived.ts"
import type { Hash } from "../persistence/Hash.ts"
import { PersistenceError, SpaceImporting } from "../persistence/PersistenceError.ts"
import { Import, type ImportEnd, type ImportIdentity } from "./Import.ts"
import type { Sender } from "./ReferencedContent.ts"

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
  readonly scope: Scope.Closeable
  readonly importer: Import
  isBusy: boolean
}

/**
 * The imports of one host.
 */
export class Imports {
  private readonly kernel: Pick<Kernel["Service"], "contents" | "importing" | "remove" | "space">
  private readonly hash: Hash["Service"]
  private readonly sessions = new Map<string, Session>()

  constructor({ hash, kernel }: { readonly hash: Hash["Service"]; readonly kernel: Imports["kernel"] }) {
    this.kernel = kernel
    this.hash = hash
  }

  /** Takes a part, unless it is not the next one. The space opens with the seal. */
  take<E>(
    { bytes, frame = 0, frames = 1, from, mayRead = () => false, space, ...named }: FramePart<E>
  ): Effect.Effect<ImportProgress, E | FrameRefused | PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const session = yield* this.session(space, named)
      const { importer } = session
      if (importer.frame !== frame || importer.next !== from) return placeOf(importer)
      session.isBusy = true
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const sender: Sender = (from, hash) => this.contentOf(run, from, mayRead(from) && from !== space ? hash : undefined)
      const fed = Stream.runForEach(bytes, (chunk) => Effect.flatMap(Clock.currentTimeMillis, (now) => importer.take(chunk, now, sender)))
      const taken = Effect.gen({ self: this }, function*() {
        yield* fed
        if (importer.isSealed && frame + 1 >= frames) return yield* this.sealed(space, session)
        yield* Effect.flatMap(Clock.currentTimeMillis, (now) => importer.isSealed ? importer.follow(now) : importer.pause(now))
        return placeOf(importer)
      })
      return yield* taken.pipe(
        Effect.tapError((error) => this.failed(space, session, error)),
        Effect.ensuring(Effect.sync(() => {
          session.isBusy = false
        }))
      )
    })
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

  private session(space: string, { id, why }: ImportIdentity): Effect.Effect<Session, PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const known = this.sessions.get(space)
      if (known?.id === id && known.why === why && !known.isBusy) return known
      if (known !== undefined) return yield* busy(space)
      const scope = yield* Scope.make()
      const store = yield* Effect.onError(Scope.provide(this.kernel.importing(space), scope), () => Scope.close(scope, Exit.void))
      const note = Arrived.importing(store.arrival()?.note ?? "")
      // A copy never goes on as a restore, which sends the signals of its original.
      if (note !== undefined && (note.id !== id || (note.why ?? why) !== why)) {
        yield* Scope.close(scope, Exit.void)
        return yield* busy(space)
      }
      // Its rows are of no known place of a frame, which may be another one now.
      if (note !== undefined && note.progress === undefined) {
        yield* Scope.close(scope, Exit.void)
        yield* this.kernel.remove(space)
        return yield* this.session(space, { id, why })
      }
      const importer = new Import(store, { hash: this.hash, contents: this.kernel.contents }, { id, why })
      const session: Session = { id, why, scope, importer, isBusy: false }
      this.sessions.set(space, session)
      return session
    })
  }

  private sealed(space: string, session: Session): Effect.Effect<ImportEnd, FrameRefused | PersistenceError> {
    return Effect.gen({ self: this }, function*() {
      const sealed = yield* session.importer.end()
      yield* this.close(space, session)
      yield* this.kernel.space(space, { create: false })
      return sealed
    })
  }

  /** A refused frame and a failed store leave no space; a sender that broke off may go on. */
  private failed(space: string, session: Session, error: unknown): Effect.Effect<void> {
    if (error instanceof PersistenceError || isRefused(error)) {
      return Effect.andThen(this.close(space, session), Effect.ignore(this.kernel.remove(space)))
    }
    return Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.ignore(session.importer.pause(now)))
  }

  private close(space: string, session: Session): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.sessions.get(space) === session) this.sessions.delete(space)
      return Scope.close(session.scope, Exit.void)
    })
  }
}

const placeOf = ({ frame, next }: Import): Place => ({ frame, next })

const isRefused = (error: unknown): boolean => (error as { readonly _tag?: unknown } | undefined)?._tag === "FrameRefused"

const busy = (space: string): PersistenceError => new PersistenceError({ reason: new SpaceImporting({ space }) })

/**
 * Exports that a client takes in parts: one for each space, with its pin.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { concat } from "../cell/Bytes.ts"
import type { Space } from "../kernel/view/Space.ts"
import type { ReadError } from "../kernel/view/Expected.ts"
import { ExportOutrun } from "../kernel/view/Pin.ts"
import { SpaceStopped } from "../kernel/model/SpaceError.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import * as Export from "./Export.ts"
import { type ArchiveFull, type Options, Sessions } from "./Sessions.ts"

/** The bytes of a part, unless the next chunk fits: 4 MiB. */
const PART_BYTES = 4_194_304

/**
 * There is no export of the space that goes on with this chunk.
 */
export class ExportOver extends Data.TaggedError("ExportOver")<{ readonly space: string; readonly from: number }> {
  readonly code = "export/over"
  override get message() {
    return `No export of space "${this.space}" goes on with chunk ${this.from}: another one began, it was not asked for parts for 10 ` +
      "minutes, or the space was closed. Begin again without from"
  }
}

/** The failures of an export. */
export type ExportError = ArchiveFull | ExportOutrun | ExportOver | Export.NoRange | Export.Unchanged | PersistenceError | ReadError

/** A part of a frame, with the numbers of its first chunk and of the one after it. */
interface Part {
  readonly from: number
  readonly next: number
  readonly bytes: Uint8Array
}

/** An export in progress. */
interface Session {
  /** Ends the pin. */
  readonly release: Effect.Effect<void>
  readonly pieces: AsyncGenerator<Uint8Array>
  /** Requests of one export are answered one after another: a client may ask again before it has its answer. */
  readonly alone: Semaphore.Semaphore
  /** The piece that did not fit into the newest part. */
  left: Uint8Array | undefined
  newest: Part | undefined
  /** Whether the newest part has the seal. */
  isOver: boolean
}

/**
 * The exports of one host.
 */
export class Exports {
  private readonly maker: Export.Maker
  private readonly sessions: Sessions<Session>

  constructor(maker: Export.Maker, host: Pick<Options<Session>, "fork" | "limit">) {
    this.maker = maker
    // The last part may be asked for again, and another export may take its place.
    this.sessions = new Sessions({ ...host, kind: "export", isSpare: ({ isOver }) => isOver })
  }

  /** Ends all exports in progress, with their pins. */
  get end(): Effect.Effect<void> {
    return this.sessions.endAll
  }

  /** The part that begins with a chunk; the first one of a new export without its number. */
  part(space: Space, from: number | undefined, parts: Export.Parts): Effect.Effect<Uint8Array, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const session = from === undefined ? yield* this.begin(space, parts) : this.sessions.of(space.name)
      if (session === undefined) return yield* new ExportOver({ space: space.name, from: from ?? 0 })
      // The part is made whole even if its client is gone, who asks for it again.
      return yield* session.alone.withPermits(1)(Effect.uninterruptible(this.partOf(session, space.name, from)))
    })
  }

  private partOf(session: Session, space: string, from: number | undefined): Effect.Effect<Uint8Array, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const { newest } = session
      if (from !== undefined && newest?.from === from) return newest.bytes
      if (this.sessions.of(space) !== session || (newest?.next ?? 0) !== (from ?? 0)) {
        return yield* new ExportOver({ space, from: from ?? 0 })
      }
      this.sessions.use(space, session)
      const part = yield* Effect.onError(this.next(session), () => this.sessions.end(space, session))
      // The last part may be asked for again, and needs no pin.
      if (session.isOver) yield* session.release
      this.sessions.rest(space, session)
      return part.bytes
    })
  }

  private begin(space: Space, parts: Export.Parts): Effect.Effect<Session, ArchiveFull | ReadError> {
    const made = Effect.gen({ self: this }, function*(): Effect.fn.Return<Session, ReadError, Scope.Scope> {
      const own = yield* Scope.fork(yield* Effect.scope)
      const pin = yield* Scope.provide(space.pin, own)
      return {
        release: Scope.close(own, Exit.void),
        pieces: Export.frame(pin, this.maker, parts),
        alone: Semaphore.makeUnsafe(1),
        left: undefined,
        newest: undefined,
        isOver: false
      }
    })
    const known = Effect.sync(() => this.sessions.of(space.name))
    const ended = Effect.flatMap(known, (known) => known === undefined ? Effect.void : this.sessions.end(space.name, known))
    return Effect.uninterruptible(Effect.andThen(ended, this.sessions.begin(space.name, made)))
  }

  private next(session: Session): Effect.Effect<Part, ExportError> {
    return Effect.tryPromise({
      try: async () => {
        const pieces = session.left === undefined ? [] : [session.left]
        let size = session.left?.length ?? 0
        session.left = undefined
        for (let step = await session.pieces.next(); step.done !== true; step = await session.pieces.next()) {
          if (size > 0 && size + step.value.length > PART_BYTES) {
            session.left = step.value
            break
          }
          pieces.push(step.value)
          size += step.value.length
        }
        session.isOver = session.left === undefined
        const from = session.newest?.next ?? 0
        // The first piece of all is the opening, which has no number.
        const next = from + pieces.length
        return session.newest = { from, next, bytes: concat(pieces) }
      },
      catch: expected
    })
  }
}

/** The expected failures of an export; any other error is a defect. */
export const expected = (error: unknown): ExportError => {
  const classes = [ExportOutrun, Export.NoRange, Export.Unchanged, PersistenceError, SpaceStopped]
  if (classes.some((known) => error instanceof known)) return error as ExportError
  throw error
}

/**
 * One backup of one space: a snapshot, or the range after the backup before.
 *
 * The frame is checked as it is written: its chain, its seal and its signature.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { FrameRefused } from "../frame/FrameRefused.ts"
import { FrameReader } from "../frame/FrameReader.ts"
import type { PublicKey } from "../frame/Signature.ts"
import type { ReadError } from "../kernel/view/Expected.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { PersistenceError } from "../persistence/PersistenceError.ts"
import type { BackupFailed, BackupFolder } from "./BackupFolder.ts"
import * as BackupName from "./BackupName.ts"
import type { Encrypt } from "./Encryption.ts"
import * as Export from "./Export.ts"
import { expected, type ExportError } from "./Exports.ts"

/** A frame is not the one that was asked for. */
export class BackupRefused extends Data.TaggedError("BackupRefused")<{ readonly space: string; readonly reason: string }> {
  readonly code = "backup/refused"
  override get message() {
    return `The backup of space "${this.space}" was not kept: ${this.reason}`
  }
}

/** A space is a copy that was not released: it has no part in backups. */
export class BackupDetached extends Data.TaggedError("BackupDetached")<{ readonly space: string }> {
  readonly code = "backup/detached"
  override get message() {
    return `Space "${this.space}" is a copy that was not released, and those have no backups. Release it with systole space release`
  }
}

/** The frames of one space: a range after the end of another frame, or a snapshot. */
export type Source<E> = (since: Export.End | undefined) => Stream.Stream<Uint8Array, E>

/** A failure with a stable code. */
interface Coded {
  readonly code: string
}

/** The place of the backups of a space. */
export interface Place {
  readonly space: string
  readonly folder: BackupFolder
  readonly hash: Hash["Service"]
}

/** The choices of a backup. */
export interface Options {
  /** Whether it is a snapshot in any case. */
  readonly isFull?: boolean
  /** Encrypts the bytes of a file; clear text without it. */
  readonly encrypt?: Encrypt | undefined
  /** The key that has to sign it, if there is one. */
  readonly signer?: PublicKey | undefined
  /** Hears of each piece that is read from the space, written, or read back. */
  readonly moved?: () => void
}

/** A backup that was made, or the newest one that there is, of a space that had no beat since. */
export interface Made {
  readonly kind: "snapshot" | "range" | "unchanged"
  readonly file: string
  readonly beat: number
  /** The digest of the frame; absent where none was made. */
  readonly root?: string
  /** The size of the file in bytes. */
  readonly size?: number
}

/**
 * Makes the next backup of a space. A range follows the newest backup; where none can, a snapshot begins another chain.
 */
export const make = <E extends Coded>(
  source: Source<E>,
  place: Place,
  options: Options = {}
): Effect.Effect<Made, E | BackupFailed | BackupRefused | FrameRefused> =>
  Effect.gen(function*() {
    const { folder, space } = place
    const known = yield* folder.list(space)
    const newest = known.at(-1)
    const room = BackupName.hasRoom(known)
    if (!room.chain) return yield* new BackupRefused({ space, reason: `${folder.fileOf(space, "")} has no number left for a chain` })
    const write = (since: Export.End | undefined) => written(source(since), { ...place, known }, options)
    if (options.isFull === true || newest === undefined || !room.range) return yield* write(undefined)
    return yield* Effect.catch(write(newest.end), (error): ReturnType<typeof write> => {
      if (error.code === "export/no-range") return write(undefined)
      if (error.code !== "export/unchanged") return Effect.fail(error)
      return Effect.succeed({ kind: "unchanged", file: newest.file, beat: newest.end.beat })
    })
  })

/** Waits for the first bytes of a stream. The header of an encryption comes before it reads any. */
const begun = Effect.fnUntraced(function*<E>(frame: Stream.Stream<Uint8Array, E>) {
  const pull = yield* Stream.toPull(frame)
  const first = yield* Pull.catchDone(pull, () => Effect.succeed([]))
  return Stream.concat(Stream.fromIterable(first), Stream.fromPull(Effect.succeed(pull)))
})

/** Writes a frame to a file, and checks it meanwhile. */
const written = <E extends Coded>(
  frame: Stream.Stream<Uint8Array, E>,
  { folder, hash, known, space }: Place & { readonly known: ReadonlyArray<BackupName.Known> },
  { encrypt, moved, signer }: Options
): Effect.Effect<Made, E | BackupFailed | BackupRefused | FrameRefused> =>
  Effect.scoped(Effect.gen(function*() {
    const at = yield* Clock.currentTimeMillis
    const scope = yield* Effect.scope
    // With the first bytes: a space that is not there gets no folder.
    const draft = yield* Effect.cached(Scope.provide(folder.create(space, String(at), moved), scope))
    const reader = new FrameReader(hash)
    const checked = yield* begun(Stream.mapEffect(frame, (bytes) => {
      moved?.()
      return Effect.as(reader.feed(bytes), bytes)
    }))
    const stored = encrypt === undefined ? checked : encrypt(checked)
    yield* Stream.runForEach(stored, (bytes) => Effect.flatMap(draft, ({ write }) => write(bytes)))
    const { root, signer: by } = yield* reader.sealed()
    const { header } = reader
    if (header === undefined || header.space !== space || header.kind !== "snapshot" && header.kind !== "range") {
      return yield* new BackupRefused({ space, reason: `its frame is a ${header?.kind} of "${header?.space}"` })
    }
    if (signer !== undefined && by !== signer) {
      return yield* new BackupRefused({ space, reason: `its frame is ${by === undefined ? "not signed" : `signed by ${by}`}` })
    }
    const { head, kind } = header
    const place = BackupName.next(known, kind === "range")
    const file = BackupName.write({ ...place, at, end: head, isEncrypted: encrypt !== undefined })
    const size = yield* Effect.flatMap(draft, ({ finish }) => finish(file))
    return { kind, file, beat: head.beat, root, size }
  }))

/** The frames of a space of this process. A copy that was not released has none. */
export const ofKernel = (kernel: Pick<Kernel["Service"], "space">, maker: Export.Maker) =>
  (space: string): Source<BackupDetached | ExportError | PersistenceError | ReadError> => (since) =>
    Stream.unwrap(Effect.gen(function*() {
      const { pin } = yield* kernel.space(space, { create: false })
      const pinned = yield* pin
      if (pinned.isDetached) return yield* new BackupDetached({ space })
      return Stream.fromAsyncIterable(Export.frame(pinned, maker, { since }), expected)
    }))

/**
 * Files of frames: read in whole chunks, and written beside their name until they are whole.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Flag from "effect/cli/Flag"
import { reasonOf } from "../../archive/BackupFolder.ts"
import * as Encryption from "../../archive/Encryption.ts"
import { concat } from "../../cell/Bytes.ts"
import * as Redacted from "../../cell/Redacted.ts"
import * as Chunk from "../../frame/Chunk.ts"
import { type FrameRefused, Refusal } from "../../frame/FrameRefused.ts"
import { type FrameEnd, FrameReader, type FrameRecord } from "../../frame/FrameReader.ts"
import * as Header from "../../frame/Header.ts"
import * as Signature from "../../frame/Signature.ts"
import { hash } from "../../persistence/PureSha256.ts"
import { isSpaceName } from "../../persistence/SpaceName.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import { CliFailure, exits, from } from "../CliFailure.ts"
import { Host } from "../Host.ts"
import * as Output from "../Output.ts"

/** The most bytes of a part. */
const PART = 8_388_608

/** The most bytes that are read at once. */
const SLICE = 1_048_576

/** The bytes after which a command tells its progress: 64 MiB. */
const TOLD = 67_108_864

/** The path of a file of the command line, which is relative to the folder of the command. */
export const resolved = (given: string): Effect.Effect<string, never, Host | Path.Path> =>
  Effect.gen(function*() {
    const { root } = yield* Host
    const path = yield* Path.Path
    return path.resolve(root, given)
  })

/** The failure of a file. */
const failedAt = (path: string) => (error: PlatformError.PlatformError): CliFailure => {
  const isAbsent = error.reason._tag === "NotFound"
  return new CliFailure({
    exit: isAbsent ? exits.absent : exits.failed,
    code: isAbsent ? "file/absent" : "file/io",
    message: isAbsent ? `There is no file ${path}` : `${path} could not be used (${reasonOf(error)}). See to the file, and to its disk`
  })
}

/** The refusal of a frame, as a command fails with it. */
export const refusedFrame = ({ code, message }: FrameRefused): CliFailure => from({ code, message, places: undefined })

/** The decryption of the files that a command opens. */
const CurrentDecryption = Context.Reference<Encryption.Decrypt | undefined>("systole/cli/Decryption", { defaultValue: () => undefined })

/** The flag `--identity` of the commands that read frames. */
export const identity = Flag.String("identity").pipe(
  Flag.withDescription("The file with an identity of age, AGE-SECRET-KEY-1…, that decrypts encrypted files"),
  Flag.optional
)

/** The flag `--key` of the commands that take frames. */
export const key = Flag.String("key").pipe(
  Flag.withDescription("The public key of the node that made the frame: one that it did not sign is refused"),
  Flag.optional
)

/** The public key of a command line. */
export const keyOf = (key: Option.Option<string>): Effect.Effect<Signature.PublicKey | undefined, CliFailure> => {
  const given = Option.getOrUndefined(key)
  if (given === undefined || Signature.isPublicKey(given)) return Effect.succeed(given)
  const message = "--key takes a public key, as systole key show prints it"
  return Effect.fail(new CliFailure({ exit: exits.usage, code: "key/invalid", message }))
}

/** Fails for a frame that another key signed, or none. */
export const isSignedBy = (
  wanted: Signature.PublicKey | undefined,
  file: string,
  { signer }: FrameEnd
): Effect.Effect<void, CliFailure> => {
  if (wanted === undefined || signer === wanted) return Effect.void
  const by = signer === undefined ? "is not signed" : `is signed by ${signer}`
  return Effect.fail(new CliFailure({
    exit: exits.differs,
    code: "frame/signature",
    message: `The frame in ${file} is whole and ${by}, not by ${wanted}. Take it from a source that you trust`
  }))
}

/** Reads each file whole, if a key is given, and fails for one that it did not sign. */
export const areSignedBy = Effect.fnUntraced(function*(key: Option.Option<string>, files: ReadonlyArray<string>) {
  const wanted = yield* keyOf(key)
  if (wanted === undefined) return
  for (const file of files) yield* isSignedBy(wanted, file, (yield* read(file, () => undefined)).sealed)
})

/** Runs a command that decrypts the files it opens with the identities in a file, if there is one. */
export const decrypting = <A, E, R>(
  identity: Option.Option<string>,
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, E | CliFailure, R | FileSystem.FileSystem | Host | Path.Path> =>
  Effect.gen(function*() {
    if (Option.isNone(identity)) return yield* command
    const path = identity.value
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(fs.readFileString(yield* resolved(path)), failedAt(path))
    const decrypt = yield* Effect.mapError(
      Encryption.decryptWith(Redacted.make(text), path),
      ({ code, message }) => new CliFailure({ exit: exits.usage, code, message })
    )
    return yield* Effect.provideService(command, CurrentDecryption, decrypt)
  })

/** Reads at most so many bytes; none at the end. */
type Read = (size: number) => Effect.Effect<Uint8Array<ArrayBuffer>, CliFailure>

/** Reads as many bytes, or all that are left. */
const exactly = Effect.fnUntraced(function*(read: Read, size: number) {
  const bytes = new Uint8Array(size)
  let filled = 0
  for (let some = yield* read(size); some.length > 0; some = yield* read(size - filled)) {
    bytes.set(some, filled)
    filled += some.length
    if (filled === size) break
  }
  return bytes.subarray(0, filled)
})

/** Reads the bytes of a stream. */
const pulling = Effect.fnUntraced(function*(bytes: Stream.Stream<Uint8Array, CliFailure>) {
  const pull = yield* Stream.toPull(bytes)
  let left: Uint8Array<ArrayBuffer> = new Uint8Array()
  let isOver = false
  const more = Pull.catchDone(Effect.map(pull, (pieces) => concat(pieces)), () => Effect.sync(() => {
    isOver = true
    return new Uint8Array()
  }))
  return Effect.fnUntraced(function*(size: number) {
    while (left.length === 0 && !isOver) left = yield* more
    const some = left.subarray(0, size)
    left = left.subarray(size)
    return some
  }) satisfies Read
})

/** The services by which commands use files. */
type Files = FileSystem.FileSystem | Host | Path.Path

/** Opens a file for its bytes, decrypted if it is encrypted. */
const reading = Effect.fnUntraced(function*(path: string): Effect.fn.Return<Read, CliFailure, Files | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const mapped = Effect.mapError(failedAt(path))
  const at = yield* resolved(path)
  const file = yield* mapped(fs.open(at))
  const read: Read = (size) =>
    mapped(Effect.map(file.readAlloc(size), Option.getOrElse(() => new Uint8Array()))) as ReturnType<Read>
  const magic = new TextEncoder().encode(Encryption.MAGIC)
  const begin = yield* exactly(read, magic.length)
  yield* mapped(file.seek(0n, "start"))
  if (begin.length < magic.length || magic.some((byte, i) => begin[i] !== byte)) return read
  const decrypt = yield* CurrentDecryption
  if (decrypt === undefined) {
    const message = `${path} is encrypted. Give --identity FILE with an identity of age, or decrypt it with age --decrypt -i KEY`
    return yield* new CliFailure({ exit: exits.usage, code: "backup/encrypted", message })
  }
  const clear = decrypt(Stream.mapError(fs.stream(at, { chunkSize: SLICE }), failedAt(path)))
  return yield* pulling(Stream.mapError(clear, (error) =>
    error instanceof CliFailure ? error : new CliFailure({ exit: exits.usage, code: error.code, message: `${path}: ${error.message}` })))
})

/** A part of whole chunks: its bytes, and the number of its first chunk, 0 for the header. */
export interface Part {
  readonly from: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A frame in a file. */
export interface OpenFrame {
  /** The bytes before the first chunk. */
  readonly opening: Part
  /** The next part, from this chunk on, where chunks are asked for in their order; `undefined` after the end of the file. */
  readonly next: (from: number) => Effect.Effect<Part | undefined, CliFailure>
}

/**
 * Opens a frame until the scope closes. Fails for a file that begins with no header.
 */
export const open = Effect.fnUntraced(function*(
  path: string
): Effect.fn.Return<OpenFrame, CliFailure, Files | Scope.Scope> {
  const read = yield* reading(path)
  const begin = yield* exactly(read, Chunk.OPENING)
  const isFrame = begin.length === Chunk.OPENING && Chunk.MAGIC.every((byte, i) => begin[i] === byte)
  const length = isFrame ? Math.min(Chunk.lengthOf(begin), Header.MAX_HEADER) : 0
  const header = yield* exactly(read, length)
  const opening = new Uint8Array(begin.length + header.length)
  opening.set(begin)
  opening.set(header, begin.length)
  let left: Uint8Array<ArrayBuffer> = new Uint8Array()
  let seq = 1
  /** The numbers of the next chunk; `undefined` at the end of the file. */
  const peek = Effect.fnUntraced(function*() {
    if (left.length === 0) left = yield* exactly(read, Chunk.HEAD)
    return left.length < Chunk.HEAD ? undefined : Chunk.numbers(left)
  })
  const chunk = Effect.fnUntraced(function*({ stored }: Chunk.Numbers) {
    const bytes = new Uint8Array(Chunk.HEAD + Math.min(stored, Chunk.MAX_RAW) + Chunk.DIGEST)
    bytes.set(left)
    const rest = yield* exactly(read, bytes.length - Chunk.HEAD)
    bytes.set(rest, Chunk.HEAD)
    left = new Uint8Array()
    seq++
    return bytes.subarray(0, Chunk.HEAD + rest.length)
  })
  const next = Effect.fnUntraced(function*(from: number) {
    const pieces: Array<Uint8Array> = []
    let size = 0
    let first = 0
    for (let found = yield* peek(); found !== undefined && size < PART; found = yield* peek()) {
      const bytes = yield* chunk(found)
      if (seq - 1 < from) continue
      if (pieces.length === 0) first = seq - 1
      pieces.push(bytes)
      size += bytes.length
    }
    if (pieces.length === 0) return undefined
    const bytes = new Uint8Array(size)
    pieces.reduce((at, piece) => {
      bytes.set(piece, at)
      return at + piece.length
    }, 0)
    return { from: first, bytes }
  })
  return { opening: { from: 0, bytes: opening }, next }
})

/** The header of a file, without its chunks. */
export const headerOf = Effect.fnUntraced(function*(path: string) {
  const { opening: { bytes } } = yield* open(path)
  const reader = new FrameReader(hash)
  yield* Effect.mapError(reader.feed(bytes), refusedFrame)
  return reader.header ?? (yield* early(path))
}, Effect.scoped)

/** The files at a place: those in a folder, or one file. */
export interface Within {
  readonly isFolder: boolean
  readonly files: ReadonlyArray<string>
  /** The folders in it whose names are those of spaces. */
  readonly others: ReadonlyArray<string>
}

/** A file itself, or the frames in a folder: of its folder for a space, if it has one. */
export const within = Effect.fnUntraced(function*(
  place: string, space: string
): Effect.fn.Return<Within, CliFailure, Files> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const mapped = Effect.mapError(failedAt(place))
  if ((yield* mapped(fs.stat(yield* resolved(place)))).type !== "Directory") return { isFolder: false, files: [place], others: [] }
  const own = path.join(place, space)
  const folder = (yield* mapped(fs.exists(yield* resolved(own)))) ? own : place
  const names = yield* mapped(fs.readDirectory(yield* resolved(folder)))
  const files = names.filter((name) => /\.frame(?:\.age)?$/.test(name)).sort().map((name) => path.join(folder, name))
  const others = names.filter((name) => isSpaceName(name)).sort()
  return { isFolder: true, files, others }
})

/** Reads a whole frame, and hands its records on. Fails for a frame that is refused, by its reader or by `see` with a `Refusal`. */
export const read = Effect.fnUntraced(function*(path: string, see: (record: FrameRecord) => void) {
  const file = yield* open(path)
  const reader = new FrameReader(hash)
  const feed = Effect.fnUntraced(function*(bytes: Uint8Array) {
    for (let at = 0; at < bytes.length; at += SLICE) {
      const found = yield* Effect.mapError(reader.feed(bytes.subarray(at, at + SLICE)), refusedFrame)
      yield* Effect.try({
        try: () => {
          for (const record of found) see(record)
        },
        catch: (error) => {
          if (error instanceof Refusal) return refusedFrame(reader.refuse(error))
          throw error
        }
      })
    }
  })
  yield* feed(file.opening.bytes)
  for (let part = yield* file.next(1); part !== undefined; part = yield* file.next(1)) yield* feed(part.bytes)
  const sealed = yield* Effect.mapError(reader.sealed(), refusedFrame)
  return { header: reader.header!, sealed }
}, Effect.scoped)

/** The size of a file in bytes. */
export const sizeOf = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  return Number((yield* Effect.mapError(fs.stat(yield* resolved(path)), failedAt(path))).size)
})

/** A file of a new frame: what is written stands beside its name until the end. */
export interface FrameOutput {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, CliFailure>
  /** Waits for the disk, and gives the file its name. */
  readonly finish: Effect.Effect<void, CliFailure>
}

/**
 * Begins a file, until the scope closes. A file that is not finished is removed. Fails if there is a file of this name.
 */
export const create = Effect.fnUntraced(function*(
  path: string
): Effect.fn.Return<FrameOutput, CliFailure, Files | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const mapped = Effect.mapError(failedAt(path))
  const at = yield* resolved(path)
  if (yield* mapped(fs.exists(at))) {
    return yield* new CliFailure({ exit: exits.failed, code: "file/exists", message: `There is a file ${path} already. Give another name` })
  }
  const draft = `${at}.partial`
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(draft)))
  const file = yield* mapped(fs.open(draft, { flag: "w", mode: 0o600 }))
  return {
    write: (bytes) => mapped(file.writeAll(bytes)),
    finish: Effect.andThen(mapped(file.sync), mapped(fs.rename(draft, at)))
  }
})

/** Fails for a file that ends before its seal. */
export const early = (path: string): Effect.Effect<never, CliFailure> => Effect.fail(new CliFailure({
  exit: exits.usage,
  code: "frame/unsealed",
  message: `The frame in ${path} ends before its seal. Take the frame from its source again`
}))

/** Tells each {@link TOLD} bytes of a transfer. */
export const progress = (verb: string) => {
  let size = 0
  let told = 0
  return (bytes: number): Effect.Effect<void> => {
    size += bytes
    if (size - told < TOLD) return Effect.void
    told = size
    return Output.note(`${verb} ${Printable.count(Math.round(size / 1_048_576), "MiB", "MiB")}`)
  }
}

/**
 * Files of frames: read in whole chunks, and written beside their name until they are whole.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as Chunk from "../../frame/Chunk.ts"
import type { FrameRefused } from "../../frame/FrameRefused.ts"
import { FrameReader } from "../../frame/FrameReader.ts"
import * as Header from "../../frame/Header.ts"
import { hash } from "../../persistence/PureSha256.ts"
import * as Printable from "../../diagnostic/Printable.ts"
import { CliFailure, exits, from } from "../CliFailure.ts"
import * as Output from "../Output.ts"

/** The most bytes of a part. */
const PART = 8_388_608

/** The most bytes that are read at once. */
const SLICE = 1_048_576

/** The bytes after which a command tells its progress: 64 MiB. */
const TOLD = 67_108_864

/** The failure of a file. */
const failedAt = (path: string) => ({ reason }: PlatformError.PlatformError): CliFailure => {
  const isAbsent = reason._tag === "NotFound"
  return new CliFailure({
    exit: isAbsent ? exits.absent : exits.failed,
    code: isAbsent ? "file/absent" : "file/io",
    message: isAbsent ? `There is no file ${path}` : `${path} could not be used: ${reason.message}. See to the file and its disk`
  })
}

/** The refusal of a frame, as a command fails with it. */
export const refusedFrame = ({ code, message }: FrameRefused): CliFailure => from({ code, message, places: undefined })

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
): Effect.fn.Return<OpenFrame, CliFailure, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const mapped = Effect.mapError(failedAt(path))
  const file = yield* mapped(fs.open(path))
  const read = (size: number) =>
    mapped(Effect.map(file.readAlloc(size), Option.getOrElse(() => new Uint8Array()))) as Effect.Effect<Uint8Array<ArrayBuffer>, CliFailure>
  const exactly = Effect.fnUntraced(function*(size: number) {
    const bytes = new Uint8Array(size)
    let filled = 0
    for (let some = yield* read(size); some.length > 0; some = yield* read(size - filled)) {
      bytes.set(some, filled)
      filled += some.length
      if (filled === size) break
    }
    return bytes.subarray(0, filled)
  })
  const begin = yield* exactly(Chunk.OPENING)
  const isFrame = begin.length === Chunk.OPENING && Chunk.MAGIC.every((byte, i) => begin[i] === byte)
  const length = isFrame ? Math.min(Chunk.lengthOf(begin), Header.MAX_HEADER) : 0
  const header = yield* exactly(length)
  const opening = new Uint8Array(begin.length + header.length)
  opening.set(begin)
  opening.set(header, begin.length)
  let left: Uint8Array<ArrayBuffer> = new Uint8Array()
  let seq = 1
  /** The numbers of the next chunk; `undefined` at the end of the file. */
  const peek = Effect.fnUntraced(function*() {
    if (left.length === 0) left = yield* exactly(Chunk.HEAD)
    return left.length < Chunk.HEAD ? undefined : Chunk.numbers(left)
  })
  const chunk = Effect.fnUntraced(function*({ stored }: Chunk.Numbers) {
    const bytes = new Uint8Array(Chunk.HEAD + Math.min(stored, Chunk.MAX_RAW) + Chunk.DIGEST)
    bytes.set(left)
    const rest = yield* exactly(bytes.length - Chunk.HEAD)
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

/** A file itself, or the frames in a folder: of its folder for a space, if it has one. */
export const within = Effect.fnUntraced(function*(
  place: string, space: string
): Effect.fn.Return<ReadonlyArray<string>, CliFailure, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const mapped = Effect.mapError(failedAt(place))
  if ((yield* mapped(fs.stat(place))).type !== "Directory") return [place]
  const own = path.join(place, space)
  const folder = (yield* mapped(fs.exists(own))) ? own : place
  const names = yield* mapped(fs.readDirectory(folder))
  return names.filter((name) => /\.frame(?:\.age)?$/.test(name)).sort().map((name) => path.join(folder, name))
})

/** Reads a whole frame, and hands its records on. Fails for a frame that is refused. */
export const read = Effect.fnUntraced(function*(path: string, see: (record: FrameRecord) => void) {
  const file = yield* open(path)
  const reader = new FrameReader(hash)
  const feed = Effect.fnUntraced(function*(bytes: Uint8Array) {
    for (let at = 0; at < bytes.length; at += SLICE) {
      for (const record of yield* Effect.mapError(reader.feed(bytes.subarray(at, at + SLICE)), refusedFrame)) see(record)
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
  return Number((yield* Effect.mapError(fs.stat(path), failedAt(path))).size)
})

/** A record of a frame, as a reader hands it on. */
export type FrameRecord = Effect.Success<ReturnType<FrameReader["feed"]>>[number]

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
): Effect.fn.Return<FrameOutput, CliFailure, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const mapped = Effect.mapError(failedAt(path))
  if (yield* mapped(fs.exists(path))) {
    return yield* new CliFailure({ exit: exits.failed, code: "file/exists", message: `There is a file ${path} already. Give another name` })
  }
  const draft = `${path}.partial`
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(draft)))
  const file = yield* mapped(fs.open(draft, { flag: "w", mode: 0o600 }))
  return {
    write: (bytes) => mapped(file.writeAll(bytes)),
    finish: Effect.andThen(mapped(file.sync), mapped(fs.rename(draft, path)))
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

/**
 * A folder of backups: in it a folder for each space, with the files of its backups.
 *
 * A file is written beside its name, given to the disk, read back, and renamed. So each file with the name of a backup is whole, also
 * after a full disk or the end of the process.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Hash } from "../persistence/Hash.ts"
import { isSpaceName } from "../persistence/SpaceName.ts"
import * as BackupName from "./BackupName.ts"

/** The most bytes that are read at once. */
const SLICE = 1_048_576

/** The age of an unfinished file from which on no one writes it: an export ends after an hour. In milliseconds. */
const LEFT = 7_200_000

/**
 * A folder of backups could not be used.
 */
export class BackupFailed extends Data.TaggedError("BackupFailed")<{ readonly path: string; readonly reason: string }> {
  readonly code = "backup/io"
  override get message() {
    return `The backup at ${this.path} failed: ${this.reason}. See to the folder, its permissions and the room on its disk`
  }
}

/** A file that is being written. */
export interface Draft {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, BackupFailed>
  /** Waits for the disk, compares the file with the written bytes, and gives it its name. Returns its size in bytes. */
  readonly finish: (name: string) => Effect.Effect<number, BackupFailed>
}

/**
 * A folder of backups.
 */
export interface BackupFolder {
  readonly path: string
  /** The names of the spaces that have backups, in order. */
  readonly spaces: Effect.Effect<ReadonlyArray<string>, BackupFailed>
  /** The backups of a space, from the oldest to the newest. */
  readonly list: (space: string) => Effect.Effect<ReadonlyArray<BackupName.Known>, BackupFailed>
  /** The path of a file. */
  readonly fileOf: (space: string, name: string) => string
  /** Begins a file, which is removed at the end of the scope unless it was finished. `moved` hears of each write and each read slice. */
  readonly create: (space: string, name: string, moved?: () => void) => Effect.Effect<Draft, BackupFailed, Scope.Scope>
  /** Removes a file. One that is absent is no failure: two hosts of one folder may remove it. */
  readonly remove: (space: string, name: string) => Effect.Effect<void, BackupFailed>
}

/** The parts of a folder of backups that its functions share. */
interface Parts {
  readonly fs: FileSystem.FileSystem
  readonly hash: Hash["Service"]
}

/** The reason of a failure of a file: the code of the host, such as `ENOSPC`, or the name of the failure. */
export const reasonOf = ({ reason }: PlatformError.PlatformError): string => {
  const { code } = ("cause" in reason ? reason.cause ?? {} : {}) as { readonly code?: unknown }
  return typeof code === "string" ? code : reason._tag
}

const failedAt = (path: string) => (error: PlatformError.PlatformError): BackupFailed => new BackupFailed({ path, reason: reasonOf(error) })

/** The names in a folder; none where it is absent. */
const names = (fs: FileSystem.FileSystem, path: string): Effect.Effect<ReadonlyArray<string>, BackupFailed> =>
  Effect.catch(fs.readDirectory(path), (error) =>
    error.reason._tag === "NotFound" ? Effect.succeed([]) : Effect.fail(failedAt(path)(error)))

/** Gives the names in a folder to the disk, on a host that can do so. */
const syncFolder = (fs: FileSystem.FileSystem, path: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(path), ({ sync }) => sync)))

/** The digest and the size of a file. */
const digestOf = (
  { fs, hash }: Parts, path: string, moved: () => void
): Effect.Effect<readonly [digest: string, size: number], PlatformError.PlatformError> =>
  Effect.suspend(() => {
    const hasher = hash.start()
    let size = 0
    const read = Stream.runForEach(fs.stream(path, { chunkSize: SLICE }), (bytes) => Effect.sync(() => {
      hasher.update(bytes)
      size += bytes.length
      moved()
    }))
    return Effect.map(read, () => [hasher.hex(), size] as const)
  })

/** Removes the files that a process which ended had begun. */
const clean = Effect.fnUntraced(function*(fs: FileSystem.FileSystem, paths: ReadonlyArray<string>) {
  const now = yield* Clock.currentTimeMillis
  for (const path of paths) {
    const { mtime } = yield* fs.stat(path)
    if (Option.isSome(mtime) && now - mtime.value.getTime() > LEFT) yield* fs.remove(path)
  }
}, (cleaned) => Effect.ignore(cleaned))

/** The folder of a space, its paths, and the listener of a draft. */
interface Folder {
  readonly folder: string
  readonly fileOf: (name: string) => string
  readonly moved: () => void
}

const drafted = Effect.fnUntraced(function*(parts: Parts, { fileOf, folder, moved }: Folder, name: string) {
  const { fs, hash } = parts
  const draft = fileOf(`${name}${BackupName.PARTIAL}`)
  const mapped = Effect.mapError(failedAt(draft))
  yield* mapped(fs.makeDirectory(folder, { recursive: true, mode: 0o700 }))
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(draft)))
  const file = yield* mapped(fs.open(draft, { flag: "w", mode: 0o600 }))
  const hasher = hash.start()
  const made: Draft = {
    write: (bytes) => Effect.andThen(mapped(file.writeAll(bytes)), Effect.sync(() => {
      hasher.update(bytes)
      moved()
    })),
    finish: Effect.fnUntraced(function*(whole: string) {
      yield* mapped(file.sync)
      const [digest, size] = yield* mapped(digestOf(parts, draft, moved))
      if (digest !== hasher.hex()) return yield* new BackupFailed({ path: draft, reason: "the disk gave other bytes than were written" })
      yield* mapped(fs.rename(draft, fileOf(whole)))
      yield* syncFolder(fs, folder)
      return size
    })
  }
  return made
})

/**
 * The folder of backups at a path, which need not exist yet.
 */
export const make = Effect.fnUntraced(function*(
  root: string,
  hash: Hash["Service"]
): Effect.fn.Return<BackupFolder, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const parts = { fs, hash }
  const folderOf = (space: string): string => path.join(root, space)
  const fileOf = (space: string, name: string): string => path.join(root, space, name)
  return {
    path: root,
    spaces: Effect.map(names(fs, root), (found) => found.filter(isSpaceName).toSorted()),
    list: (space) => Effect.map(names(fs, folderOf(space)), BackupName.all),
    fileOf,
    create: Effect.fnUntraced(function*(space: string, name: string, moved: () => void = () => {}) {
      const left = (yield* names(fs, folderOf(space))).filter((file) => file.endsWith(BackupName.PARTIAL))
      yield* clean(fs, left.map((file) => fileOf(space, file)))
      return yield* drafted(parts, { folder: folderOf(space), fileOf: (file) => fileOf(space, file), moved }, name)
    }),
    remove: (space, name) => Effect.mapError(fs.remove(fileOf(space, name), { force: true }), failedAt(fileOf(space, name)))
  }
})

/**
 * The port of files: one call of the system for each operation, so that a test can put a person's save between any two.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/**
 * An operation on a file failed. `reason` is the code of the host, such as `ENOSPC`.
 */
export class DiskFailed extends Data.TaggedError("DiskFailed")<{
  readonly operation: string
  readonly path: string
  readonly reason: string
}> {
  readonly code = "agent/disk"
  override get message() {
    const remedy = remedies[this.reason] ?? "See the documentation of the host"
    return `${this.path} could not be handled: ${this.operation} failed with ${this.reason}. ${remedy}`
  }
}

/** The reason of a read of a folder, a pipe or a device. */
export const NO_FILE = "ENOTFILE"

/** The reason of a write that would give a file to another user or group. */
export const NO_OWNER = "ENOTOWNER"

/** The name of a mark that is beside a file while it is copied, on a file system without hard links. */
export const copying = (name: string): string => `.${name}.copying`

/** The most bytes of a file that is read. */
export const MAX_READ = 67_108_864

/** The remedies by the codes of hosts. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full; free space, and the next wake goes on",
  EDQUOT: "The quota is used up; free space, and the next wake goes on",
  EACCES: "Allow the user of the agent to read and write the file and its folder",
  EPERM: "Allow the user of the agent to read and write the file and its folder",
  EBUSY: "It is mounted by itself, as into a container, and can be neither replaced nor locked; mount its folder instead",
  [NO_OWNER]: "It belongs to another user or group, who would lose it; run the agent as that user",
  EROFS: "The file system is read-only; put the file on another one",
  EISDIR: "It is a folder; name a file",
  ENOTDIR: "A part of its path is no folder",
  ELOOP: "Its symbolic links form a circle",
  ENAMETOOLONG: "Its name is too long",
  [NO_FILE]: "It is no regular file; name one",
  EFBIG: "It is too large; name another file"
}

/** A process, as a lock names it. */
export interface Process {
  readonly pid: number
  /** The name of the computer. */
  readonly host: string
  /** Its start, which no other process with this number has; absent where the host does not tell it. */
  readonly born?: string
}

/**
 * Files of a host. Paths are absolute. Every failure but an absent file is a {@link DiskFailed}.
 */
export class Disk extends Context.Service<Disk, {
  /** The process that uses this disk. */
  readonly process: Process
  /** Whether a process of this computer is alive; `undefined` for one of another computer. */
  readonly isAlive: (process: Process) => boolean | undefined
  /** The path of a file in a folder. */
  readonly join: (folder: string, name: string) => string
  /** The folder and the name of a file. */
  readonly split: (path: string) => readonly [folder: string, name: string]
  /** The path without symbolic links; `undefined` if it is absent. A relative path begins at the working folder. */
  readonly realPath: (path: string) => Effect.Effect<string | undefined, DiskFailed>
  /** The bytes of a regular file of at most {@link MAX_READ}; `undefined` if it is absent. Never waits for a writer. */
  readonly read: (path: string) => Effect.Effect<Uint8Array | undefined, DiskFailed>
  /** The version of a file that changes with each save: its inode, size and times; `undefined` if it is absent. */
  readonly version: (path: string) => Effect.Effect<string | undefined, DiskFailed>
  /** The time of the last write of a file by the clock of its file system, in milliseconds; `undefined` if it is absent. */
  readonly modified: (path: string) => Effect.Effect<number | undefined, DiskFailed>
  /**
   * Writes the bytes of a file into it again, so that its time is the present one of its file system. False if it is absent, or
   * has other bytes.
   */
  readonly renew: (path: string, bytes: Uint8Array) => Effect.Effect<boolean, DiskFailed>
  /**
   * Creates a file with these bytes, and with the owner and the permissions of another one, and waits for the disk. False if the
   * name is taken. A failure leaves no file.
   */
  readonly create: (path: string, bytes: Uint8Array, like?: string) => Effect.Effect<boolean, DiskFailed>
  /**
   * Gives a file a second name. False if the name is taken, or the file is absent. A file system without hard links gets a copy,
   * with a mark by {@link copying} until it is complete.
   */
  readonly link: (from: string, to: string) => Effect.Effect<boolean, DiskFailed>
  /** Renames a file, and replaces another one of that name. False if the file is absent. */
  readonly rename: (from: string, to: string) => Effect.Effect<boolean, DiskFailed>
  /** Removes a file, if it is there. */
  readonly remove: (path: string) => Effect.Effect<void, DiskFailed>
  /** The names in a folder in code-unit order; none if it is absent. Fails for a folder with more than `most` names, if given. */
  readonly list: (folder: string, most?: number) => Effect.Effect<ReadonlyArray<string>, DiskFailed>
  /** Creates a folder and its parents. */
  readonly makeFolder: (folder: string) => Effect.Effect<void, DiskFailed>
  /** Waits for the first change of a file or a folder, or of a name in it. An absent path never changes. */
  readonly changed: (path: string) => Effect.Effect<void>
  /** Waits until the disk has the names of a folder. */
  readonly syncFolder: (folder: string) => Effect.Effect<void, DiskFailed>
}>()("systole/cli/Disk") {}

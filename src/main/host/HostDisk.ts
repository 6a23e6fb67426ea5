/**
 * The files of Node, Deno and Bun.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, linkSync, mkdirSync, opendirSync, openSync, readFileSync,
  realpathSync, renameSync, type Stats, statSync, unlinkSync, watch, writeFileSync, writeSync
} from "node:fs"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import { copying, Disk, DiskFailed, MAX_READ, NO_FILE, NO_OWNER, type Process } from "../../cli/Disk.ts"

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? (error as Error).message)

/** The codes of a file system or a policy without hard links. */
const LINKLESS = new Set(["EACCES", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"])

/** A call of the host: the name of its operation, and its path. */
type Call = readonly [operation: string, path: string]

/** Calls a function of the host. Failures with an expected code return the value for it. */
const call = <A>(
  [operation, path]: Call,
  run: () => A,
  expected: Readonly<Record<string, A>> = {}
): Effect.Effect<A, DiskFailed> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      const code = codeOf(error)
      if (Object.hasOwn(expected, code)) return Effect.succeed(expected[code] as A)
      return Effect.fail(new DiskFailed({ operation, path, reason: code }))
    }
  })

const absent = { ENOENT: undefined, ENOTDIR: undefined }

/** Gives an open file the owner and the permissions of another one. */
const resemble = (file: number, { gid, mode, uid }: Stats): void => {
  const own = fstatSync(file)
  if (own.uid !== uid || own.gid !== gid) {
    try {
      fchownSync(file, uid, gid)
    } catch (error) {
      throw codeOf(error) === "EPERM" ? Object.assign(new Error(NO_OWNER), { code: NO_OWNER }) : error
    }
  }
  fchmodSync(file, mode & 0o777)
}

const writeNew = (path: string, bytes: Uint8Array, like?: string): true => {
  const model = like === undefined ? undefined : statSync(like, { throwIfNoEntry: false })
  const file = openSync(path, "wx", 0o644)
  try {
    if (model !== undefined) resemble(file, model)
    writeFileSync(file, bytes)
    fsyncSync(file)
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(file)
  }
  return true
}

/** The codes of hosts that cannot sync a folder. */
const unsynced = { EISDIR: undefined, EPERM: undefined, EINVAL: undefined }

/** Links a file, or copies it on a file system without hard links. */
const link = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (!LINKLESS.has(codeOf(error))) throw error
    const bytes = readFileSync(from)
    const mark = join(dirname(to), copying(basename(to)))
    writeFileSync(mark, "")
    try {
      return writeNew(to, bytes, from)
    } finally {
      unlinkSync(mark)
    }
  }
}

/** Waits for the names of a folder, where the host can open one. */
const syncFolder = (folder: string): void => {
  const opened = openSync(folder, "r")
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

const versionOf = (path: string): string => {
  const { ctimeNs, ino, mtimeNs, size } = statSync(path, { bigint: true })
  return `${ino}.${size}.${mtimeNs}.${ctimeNs}`
}

/** Writes into the file that was compared, also if another one has its name since. The clock of a server tells the time. */
const renew = (path: string, bytes: Uint8Array): boolean => {
  const file = openSync(path, "r+")
  try {
    if (!readFileSync(file).equals(bytes)) return false
    writeSync(file, bytes, 0, bytes.length, 0)
    fsyncSync(file)
    return true
  } finally {
    closeSync(file)
  }
}

/** The bytes of a regular file. A read of a pipe would wait for its writer, and one of a device might never end. */
const readRegular = (path: string): Uint8Array => {
  const stat = statSync(path)
  if (!stat.isFile()) throw Object.assign(new Error(path), { code: NO_FILE })
  if (stat.size > MAX_READ) throw Object.assign(new Error(path), { code: "EFBIG" })
  return new Uint8Array(readFileSync(path))
}

/** The names in a folder. The walk stops at the first one beyond the limit. */
const listed = (folder: string, most = Infinity): ReadonlyArray<string> => {
  const names: Array<string> = []
  const opened = opendirSync(folder)
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (names.length === most) throw Object.assign(new Error(folder), { code: "EFBIG" })
      names.push(entry.name)
    }
    return names.sort()
  } finally {
    opened.closeSync()
  }
}

const changed = (path: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    try {
      // The finalizer runs at an interruption alone, so a watcher that heard a change is closed here.
      const watcher = watch(path, { persistent: false }, () => {
        watcher.close()
        resume(Effect.void)
      })
      watcher.on("error", () => {
        watcher.close()
        resume(Effect.never)
      })
      return Effect.sync(() => watcher.close())
    } catch {
      return resume(Effect.never)
    }
  })

/** The start of a process of Linux: the boot of the computer, and the time since then in ticks; `undefined` if it is not known. */
const bornOf = (pid: number): string | undefined => {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field is a name in parentheses, which may have any text. The start is field 22.
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
    return start === undefined ? undefined : `${boot}.${start}`
  } catch {
    return undefined
  }
}

/** Whether a process has its number still, or another one has it since. */
const hasNumber = ({ born, pid }: Process): boolean => {
  const found = born === undefined ? undefined : bornOf(pid)
  return found === undefined || found === born
}

/**
 * Files through `node:fs`.
 */
export const layer = (isAlive: (pid: number) => boolean): Layer.Layer<Disk> => {
  const born = bornOf(process.pid)
  const owner: Process = { pid: process.pid, host: hostname(), ...born === undefined ? {} : { born } }
  return Layer.succeed(Disk, Disk.of({
    process: owner,
    isAlive: (other) => other.host === owner.host ? isAlive(other.pid) && hasNumber(other) : undefined,
    join,
    split: (path) => [dirname(path), basename(path)],
    realPath: (path) => call(["realpath", path], () => realpathSync(path), absent),
    read: (path) => call<Uint8Array | undefined>(["read", path], () => readRegular(path), absent),
    version: (path) => call<string | undefined>(["stat", path], () => versionOf(path), absent),
    modified: (path) => call<number | undefined>(["stat", path], () => statSync(path).mtimeMs, absent),
    renew: (path, bytes) => call<boolean>(["renew", path], () => renew(path, bytes), { ENOENT: false }),
    create: (path, bytes, like) => call<boolean>(["create", path], () => writeNew(path, bytes, like), { EEXIST: false }),
    link: (from, to) => call(["link", to], () => link(from, to), { EEXIST: false, ENOENT: false }),
    rename: (from, to) => call<boolean>(["rename", from], () => (renameSync(from, to), true), { ENOENT: false }),
    remove: (path) => call(["remove", path], () => unlinkSync(path), { ENOENT: undefined }),
    list: (folder, most) => call<ReadonlyArray<string>>(["list", folder], () => listed(folder, most), { ENOENT: [] }),
    changed,
    makeFolder: (folder) => call(["mkdir", folder], () => void mkdirSync(folder, { recursive: true })),
    syncFolder: (folder) => call(["sync", folder], () => syncFolder(folder), unsynced)
  }))
}

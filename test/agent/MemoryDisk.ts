/**
 * A disk in memory with inodes, hard links and open files, so that a test can put the saves of a person between any two calls.
 *
 * @module
 */
import { Effect } from "effect"
import { copying, Disk, DiskFailed, type Process } from "../../src/cli/Disk.ts"
import { isSame } from "../../plugins/agent/text/Bytes.ts"

/** A file: its bytes, which all of its names and open handles share. */
export interface Inode {
  readonly number: number
  bytes: Uint8Array
  version: number
  /** The time of the last write, in milliseconds. */
  at: number
}

const encoder = new TextEncoder()

/** Files by absolute path. Folders are implied. */
export class MemoryDisk {
  readonly names = new Map<string, Inode>()
  /** Runs before each call of the system, with its name. */
  before: (operation: string, path: string) => void = () => {}
  /** The processes that are alive. */
  readonly alive = new Set<number>([1])
  /** The clock of the file system. */
  now: () => number = () => 0
  /** Whether the file system has no hard links, so that a link is a copy in several calls. */
  isLinkless = false
  private made = 0

  private readonly enter = (operation: string, path: string): void => this.before(operation, path)

  /** Writes into the file of a name, as an editor does that opens it and cuts it off first. Creates an absent one. */
  save(path: string, text: string): void {
    this.write(this.open(path), text)
  }

  /** The inode of a name, as an open file keeps it. Creates an absent file. */
  open(path: string): Inode {
    const found = this.names.get(path) ?? { number: ++this.made, bytes: new Uint8Array(), version: 0, at: this.now() }
    this.names.set(path, found)
    return found
  }

  /** Replaces the bytes of an open file. */
  write(file: Inode, text: string): void {
    file.bytes = encoder.encode(text)
    file.version++
    file.at = this.now()
  }

  /** Replaces the file of a name by a new one, as an editor does that writes beside it and renames. */
  replace(path: string, text: string): void {
    this.names.set(path, { number: ++this.made, bytes: encoder.encode(text), version: 0, at: this.now() })
  }

  /** Copies a file. The process may end between any two of its parts. */
  private copy(from: Inode, to: string): boolean {
    if (this.names.has(to)) return false
    const [, folder = "", name = ""] = /^(.*)\/([^/]*)$/.exec(to) ?? []
    const mark = `${folder}/${copying(name)}`
    this.save(mark, "")
    const file = this.open(to)
    for (const end of [from.bytes.length / 2, from.bytes.length]) {
      this.enter("copy", to)
      file.bytes = from.bytes.slice(0, end)
    }
    this.names.delete(mark)
    return true
  }

  text(path: string): string | undefined {
    const found = this.names.get(path)
    return found === undefined ? undefined : new TextDecoder().decode(found.bytes)
  }

  /** The names in a folder. */
  list(folder: string): ReadonlyArray<string> {
    const below = [...this.names.keys()].filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1))
    return below.filter((name) => !name.includes("/")).sort()
  }

  /** The service, as a process sees it. */
  service(process: Process = { pid: 1, host: "here" }): Disk["Service"] {
    const call = <A>(operation: string, path: string, run: () => A): Effect.Effect<A, DiskFailed> => Effect.suspend(() => {
      try {
        this.enter(operation, path)
        return Effect.succeed(run())
      } catch (error) {
        return error instanceof DiskFailed ? Effect.fail(error) : Effect.die(error)
      }
    })
    const put = (to: string, file: Inode): boolean => {
      if (this.names.has(to)) return false
      this.names.set(to, file)
      return true
    }
    return Disk.of({
      process,
      isAlive: ({ host, pid }) => host === process.host ? this.alive.has(pid) : undefined,
      join: (folder, name) => `${folder}/${name}`,
      split: (path) => [path.slice(0, path.lastIndexOf("/")), path.slice(path.lastIndexOf("/") + 1)],
      realPath: (path) => Effect.sync(() => this.names.has(path) || this.list(path).length > 0 ? path : undefined),
      read: (path) => call("read", path, () => this.names.get(path)?.bytes),
      version: (path) => call("version", path, () => {
        const found = this.names.get(path)
        return found === undefined ? undefined : `${found.number}.${found.version}`
      }),
      modified: (path) => call("stat", path, () => this.names.get(path)?.at),
      renew: (path, bytes) => call("renew", path, () => {
        const found = this.names.get(path)
        if (!isSame(found?.bytes, bytes) || found === undefined) return false
        found.at = this.now()
        return true
      }),
      create: (path, bytes) => call("create", path, () => put(path, { number: ++this.made, bytes, version: 0, at: this.now() })),
      link: (from, to) => call("link", to, () => {
        const found = this.names.get(from)
        return found !== undefined && (this.isLinkless ? this.copy(found, to) : put(to, found))
      }),
      rename: (from, to) => call("rename", from, () => {
        const found = this.names.get(from)
        if (found === undefined) return false
        this.names.delete(from)
        this.names.set(to, found)
        return true
      }),
      remove: (path) => call("remove", path, () => void this.names.delete(path)),
      list: (folder) => call("list", folder, () => this.list(folder)),
      changed: () => Effect.never,
      makeFolder: () => Effect.void,
      syncFolder: () => Effect.void
    })
  }
}

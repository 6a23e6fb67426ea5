/**
 * Watches of files and folders: the first change below a path.
 *
 * A host that watches a whole tree walks it at once, and stops all spaces meanwhile. So on Linux each folder is watched alone,
 * after a walk that yields and looks at a bounded number of entries. Other systems watch a tree without a walk.
 *
 * @module
 */
import { stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { Channel } from "systole"
import type { Jail } from "../channel/Jail.ts"
import * as FolderWatcher from "./FolderWatcher.ts"
import * as Temporary from "./Temporary.ts"
import { Tree } from "./Tree.ts"

/** The most watches in progress. */
const WATCHES = 32

/** Whether the system watches a tree by itself. */
const isNative = process.platform !== "linux"

/** A watch in progress: its watchers, and the first change. */
class Watch {
  readonly changed: Promise<string>
  isOver = false
  private readonly ends: Array<() => void> = []
  private readonly end: (settle: () => void) => void
  private readonly settle: { readonly resolve: (changed: string) => void; readonly reject: (error: unknown) => void }

  constructor(signal: AbortSignal) {
    const { promise, reject, resolve } = Promise.withResolvers<string>()
    const stop = (): void => this.end(() => reject(signal.reason))
    this.changed = promise
    // The walk may fail first, and leaves this without a listener.
    promise.catch(() => {})
    this.settle = { resolve, reject }
    this.end = (settle) => {
      this.isOver = true
      signal.removeEventListener("abort", stop)
      for (const end of this.ends.splice(0)) end()
      settle()
    }
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
  }

  /** Hears changes of a file or folder. `nameOf` is the changed path by the name that the host tells; `undefined` for no change. */
  add(real: string, nameOf: (name: string) => string | undefined, recursive = false): void {
    if (this.isOver) return
    this.ends.push(FolderWatcher.start(real, recursive, {
      changed: (name) => {
        const changed = nameOf(name)
        if (changed !== undefined) this.end(() => this.settle.resolve(changed))
      },
      failed: (error) => this.end(() => this.settle.reject(error))
    }))
  }

  close(): void {
    this.end(() => {})
  }
}

const joined = (path: string, below: string): string => path === "" || below === "" ? path + below : `${path}/${below}`

/** Whether a folder was removed or replaced while a walk was under way. */
const isGone = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR", "file/refused"].includes(String((error as { readonly code?: unknown }).code))

/** The changed path below a folder. Files of unfinished writes do not count. */
const below = (path: string) => (name: string): string | undefined =>
  name.split("/").some(Temporary.is) ? undefined : joined(path, name)

/** The watches of a channel. */
export class Watches {
  private count = 0
  private readonly jail: Jail
  private readonly maxEntries: number

  constructor(jail: Jail, maxEntries: number) {
    this.jail = jail
    this.maxEntries = maxEntries
  }

  /** Waits for the first change below a path, from the time on at which all of it is watched. */
  async first(path: string, signal: AbortSignal): Promise<string> {
    const { target } = await this.jail.locate(path)
    const isFolder = (await stat(target)).isDirectory()
    if (this.count >= WATCHES) {
      const reason = `${WATCHES} watches are in progress, which is the limit; try again later`
      throw Channel.fail("file/watches", reason, { errno: -11, retryable: true })
    }
    this.count++
    const watch = new Watch(signal)
    try {
      await (isFolder ? this.follow(watch, path, { target, signal }) : this.followFile(watch, path, target))
      return await watch.changed
    } finally {
      watch.close()
      this.count--
    }
  }

  /** A file is replaced by a rename, so its folder tells of it. */
  private followFile(watch: Watch, path: string, target: string): Promise<void> {
    const file = basename(target)
    return this.jail.within(path, dirname(target), async () =>
      watch.add(dirname(target), (name) => name === file ? path : undefined))
  }

  /** Watches each folder before its entries are read, so that a folder that is made meanwhile is a change. */
  private async follow(watch: Watch, path: string, { signal, target }: { readonly target: string; readonly signal: AbortSignal }) {
    if (isNative) return this.jail.within(path, target, async () => watch.add(target, below(path), true))
    const tree = new Tree(this.jail, this.maxEntries, signal)
    const folders = [{ path, real: target }]
    for (let next = folders.pop(); next !== undefined && !watch.isOver; next = folders.pop()) {
      const { path, real } = next
      const entries = await tree.entries(path, real, () => watch.add(real, below(path))).catch((error: unknown) => {
        // The folder above is watched and tells of it.
        if (real !== target && isGone(error)) return []
        throw error
      })
      for (const { kind, name } of entries) if (kind === "folder") folders.push({ path: joined(path, name), real: join(real, name) })
    }
  }
}

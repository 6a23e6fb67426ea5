/**
 * The folders of all loaded modules, and their changes.
 *
 * The host tells most changes. Some mounts, such as those of a network or of a container, tell none, so there is a look each
 * minute, too.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { existsSync, type FSWatcher, watch } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"

/** The time between two looks. */
const LOOK = "1 minute"

/** The names in a folder, with the times and sizes of files, as a text. */
const stateOf = async (folder: string): Promise<string> => {
  const names = await readdir(folder).catch(() => [])
  const stats = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)))
  return JSON.stringify(stats.map((found, i) => found?.isFile() === true ? [names[i], found.mtimeMs, found.size] : names[i]))
}

/** Watches a folder through the host, which may tell the name of the changed file in it. */
type Watch = (folder: string, tell: (event: string, name: string | null) => void) => FSWatcher

/** The quiet period after a change: an editor may write a file in several steps, and save several files. */
const QUIET = "50 millis"

/** The most changed files that are remembered. */
const MAX_CHANGED = 100

/** Files that changed, none at the start of the watch, and the time of the first change in milliseconds of the monotonic clock. */
export interface ChangedFiles {
  /** Their paths, with those of later changes, which a load that began before may have met. */
  readonly paths: () => ReadonlyArray<string>
  readonly since: number
}

/** The folders of all loaded modules. They are watched while {@link changes} is consumed, which begins with a change of no file. */
export class WatchedFolders {
  readonly #folders = new Set<string>()
  readonly #states = new Map<string, string>()
  readonly #host: Watch
  #watch: ((folder: string) => void) | undefined
  /** The changes that were not emitted yet. */
  #changed: { readonly paths: Set<string>; readonly since: number } | undefined

  constructor(host: Watch = watch) {
    this.#host = host
  }

  add(folder: string): void {
    if (this.#folders.has(folder)) return
    this.#folders.add(folder)
    this.#watch?.(folder)
  }

  /** Whether a folder has changed since the look before. The first look at a folder finds no change. */
  async #look(): Promise<boolean> {
    let isChanged = false
    for (const folder of this.#folders) {
      const [before, state] = [this.#states.get(folder), await stateOf(folder)]
      this.#states.set(folder, state)
      if (before === undefined || before === state) continue
      isChanged = true
      this.#note(folder)
    }
    return isChanged
  }

  #note(path?: string): void {
    const { paths } = this.#changed ??= { paths: new Set(), since: performance.now() }
    if (path !== undefined && paths.size < MAX_CHANGED) paths.add(path)
  }

  #take(): ReadonlyArray<ChangedFiles> {
    const changed = this.#changed
    this.#changed = undefined
    if (changed === undefined) return []
    return [{ paths: () => [...new Set([...changed.paths, ...this.#changed?.paths ?? []])], since: changed.since }]
  }

  /** The changes that the host tells. */
  readonly #told: Stream.Stream<void> = Stream.callback<void>((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const watchers: Array<FSWatcher> = []
        this.#watch = (folder) => {
          if (!existsSync(folder)) return void this.#folders.delete(folder)
          const watcher = this.#host(folder, (_, name) => {
            // The first signal makes the folder of the data. A hidden file that a module imports is found by a look.
            if (name?.startsWith(".") === true) return
            this.#note(name === null ? folder : join(folder, name))
            Queue.offerUnsafe(queue, undefined)
          })
          watchers.push(watcher.on("error", () => watcher.close()))
        }
        this.#folders.forEach(this.#watch)
        // A file that changed after it was loaded, and before it was watched, is told by nobody.
        this.#note()
        Queue.offerUnsafe(queue, undefined)
        return watchers
      }),
      (watchers) => Effect.sync(() => {
        this.#watch = undefined
        for (const watcher of watchers) watcher.close()
      })
    ), { bufferSize: 1, strategy: "dropping" })

  readonly changes: Stream.Stream<ChangedFiles> = Stream.merge(
    this.#told,
    Stream.tick(LOOK).pipe(
      Stream.mapEffect(() => Effect.promise(() => this.#look())),
      Stream.filter((isChanged) => isChanged),
      Stream.map(() => undefined)
    )
  ).pipe(Stream.debounce(QUIET), Stream.flatMap(() => Stream.fromIterable(this.#take())))
}

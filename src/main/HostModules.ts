/**
 * Imports modules from files, on hosts that can import while running.
 *
 * Each bundle is written once under the name of its hash and imported from
 * there, so a changed module is a new module on every host.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import { existsSync, type FSWatcher, watch } from "node:fs"
import { mkdir, readdir, rename, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { type LoadedModule, ModuleBroken, ModuleHost } from "../loader/ModuleHost.ts"
import { Hash } from "../persistence/Hash.ts"
import * as Installation from "./Installation.ts"
import * as SourceMaps from "./SourceMaps.ts"

/** The project's folder for imported bundles. */
export const FOLDER = join(".systole", "modules")

/** How many old modules a process brings back: hosts never let go of any. */
const MAX_RECALLED = 1000

/**
 * The modules of the project in a folder.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (root: string): Layer.Layer<ModuleHost, never, Hash> =>
  Layer.effect(ModuleHost, Effect.map(Hash, (hash) => {
    const sight = new Sight()
    const recalled = new Set<string>()
    return ModuleHost.of({
      files: (folder) => attempt(folder, () => list(join(root, folder), (watched) => sight.add(watched))),
      load: (file) => attempt(file, async () => {
        const { hostImports, place, ...bundled } = await bundle({ root, hash, sight }, file)
        return { file, module: await bring(file, place), ...bundled, hostImports }
      }),
      recall: (digest, text) => attempt(`/cas/${digest}`, () => recall({ root, recalled }, digest, text)),
      changes: sight.changes
    })
  }))

/** What loading goes by. */
interface Site {
  readonly root: string
  readonly hash: Hash["Service"]
  readonly sight?: Sight
}

/** A module's bundle, and the file from which it is imported. */
export interface Bundled extends Omit<LoadedModule, "file" | "module"> {
  readonly place: string
}

/** Runs a step of loading; its failure is the module's. */
export const attempt = <A>(file: string, run: () => Promise<A>): Effect.Effect<A, ModuleBroken> =>
  Effect.tryPromise({ try: run, catch: (error) => error instanceof ModuleBroken ? error : new ModuleBroken({ file, reason: describe(error) }) })

/** The names of the files in a folder; `undefined` where there is none. */
export const list = async (folder: string, looksAt: (folder: string) => void = () => {}): Promise<ReadonlyArray<string> | undefined> => {
  looksAt(dirname(folder))
  looksAt(folder)
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Bundles a module into a file, and imports nothing. */
export const bundle = async ({ hash, root, sight }: Site, file: string): Promise<Bundled> => {
  const Bundle = await import("./Bundle.ts")
  const path = Installation.pluginFile(file) ?? join(root, file)
  await stat(path).catch(() => {
    throw new ModuleBroken({ file, reason: "there is no such file" })
  })
  const { files, hostImports, located, map, text } = await Bundle.make(path, root).catch((error: unknown) => {
    throw new ModuleBroken({ file, reason: Bundle.explain(error) })
  })
  for (const input of files) sight?.add(dirname(input))
  const digest = hash.hex(text)
  await keep(root, `${digest}.mjs.map`, map)
  return { place: await keep(root, `${digest}.mjs`, located), hash: digest, text, hostImports }
}

/** Imports a bundle's text once more, from the same place, with its packages where they lie now. */
const recall = async ({ recalled, root }: { readonly root: string; readonly recalled: Set<string> }, digest: string, text: string): Promise<LoadedModule> => {
  const file = `/cas/${digest}`
  if (recalled.add(digest).size > MAX_RECALLED) {
    throw new ModuleBroken({ file, reason: `this process has brought back ${MAX_RECALLED} modules and lets go of none. Start another` })
  }
  const Bundle = await import("./Bundle.ts")
  const located = await Bundle.locate(text, root).catch((error: unknown) => {
    throw new ModuleBroken({ file, reason: Bundle.explain(error) })
  })
  return { file, module: await bring(file, await keep(root, `${digest}.mjs`, located)), hash: digest, text, hostImports: [] }
}

/** The default export of a bundle. */
export const bring = async (file: string, place: string): Promise<unknown> => {
  const imported = await import(/* @vite-ignore */ pathToFileURL(place).href).catch((error: unknown) => {
    const source = SourceMaps.place(error)
    throw new ModuleBroken({ file, reason: `it fails while it is loaded: ${describe(error)}${source === undefined ? "" : ` at ${source}`}` })
  }) as { readonly default?: unknown }
  return imported.default
}

/** Writes a file beside its place and moves it there, so that another process never reads half of one. */
export const keep = async (root: string, name: string, text: string): Promise<string> => {
  const folder = join(root, FOLDER)
  const place = join(folder, name)
  const draft = `${place}.${randomUUID()}`
  await mkdir(folder, { recursive: true })
  await writeFile(draft, text)
  await rename(draft, place)
  return place
}

/** The folders that modules came from, watched for as long as somebody wants to know of changes. */
class Sight {
  readonly #folders = new Set<string>()
  #watch: ((folder: string) => void) | undefined

  add(folder: string): void {
    if (this.#folders.has(folder)) return
    this.#folders.add(folder)
    this.#watch?.(folder)
  }

  readonly changes: Stream.Stream<void> = Stream.callback<void>((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const watchers: Array<FSWatcher> = []
        this.#watch = (folder) => {
          if (!existsSync(folder)) return void this.#folders.delete(folder)
          const watcher = watch(folder, () => void Queue.offerUnsafe(queue, undefined))
          watchers.push(watcher.on("error", () => watcher.close()))
        }
        this.#folders.forEach(this.#watch)
        return watchers
      }),
      (watchers) => Effect.sync(() => {
        this.#watch = undefined
        for (const watcher of watchers) watcher.close()
      })
    ), { bufferSize: 1, strategy: "dropping" })
}

const describe = (error: unknown): string => error instanceof Error ? `${error.name}: ${error.message}` : String(error)

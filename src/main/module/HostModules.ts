/**
 * The module host for hosts with dynamic import: Node, Deno and Bun.
 *
 * Each bundle is written to a file named by its hash and imported from there. A changed module therefore has a new URL.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { existsSync } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import { pathToFileURL } from "node:url"
import { exportsOf, type LoadedModule, ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"
import { Hash } from "../../persistence/Hash.ts"
import type * as Bundle from "./Bundle.ts"
import * as Installation from "./Installation.ts"
import { KnownModules } from "./KnownModules.ts"
import * as ModuleFolder from "./ModuleFolder.ts"
import * as RegularFiles from "./RegularFiles.ts"
import * as SourceMaps from "./SourceMaps.ts"
import { WatchedFolders } from "./WatchedFolders.ts"

/** The maximum number of modules that a process imports from history. Hosts never unload a module. */
const MAX_RESTORED = 1000

/**
 * The module host of the project at `root`. One that passes keeps no bundle in the project.
 */
export const layer = (root: string, isPassing: boolean = false): Layer.Layer<ModuleHost, never, Hash> =>
  Layer.effect(ModuleHost, Effect.gen(function*() {
    const hash = yield* Hash
    const home = isPassing ? yield* ModuleFolder.passing : root
    const watched = new WatchedFolders()
    const known = new KnownModules<LoadedModule>()
    const restored = new Set<string>()
    yield* bundler
    return ModuleHost.of({
      files: (folder) => attempt(folder, () => list(join(root, folder), (path) => isWithin(root, path) && watched.add(path))),
      load: (file) => attempt(file, () => known.load(Installation.pluginFile(file) ?? join(root, file), async () => {
        const { inputs, place, ...bundled } = await made({ root, home, hash, watched }, file)
        const value = { file, ...await importExports(file, { place, text: bundled.text }), ...bundled }
        return { value, inputs, outputs: [place, `${place}.map`] }
      })),
      restore: (digest, text) => attempt(`/cas/${digest}`, () => restore({ root, home, restored }, digest, text)),
      changes: Stream.map(watched.changes, ({ paths, since }) => ({
        files: () => paths().map((path) => relative(root, path).split(sep).join("/")),
        age: () => performance.now() - since
      }))
    })
  }))

const isWithin = (root: string, path: string): boolean => !relative(root, path).startsWith("..")

/** The number of module hosts of this process, whose builds one process of the bundler makes. */
let hosts = 0

/** Ends the process of the bundler with the last module host, whatever it does. */
const bundler = Effect.acquireRelease(
  Effect.sync(() => hosts++),
  () => Effect.promise(async () => {
    if (--hosts === 0) await (await import("./Bundle.ts")).stop()
  })
)

/** The context of loading a module. */
interface LoadContext {
  readonly root: string
  /** The folder below which the bundles are; by default the project. */
  readonly home?: string
  readonly hash: Hash["Service"]
  readonly watched?: WatchedFolders
}

/** The bundle of a module, and the file from which it is imported. */
export interface BundledModule extends Omit<LoadedModule, "file" | "module" | "typed"> {
  readonly place: string
}

/** Runs a loading step. Its failure becomes {@link ModuleBroken}. */
export const attempt = <A>(file: string, run: () => Promise<A>): Effect.Effect<A, ModuleBroken> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => error instanceof ModuleBroken ? error : new ModuleBroken({ file, reason: describe(error) })
  })

/** The names of the files in a folder; `undefined` if the folder is absent. */
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

/** Bundles a module into a file without importing it. */
export const bundle = async (context: LoadContext, file: string): Promise<BundledModule> => {
  const { inputs: _, ...bundled } = await made(context, file)
  return bundled
}

/** A bundle with the files that it is made of; `undefined` if they are not all known. */
const made = async (
  { hash, root, home = root, watched }: LoadContext,
  file: string
): Promise<BundledModule & { readonly inputs: ReadonlyArray<string> | undefined }> => {
  const Bundle = await import("./Bundle.ts")
  const path = Installation.pluginFile(file) ?? join(root, file)
  await stat(path).catch(() => {
    throw new ModuleBroken({ file, reason: "there is no such file" })
  })
  const { files, hostImports, isAliased, located, map, packages, text } = await Bundle.make(path, root).catch((error: unknown) => {
    throw new ModuleBroken({ file, ...Bundle.explain(error, { root, from: dirname(path) }) })
  })
  for (const folder of new Set(files.map(dirname))) watched?.add(folder)
  for (const setting of RegularFiles.settingsOf([dirname(path)])) {
    if (isWithin(root, setting) && existsSync(setting)) watched?.add(dirname(setting))
  }
  const digest = hash.hex(text)
  await ModuleFolder.write(home, `${digest}.mjs.map`, map)
  const place = await ModuleFolder.write(home, `${digest}.mjs`, located)
  return { place, hash: digest, text, hostImports, inputs: isAliased ? undefined : [...files, ...packages] }
}

/** Imports the text of a stored bundle, with the current paths of its packages. */
const restore = async (
  { home, restored, root }: { readonly root: string; readonly home: string; readonly restored: Set<string> },
  digest: string,
  text: string | undefined
): Promise<LoadedModule> => {
  const file = `/cas/${digest}`
  if (text === undefined) throw new ModuleBroken({ file, reason: "the store has no text of it" })
  if (restored.add(digest).size > MAX_RESTORED) {
    throw new ModuleBroken({ file, reason: `this process has brought back ${MAX_RESTORED} modules and lets go of none. Start another` })
  }
  const Bundle = await import("./Bundle.ts")
  const located = await Bundle.locate(text, root).catch((error: unknown) => {
    throw new ModuleBroken({ file, ...Bundle.explain(error, { root, from: root }) })
  })
  const place = await ModuleFolder.write(home, `${digest}.mjs`, located)
  const { module } = await importExports(file, { place, text })
  return { file, module, hash: digest, text, hostImports: [] }
}

/** The exports of a bundle. */
export const importExports = async (
  file: string,
  { place, text }: Pick<BundledModule, "place" | "text">
): Promise<Pick<LoadedModule, "module" | "typed">> => {
  const imported = await import(/* @vite-ignore */ pathToFileURL(place).href).catch(async (error: unknown) => {
    const { places, reason } = await whyNot(error, place, text)
    throw new ModuleBroken({ file, reason: `it fails while it is loaded: ${reason}`, places })
  }) as { readonly default?: unknown }
  return exportsOf(imported)
}

/** The reason why a bundle cannot be imported. */
const whyNot = async (error: unknown, place: string, text: string | undefined): Promise<Bundle.BuildFailure> => {
  if (error instanceof SyntaxError && text !== undefined) {
    const { find } = await import("./MissingExports.ts")
    const missing = await find(place, text)
    if (missing.length > 0) {
      return { reason: missing.map(({ reason }) => reason).join("; "), places: missing.flatMap(({ places }) => places) }
    }
  }
  const at = SourceMaps.place(error)
  return { reason: `${describe(error)}${at === undefined ? "" : ` at ${at.place}`}`, places: at === undefined ? [] : [at] }
}

const describe = (error: unknown): string => error instanceof Error ? `${error.name}: ${error.message}` : String(error)

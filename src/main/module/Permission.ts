/**
 * Node's permission model: a server whose modules cannot access files outside its project.
 *
 * Such a process must not start the bundler, which is a separate program. The command therefore bundles all modules
 * first. Then it replaces itself by the same command under `--permission`, which imports the bundles.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { existsSync, mkdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as Config from "../../loader/Config.ts"
import * as Loader from "../../loader/Loader.ts"
import { ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"
import { Hash } from "../../persistence/Hash.ts"
import * as Page from "../../loader/Page.ts"
import * as HostModules from "./HostModules.ts"
import * as ModuleFolder from "./ModuleFolder.ts"
import * as PageModules from "./PageModules.ts"

/** The file that lists the bundles by their source files. */
const MANIFEST = "bundled.json"

/** The file with the modules of pages: the text of each, or the reason for its absence. */
const PAGES = "pages.json"

type PageEntries = Readonly<Record<string, { readonly text: string } | { readonly reason: string }>>

/** A bundle, or the reason for its absence. */
type ManifestEntry = HostModules.BundledModule | { readonly reason: string }

/**
 * Whether this process runs under the permission model.
 */
export const isActive = (): boolean => process.permission !== undefined

/**
 * The module host of a process under the permission model. It imports the bundles made before.
 */
export const bundled = (root: string): Layer.Layer<ModuleHost> => {
  const place = (name: string) => join(root, ModuleFolder.FOLDER, name)
  let manifest: Promise<Readonly<Record<string, ManifestEntry>>> | undefined
  const load = async (file: string) => {
    manifest ??= readFile(place(MANIFEST), "utf8").then((text) => JSON.parse(text) as Readonly<Record<string, ManifestEntry>>)
    const line = (await manifest)[file]
    if (line === undefined) throw new ModuleBroken({
      file,
      reason: `${join(root, file)} came after the start. Under --permission no program may run, ` +
        "so modules are bundled at the start alone. Start the server again to load it"
    })
    if ("reason" in line) throw new ModuleBroken({ file, reason: line.reason })
    const { place: from, ...rest } = line
    return { file, ...await HostModules.importExports(file, { place: from, text: rest.text }), ...rest }
  }
  const restore = async (hash: string, text: string | undefined) => {
    const file = `/cas/${hash}`
    const from = place(`${hash}.mjs`)
    if (!existsSync(from)) throw new ModuleBroken({
      file,
      reason: `an old beat ran this code, and ${from} is not there. Under --permission no program may run, ` +
        "so code of earlier versions is not bundled. Start the server without --permission to verify, replay or explain that beat"
    })
    const { module } = await HostModules.importExports(file, { place: from, text })
    return { file, module, hash, text, hostImports: [] }
  }
  return Layer.succeed(ModuleHost, {
    files: (folder) => HostModules.attempt(folder, () => HostModules.list(join(root, folder))),
    load: (file) => HostModules.attempt(file, () => load(file)),
    restore: (hash, text) => HostModules.attempt(`/cas/${hash}`, () => restore(hash, text)),
    changes: Stream.empty
  })
}

/** The module of a page from the bundles made before. */
export const pageModule: PageModules.PageModule = async ({ root }, file) => {
  const entries = JSON.parse(await readFile(join(root, ModuleFolder.FOLDER, PAGES), "utf8")) as PageEntries
  const entry = entries[file] ?? { reason: "it was not bundled at the start. Start the server again" }
  if ("reason" in entry) throw new ModuleBroken({ file, reason: entry.reason })
  return entry.text
}

/** Bundles the modules of all pages. */
const bundlePages = async (root: string, pages: Page.Pages): Promise<void> => {
  const entries = await Promise.all(Page.modulesOf(pages).map(async (file) => [
    file,
    await PageModules.bundle({ root, isReadable: false }, file).then((text) => ({ text }), ({ reason }: ModuleBroken) => ({ reason }))
  ] as const))
  await ModuleFolder.write(root, PAGES, JSON.stringify(Object.fromEntries(entries)))
}

/** Bundles all modules of a project without importing them. */
const bundleAll = Effect.fn("Permission.bundleAll")(function*(root: string, sources: Loader.Sources) {
  const hash = yield* Hash
  const lines: Record<string, ManifestEntry> = {}
  const host = ModuleHost.of({
    files: (folder) => HostModules.attempt(folder, () => HostModules.list(join(root, folder))),
    load: (file) =>
      Effect.result(HostModules.attempt(file, () => HostModules.bundle({ root, hash }, file))).pipe(
        Effect.flatMap((made) => {
          lines[file] = Result.isSuccess(made) ? made.success : { reason: made.failure.reason }
          return Effect.fail(new ModuleBroken({ file, reason: "it is only bundled" }))
        })
      ),
    restore: (digest) => Effect.fail(new ModuleBroken({ file: digest, reason: "it is only bundled" })),
    changes: Stream.empty
  })
  if ((yield* host.files("."))?.includes(Config.FILE) === true) yield* Effect.ignore(host.load(Config.FILE))
  yield* Loader.load(sources).pipe(Effect.provideService(ModuleHost, host))
  yield* Effect.promise(() => ModuleFolder.write(root, MANIFEST, JSON.stringify(lines)))
})

/**
 * Replaces this process by the same command under the permission model.
 *
 * The new process may read the project, the packages and the data folder, and write the data folder. It may start no
 * program and no thread.
 */
export const enter = Effect.fn("Permission.enter")(function*(root: string, config: Config.Config, sources: Loader.Sources) {
  yield* bundleAll(root, sources)
  yield* Effect.promise(() => bundlePages(root, config.pages))
  const esbuild = yield* Effect.promise(() => import("esbuild"))
  yield* Effect.promise(() => Promise.resolve(esbuild.stop()))
  const data = resolve(root, config.data)
  mkdirSync(data, { recursive: true })
  const readable = new Set([root, data, ...packages(root), ...packages(dirname(fileURLToPath(import.meta.url)))])
  const args = ["--permission", ...[...readable].map((folder) => `--allow-fs-read=${folder}`), `--allow-fs-write=${data}`]
  if (process.allowedNodeEnvironmentFlags.has("--allow-net")) args.push("--allow-net")
  const environment = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<string, string>
  process.execve!(process.execPath, [process.execPath, ...process.execArgv, ...args, ...process.argv.slice(1)], environment)
})

/** The folders that imports from `folder` may read: each `node_modules` above it, and its own package. */
const packages = (folder: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let own: string | undefined
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, "node_modules"))) found.push(join(at, "node_modules"))
    if (own === undefined && existsSync(join(at, "package.json"))) own = at
  }
  return own === undefined ? found : [own, ...found]
}

/**
 * The build of a project: a folder with one bundle of its modules, its configuration and the runtime.
 *
 * The bundle contains each module as the text whose digest stands in the journal, so a build and the sources make the same journal
 * from the same input. It contains no token.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import process from "node:process"
import { gzipSync } from "node:zlib"
import * as Redacted from "../../cell/Redacted.ts"
import type * as Host from "../../cli/Host.ts"
import { names } from "../../ledger/SliceTable.ts"
import * as Config from "../../loader/Config.ts"
import * as Loader from "../../loader/Loader.ts"
import { type LoadedModule, type ModuleBroken, ModuleHost } from "../../loader/ModuleHost.ts"
import * as Page from "../../loader/Page.ts"
import * as Secrets from "../../loader/Secrets.ts"
import * as Webhook from "../../loader/Webhook.ts"
import { Hash } from "../../persistence/Hash.ts"
import * as BuildBundle from "./BuildBundle.ts"
import * as BuildFolder from "./BuildFolder.ts"
import type { Contents, Module } from "./BuildContents.ts"
import * as BuildPages from "./BuildPages.ts"
import * as BuildReference from "./BuildReference.ts"
import * as BuildTarget from "./BuildTarget.ts"
import * as Bundle from "../module/Bundle.ts"
import * as PageModules from "../module/PageModules.ts"
import * as PluginCommands from "../composition/PluginCommands.ts"
import * as Project from "../composition/Project.ts"

/**
 * A project cannot be built. Nothing was written, unless the folder of the build failed meanwhile.
 */
export class BuildRefused extends Data.TaggedError("BuildRefused")<{ readonly code: string; readonly message: string }> {}

/** A project to build. */
export interface Site {
  readonly root: string
  /** The version of the runtime. */
  readonly version: string
  /** The default export of the configuration's file; `undefined` without a file. */
  readonly definition: unknown
  /** The plugins whose settings it may have. */
  readonly parts: Config.Parts
}

const refuse = (code: string, message: string) => Effect.fail(new BuildRefused({ code, message }))

const unbundled = (reason: string) => refuse("build/bundle", `The bundle cannot be made: ${reason}. See to that import`)

/** Uses the folder of a build. */
const inFolder = <A>(out: string, use: () => Promise<A>): Effect.Effect<A, BuildRefused> =>
  Effect.tryPromise({ try: use, catch: (error) => error as Error }).pipe(Effect.catch(({ message }) =>
    refuse("build/folder", `${out} cannot hold a build: ${message}. Name another folder with --out`)))

/**
 * Builds a project into a folder of its own, which may hold an earlier build.
 */
export const build = Effect.fn("Build.build")(function*(
  site: Site,
  request: Host.BuildRequest
): Effect.fn.Return<Host.Build, BuildRefused | Config.InvalidConfig | ModuleBroken, Hash | ModuleHost> {
  const { root } = site
  const target = BuildTarget.targets[request.target]
  const folder = resolve(root, request.out)
  const unset = target.kept?.(basename(root), { content: undefined })
  const foreign = yield* inFolder(request.out, () => BuildFolder.foreign(folder, unset))
  if (foreign !== undefined) {
    return yield* refuse("build/folder", `${request.out} holds ${foreign}, which is of no build. Name an empty folder with --out`)
  }
  const contents = yield* gather(site, request, target)
  const kept = target.kept?.(basename(root), contents.settings)
  const { outputs, parts, slices } = yield* Effect.tryPromise({
    try: () => BuildBundle.make(root, target, contents),
    catch: (error) => Bundle.explain(error, { root, from: root }).reason
  }).pipe(Effect.catch(unbundled))
  const assets = target.hasStorage ? [...BuildReference.files(contents.slices), ...BuildPages.files(contents)] : []
  const texts = [...contents.modules, ...contents.kept].map(({ hash, text }) => ({ file: `modules/${hash}.mjs`, contents: text }))
  const decoder = new TextDecoder()
  const written = [...outputs.map(({ contents }) => decoder.decode(contents)), ...[...texts, ...assets].map(({ contents }) => contents)]
  yield* checkSecrets(yield* allSettings(site, contents.settings), written)
  const described = [...BuildTarget.describe(target, contents), ...assets]
  const notes = yield* inFolder(request.out, () => BuildFolder.write(folder, { outputs, described, texts, kept }))
  return {
    target: request.target,
    out: request.out,
    slices,
    modules: Object.fromEntries(contents.modules.map(({ file, hash }) => [file, hash])),
    kept: contents.kept.map(({ hash }) => hash),
    files: outputs.map(({ contents, file }) => ({ file, bytes: contents.length, gzip: gzipSync(contents, { level: 9 }).length })),
    parts,
    notes: [...notes, ...BuildTarget.notes(target, contents, request.out)]
  }
})

/** Loads and checks the modules of a project, and reads the kept ones. */
const gather = Effect.fnUntraced(function*(site: Site, request: Host.BuildRequest, target: BuildTarget.Target) {
  const { definition, parts, root, version } = site
  const { environment } = request
  const settings = yield* Config.settings(definition, { environment, parts })
  const unplain = BuildTarget.unplain(settings)
  if (unplain !== undefined) {
    const message = `${unplain} is no plain JSON, and a build contains the configuration as JSON. Put it into a plugin`
    return yield* refuse("build/option", message)
  }
  const host = yield* ModuleHost
  const loaded = new Map<string, LoadedModule>()
  const recording = ModuleHost.of({
    ...host,
    load: (file) => Effect.tap(host.load(file), (module) => Effect.sync(() => loaded.set(file, module)))
  })
  const sources = Project.sourcesOf(settings)
  const required = sources.required.filter((name) => !target.hasStorage || name !== settings.persistence.use)
  const found = yield* Loader.load({ ...sources, required }).pipe(Effect.provideService(ModuleHost, recording))
  if (found.broken.length > 0) return yield* refuse("module/broken", found.broken.map(({ message }) => message).join("\n"))
  if (!target.hasStorage) yield* Loader.persistence(found, settings.persistence.use)
  const modules = [...loaded.values()].map(withText)
  const bound = target.hasHostModules ? undefined : modules.find(({ hostImports }) => hostImports.length > 0)
  if (bound !== undefined) {
    return yield* refuse("build/host", `${bound.file} imports ${bound.hostImports.join(", ")}, which ${target.name} has not. Leave it out`)
  }
  const { access, ingress } = settings
  const hasFunctions = Object.keys(settings.pages).length + Object.keys(ingress).length > 0 || Object.keys(access).length > 0
  const pages = hasFunctions ? withText(yield* host.load(Config.FILE)) : undefined
  const scripts = yield* Effect.forEach(Page.modulesOf(settings.pages), (file) =>
    Effect.tryPromise({
      try: async () => [file, await PageModules.bundle({ root, isReadable: false }, file)] as const,
      catch: (error) => error as ModuleBroken
    }))
  const kept = yield* Effect.forEach(request.keep, (hash) => keep(resolve(root, request.out), hash))
  const slices = names.filter((name) => !settings.without.includes(name))
  const isTyped = kept.length > 0 || declaresType(found)
  const hasCron = kept.length > 0 || readsCron(found) || modules.some(({ text }) => Bundle.hasImport(text, "systole/time"))
  const shown = { pages, scripts: Object.fromEntries(scripts) }
  const declared = target.hasCommands ? found.plugins.flatMap(({ file, plugin }) => PluginCommands.declaredBy(file, plugin)) : []
  const commands = yield* Effect.forEach(declared, (each) =>
    Effect.map(Effect.andThen(PluginCommands.importOf(each), host.load(each.file)), withText))
  const contents: Contents = { version, environment, settings, slices, modules, commands, ...shown, isTyped, hasCron, kept }
  return contents
})

const declaresType = ({ enzymes, nodes }: Loader.LoadedModules): boolean =>
  [...enzymes.map(({ enzyme }) => enzyme), ...nodes.map(({ node }) => node)]
    .some(({ declares }) => declares.some(({ declared }) => declared !== undefined))

const readsCron = ({ enzymes }: Loader.LoadedModules): boolean =>
  enzymes.some(({ enzyme: { schedule } }) => schedule !== undefined && "cron" in schedule)

const withText = ({ file, hash, hostImports, text = "", typed = {} }: LoadedModule): Module =>
  ({ file, hash, hostImports, text, typed: Object.keys(typed) })

/** Reads the text of an earlier module from the texts of earlier builds in the folder. */
const keep = Effect.fnUntraced(function*(folder: string, hash: string) {
  const place = join(folder, "modules", `${hash}.mjs`)
  const { hex } = yield* Hash
  const text = yield* Effect.promise(() => readFile(place, "utf8").catch(() => undefined))
  if (text !== undefined && hex(text) === hash) return { hash, text }
  return yield* refuse(
    "build/kept",
    `${place} ${text === undefined ? "is not there" : "is another text"}. Copy it from the build that had it, ` +
      `or fetch it: GET /v1/spaces/SPACE/blobs/${hash} of a server with an open run of it`
  )
})

/** The settings of a build, and those of its project in each environment: the text of a module may contain all of them. */
const allSettings = (
  { definition, parts }: Site,
  built: Config.Settings
): Effect.Effect<ReadonlyArray<Config.Settings>, Config.InvalidConfig> => {
  const { environments = {} } = (definition ?? {}) as Config.Definition
  return Effect.map(
    Effect.forEach([undefined, ...Object.keys(environments)], (environment) => Config.settings(definition, { environment, parts })),
    (others) => [built, ...others]
  )
}

/** The secrets of settings, each with its description. */
const secretsOf = (settings: Config.Settings): ReadonlyArray<readonly [name: string, secret: Redacted.Redacted | undefined]> => [
  ["token", settings.token],
  ...settings.readers.map(({ name, token }) => [`the token of reader "${name}"`, token] as const),
  ...Secrets.namesOf(settings).map((name) => [name, Redacted.given(process.env[name])] as const),
  ...Object.entries(settings.ingress).flatMap(([path, hook]) =>
    Webhook.secretsOf(hook, process.env).map((secret) => [`the secret of the webhook ${path}`, secret] as const))
]

/** A text without the marks of escapes, because a bundle may write a token in any kind of quotes. */
const unescaped = (text: string): string => text.replaceAll("\\", "")

const isIn = (texts: ReadonlyArray<string>, secret: string): boolean =>
  Secrets.TOKEN.test(secret) && texts.some((text) => text.includes(unescaped(secret)))

/** Refuses files that contain a token, which everyone with the build could read. A variable in another form is no token. */
const checkSecrets = (settings: ReadonlyArray<Config.Settings>, files: ReadonlyArray<string>): Effect.Effect<void, BuildRefused> => {
  const texts = files.map(unescaped)
  const [name] = settings.flatMap(secretsOf).find(([, secret]) =>
    secret !== undefined && isIn(texts, Redacted.value(secret))) ?? []
  return name === undefined
    ? Effect.void
    : refuse("build/secret", `${name} stands in a file of the project that the build contains. Give it as an environment variable alone`)
}

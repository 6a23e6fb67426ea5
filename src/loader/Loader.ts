/**
 * The loader of a project's modules. It loads them one by one, so that a broken module does not affect others.
 *
 * Modules of the configured folders load in the order of their names. Their exports are decoded, and each enzyme is
 * registered with the kernel under the hash of its code.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as UnexpectedFailure from "../diagnostic/UnexpectedFailure.ts"
import { CurrentReporter } from "../diagnostic/Reporter.ts"
import { Kernel } from "../kernel/space/Kernel.ts"
import * as Declares from "../registry/Declares.ts"
import * as Enzyme from "../registry/Enzyme.ts"
import type { Provider } from "../registry/Services.ts"
import { clashAmong, type Declarer } from "../registry/SpaceTypes.ts"
import * as Node from "../scheduler/definition/Definition.ts"
import * as Channel from "../reactor/Channel.ts"
import { type Config, FIELDS } from "./Config.ts"
import { InvalidConfig } from "./InvalidConfig.ts"
import { type LoadedModule, ModuleBroken, ModuleHost } from "./ModuleHost.ts"
import * as Plugin from "./Plugin.ts"
import * as PluginConflicts from "./PluginConflicts.ts"
import * as PluginServices from "./PluginServices.ts"

/** The sources of modules. */
export interface Sources {
  /** Folders of enzyme modules. */
  readonly enzymes: ReadonlyArray<string>
  readonly plugins: ReadonlyArray<string>
  /** Names of required plugins; a built-in plugin is used if the project has none of that name. */
  readonly required: ReadonlyArray<string>
  /** The time limit for one module's top level, in milliseconds. */
  readonly millis: number
  /** The names of the enzymes to disable. */
  readonly disabled?: ReadonlyArray<string> | undefined
  /** The commands of the command line, which no plugin may declare. */
  readonly commands?: ReadonlyArray<string>
}

/** An enzyme and its module. */
export interface FoundEnzyme {
  readonly file: string
  readonly hash: string
  readonly text: string | undefined
  readonly enzyme: Enzyme.Enzyme
  /** The providers of its services, once it is registered. */
  readonly services?: ReadonlyArray<Provider>
}

/** A reactive node and its module. */
export interface FoundNode {
  readonly file: string
  readonly hash: string
  readonly text: string | undefined
  readonly node: Node.Definition
}

/** A plugin and its module. */
export interface FoundPlugin {
  readonly file: string
  readonly hash: string
  readonly text: string | undefined
  readonly plugin: Plugin.Plugin
}

/**
 * The loaded modules, valid and broken.
 */
export interface LoadedModules {
  readonly enzymes: ReadonlyArray<FoundEnzyme>
  readonly nodes: ReadonlyArray<FoundNode>
  readonly plugins: ReadonlyArray<FoundPlugin>
  readonly broken: ReadonlyArray<ModuleBroken>
  /** The names of the disabled enzymes. */
  readonly disabled: ReadonlyArray<string>
  /** The services of the plugins, once they are registered. */
  readonly services?: ReadonlyArray<PluginServices.PluginProvider>
}

/** Folders that are searched by default, and so may be absent. */
const conventional = new Set(["enzymes", "plugins"])

const none: LoadedModules = { enzymes: [], nodes: [], plugins: [], broken: [], disabled: [] }

/** The maximum number of modules per folder; a larger folder does not hold modules. */
const MAX_MODULES = 10_000

/** The number of modules that load concurrently, so that several that never settle cost one time limit. */
const LOADING = 8

/**
 * Loads all modules of a project. Broken modules are reported and do not stop the others.
 */
export const load = Effect.fnUntraced(function*(sources: Sources): Effect.fn.Return<LoadedModules, never, ModuleHost> {
  const { millis } = sources
  const fromPlugins = merge(yield* Effect.forEach(sources.plugins, (folder) => loadFolder(folder, millis)))
  const missing = sources.required.filter((name) => !fromPlugins.plugins.some(({ plugin }) => plugin.name === name))
  const firstParty = merge(yield* Effect.forEach(missing, (name) => loadModule(`systole/plugins/${name}`, millis)))
  const fromEnzymes = merge(yield* Effect.forEach(sources.enzymes, (folder) => loadFolder(folder, millis)))
  return admitted({ ...merge([firstParty, fromPlugins, fromEnzymes]), disabled: sources.disabled ?? [] }, sources.commands ?? [])
})

/** The modules without those of plugins that declare what there is already, which are broken. */
const admitted = (found: LoadedModules, commands: ReadonlyArray<string>): LoadedModules =>
  without(found, PluginConflicts.refusals(found.plugins, { commands, fields: FIELDS }))

/** The modules without those of refused plugins, which are broken. */
const without = (found: LoadedModules, refused: ReadonlyArray<ModuleBroken>): LoadedModules => {
  const isIn = ({ file }: { readonly file: string }): boolean => !refused.some((broken) => broken.file === file)
  if (refused.length === 0) return found
  return { ...found, enzymes: found.enzymes.filter(isIn), plugins: found.plugins.filter(isIn), broken: [...found.broken, ...refused] }
}

/**
 * The beginnings of signals that the plugins reserve.
 */
export const reservedSignals = ({ plugins }: LoadedModules): ReadonlyArray<string> => plugins.flatMap(({ plugin }) => plugin.reserved)

/** The modules with the services of their plugins. */
const served = (
  found: LoadedModules,
  before: ReadonlyArray<PluginServices.PluginProvider> = []
): Effect.Effect<LoadedModules, never, Kernel> =>
  Effect.map(PluginServices.build(found.plugins, before), ({ broken, services }) => ({ ...without(found, broken), services }))

/**
 * Builds the services of the plugins, and registers all enzymes and nodes. The ones that are refused are added to the broken
 * modules; all broken modules are reported.
 */
export const register = Effect.fnUntraced(function*(found: LoadedModules): Effect.fn.Return<LoadedModules, never, Kernel> {
  const kernel = yield* Kernel
  const registered = yield* enroll(yield* served(found))
  for (const { file } of registered.broken) yield* kernel.breaks(file)
  yield* tell(registered.broken)
  return registered
})

const tell = Effect.fnUntraced(function*(broken: ReadonlyArray<ModuleBroken>) {
  const reporter = yield* CurrentReporter
  for (const module of broken) reporter.report(UnexpectedFailure.of(module))
})

const enroll = Effect.fnUntraced(function*(found: LoadedModules): Effect.fn.Return<LoadedModules, never, Kernel> {
  const kernel = yield* Kernel
  const refused: Array<ModuleBroken> = []
  const enzymes: Array<FoundEnzyme> = []
  for (const item of found.enzymes) {
    const code = { hash: item.hash, text: item.text, file: item.file }
    if (found.disabled.includes(item.enzyme.name)) {
      const result = yield* Effect.result(kernel.leaveOut(item.enzyme, code))
      if (Result.isSuccess(result)) enzymes.push(item)
      else refused.push(new ModuleBroken({ file: item.file, reason: result.failure.message }))
      continue
    }
    const bound = PluginServices.bindServices(item, found.services ?? [])
    if (Result.isFailure(bound)) {
      refused.push(bound.failure)
      continue
    }
    const { enzyme, services } = bound.success
    const result = yield* Effect.result(kernel.register(enzyme, services.length === 0 ? code : { ...code, services }))
    if (Result.isSuccess(result)) enzymes.push(services.length === 0 ? item : { ...item, enzyme, services })
    else refused.push(new ModuleBroken({ file: item.file, reason: result.failure.message }))
  }
  const nodes: Array<FoundNode> = []
  for (const item of found.nodes) {
    const result = yield* Effect.result(kernel.register(item.node, { hash: item.hash, text: item.text }))
    if (Result.isSuccess(result)) nodes.push(item)
    else refused.push(new ModuleBroken({ file: item.file, reason: result.failure.message }))
  }
  return { ...found, enzymes, nodes, broken: [...found.broken, ...refused] }
})

/**
 * Reloads all modules, and replaces the ones with changed code. A module that is broken now keeps its previous version,
 * and is reported unless it was broken before.
 *
 * The kernel applies all changes at one capture, so no beat sees a part of them. Modules whose declarations contradict each other
 * change nothing: all modules stay as they were.
 */
export const reload = (before: LoadedModules, sources: Sources): Effect.Effect<LoadedModules, never, Kernel | ModuleHost> =>
  // A function of its own, not the result of a call: a build that never reloads leaves it out.
  Effect.gen(function*() {
    const kernel = yield* Kernel
    const now = keptPlugins(before, yield* served(yield* load(sources), before.services))
    const broken = new Set(now.broken.map(({ file }) => file))
    const isSame = (a: FoundEnzyme, b: FoundEnzyme) => a.file === b.file && a.hash === b.hash && a.enzyme.name === b.enzyme.name
    const standing = before.enzymes.filter((old) => broken.has(old.file) || now.enzymes.some((item) => isSame(item, old)))
    const kept = standing.filter((old) => PluginServices.stays(old, now.services))
    const isSameNode = (a: FoundNode, b: FoundNode) => a.file === b.file && a.hash === b.hash && a.node.name === b.node.name
    const keptNodes = before.nodes.filter((old) => broken.has(old.file) || now.nodes.some((item) => isSameNode(item, old)))
    const moved = standing.filter((old) => broken.has(old.file) && !kept.includes(old))
    const newEnzymes = [...moved, ...now.enzymes.filter((item) => !kept.some((old) => isSame(old, item)))]
    const newNodes = now.nodes.filter((item) => !keptNodes.some((old) => isSameNode(old, item)))
    const clash = clashing([...kept, ...keptNodes, ...newEnzymes, ...newNodes])
    if (clash !== undefined) {
      yield* PluginServices.retire(now.services ?? [], before.services ?? [])
      yield* tell(before.broken.some(({ message }) => message === clash.message) ? [] : [clash])
      return { ...before, broken: [...before.broken.filter(({ message }) => message !== clash.message), clash] }
    }
    for (const { enzyme } of before.enzymes.filter((old) => !kept.includes(old))) yield* Effect.ignore(kernel.unregister(enzyme))
    for (const { node } of before.nodes.filter((old) => !keptNodes.includes(old))) yield* Effect.ignore(kernel.unregister(node))
    const swapped = yield* enroll({
      ...now,
      enzymes: newEnzymes,
      nodes: newNodes
    })
    yield* PluginServices.retire(before.services ?? [], now.services ?? [])
    // Done last: signals held for the file would otherwise match no enzyme.
    for (const { file } of before.broken) if (!broken.has(file)) yield* kernel.mends(file)
    yield* tell(swapped.broken.filter(({ message }) => !before.broken.some((old) => old.message === message)))
    return { ...swapped, enzymes: [...kept, ...swapped.enzymes], nodes: [...keptNodes, ...swapped.nodes] }
  })

/** The modules of a load, in which a plugin that is broken now keeps its services of before. */
const keptPlugins = (before: LoadedModules, now: LoadedModules): LoadedModules => {
  const isBroken = ({ file }: PluginServices.PluginProvider): boolean => now.broken.some((broken) => broken.file === file)
  return { ...now, services: [...now.services ?? [], ...(before.services ?? []).filter(isBroken)] }
}

/** The failure of modules that declare contradictory types; `undefined` if they do not. */
const clashing = (modules: ReadonlyArray<FoundEnzyme | FoundNode>): ModuleBroken | undefined => {
  const clash = clashAmong(modules, (item) => "enzyme" in item ? item.enzyme : item.node)
  if (clash === undefined) return undefined
  return new ModuleBroken({ file: clash.module.file, reason: `${clash.reason}. All modules stay as they were` })
}

/**
 * Returns the plugin that provides persistence.
 */
export const persistence = (
  found: LoadedModules,
  name: string
): Effect.Effect<NonNullable<Plugin.Plugin["provides"]["persistence"]>, InvalidConfig> => {
  const named = found.plugins.filter(({ plugin }) => plugin.name === name)
  const provider = named[0]?.plugin.provides.persistence
  if (named.length === 1 && provider !== undefined) return Effect.succeed(provider)
  const files = named.map(({ file }) => file).join(", ")
  const reasons = found.broken.map((broken) => broken.message)
  const advice = `Use "sqlite" or "memory", or put a plugin of that name into a plugins folder`
  const reason = named.length > 1
    ? `several plugins are named "${name}": ${files}. Rename all but one`
    : named.length === 1
    ? `plugin "${name}" in ${files} provides no persistence. Name one that does, such as "sqlite" or "memory"`
    : [`persistence "${name}" is provided by no plugin`, ...reasons, advice].join(". ")
  return Effect.fail(new InvalidConfig({ reason }))
}

/**
 * The names of the plugins that a configuration needs for its channels and its content, and those with settings.
 */
export const requiredBy = ({ channels, content, parts }: Pick<Config, "channels" | "content" | "parts">): ReadonlyArray<string> => {
  const used = [...Object.values(channels), ...content === undefined ? [] : [content]].map(({ use }) => use)
  return [...new Set([...used, ...Object.keys(parts)])]
}

/** The place of a project on its host. */
export type ChannelPlace = Pick<Plugin.ChannelSettings, "root" | "folder" | "host">

/**
 * Makes the channels of a configuration from the providers of the plugins.
 */
export const channels = (
  found: LoadedModules,
  { channels }: Pick<Config, "channels">,
  place: ChannelPlace
): Effect.Effect<ReadonlyArray<Channel.Channel>, InvalidConfig> =>
  Effect.forEach(Object.entries(channels), ([id, { options, use, ...settings }]) => {
    const refuse = (reason: string) => new InvalidConfig({ reason: `channel "${id}": ${reason}` })
    const providers = found.plugins.flatMap(({ plugin }) => plugin.provides.channels?.[use] ?? [])
    const [provider] = providers
    if (provider === undefined || providers.length > 1) {
      const providing = providers.length === 0 ? "no plugin provides" : "several plugins provide"
      return Effect.fail(refuse([`${providing} "${use}"`, ...found.broken.map(({ message }) => message)].join(". ")))
    }
    return Effect.try({
      try: (): Channel.Channel => {
        const channel = { ...provider({ ...place, id, options }), ...settings, id }
        const reason = Channel.refusal(channel)
        if (reason !== undefined) throw new Error(reason)
        if (!channel.hosts.includes(place.host)) throw new Error(`"${use}" works on ${channel.hosts.join(", ")} and not on ${place.host}`)
        return channel
      },
      catch: (error) => refuse(error instanceof Error ? error.message : String(error))
    })
  })

/**
 * Tests whether a file is a module: `*.ts`, `*.js` or `*.mjs`, except for tests, declarations and names with `_` in
 * front.
 */
export const isModule = (name: string): boolean => /^[^_.].*\.(?:ts|js|mjs)$/.test(name) && !/\.(?:test|spec|d)\.[a-z]+$/.test(name)

/**
 * Decodes a module's default export: an enzyme, a node or a plugin, or an array of enzymes and nodes. The families, cells and signals
 * that it exports beside them are declared, too.
 */
export const decode = (loaded: LoadedModule): Result.Result<LoadedModules, ModuleBroken> => {
  const { file, hash, module, text } = loaded
  const refuse = (reason: string) => Result.fail(new ModuleBroken({ file, reason }))
  if (module === undefined) return refuse("it has no default export. Write: export default Enzyme.make({ … })")
  try {
    const plugin = Plugin.is(module) ? Plugin.make(withoutTag(module)) : undefined
    if (plugin?.services !== undefined && loaded.hostImports.length > 0) {
      const imports = `it imports ${loaded.hostImports.join(", ")}, and its services are code of runs on every host`
      return refuse(`${imports}. Move its channels and its services into a plugin each`)
    }
    const exported: ReadonlyArray<unknown> = plugin !== undefined ? plugin.enzymes : Array.isArray(module) ? module : [module]
    const nodes = exported.filter(Node.is)
    const enzymes = exported.filter((item) => !Node.is(item)).map((item) => asEnzyme(item))
    const isWary = loaded.hostImports.length > 0 && plugin === undefined
    const imports = `it imports ${loaded.hostImports.join(", ")}, which runs on this host alone`
    const [node] = isWary ? nodes : []
    if (node !== undefined) {
      return refuse(`${imports}, and node "${node.name}" has to derive the same on every host. Derive from cells alone`)
    }
    const wary = isWary ? enzymes.find((enzyme) => !enzyme.trusted) : undefined
    if (wary !== undefined) {
      return refuse(
        `${imports}, and enzyme "${wary.name}" is not marked trusted. Use the transaction instead, or set trusted: true`
      )
    }
    const typed = Declares.among(Object.values(loaded.typed ?? {}))
    return Result.succeed({
      enzymes: declaring(enzymes, typed).map((enzyme) => ({ file, hash, text, enzyme })),
      nodes: (enzymes.length > 0 ? nodes : declaring(nodes, typed)).map((node) => ({ file, hash, text, node })),
      plugins: plugin === undefined ? [] : [{ file, hash, text, plugin }],
      broken: [],
      disabled: []
    })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

/** The modules of a file, of which the first declares the types that the file exports beside them. */
const declaring = <A extends Pick<Declarer, "declares">>(modules: ReadonlyArray<A>, typed: Declarer["declares"]): ReadonlyArray<A> => {
  const [first, ...others] = modules
  if (first === undefined || typed.length === 0) return modules
  return [Object.freeze({ ...first, declares: Declares.among([...first.declares, ...typed]) }), ...others]
}

const asEnzyme = (exported: unknown): Enzyme.Enzyme => {
  if (typeof exported !== "object" || exported === null) {
    throw new Error(
      `it exports a value of type ${typeof exported}. ` +
        "Export what Enzyme.make, Computation.make, Reaction.make, Materializer.make or Plugin.make returns"
    )
  }
  return Enzyme.make((Enzyme.is(exported) ? withoutTag(exported) : exported) as Enzyme.Definition)
}

/** Returns a value as its definition: absent fields are absent again. */
const withoutTag = <A extends { readonly _tag: string }>({ _tag, ...definition }: A): Omit<A, "_tag"> =>
  Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined)) as Omit<A, "_tag">

/**
 * Fails a module that does not load within a time limit. The host cannot stop its import; the result is ignored.
 */
export const limitLoad = (file: string, millis: number) => <A, E>(load: Effect.Effect<A, E>): Effect.Effect<A, E | ModuleBroken> =>
  Effect.timeoutOrElse(load, {
    duration: millis,
    orElse: () => {
      const reason = `its top level did not settle within ${millis} ms. Await there only what ends, or raise limits.moduleMillis`
      return Effect.fail(new ModuleBroken({ file, reason }))
    }
  })

const loadFolder = Effect.fnUntraced(function*(folder: string, millis: number): Effect.fn.Return<LoadedModules, never, ModuleHost> {
  const host = yield* ModuleHost
  const listed = yield* Effect.result(host.files(folder))
  if (Result.isFailure(listed)) return { ...none, broken: [listed.failure] }
  if (listed.success === undefined && !conventional.has(folder)) {
    return { ...none, broken: [new ModuleBroken({ file: folder, reason: "the configuration names this folder, and there is none" })] }
  }
  const names = (listed.success ?? []).filter(isModule).sort()
  if (names.length > MAX_MODULES) {
    const reason = `the folder holds ${names.length} modules and the limit is ${MAX_MODULES}`
    return { ...none, broken: [new ModuleBroken({ file: folder, reason })] }
  }
  return merge(yield* Effect.forEach(names, (name) => loadModule(`${folder}/${name}`, millis), { concurrency: LOADING }))
})

const loadModule = Effect.fnUntraced(function*(file: string, millis: number): Effect.fn.Return<LoadedModules, never, ModuleHost> {
  const host = yield* ModuleHost
  const result = Result.flatMap(yield* Effect.result(limitLoad(file, millis)(host.load(file))), decode)
  return Result.isSuccess(result) ? result.success : { ...none, broken: [result.failure] }
})

const merge = (parts: ReadonlyArray<LoadedModules>): LoadedModules => ({
  enzymes: parts.flatMap((part) => part.enzymes),
  nodes: parts.flatMap((part) => part.nodes),
  plugins: parts.flatMap((part) => part.plugins),
  broken: parts.flatMap((part) => part.broken),
  disabled: parts.flatMap((part) => part.disabled)
})

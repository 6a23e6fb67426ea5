/**
 * A project on this host: its configuration, modules, kernel and ingress,
 * composed.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { resolve } from "node:path"
import * as Redacted from "../../cell/Redacted.ts"
import { Rates } from "../../access/Rates.ts"
import { TokenAdmin } from "../../access/TokenAdmin.ts"
import { Sessions } from "../../access/Sessions.ts"
import { TokenSet } from "../../access/TokenSet.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import { CurrentReporter, type Reporter } from "../../diagnostic/Reporter.ts"
import * as App from "../../ingress/App.ts"
import * as Webhooks from "../../ingress/Webhooks.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import { Runner } from "../../ingress/wire/Runner.ts"
import { Kernel } from "../../kernel/space/Kernel.ts"
import * as Fibers from "../../kernel/model/Fibers.ts"
import { CurrentHolds, type Holds } from "../../kernel/model/Holds.ts"
import { KernelSettings } from "../../kernel/model/Limits.ts"
import type { Pacemaker } from "../../kernel/model/Pacemaker.ts"
import * as TrustedProxies from "../host/TrustedProxies.ts"
import * as Watchdog from "../../kernel/watchdog/Watchdog.ts"
import * as Config from "../../loader/Config.ts"
import * as ContentProvider from "../../loader/ContentProvider.ts"
import * as Loader from "../../loader/Loader.ts"
import * as NodeKey from "../../loader/NodeKey.ts"
import * as Restored from "../../loader/Restored.ts"
import * as TimedLayer from "../../loader/TimedLayer.ts"
import type { ModuleHost } from "../../loader/ModuleHost.ts"
import * as Page from "../../loader/Page.ts"
import type { ReloadResult } from "../../loader/ReloadResult.ts"
import * as Secrets from "../../loader/Secrets.ts"
import { Hash } from "../../persistence/Hash.ts"
import { CurrentContentStore } from "../../persistence/LargeContent.ts"
import { Persistence } from "../../persistence/Persistence.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Channel, Job } from "../../reactor/Channel.ts"
import { CurrentJobObserver, Reactor } from "../../reactor/Reactor.ts"
import type * as Backup from "../../archive/BackupSchedule.ts"
import * as CallPlace from "../guard/CallPlace.ts"
import * as DevWatch from "./DevWatch.ts"
import * as HostAccess from "../host/HostAccess.ts"
import * as KeyPlace from "../host/KeyPlace.ts"
import * as InboundSignals from "./InboundSignals.ts"
import * as Jwts from "./Jwts.ts"
import * as HostHash from "../host/HostHash.ts"
import * as HostVersion from "../host/HostVersion.ts"
import * as HostWatchdog from "../watchdog/HostWatchdog.ts"
import type { PageModule } from "../module/PageModules.ts"
import * as Reloads from "./Reloads.ts"
import * as RunGuards from "../guard/RunGuards.ts"
import * as Runtime from "./Runtime.ts"
import * as Slices from "./Slices.ts"
import * as SourceMaps from "../module/SourceMaps.ts"
import { CurrentMeasured, hasLoggers, Telemetry } from "../../diagnostic/Telemetry.ts"
import * as PluginTelemetry from "../../loader/PluginTelemetry.ts"

/**
 * An open project.
 */
export interface Project {
  readonly found: Loader.LoadedModules
  /** The reloads after changes of files. Modules are reloaded while the stream runs. */
  readonly reloads: Effect.Effect<Stream.Stream<ReloadResult>>
  readonly kernel: Kernel["Service"]
  /** The ingress, ready to be served. */
  readonly app: ReturnType<typeof App.make>
  /** Starts the watchdog, and opens each space when work is due in it. Reports each space that cannot be opened. */
  readonly resume: Effect.Effect<void>
  /** Makes the scheduled backups from now on, until the project closes. Without any, it does nothing. */
  readonly backUp: Effect.Effect<void>
  /** Ends all streams, so that the server can close. */
  readonly closeStreams: () => void
  /** A token of the operator for the commands of the project. It ends with the process, and no configuration has it. */
  readonly localToken: Redacted.Redacted
}

/** The location of a project and the services of its host. */
export interface Site<E = never> {
  readonly root: string
  readonly modules: Layer.Layer<ModuleHost>
  readonly pacemaker: Layer.Layer<Pacemaker>
  readonly slices: ReadonlyArray<Slice>
  /** The commands of the command line, which no plugin may declare. */
  readonly commands?: ReadonlyArray<string>
  /** Receives failures. */
  readonly reporter: Reporter
  /** The digest of the configuration, to notice its change. */
  readonly configuration?: Reloads.Configuration
  /** Bundles the modules of pages. A build contains their texts. */
  readonly pageModule?: PageModule
  /** The held spaces; by default those of the settings. */
  readonly holds?: Holds
  /** Another store than that of the configuration. */
  readonly persistence?: Layer.Layer<Persistence, E, Hash>
  /** Whether the process is that of the project, whose watchdog may end it: by default it is. */
  readonly isOwnProcess?: boolean
}

/** The store of a plugin, built within the time of a module. */
const stored = <E>(
  { kernel: { limits: { moduleMillis: millis } }, persistence: { options, use } }: Config.Config,
  provide: (options: Config.Config["persistence"]["options"]) => Layer.Layer<Persistence, E, Hash>
): Effect.Effect<Layer.Layer<Persistence, Config.InvalidConfig | E, Hash>, Config.InvalidConfig> => {
  const reason = `the persistence "${use}" is not built within ${millis} ms, the limit moduleMillis`
  const late = () => Effect.fail(new Config.InvalidConfig({ reason }))
  return Effect.try({
    try: () => {
      const layer = provide(options)
      return Layer.effect(Persistence, Effect.map(TimedLayer.build(layer, { millis, late }), Context.get(Persistence)))
    },
    catch: (error) => new Config.InvalidConfig({ reason: error instanceof Error ? error.message : String(error) })
  })
}

/**
 * Opens a project until the scope closes: loads its modules, then starts the kernel over its store.
 */
export const open = Effect.fn("Project.open")(function*<E = never>(
  config: Config.Config,
  site: Site<E>
): Effect.fn.Return<Project, Config.InvalidConfig | PersistenceError | E, Scope.Scope> {
  const { configuration = Effect.undefined, holds, modules, pacemaker, reporter, root } = site
  const slices = Slices.without(site.slices, config.without)
  const { use } = config.persistence
  const sources = { ...sourcesOf(config), commands: site.commands ?? [] }
  const signer = yield* NodeKey.signer(config.key, KeyPlace.reader(root))
  RunGuards.install()
  const host = yield* Layer.build(modules)
  const found = yield* Loader.load(sources).pipe(Effect.provideContext(host))
  const heard = yield* PluginTelemetry.open(found, { millis: config.kernel.limits.moduleMillis, reporter })
  // A program around the runtime may read its metrics; in a process of its own, the plugins alone do.
  const measured = Context.make(CurrentMeasured, site.isOwnProcess === false || PluginTelemetry.isGiven(found))
  const telemetry = new Telemetry(Context.merge(yield* Effect.context<never>(), Context.merge(heard, measured)))
  // Before the kernel, so that its own end answers the requests in progress, and this one ends those that are left.
  const hold = yield* Fibers.holder
  yield* Effect.acquireRelease(Effect.sync(() => reporter.attach(telemetry, { logs: hasLoggers(heard) })), (end) => Effect.sync(end))
  const kernelSettings = { ...config.kernel, reserved: Loader.reservedSignals(found) }
  const persistence = yield* Loader.persistence(found, use)
  const store: Layer.Layer<Persistence, Config.InvalidConfig | PersistenceError | E, Hash> =
    site.persistence ?? (yield* stored(config, (options) => persistence({ folder: resolve(root, config.data), options })))
  const place = { root, folder: resolve(root, config.data), host: HostVersion.nameOf(process.versions) }
  const channels = yield* Loader.channels(found, config, place)
  const reactor = Reactor[config.reactor](holds === undefined ? channels : channels.map(silent))
  const contents = Layer.succeed(CurrentContentStore, yield* ContentProvider.open(found, config, { ...place, bindings: {} }))
  const watchdog = yield* watching(config, site)
  const past = Layer.provide(Restored.layer, [Layer.succeedContext(host), Layer.succeed(KernelSettings, config.kernel)])
  const held = Layer.succeed(CurrentHolds, holds)
  const reports = Layer.mergeAll(Layer.succeedContext(Context.merge(heard, measured)), Layer.succeed(CurrentReporter, reporter))
  const around = Layer.mergeAll(HostHash.layer, contents, reports, watchdog.layer, held)
  const services = { slices, persistence: store, reactor, pacemaker }
  const runtime = Runtime.layer({ ...config, kernel: kernelSettings }, services).pipe(Layer.provide(past), Layer.provideMerge(around))
  const places = { placeOf: (error: unknown) => SourceMaps.place(error)?.place ?? CallPlace.find(error) }
  const guards = config.check === true ? DevWatch.layer(places) : RunGuards.layer(places)
  const context = yield* Layer.build(Layer.provide(runtime, guards))
  const registered = yield* Loader.register(found).pipe(Effect.provideContext(context))
  const kernel = Context.get(context, Kernel)
  const closing = new AbortController()
  const localToken = Redacted.make(randomBytes(32).toString("hex"))
  const hash = Context.get(context, Hash)
  const report = (failure: unknown): void => reporter.report(UnexpectedFailure.of(failure))
  const tokens = tokensOf(config, { folder: place.folder, hash, report })
  const [pages, warm] = rendered(config, site)
  const rules = {
    tokens, token: config.token, localToken, loopback: Secrets.isLoopback(config.host), reporter, telemetry, hold,
    closing: closing.signal, pages, origins: config.origins, bearer: Jwts.bearer(config.access.jwt, { report, verifier: Jwts.verifier }),
    rates: ratesOf(config.access), public: config.access.public,
    webhooks: (parts: Webhooks.Parts) => Webhooks.make(config.ingress, parts), readers: config.readers,
    debug: config.check === true, reference: () => import("../../ingress/Reference.ts")
  }
  const app = App.make({ slices, kernel, hash, signer }, rules)
  const reloads = Reloads.make({ found: registered, sources, configuration, reporter, context: Context.merge(host, context) })
  const backUp = yield* scheduled(config, root, { kernel, hash, telemetry, report, maker: { hash, signer } })
  const inbound = InboundSignals.begin(channels, { kernel, reporter, runner: new Runner(telemetry.context, hold) })
  return {
    found: registered,
    reloads,
    kernel,
    app,
    localToken,
    resume: Effect.andThen(watchdog.start, resumed({ kernel, inbound, report, warm })),
    backUp,
    closeStreams: () => closing.abort()
  }
})

/** The parts of a project that begin to work. */
interface Resumed {
  readonly kernel: Kernel["Service"]
  /** Begins the channels that take messages. */
  readonly inbound: Effect.Effect<void>
  readonly report: (failure: unknown) => void
  /** Bundles the modules of the pages. */
  readonly warm: () => Promise<unknown>
}

/** Resumes the spaces, then the channels, and prepares the pages. */
const resumed = ({ inbound, kernel, report, warm }: Resumed): Effect.Effect<void> => {
  const spaces = Effect.catch(kernel.resume, (error) => Effect.sync(() => report(error)))
  const pages = Effect.ignore(Effect.tryPromise({ try: warm, catch: report }))
  return Effect.andThen(spaces, Effect.andThen(inbound, pages))
}

/** The begin of the scheduled backups, which end with the scope. */
const scheduled = Effect.fnUntraced(function*({ backup }: Config.Config, root: string, parts: Omit<Backup.Parts, "encrypt" | "folder">) {
  if (backup === undefined) return Effect.void
  const { open } = yield* Effect.promise(() => import("./Backups.ts"))
  const { run } = yield* open(root, backup, parts)
  return Effect.asVoid(Effect.forkIn(run, yield* Effect.scope))
})

/** The tokens of the host, its sessions and their administration: in the folder of its data, or in memory. */
const tokensOf = (
  { kernel: { limits: { sessionMillis } }, persistence: { use }, token }: Config.Config,
  { folder, ...services }: { readonly folder: string; readonly hash: Hash["Service"]; readonly report: (failure: unknown) => void }
) => {
  const store = use === "memory" ? HostAccess.inMemory() : HostAccess.inFolder(folder)
  const set = new TokenSet({ ...services, store, now: Date.now })
  const { draw } = HostAccess
  return { set, sessions: new Sessions({ set, draw, root: token }), sessionMillis, admin: new TokenAdmin({ set, draw }) }
}

/** The watchdog of the process, as the layer through which a kernel tells it of its runs and its jobs. */
interface Watching {
  readonly layer: Layer.Layer<never>
  readonly start: Effect.Effect<void>
}

const watching = (
  config: Config.Config,
  { isOwnProcess = true, reporter, root }: Pick<Site, "isOwnProcess" | "reporter" | "root">
): Effect.Effect<Watching, never, Scope.Scope> => {
  if (!isOwnProcess) return Effect.succeed({ layer: Layer.empty, start: Effect.void })
  const { stopMillis, stuckMillis } = config.kernel.limits
  return Effect.map(HostWatchdog.make({ data: resolve(root, config.data), reporter, stopMillis, stuckMillis }), (watchdog) => ({
    start: Effect.sync(watchdog.start),
    layer: Layer.mergeAll(
      Layer.succeed(Watchdog.CurrentWatchdog, Watchdog.make(watchdog)),
      Layer.succeed(CurrentJobObserver, watchdog.jobs)
    )
  }))
}

/** The pages, and the bundling of their modules before a request: under `dev` with each request, else once. */
const rendered = ({ check, pages }: Config.Config, { pageModule, root }: Pick<Site, "pageModule" | "root">) => {
  const made = new Map<string, Promise<string>>()
  const textOf = (file: string): Promise<string> => {
    const known = made.get(file)
    if (known !== undefined) return known
    const text = pageModule?.({ root, isReadable: check === true }, file) ?? Promise.reject(new Error(`${file} is not in this build`))
    if (check !== true) made.set(file, text)
    // The next request tries again.
    text.catch(() => made.delete(file))
    return text
  }
  return [Page.withTexts(pages, textOf), () => Promise.all(Page.modulesOf(pages).map(textOf))] as const
}

/** The limits of the rate of requests. */
const ratesOf = ({ rates = {}, trustedProxies = [] }: Config.Config["access"]) =>
  ({ rates: new Rates(rates, Date.now), addressOf: TrustedProxies.make(trustedProxies) })

/** A channel that asks nobody: its jobs end with their abort. */
const silent = (channel: Channel): Channel => Object.assign(Object.create(channel) as Channel, {
  execute: ({ signal }: Job) => new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
})

/**
 * The modules that a configuration names.
 */
export const sourcesOf = (settings: Config.Settings): Loader.Sources => {
  const { disabled, enzymes, kernel, persistence, plugins } = settings
  const required = [persistence.use, ...Loader.requiredBy(settings)]
  return { enzymes, plugins, required: [...new Set(required)], disabled, millis: kernel.limits.moduleMillis }
}

/**
 * The runtime inside a program with an HTTP server of its own, exported as `systole/embed`: one layer with SQLite, and the routes
 * below `/v1` as a function from a request to its response.
 *
 * It runs on Node, Deno and Bun. The program listens, ends and logs; there is no watchdog of the process.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import memory from "../../plugins/memory.ts"
import sqlite from "../../plugins/sqlite.ts"
import { CurrentReporter, line, Reporter, through } from "../diagnostic/Reporter.ts"
import { Telemetry } from "../diagnostic/Telemetry.ts"
import type { App } from "../ingress/App.ts"
import * as Problem from "../ingress/wire/Problem.ts"
import { closed } from "../ingress/wire/Runner.ts"
import { Kernel } from "../kernel/space/Kernel.ts"
import * as Config from "../loader/Config.ts"
import * as Page from "../loader/Page.ts"
import * as Plugin from "../loader/Plugin.ts"
import * as TimedLayer from "../loader/TimedLayer.ts"
import type { Hash } from "../persistence/Hash.ts"
import { Persistence } from "../persistence/Persistence.ts"
import * as Enzymes from "../registry/Enzyme.ts"
import * as Bindings from "../registry/Services.ts"
import * as Definition from "../scheduler/definition/Definition.ts"
import * as HostPacemaker from "./host/HostPacemaker.ts"
import * as HostTurn from "./host/HostTurn.ts"
import * as ManifestModules from "./module/ManifestModules.ts"
import * as Project from "./composition/Project.ts"
import * as Slices from "./composition/Slices.ts"

/** The fields of a configuration that the program decides itself: it gives its modules, and it listens. */
const OWN = ["enzymes", "environments", "host", "plugins", "port"] as const

/** The place of the configuration of a program, in words. */
const PLACE = "the field config of the options of systole/embed"

/** A module of the program: an enzyme, a reactive node, or a plugin with its channels and enzymes. */
export type Module = Enzymes.Enzyme | Definition.Definition | Plugin.Plugin

/**
 * The choices of a program.
 *
 * @category models
 * @since 0.2.0
 */
export interface Options<E = never> {
  /** The enzymes, nodes and plugins. A replay of old beats uses these modules, since the store has no text of them. */
  readonly modules: ReadonlyArray<Module>
  /**
   * The configuration, as in `systole.config.ts`. `data` is relative to the working folder, and by default `.data`. The variables
   * `SYSTOLE_TOKEN` and `SYSTOLE_TOKEN_<READER>` of the process replace its tokens.
   */
  readonly config?: Omit<Config.Definition, typeof OWN[number]>
  /** Another store than that of `config.persistence`, which is SQLite by default. */
  readonly persistence?: Layer.Layer<Persistence, E, Hash>
  /** The services that enzymes take, beside those of plugins; as `services` of a plugin. */
  readonly services?: Layer.Layer<never, unknown>
  /** Allows requests without a token. The program then lets in only those that it has checked. */
  readonly public?: true
}

/**
 * The routes of the runtime, for a server of the program: `/v1`, `/livez`, `/readyz`, `/openapi.json` and `/docs`.
 *
 * A body is read from the request, and an event stream ends with its signal. `address` is the address of the caller, which
 * `access.rates` counts; without it, they count all callers as one, and without `access.rates` the refused reports of workers have no
 * limit. After the end of the runtime each request is answered with 503, `runtime/closed`.
 *
 * @category services
 * @since 0.2.0
 */
export class Routes extends Context.Service<Routes, {
  readonly fetch: App["fetch"]
}>()("systole/embed/Routes") {}

/**
 * A layer of an embedded runtime fails. `layer` is its name, and `cause` the failure.
 *
 * @category errors
 * @since 0.2.0
 */
export class LayerFailed extends Data.TaggedError("LayerFailed")<{
  readonly layer: "modules" | "persistence" | "services"
  readonly reason: string
  readonly cause?: unknown
}> {
  readonly code = "embed/layer"
  override get message() {
    return `The layer "${this.layer}" of the embedded runtime fails: ${this.reason}`
  }
}

/** The failures of an embedded runtime at its start. */
export type Failure = Config.InvalidConfig | LayerFailed

/** A started runtime. */
export interface Embedded extends AsyncDisposable {
  readonly kernel: Kernel["Service"]
  readonly fetch: App["fetch"]
  /** Ends all streams, waits for the beat in progress, and closes the stores. A second call waits for the first. */
  readonly close: () => Promise<void>
}

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const failed = (layer: LayerFailed["layer"], cause: unknown): LayerFailed => new LayerFailed({ layer, reason: messageOf(cause), cause })

const refuse = (reason: string) => Effect.fail(new Config.InvalidConfig({ reason }))

/** Decodes the configuration. The program decides where it listens, so a token is required as for any address. */
const decoded = <E>({ config = {}, modules, public: isPublic }: Options<E>): Effect.Effect<Config.Config, Config.InvalidConfig> => {
  const own = OWN.find((field) => Object.hasOwn(config, field))
  if (own !== undefined) return refuse(`the field ${own} is the program's own here. Give modules to the layer, and listen in the program`)
  const [module] = Page.modulesOf(config.pages ?? {})
  if (module !== undefined) {
    return refuse(`a page has the module ${module}, and a program bundles its pages itself. Give a function that returns { html, script }`)
  }
  const parts = Config.partsOf(modules.filter(Plugin.is))
  return Effect.flatMap(Config.decode({ ...config, enzymes: [] }, { variables: process.env, parts }), (config) =>
    config.token === undefined && isPublic !== true
      ? refuse("other machines may reach the program, and there is no token. Set SYSTOLE_TOKEN or token, or public: true if the program " +
        "checks its callers itself")
      : Effect.succeed({ ...config, host: "0.0.0.0" }))
}

/**
 * The manifest of the plugins: those of the program in their folder, and the stores of the runtime. Their enzymes are registered with
 * the other modules.
 */
const manifest = (plugins: ReadonlyArray<Plugin.Plugin>): ManifestModules.Manifest => Object.fromEntries([
  ...plugins.map((plugin, i) => [`plugins/${i}.ts`, { module: { ...plugin, enzymes: [] }, hash: "" }] as const),
  ...[memory, sqlite].map((plugin) => [`systole/plugins/${plugin.name}`, { module: plugin, hash: "" }] as const)
])

/** An enzyme or a node. */
type Registered = Exclude<Module, Plugin.Plugin>

/** The modules to register, with those of plugins; fails for one that is none. */
const registered = (modules: ReadonlyArray<Module>): Effect.Effect<ReadonlyArray<Registered>, LayerFailed> => {
  const wrong = modules.findIndex((module: unknown) => !Enzymes.is(module) && !Definition.is(module) && !Plugin.is(module))
  if (wrong >= 0) {
    const reason = `modules[${wrong}] is no enzyme, no node and no plugin. Give what Enzyme.make, a node or Plugin.make gives`
    return Effect.fail(new LayerFailed({ layer: "modules", reason }))
  }
  return Effect.succeed(modules.flatMap((module): ReadonlyArray<Registered> => Plugin.is(module) ? module.enzymes : [module]))
}

/**
 * The address of callers for a program that tells none. Where the configuration has rates of addresses, they are one caller. Without
 * such rates, the refused reports of one worker keep those of others from no answer.
 */
const unknown = ({ access: { rates } }: Config.Config) => (): string | undefined => rates?.address === undefined ? undefined : "unknown"

/** The store of the program, built under its name within the time of a module. */
const stored = <E>(persistence: Layer.Layer<Persistence, E, Hash>, millis: number): Layer.Layer<Persistence, LayerFailed, Hash> =>
  Layer.effect(Persistence, Effect.map(TimedLayer.build(persistence, {
    millis,
    late: () => Effect.fail(`it is not built within ${millis} ms, the limit moduleMillis`)
  }), Context.get(Persistence)).pipe(Effect.catchCause((cause) => Effect.fail(failed("persistence", Cause.squash(cause))))))

/** The services for enzymes: those of the program, and those of its plugins. */
const provided = Effect.fnUntraced(function*<E>({ found, kernel }: Project.Project, { services }: Options<E>) {
  const ofPlugins = found.services?.map(({ provider }) => provider) ?? []
  if (services === undefined) return ofPlugins
  const label = "the program"
  const { context } = yield* Effect.mapError(kernel.provide(services, label), (error) => failed("services", error))
  return [{ label, code: undefined, context }, ...ofPlugins]
})

/** Registers a module, an enzyme with its services. */
const register = (
  kernel: Kernel["Service"],
  module: Registered,
  providers: ReadonlyArray<Bindings.Provider>
): Effect.Effect<void, LayerFailed> =>
  Effect.try({
    try: () => module._tag === "Enzyme" ? Bindings.bind(module, providers).enzyme : module,
    catch: (error) => failed("services", error)
  }).pipe(Effect.flatMap((bound) => Effect.mapError(kernel.register(bound), (error) => failed("modules", error))))

/** The reporter of a program: the one that it gives, or one that logs with its loggers. */
const reporterIn = (context: Context.Context<never>): Reporter =>
  Context.getOrUndefined(context, CurrentReporter) ?? new Reporter(through(new Telemetry(context)))

/** The services that an embedded runtime gives to its program. */
export type Services = Kernel | Routes

const opened = Effect.fnUntraced(function*<E>(options: Options<E>): Effect.fn.Return<Context.Context<Services>, Failure, Scope.Scope> {
  const { modules = [], persistence } = options
  const registering = yield* registered(modules)
  const config = yield* decoded(options)
  const project = yield* Project.open(config, {
    root: process.cwd(),
    modules: ManifestModules.layer(manifest(modules.filter(Plugin.is))),
    slices: Slices.all,
    pacemaker: HostPacemaker.layer(HostTurn.current),
    reporter: reporterIn(yield* Effect.context<never>()),
    isOwnProcess: false,
    ...persistence && { persistence: stored(persistence, config.kernel.limits.moduleMillis) }
  }).pipe(Effect.catchTag("PersistenceError", (error) => Effect.fail(failed("persistence", error))))
  let isClosed = false
  yield* Effect.addFinalizer(() => Effect.sync(() => {
    isClosed = true
    project.closeStreams()
  }))
  const [broken] = project.found.broken
  if (broken !== undefined) return yield* Effect.fail(failed("modules", broken))
  const providers = yield* provided(project, options)
  for (const module of registering) yield* register(project.kernel, module, providers)
  yield* project.resume
  yield* project.backUp
  const nameless = unknown(config)
  const fetch: App["fetch"] = (request, address = nameless) =>
    isClosed ? Problem.response(closed) : project.app.fetch(request, address)
  return Context.make(Kernel, project.kernel).pipe(Context.add(Routes, { fetch }))
})

/**
 * The runtime as a layer. The end of its scope ends all streams, waits for the beat in progress, and closes the stores.
 *
 * It fails with `config/invalid` for a configuration or its tokens, and with `embed/layer` for a module or a store. Failures of
 * spaces go to the loggers of the surrounding layers, its spans to their tracer. A `CurrentReporter` of the program replaces the log.
 *
 * @example In a program of Effect
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Enzyme, Kernel } from "systole"
 * import * as Embed from "systole/embed"
 *
 * const greet = Enzyme.make({
 *   name: "greet",
 *   query: "/signals/greet",
 *   writes: ["/data/greeted"],
 *   run: (tx) => tx.increment("/data/greeted")
 * })
 *
 * const program = Effect.gen(function*() {
 *   const kernel = yield* Kernel
 *   const space = yield* kernel.space("home", { create: true })
 *   yield* space.handled({ signal: "/signals/greet" })
 *   return yield* space.get("/data/greeted")
 * })
 *
 * const systole = Embed.layer({ modules: [greet], config: { persistence: "memory" }, public: true })
 * if (await Effect.runPromise(program.pipe(Effect.provide(systole))) !== 1) throw new Error("it is not handled")
 * ```
 *
 * @category layers
 * @since 0.2.0
 */
export const layer = <E = never>(options: Options<E>): Layer.Layer<Services, Failure> =>
  Layer.effectContext(Effect.catchTag(opened(options), "InvalidConfig", (refused) => Effect.fail(refused.at(PLACE))))

/** Prints each failure of a space on one line of standard error. */
const printing = Layer.succeed(CurrentReporter, new Reporter((told) => console.error(line(told))))

/**
 * Starts the runtime of {@link layer} for a program without Effect. It prints the failures of spaces on standard error.
 *
 * @throws InvalidConfig, LayerFailed
 * @example Below an application of Hono
 * ```ts
 * import { Hono } from "hono"
 * import { Enzyme } from "systole"
 * import * as Embed from "systole/embed"
 *
 * const greet = Enzyme.make({
 *   name: "greet",
 *   query: "/signals/greet",
 *   writes: ["/data/greeted"],
 *   run: (tx) => tx.increment("/data/greeted")
 * })
 *
 * const config = { persistence: "memory", spaces: { create: "on-demand" } } as const
 * await using systole = await Embed.open({ modules: [greet], config, public: true })
 * const app = new Hono().all("/v1/*", ({ req }) => systole.fetch(req.raw))
 *
 * const headers = { "content-type": "application/json", prefer: "wait=5" }
 * const body = JSON.stringify({ signal: "/signals/greet" })
 * const sent = await app.request("/v1/spaces/home/signals", { method: "POST", headers, body })
 * if (sent.status !== 200) throw new Error(await sent.text())
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const open = async <E = never>(options: Options<E>): Promise<Embedded> => {
  const scope = Effect.runSync(Scope.make())
  let ended: Promise<void> | undefined
  const close = (): Promise<void> => ended ??= Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(Layer.provide(layer(options), printing), scope))
    return { kernel: Context.get(context, Kernel), fetch: Context.get(context, Routes).fetch, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

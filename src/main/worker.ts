/**
 * The runtime on hosts with a `fetch` handler only, such as Cloudflare Workers.
 *
 * Modules come from a literal manifest. The spaces live in memory, as long as the isolate or the durable object that
 * opened them. No module of a host is imported.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as UnexpectedFailure from "../diagnostic/UnexpectedFailure.ts"
import { CurrentReporter, line, Reporter } from "../diagnostic/Reporter.ts"
import * as App from "../ingress/App.ts"
import * as Problem from "../ingress/Problem.ts"
import { Kernel } from "../kernel/space/Kernel.ts"
import * as Config from "../loader/Config.ts"
import { Reactor } from "../reactor/Reactor.ts"
import * as Loader from "../loader/Loader.ts"
import { Hash } from "../persistence/Hash.ts"
import * as MemoryStore from "../persistence/MemoryStore.ts"
import * as HostPacemaker from "./HostPacemaker.ts"
import * as ManifestModules from "./ManifestModules.ts"
import * as PureHash from "./PureHash.ts"
import * as Runtime from "./Runtime.ts"

/** The modules and the configuration of a worker. */
export interface Parts {
  readonly manifest: ManifestModules.Manifest
  /** The configuration, as in `systole.config.ts`. The setting `persistence` is ignored: spaces live in memory. */
  readonly config?: Config.Definition
  /** Allows unauthenticated access. Without it, the configuration must contain a token. */
  readonly public?: true
}

/**
 * Creates the handler of a worker.
 *
 * The runtime opens with the first request, because hosts allow no work before. If that fails, the next request tries
 * again. The failure is answered as problem details (RFC 9457).
 *
 * @example
 * ```ts
 * import { Enzyme } from "systole"
 * import { make } from "systole/worker"
 *
 * const greet = Enzyme.make({
 *   name: "greet",
 *   query: "/signals/greet",
 *   writes: ["/data/greeted"],
 *   run: (tx) => tx.increment("/data/greeted")
 * })
 *
 * export default make({
 *   manifest: { "enzymes/greet.ts": { module: greet, hash: "1" } },
 *   config: { spaces: { create: "on-demand" } },
 *   public: true
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (parts: Parts): { readonly fetch: (request: Request) => Promise<Response> } => {
  let app: Promise<{ readonly fetch: (request: Request) => Response | Promise<Response> }> | undefined
  return {
    fetch: async (request) => {
      app ??= Effect.runPromise(open(parts)).catch((failure: unknown) => {
        app = undefined
        reporter.report(UnexpectedFailure.of(failure))
        return { fetch: () => Problem.response(failure) }
      })
      return (await app).fetch(request)
    }
  }
}

/** Prints each failure on one line. */
const reporter = new Reporter((told) => console.error(line(told)))

const open = Effect.fnUntraced(function*({ config: definition, manifest, public: isPublic }: Parts) {
  const config = yield* Config.decode(definition)
  if (config.token === undefined && isPublic !== true) {
    return yield* new Config.InvalidConfig({
      reason: "a worker can be reached by everybody, and there is no token. Set config.token, or say public: true"
    })
  }
  const found = yield* Loader.load(
    { enzymes: config.enzymes, plugins: config.plugins, required: [], millis: config.kernel.limits.moduleMillis }
  ).pipe(
    Effect.provide(ManifestModules.layer(manifest))
  )
  const channels = yield* Loader.channels(found, config, { root: ".", folder: config.data, host: "workers" })
  // A timer is cancelled with the request that armed it. A microtask runs in any request.
  const pacemaker = HostPacemaker.layer((run) => queueMicrotask(run))
  const services = { persistence: MemoryStore.layer, reactor: Reactor[config.reactor](channels), pacemaker }
  const context = yield* Runtime.layer(config, services).pipe(
    Layer.provideMerge([PureHash.layer, Layer.succeed(CurrentReporter, reporter)]),
    // The host ends an isolate without notice, so this scope is never closed.
    Layer.buildWithScope(yield* Scope.make())
  )
  yield* Loader.register(found).pipe(Effect.provideContext(context))
  return App.make({ kernel: Context.get(context, Kernel), hash: Context.get(context, Hash) }, {
    token: config.token,
    readers: config.readers,
    loopback: false,
    reporter,
    closing: new AbortController().signal,
    pages: config.pages
  })
})

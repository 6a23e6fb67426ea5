/**
 * The host of one space in its object: it opens the runtime at the first call, and serves calls and alarms.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as DurableObjectStore from "../../../plugins/durable_object.ts"
import type * as Value from "../../cell/Value.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import { CurrentReporter } from "../../diagnostic/Reporter.ts"
import * as App from "../../ingress/App.ts"
import * as Pages from "../../ingress/Pages.ts"
import * as Problem from "../../ingress/Problem.ts"
import { KernelSettings } from "../../kernel/model/Limits.ts"
import { Kernel } from "../../kernel/space/Kernel.ts"
import * as Loader from "../../loader/Loader.ts"
import { Hash } from "../../persistence/Hash.ts"
import { Persistence } from "../../persistence/Persistence.ts"
import { PersistenceError, StoreUnavailable } from "../../persistence/PersistenceError.ts"
import { Reactor } from "../../reactor/Reactor.ts"
import * as HostPacemaker from "../HostPacemaker.ts"
import * as Runtime from "../Runtime.ts"
import { Alarm } from "./Alarm.ts"
import * as Directory from "./Directory.ts"
import type { Env, Storage } from "./Platform.ts"
import type { Settings } from "./Settings.ts"
import { Turns } from "./Turns.ts"

/** The delay of an alarm after one that failed, in milliseconds. */
const RETRY = 10_000

/** The place of a space. */
interface Place {
  readonly space: string
  readonly storage: Storage
  readonly env: Env
  readonly settings: Settings
}

/** The open runtime of an object. */
interface Opened {
  readonly fetch: App.App["fetch"]
  readonly kernel: Kernel["Service"]
  readonly read: Pages.Services["read"]
  /** The stored wake time of the space; `undefined` if there is none, or no space. */
  readonly due: () => number | undefined
  readonly alarm: Alarm
}

/**
 * The host of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class SpaceHost {
  private readonly place: Place
  private readonly turns = new Turns()
  private opening: Promise<Opened> | undefined

  constructor(place: Place) {
    this.place = place
  }

  /** The proof that calls of other objects have to show. */
  get proof(): string {
    return this.place.settings.proof
  }

  /** Answers a request. A runtime that fails to open is opened anew by the next call. */
  fetch(request: Request): Promise<Response> {
    return this.turns.during(async () => {
      try {
        return await (await this.opened()).fetch(request)
      } catch (failure) {
        this.report(failure)
        return Problem.response(failure)
      }
    })
  }

  /** Runs due work, and arms the alarm for the next. Never rejects, because the platform gives up alarms that do. */
  alarm(): Promise<void> {
    return this.turns.during(async () => {
      const { space, storage } = this.place
      try {
        const { alarm, due, kernel } = await this.opened()
        alarm.ran()
        if (due() === undefined) return
        await Effect.runPromise(Effect.flatMap(kernel.space(space, { create: false }), ({ idle }) => idle))
        const next = due()
        if (next !== undefined) alarm.arm(next)
      } catch (failure) {
        this.report(failure)
        await storage.setAlarm(Date.now() + RETRY).catch((failure: unknown) => this.report(failure))
      }
    })
  }

  /** Reads a cell after its derivation has settled, within `wait` milliseconds. */
  pull(address: string, wait: number): Promise<Value.Value> {
    const { space } = this.place
    return this.turns.during(async () => Effect.runPromise((await this.opened()).read({ space, address, wait })))
  }

  private report(failure: unknown): void {
    this.place.settings.reporter.report(UnexpectedFailure.of(failure))
  }

  private opened(): Promise<Opened> {
    return this.opening ??= this.open().catch((failure: unknown) => {
      this.opening = undefined
      throw failure
    })
  }

  private async open(): Promise<Opened> {
    const { settings, space, storage } = this.place
    const alarm = new Alarm(storage, await storage.getAlarm(), Date.now)
    const { config, hash, reporter } = settings
    const context = await Effect.runPromise(this.compose(alarm))
    const kernel = Context.get(context, Kernel)
    const persistence = Context.get(context, Persistence)
    const due = (): number | undefined => Effect.runSync(persistence.due(space).pipe(
      Effect.catchIf((error) => error.code === "space/unknown", () => Effect.undefined)
    ))
    const { fetch } = App.make({ kernel, hash }, {
      token: config.token, readers: config.readers, loopback: false, reporter, closing: new AbortController().signal, pages: {}
    })
    // An alarm may have been lost.
    const next = due()
    if (next !== undefined) alarm.arm(next)
    return { alarm, due, fetch, kernel, read: Pages.reading({ kernel, hash }).read }
  }

  private compose = Effect.fnUntraced(function*(this: SpaceHost, alarm: Alarm) {
    const { settings: { config, hash, modules, reporter }, space, storage } = this.place
    const { enzymes, kernel: { limits }, plugins } = config
    const required = [...new Set(Object.values(config.channels).map(({ use }) => use))]
    const found = yield* Loader.load({ enzymes, plugins, required, millis: limits.moduleMillis }).pipe(
      Effect.provide(modules)
    )
    const channels = yield* Loader.channels(found, config, { root: ".", folder: config.data, host: "workers" })
    const persistence = this.listed(DurableObjectStore.layer({ space, storage, arm: (moment) => alarm.arm(moment) }))
    const services = { persistence, reactor: Reactor[config.reactor](channels), pacemaker: HostPacemaker.layer(this.turns.turn) }
    const past = Layer.provide(Loader.restore, [modules, Layer.succeed(KernelSettings, config.kernel)])
    const context = yield* Runtime.layer(config, services).pipe(
      Layer.provide(past),
      Layer.provideMerge([Layer.succeed(Hash, hash), Layer.succeed(CurrentReporter, reporter), persistence]),
      // The platform ends an object without notice, so this scope is never closed.
      Layer.buildWithScope(yield* Scope.make())
    )
    yield* Loader.register(found).pipe(Effect.provideContext(context))
    return context
  })

  /** Enters a space into the directory before its store is created. */
  private listed(persistence: Layer.Layer<Persistence>): Layer.Layer<Persistence> {
    const { env, settings: { proof }, space } = this.place
    const add = Effect.tryPromise({
      try: () => env.DIRECTORY.getByName(Directory.NAME).add(proof, space),
      catch: (failure) =>
        new PersistenceError({ reason: new StoreUnavailable({ space, place: "the directory of spaces", detail: String(failure) }) })
    })
    return Layer.effect(Persistence, Effect.map(Persistence, (inner) => ({
      ...inner,
      open: (name, options) => {
        const open = inner.open(name, options)
        if (!options.create || name !== space) return open
        const enter = Effect.catchIf(Effect.asVoid(inner.due(name)), (error) => error.code === "space/unknown", () => add)
        return Effect.andThen(enter, open)
      }
    }))).pipe(Layer.provide(persistence))
  }
}

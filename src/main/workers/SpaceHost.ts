/**
 * The host of one space in its object: it opens the runtime at the first call, and serves calls and alarms.
 *
 * @module
 */
import { Rates } from "../../access/Rates.ts"
import * as Redacted from "../../cell/Redacted.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { tryDecode } from "hono/utils/url"
import * as DurableObjectStore from "../../../plugins/durable_object.ts"
import * as Document from "../../cell/Document.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"
import { CurrentReporter, Reporter, through } from "../../diagnostic/Reporter.ts"
import * as Access from "../../ingress/access/Access.ts"
import * as App from "../../ingress/App.ts"
import * as Pages from "../../ingress/Pages.ts"
import * as Problem from "../../ingress/wire/Problem.ts"
import * as Slice from "../../ingress/route/Slice.ts"
import { Runner } from "../../ingress/wire/Runner.ts"
import { StreamQuota } from "../../ingress/wire/StreamQuota.ts"
import * as WorkerToken from "../../ingress/access/WorkerToken.ts"
import { CurrentCursorKey } from "../../kernel/model/CursorKey.ts"
import { CurrentHolds, type Holds } from "../../kernel/model/Holds.ts"
import { GIVEN_UP } from "../../kernel/model/Arrived.ts"
import { KernelSettings } from "../../kernel/model/Limits.ts"
import { SpaceStopped } from "../../kernel/model/SpaceError.ts"
import * as SpaceMode from "../../kernel/model/SpaceMode.ts"
import { refusalOf, RemotePeers } from "../../kernel/live/Delivery.ts"
import { Kernel } from "../../kernel/space/Kernel.ts"
import * as ContentProvider from "../../loader/ContentProvider.ts"
import { withPlace } from "../../loader/InvalidConfig.ts"
import * as Loader from "../../loader/Loader.ts"
import * as NodeKey from "../../loader/NodeKey.ts"
import * as Restored from "../../loader/Restored.ts"
import * as PluginTelemetry from "../../loader/PluginTelemetry.ts"
import { Hash } from "../../persistence/Hash.ts"
import { CurrentContentStore } from "../../persistence/LargeContent.ts"
import { checkSpaceName, Persistence } from "../../persistence/Persistence.ts"
import { PersistenceError, StoreFull, StoreUnavailable } from "../../persistence/PersistenceError.ts"
import { Reactor } from "../../reactor/Reactor.ts"
import { TokenRefused } from "../../rendezvous/TokenRefused.ts"
import * as GuardedRuns from "../guard/GuardedRuns.ts"
import * as HostLimits from "../host/HostLimits.ts"
import * as HostPacemaker from "../host/HostPacemaker.ts"
import * as Runtime from "../composition/Runtime.ts"
import { Alarm } from "./Alarm.ts"
import * as Directory from "./Directory.ts"
import * as ForeignCaller from "./ForeignCaller.ts"
import * as Gate from "./Gate.ts"
import * as Peers from "./Peers.ts"
import type { Env, Letters, ObjectState, Post, Pull, PullAnswer as Answer, Refusal, Socket, Storage } from "./Platform.ts"
import * as Pulled from "./Pulled.ts"
import type { Settings } from "./Settings.ts"
import { isUpgrade, Sockets } from "./Sockets.ts"
import * as StoredHold from "./StoredHold.ts"
import { Turns } from "./Turns.ts"
import { CurrentMeasured, hasLoggers, Telemetry } from "../../diagnostic/Telemetry.ts"

/** The longest time that one alarm waits for its work, in milliseconds. The next one waits on. */
const LONGEST = 10_000

/** The place of a space. */
interface Place {
  readonly space: string
  readonly storage: Storage
  readonly state: Pick<ObjectState, "acceptWebSocket" | "getWebSockets">
  readonly env: Env
  readonly settings: Settings
}

/** The state of an object beside its database. */
interface Stored {
  readonly alarm: Alarm
  readonly holds: Holds
}

/** The open runtime of an object. */
interface Opened {
  readonly fetch: App.App["fetch"]
  readonly take: App.App["take"]
  readonly kernel: Kernel["Service"]
  readonly read: Pages.Services["read"]
  /** The stored wake time of the space; `undefined` if there is none, or no space. */
  readonly due: () => number | undefined
  readonly alarm: Alarm
  readonly sockets: Sockets
  /** Runs Effects with the context of the runtime. */
  readonly runner: Runner
}

/**
 * The host of one space.
 */
export class SpaceHost {
  private readonly place: Place
  private readonly turns = new Turns()
  private opening: Promise<Opened> | undefined

  constructor(place: Place) {
    this.place = place
  }

  /** Answers a request. A runtime that fails to open is opened anew by the next call. */
  fetch(request: Request): Promise<Response> {
    return this.answered(async () => {
      const socket = isUpgrade(request) ? await this.place.settings.access(request) : undefined
      const refused = socket === undefined ? this.refusal(request) : socket.refused
      if (refused !== undefined) return Problem.response(refused)
      const { fetch, sockets } = await this.opened()
      return socket === undefined ? fetch(request) : sockets.accept(request, socket)
    })
  }

  /** Takes a signal that a webhook of this application verified. */
  post({ payload, proof, signal }: Post): Promise<Response> {
    return this.answered(async () => {
      const { settings, space } = this.place
      ForeignCaller.check(proof, settings.proof)
      const { take } = await this.opened()
      return take(space, payload === undefined ? signal : { ...signal, payload: Document.read(Document.decode(payload), []) })
    })
  }

  private answered(work: () => Promise<Response>): Promise<Response> {
    return this.turns.during(() => work().catch((failure: unknown) => {
      if (Problem.isReported(failure)) this.place.settings.reporter.report(UnexpectedFailure.of(failure))
      return Problem.response(failure)
    }))
  }

  /** Opens the runtime for a message of a socket: the id of the last event that its client has. */
  hear(socket: Socket, message: unknown): Promise<void> {
    return this.turns.during(async () => (await this.opened()).sockets.taken(socket, String(message)))
  }

  /** Forgets a closed socket, if the runtime is open. */
  async closed(socket: Socket): Promise<void> {
    (await this.opening?.catch(() => undefined))?.sockets.closed(socket)
  }

  /** Runs due work, and arms the alarm for the next. */
  alarm(): Promise<void> {
    return this.turns.during(async () => {
      const { space } = this.place
      const { alarm, due, kernel, runner } = await this.opened("alarm")
      alarm.ran()
      if (due() === undefined) return alarm.again(undefined)
      // An unfinished import is no space: the alarm after its end removes it.
      if (!await runner.promise(kernel.wake(space))) return alarm.again(due() === undefined ? undefined : Date.now() + GIVEN_UP)
      const idle = Effect.flatMap(kernel.space(space, { create: false }), (space) => space.idle)
      // A space that a caller removes meanwhile has no work left.
      const done = Effect.catchIf(idle, (error) => error instanceof SpaceStopped && error.isRemoved === true, () => Effect.void)
      await runner.promise(Effect.timeoutOrElse(done, { duration: LONGEST, orElse: () => Effect.void }))
      // A space that stopped is opened again by its own delay, or by this alarm.
      const next = kernel.opened(space) === undefined ? due() : kernel.due(space)
      alarm.again(next)
    })
  }

  /**
   * Takes signals of another space. Returns `null` for each durable signal, and the refusals of the others, up to the first.
   *
   * @throws ForeignCaller
   */
  arrive({ from, proof, rows }: Letters): Promise<ReadonlyArray<Refusal | null>> {
    return this.turns.during(async () => {
      const { settings, space, storage } = this.place
      ForeignCaller.check(proof, settings.proof)
      // The name in an origin: its incarnation follows.
      checkSpaceName(SpaceMode.nameOf(from))
      const { kernel, runner } = await this.opened()
      const refusals = (error: PersistenceError) => rows.map(() => refusalOf(error))
      const { full } = this
      if (full !== undefined) return refusals(full)
      const answers = await runner.promise(Effect.catch(kernel.receive(space, from, rows), (error) => Effect.succeed(refusals(error))))
      // The sender forgets what the answer accepts.
      await storage.sync()
      return answers
    })
  }

  /**
   * Reads a cell after its derivation has settled, within `wait` milliseconds.
   *
   * @throws ForeignCaller
   */
  pull({ address, proof, wait }: Pull): Promise<Answer> {
    const { settings, space } = this.place
    return this.turns.during(async () => {
      ForeignCaller.check(proof, settings.proof)
      return Pulled.make(this.opened().then(({ read, runner }) => runner.promise(read({ space, address, wait }))))
    })
  }

  /** The refusal of a request that needs no runtime. */
  private refusal(request: Request): Error | undefined {
    // The runtime checks requests itself: a Worker of another application may call the object.
    const { settings: { slices }, storage } = this.place
    const path = Access.pathOf(request)
    // Anyone may send a report, and a report creates no space.
    const isReport = WorkerToken.isReport(request, path)
    const absent = isReport ? Slice.absentAt(slices, path) : undefined
    if (absent !== undefined) return absent
    const isStray = this.opening === undefined && isReport && !DurableObjectStore.holdsSpace(storage)
    // A space that is unknown is no different from a wrong token, so that nobody can probe for spaces.
    return isStray ? new TokenRefused({ key: tryDecode(path.split("/")[5] ?? "", decodeURIComponent) }) : undefined
  }

  /** The refusal of new data, if the storage is nearly full. */
  private get full(): PersistenceError | undefined {
    const { space, storage: { sql: { databaseSize: bytes } } } = this.place
    return HostLimits.isFull(bytes, HostLimits.hosts.object) ? new PersistenceError({ reason: new StoreFull({ space, bytes }) }) : undefined
  }

  private opened(by: "call" | "alarm" = "call"): Promise<Opened> {
    return this.opening ??= this.open(by).catch((failure: unknown) => {
      this.opening = undefined
      throw withPlace(failure, this.place.settings.place)
    })
  }

  private async open(by: "call" | "alarm"): Promise<Opened> {
    const { settings, space, state, storage } = this.place
    const { bearer, config, hash, sessions: { sessions }, slices, tokens } = settings
    const [armed, holds] = await Promise.all([storage.getAlarm(), StoredHold.read(storage)])
    const alarm = new Alarm(storage, armed, Date.now)
    const context = await Effect.runPromise(this.compose({ alarm, holds }))
    const signer = await Effect.runPromise(NodeKey.signer(config.key, this.variable))
    const kernel = Context.get(context, Kernel)
    const persistence = Context.get(context, Persistence)
    const due = (): number | undefined =>
      Effect.runSync(Effect.flatMap(persistence.spaces, ([there]) => there === undefined ? Effect.undefined : persistence.due(space)))
    const { addressOf } = Gate
    const telemetry = new Telemetry(context)
    const { access: { public: open, rates = {} }, readers, token } = config
    const quota = StreamQuota.of({ readers, public: open })
    const { fetch, take } = App.make({ slices, kernel, hash, signer }, {
      quota, tokens: { set: tokens, sessions }, bearer, full: () => this.full, token, readers, loopback: false, pages: {},
      reporter: Context.get(context, CurrentReporter), telemetry,
      public: open, charges: { rates: new Rates(rates, Date.now), addressOf }, addressOf, isEvicted: true,
      closing: new AbortController().signal
    })
    // A call finds an alarm that was lost.
    const next = by === "call" ? due() : undefined
    if (next !== undefined) alarm.arm(next)
    // The platform ends an object without notice, so no scope ends its fibers.
    const runner = new Runner(telemetry.context)
    const sockets = new Sockets({ state, space, kernel, runner, readers: config.readers, quota, sessions, tokens })
    return { alarm, due, fetch, kernel, runner, sockets, take, read: Pages.reading({ kernel, hash, runner }).read }
  }

  /** The text of the variable with the key of the node. */
  private readonly variable: NodeKey.ReadSecret = (place) => {
    if (!("env" in place)) throw new Error("a Worker has no files")
    const text = (this.place.env as unknown as Readonly<Record<string, unknown>>)[place.env]
    return typeof text === "string" ? text : ""
  }

  private compose = Effect.fnUntraced(function*(this: SpaceHost, { alarm, holds }: Stored) {
    const { env, settings: { config, hash, load, modules, proof, reporter, slices }, space, storage } = this.place
    const limits = HostLimits.bound(config.kernel.limits, HostLimits.hosts.object)
    const { heldMillis, restMillis } = HostLimits.hosts.object
    const found = yield* load
    // The platform ends an object without notice, so this scope is never closed.
    const scope = yield* Scope.make()
    const opened = yield* PluginTelemetry.open(found, { millis: limits.moduleMillis, reporter }).pipe(Scope.provide(scope))
    const heard = Context.add(opened, CurrentMeasured, PluginTelemetry.isGiven(found))
    // An object has one space, and the platform bills it as long as it has a timer.
    const kernel = { ...config.kernel, limits, heldMillis, idleMillis: undefined, reserved: Loader.reservedSignals(found) }
    const place = { root: ".", folder: config.data, host: "workers" } as const
    const contents = yield* ContentProvider.open(found, config, { ...place, bindings: { ...env } })
    const channels = yield* Loader.channels(found, config, place)
    const arm = (moment: number): void => alarm.arm(moment)
    const persistence = this.listed(DurableObjectStore.layer({ space, storage, arm }), alarm)
    const pacemaker = HostPacemaker.sleeping({ turn: this.turns.turn, restMillis, arm })
    const services = { slices, persistence, reactor: Reactor[config.reactor](channels), pacemaker }
    const past = Layer.provide(Restored.layer, [modules, Layer.succeed(KernelSettings, kernel)])
    const remote = Layer.succeed(RemotePeers, Peers.make({ spaces: env.SPACES, proof }))
    const cursorKey = Layer.succeed(CurrentCursorKey, (origin: string) =>
      hash.hex(JSON.stringify(["systole/cursor", Redacted.value(proof), origin])))
    const reports = Layer.mergeAll(Layer.succeedContext(heard), Layer.succeed(CurrentReporter, reporterOf(heard, reporter)))
    const context = yield* Runtime.layer({ ...config, kernel }, services).pipe(
      Layer.provide([past, GuardedRuns.layer()]),
      Layer.provideMerge([Layer.succeed(Hash, hash), reports, remote, cursorKey, persistence,
        Layer.succeed(CurrentHolds, holds), Layer.succeed(CurrentContentStore, contents)]),
      Layer.buildWithScope(scope)
    )
    yield* Loader.register(found).pipe(Effect.provideContext(context))
    return context
  })

  /** Enters a space into the directory before its store is created, or once its import is whole, and removes it after its data. */
  private listed(persistence: Layer.Layer<Persistence>, alarm: Alarm): Layer.Layer<Persistence> {
    const { env, settings: { proof }, space } = this.place
    const change = (verb: "add" | "remove") => Effect.tryPromise({
      try: () => env.DIRECTORY.getByName(Directory.NAME)[verb](Redacted.value(proof), space),
      catch: (failure) =>
        new PersistenceError({ reason: new StoreUnavailable({ space, place: "the directory of spaces", detail: String(failure) }) })
    })
    return Layer.effect(Persistence, Effect.map(Persistence, (inner) => ({
      ...inner,
      open: (name, options) => {
        const open = inner.open(name, options)
        if (options.importing === true || name !== space) return open
        const known = Effect.tap(open, (store) => store.arrival() === undefined ? Effect.void : change("add"))
        if (!options.create) return known
        return Effect.flatMap(inner.spaces, ([there]) => there !== undefined ? known : Effect.andThen(change("add"), open))
      },
      // A removal that failed before the directory was told is repeated, and finds no data.
      remove: (name) => Effect.flatMap(Effect.result(inner.remove(name)), (removed) => {
        if (removed._tag === "Failure" && removed.failure.code !== "space/unknown") return removed.failure
        alarm.ran()
        return Effect.andThen(change("remove"), removed._tag === "Failure" ? removed.failure : Effect.void)
      })
    }))).pipe(Layer.provide(persistence))
  }
}

/** The reporter of an object: that of its isolate, or one of its own for the loggers of plugins, whose I/O belongs to the object. */
const reporterOf = (heard: Context.Context<never>, reporter: Reporter): Reporter =>
  hasLoggers(heard) ? new Reporter(through(new Telemetry(heard))) : reporter

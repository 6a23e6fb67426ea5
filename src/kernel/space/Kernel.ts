/**
 * The kernel: spaces, opened on demand.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import { CurrentReporter } from "../../diagnostic/Reporter.ts"
import * as Telemetry from "../../diagnostic/Telemetry.ts"
import { LedgerList } from "../../ledger/LedgerList.ts"
import * as SliceTable from "../../ledger/SliceTable.ts"
import { operations } from "../../operation/Ledger.ts"
import { outside } from "../../operation/Outside.ts"
import { Hash } from "../../persistence/Hash.ts"
import * as LargeContent from "../../persistence/LargeContent.ts"
import { Persistence, type PlacedStore, type Progress } from "../../persistence/Persistence.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import { InvalidEnzyme } from "../../registry/Enzyme.ts"
import { type Definition as NodeDefinition, InvalidNode } from "../../scheduler/definition/Definition.ts"
import { Modules } from "../../scheduler/definition/Modules.ts"
import { Scheduler } from "../../scheduler/Scheduler.ts"
import * as ChannelLabels from "../../reactor/ChannelLabels.ts"
import { Reactor } from "../../reactor/Reactor.ts"
import { type Code, NotRegistered, Registry } from "../../registry/Registry.ts"
import * as Scheduling from "../../registry/Scheduling.ts"
import * as ServiceLayer from "../../registry/ServiceLayer.ts"
import { type ServiceRefused, unbound } from "../../registry/Services.ts"
import type { DurableRuns } from "../beat/RunExecutor.ts"
import * as NoDurableRuns from "../runs/NoDurableRuns.ts"
import { expect } from "../view/Expected.ts"
import { receive, RemotePeers } from "../live/Delivery.ts"
import { CurrentCursorKey } from "../model/CursorKey.ts"
import { CurrentHolds } from "../model/Holds.ts"
import * as Fibers from "../model/Fibers.ts"
import { KernelSettings, type Limits } from "../model/Limits.ts"
import type { DeliveryRefusal } from "../model/Signal.ts"
import { typesOf } from "../model/SpaceSchema.ts"
import { LostBeats } from "../journal/LostBeats.ts"
import { Pacemaker } from "../model/Pacemaker.ts"
import { ModuleRestore } from "../model/ModuleRestore.ts"
import type * as Recovery from "../live/Recovery.ts"
import { CurrentRunScope, type RunScope } from "../../registry/RunScope.ts"
import { CurrentRunWatch } from "../watchdog/RunWatch.ts"
import type { FrameOf } from "../view/Pins.ts"
import type { NamePage, Page, Space } from "../view/Space.ts"
import type { KernelSlice } from "../api/Slice.ts"
import * as SpaceFace from "../api/SpaceFace.ts"
import type { ScheduledSpaces } from "./ScheduledSpaces.ts"
import { Spaces } from "./Spaces.ts"
import type { Importer } from "./UnfinishedImports.ts"
import { SteadyClock } from "./SteadyClock.ts"
import { type Stop, Stops } from "../model/Stops.ts"
import { CurrentWatchdog } from "../watchdog/Watchdog.ts"

/** The time for which an answer about the place of the stores holds, in milliseconds. */
const READY_MILLIS = 1000

/** An enzyme, with the digest of its module. */
export interface Registration {
  readonly enzyme: Enzyme
  readonly hash: string | undefined
}

/**
 * Opens spaces, and registers the enzymes that react in them.
 *
 * A space is opened on request, and when its next work is due. Beyond the limit of open spaces, unused ones are closed; a `Space`
 * reopens by itself when it is used. A space that stopped because its store failed is reopened from durable state at the next
 * request, or after 1 s. This delay doubles with each further stop, up to 60 s, until a beat of the space is durable.
 *
 * @category services
 * @since 0.1.0
 */
export class Kernel extends Context.Service<Kernel, {
  /** The space of this name. `create` makes it if it is missing. */
  readonly space: (name: string, options?: { readonly create?: boolean }) => Effect.Effect<Space, PersistenceError>
  /** The space of this name if it is open. The call is cheap. */
  readonly opened: (name: string) => Space | undefined
  /** The value of a cell, as the store of a closed space has it. The space is not opened. */
  readonly stored: (name: string, cell: string) => Effect.Effect<Value, PersistenceError>
  /** How far a space has come in its store. A closed space is not opened, and an open one counts as unused. */
  readonly progress: (name: string) => Effect.Effect<Progress, PersistenceError>
  /** The time of an open space's next work, in milliseconds since 1970: at most 0 for now, `undefined` for never. */
  readonly due: (name: string) => number | undefined
  /** The names of all spaces, in code-unit order. None of them is opened. */
  readonly spaces: Effect.Effect<ReadonlyArray<string>, PersistenceError>
  /** The names of the spaces after one of them, a page at a time. The names of the store are read in turns of the host. */
  readonly names: (page: Page) => Effect.Effect<NamePage, PersistenceError>
  /** Fails while the place of the stores takes no more data, as on a full disk. The place is tried at most once in a second. */
  readonly ready: Effect.Effect<void, PersistenceError>
  /** The content store of all spaces; `undefined` without one. */
  readonly contents: LargeContent.ContentStore | undefined
  /** The most bytes of one content: those that a store takes, or those of the content store. */
  readonly contentBytes: number
  /** The limits of its settings. */
  readonly limits: Limits
  /** Removes a space with all its data. Signals that arrive later find no space, unless they create one. */
  readonly remove: (name: string) => Effect.Effect<void, PersistenceError>
  /**
   * Takes signals of the space `from` that has another kernel, as the texts of their rows in order. Returns the refusal of
   * each signal, or `null` when it is durable, up to the first refusal. A signal that arrived before is not handled again.
   */
  readonly receive: (
    space: string,
    from: string,
    rows: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<DeliveryRefusal | null>, PersistenceError>
  /**
   * The store of an import: a new one, or one that is not whole yet. Fails with `space/exists` for the name of a space. It
   * closes with the scope, or before, when the import is removed.
   */
  readonly importing: (name: string, importer?: Importer) => Effect.Effect<PlacedStore, PersistenceError, Scope.Scope>
  /**
   * Opens a space whose work is due. An unfinished import is removed instead, after an hour without a part. Returns whether the space is
   * open.
   */
  readonly wake: (name: string) => Effect.Effect<boolean, PersistenceError>
  /** The spaces that stopped by themselves or could not be opened, until they open again. */
  readonly stops: Effect.Effect<ReadonlyArray<Stop>>
  /** Reads when each space has its next work. Due spaces are opened at once, in the background. */
  readonly resume: Effect.Effect<void, PersistenceError>
  /** Adds an enzyme or a node, from the next capture of each space on. `code` is its module. */
  readonly register: (module: Enzyme | NodeDefinition, code?: Code) => Effect.Effect<void, InvalidEnzyme | InvalidNode>
  /**
   * Builds a layer of services, under the rules of runs and within the limit `serviceMillis`. It ends with the kernel, or once it is
   * retired. `label` is its provider in words.
   */
  readonly provide: (layer: ServiceLayer.ServiceLayer, label: string) => Effect.Effect<ServiceLayer.Provided, ServiceRefused>
  readonly unregister: (module: Enzyme | NodeDefinition) => Effect.Effect<void, NotRegistered>
  /** Registers an enzyme as absent: signals that it alone matches are held until it is registered. */
  readonly leaveOut: (enzyme: Enzyme, code?: Code) => Effect.Effect<void, InvalidEnzyme>
  /** The modules of a file failed to load. The enzymes that it had when a space last ran count as absent there. */
  readonly breaks: (file: string) => Effect.Effect<void>
  /** A failed file is gone or loads again. Its enzymes no longer count as absent. */
  readonly mends: (file: string) => Effect.Effect<void>
  /** All enzymes, read in a turn of the host: many callers who list them stop no space. */
  readonly enzymes: Effect.Effect<ReadonlyArray<Registration>>
}>()("systole/kernel/Kernel") {
  /**
   * A kernel with these slices. A store with records of another ledger is not opened.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly layer = (
    slices: ReadonlyArray<KernelSlice>
  ): Layer.Layer<Kernel, never, Persistence | Hash | Pacemaker | Registry | Scheduler | Reactor> => Layer.effect(
    Kernel,
    Effect.gen(function*() {
      const persistence = yield* Persistence
      const registry = yield* Registry
      const reactor = yield* Reactor
      const given = yield* KernelSettings
      const contents = yield* LargeContent.CurrentContentStore
      // A space without rules has no labels, so it needs none of the channels.
      const labels = given.labels && ChannelLabels.added(given.labels, reactor.channels)
      const settings = { ...given, labels }
      const hash = yield* Hash
      const scope = yield* CurrentRunScope
      const pacemaker = outOfRuns(yield* Pacemaker, scope)
      const nodes = new Modules()
      const stops = new Stops()
      const runs = runsOf(slices)
      const { awaits, now, timer, turn, wake, task = turn } = pacemaker
      const telemetry = new Telemetry.Telemetry(yield* Effect.context<never>(), scope)
      const fork = yield* Fibers.make
      const ofRuns = Telemetry.ofRuns(telemetry.context, scope.outside)
      const host = { awaits, now, timer, turn: task, wake, scope, fork, runs: ofRuns, watch: yield* CurrentRunWatch }
      const parts: Recovery.Parts = {
        registry, nodes, schedulers: yield* Scheduler, settings, durable: runs, ledgers: ledgersOf(slices, reactor), hash, pacemaker, host,
        steady: new SteadyClock(pacemaker),
        held: (yield* CurrentHolds) ?? new Set(settings.held), lostBeats: new LostBeats(),
        cursorKey: yield* CurrentCursorKey, restore: yield* ModuleRestore, reporter: yield* CurrentReporter, telemetry,
        watchdog: yield* CurrentWatchdog
      }
      const api = { parts: [operationsPart, ...slices.flatMap(({ part }) => part ?? [])], absent: SliceTable.absent(slices) }
      const life = yield* Effect.scope
      const remote = yield* RemotePeers
      const spaces = new Spaces({ persistence, parts, api, stops, remote, contents, frame: frameOf(slices, hash), scope: life })
      const ready = yield* Effect.cachedWithTTL(Effect.result(persistence.ready ?? Effect.void), READY_MILLIS)
      yield* Effect.addFinalizer(() => Effect.sync(() => spaces.close()))

      return Kernel.of({
        space: (name, { create = settings.create === "on-demand" } = {}) => Effect.map(spaces.find(name, create), ({ client }) => client),
        opened: (name) => spaces.opened(name)?.client,
        stored: (name, cell) => Effect.map(spaces.stored(name, cell), (text) =>
          text === undefined ? undefined : Document.read(Document.decode(text), [])),
        progress: (name) => spaces.progress(name),
        due: (name) => spaces.opened(name)?.space.lifetime.due,
        contents,
        limits: settings.limits,
        contentBytes: Math.max(LargeContent.STORED, Math.min(LargeContent.MOST, contents?.maxBytes ?? 0)),
        spaces: spaces.names.all,
        names: (page) => spaces.names.page(page),
        ready: Effect.flatMap(ready, Effect.fromResult),
        remove: (name) => spaces.remove(name),
        receive: (space, from, rows) => Effect.flatMap(spaces.peer(space), (peer) => Effect.promise(() => receive(from, rows, peer))),
        importing: (name, importer = { ended: Effect.void, isBusy: () => false }) => spaces.importing(name, importer),
        wake: (name) => Effect.map(spaces.openDue(name), (opened) => opened !== undefined),
        stops: Effect.sync(() => stops.all),
        resume: spaces.resume,
        ...registrar({ runs, registry, nodes, scheduled: spaces.scheduled, wake: () => spaces.wake() }),
        provide: (layer, label) => provide({ label, layer, millis: settings.limits.serviceMillis }, { fork, life, scope, spaces }),
        enzymes: spaces.pages.see(() => registry.all().map(({ code, enzyme }) => ({ enzyme, hash: code?.hash })))
      })
    })
  )
}

/** Builds a layer of services in a scope of its own, which ends with that of the kernel, or before. */
const provide = Effect.fnUntraced(function*(
  request: ServiceLayer.Request,
  { fork, life, scope, spaces }: {
    readonly fork: Fibers.Fork
    readonly life: Scope.Scope
    readonly scope: RunScope
    readonly spaces: Pick<Spaces, "renewed">
  }
): Effect.fn.Return<ServiceLayer.Provided, ServiceRefused> {
  const own = yield* Scope.fork(life)
  const context = yield* ServiceLayer.build(request).pipe(
    Scope.provide(own),
    Effect.provideService(CurrentRunScope, scope),
    Effect.onError(() => Scope.close(own, Exit.void))
  )
  const background = Fibers.background(fork, yield* CurrentReporter)
  return { context, retire: Effect.sync(() => background(Effect.andThen(spaces.renewed, Scope.close(own, Exit.void)))) }
})

/** A pacemaker out of the scope of runs, also where the kernel uses it within one. */
const outOfRuns = (pacemaker: Pacemaker["Service"], { outside, reading }: RunScope): Pacemaker["Service"] => {
  const { awaits, elapsed, now, seed, task, timer, turn, wake } = pacemaker
  return {
    ...awaits === undefined ? {} : { awaits: (enzyme, limitMs) => outside(() => awaits(enzyme, limitMs)) },
    now: () => reading(now),
    ...elapsed === undefined ? {} : { elapsed: () => reading(elapsed) },
    seed: () => reading(seed),
    turn: (run, again) => outside(() => turn(run, again)),
    ...task === undefined ? {} : { task: (run) => outside(() => task(run)) },
    timer: (at, run) => outside(() => timer(at, run)),
    wake: (at, run) => outside(() => wake(at, run))
  }
}

/** The part of the API of a space that each kernel has. */
const operationsPart = SpaceFace.part(outside)

/** The ledgers of slices, after the one of operations. */
const ledgersOf = (slices: ReadonlyArray<KernelSlice>, reactor: Reactor["Service"]): LedgerList =>
  new LedgerList([operations, ...slices.flatMap(({ ledger }) => ledger?.(reactor) ?? [])])

/** The durable runs of slices. */
const runsOf = (slices: ReadonlyArray<KernelSlice>): DurableRuns =>
  slices.find(({ runs }) => runs !== undefined)?.runs ?? NoDurableRuns.runs

/** The maker of frames of slices. */
const frameOf = (slices: ReadonlyArray<KernelSlice>, hash: Hash["Service"]): FrameOf | undefined => {
  const frame = slices.find(({ frame }) => frame !== undefined)?.frame
  return frame && ((pin, parts) => frame(pin, hash, parts))
}

/** The refusal of a module. */
const refusedBy = ({ _tag, name }: Enzyme | NodeDefinition, reason: string): InvalidEnzyme | InvalidNode =>
  _tag === "Enzyme" ? new InvalidEnzyme({ name, reason }) : new InvalidNode({ name, reason })

/** Registers and withdraws modules. A node may give an idle space work. */
const registrar = ({ nodes, registry, runs, scheduled, wake }: {
  readonly runs: Pick<DurableRuns, "check">
  readonly registry: Registry["Service"]
  readonly nodes: Modules
  readonly scheduled: Pick<ScheduledSpaces, "see">
  readonly wake: () => void
}): Pick<Kernel["Service"], "register" | "unregister" | "leaveOut" | "breaks" | "mends"> => ({
  register: (module, code) => Effect.try({
    try: () => {
      const clash = module.declares.length === 0 ? undefined : typesOf({ enzymes: registry, nodes }).clash(module)
      const unserved = module._tag === "Enzyme" ? unbound(module)?.reason : undefined
      const unplanned = module._tag === "Enzyme" && module.schedule !== undefined ? Scheduling.refusalHere(module.schedule) : undefined
      const refused = clash ?? unserved ?? unplanned
      if (refused !== undefined) throw refusedBy(module, refused)
      if (module._tag === "Enzyme") {
        runs.check(module)
        registry.register(module, code)
      } else nodes.register(module, code)
      // An enzyme gives an idle space no work, unless it has a schedule or signals are held.
      const isScheduled = module._tag === "Enzyme" && module.schedule !== undefined
      if (module._tag !== "Enzyme" || registry.leavesOut || isScheduled) wake()
      if (isScheduled) scheduled.see(module)
    },
    catch: expect<InvalidEnzyme | InvalidNode>(InvalidEnzyme, InvalidNode)
  }),
  leaveOut: (enzyme, code) => Effect.try({ try: () => registry.leaveOut(enzyme, code), catch: expect(InvalidEnzyme) }),
  breaks: (file) => Effect.sync(() => registry.breaks(file)),
  mends: (file) => Effect.sync(() => {
    registry.mends(file)
    wake()
  }),
  unregister: (module) => Effect.try({
    try: () => {
      if (module._tag === "Enzyme") return registry.unregister(module)
      if (!nodes.unregister(module)) throw new NotRegistered({ name: module.name })
      wake()
    },
    catch: expect(NotRegistered)
  })
})

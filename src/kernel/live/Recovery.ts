/**
 * Recovery: the state of a space from its store, as of the newest durable beat.
 *
 * @module
 */
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { Telemetry } from "../../diagnostic/Telemetry.ts"
import type { Hash } from "../../persistence/Hash.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { PlacedStore, SpaceStore } from "../../persistence/Persistence.ts"
import type { Registry, Resolution } from "../../registry/Registry.ts"
import type { Modules as NodeModules } from "../../scheduler/definition/Modules.ts"
import type { ByPlace, LedgerList } from "../../ledger/LedgerList.ts"
import * as StoreCheck from "../../ledger/StoreCheck.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { DurableRuns, RunExecutor } from "../beat/RunExecutor.ts"
import type { RunHost } from "../watchdog/RunHost.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { CommitHandshake } from "../beat/loop/CommitHandshake.ts"
import { LiveClock } from "../inbox/LiveClock.ts"
import { Schedules } from "../beat/command/Schedules.ts"
import { OutboxQueue } from "../inbox/OutboxQueue.ts"
import { BeatScheduler } from "../derived/BeatScheduler.ts"
import type { CursorKey } from "../model/CursorKey.ts"
import { bindingsIn, Documents } from "../model/Documents.ts"
import { Inbox } from "../inbox/Inbox.ts"
import type { Settings } from "../model/Limits.ts"
import type { Holds } from "../model/Holds.ts"
import type { LostBeats } from "../journal/LostBeats.ts"
import * as Labels from "../../stage/Labels.ts"
import * as SpaceClock from "../../stage/SpaceClock.ts"
import * as Journal from "../journal/Journal.ts"
import * as Modules from "../model/Modules.ts"
import * as Awaited from "../model/Awaited.ts"
import type { Pacemaker } from "../model/Pacemaker.ts"
import { ParkedSignals } from "../model/ParkedSignals.ts"
import * as Pieces from "../derived/Pieces.ts"
import type { ModuleRestore } from "../model/ModuleRestore.ts"
import * as Arrived from "../model/Arrived.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import type { WatchedSpace } from "../watchdog/SpaceWatchdog.ts"
import { PendingSignal, type Signal } from "../model/Signal.ts"
import type { Watchdog } from "../watchdog/Watchdog.ts"

/** The dependencies that the spaces of a kernel share. */
export interface Parts {
  readonly registry: Registry["Service"]
  readonly ledgers: LedgerList
  readonly durable: DurableRuns
  readonly nodes: NodeModules
  readonly schedulers: Scheduler["Service"]
  readonly settings: Settings
  readonly hash: Hash["Service"]
  readonly pacemaker: Pacemaker["Service"]
  readonly host: RunHost
  /** The clock of the host, since it has run evenly. */
  readonly steady: LiveState["steady"]
  readonly restore: ModuleRestore
  readonly reporter: Reporter
  readonly telemetry: Telemetry
  /** The names of held spaces. */
  readonly held: Holds
  readonly watchdog: Watchdog | undefined
  readonly lostBeats: LostBeats
  readonly cursorKey: CursorKey | undefined
}

/** The newest entry has the newest form: whoever wrote a newer one did so last. A damaged one keeps only its own beat from readers. */
const checkJournal = (store: SpaceStore): void => {
  try {
    const row = store.entry(store.head().beat)
    if (row === undefined) return
    Journal.checkVersion(row.text, store.space)
    Journal.checkSemantics(row.text, { beat: row.beat, space: store.space })
  } catch (error) {
    if (!(error instanceof PersistenceError && error.code === "store/damaged")) throw error
  }
}

/**
 * The state of a space: its bindings, and all pending input.
 *
 * @throws PersistenceError
 */
export const recover = (store: PlacedStore, parts: Parts): LiveState => {
  const { durable, hash, held, host, ledgers, lostBeats, nodes, pacemaker } = parts
  const { restore, registry, reporter, schedulers, settings, telemetry } = parts
  // Records come with beats.
  if (store.head().beat >= 0) StoreCheck.check(store, ledgers)
  checkJournal(store)
  const documents = documentsOf(store, parts)
  Modules.leaveOut(registry, documents)
  const inbox = new Inbox(settings.limits, store)
  const bindings = bindingsIn(store, documents)
  const isNew = store.head().beat < 0 && settings.boot
  // The initial signal precedes all input from outside. The boot resumes the space in the second beat.
  const isInitialized = isNew && registry.all().some(({ enzyme }) => enzyme.query === INIT)
  const stored = modeIn(store, documents, arrivedIn(store))
  const mode = isInitialized ? { ...stored, gated: true } : stored
  inbox.rule(mode)
  const departures = new OutboxQueue(settings.limits, store, inbox.backlog)
  const clocks = clocksOf(store, documents, parts)
  const schedules = new Schedules()
  const next = numbers(restoreQueue(store, { inbox, departures, durable, liveClock: clocks.liveClock, schedules }), mode)
  inbox.held.tell = telling(store.space, reporter, (signal) =>
    registry.resolve(signal.signal, signal.target, Awaited.tableFor(bindings, signal)))
  const states = ledgers.open({ store, documents, bindings, tempo: settings.tempo })
  const watchdog = parts.watchdog?.open(watched(store, lostBeats, inbox))
  restoreTimers(inbox, { ledgers, states, number: next })
  return {
    space: store.space,
    store,
    documents,
    inbox,
    departures,
    enzymes: registry,
    nodes,
    derivation: new BeatScheduler(nodes, {
      committed: documents,
      schedulers,
      limit: settings.limits.residentBytes,
      kept: store.observations(),
      pieces: Pieces.restore(store, documents),
      hash: hash.hex,
      timer: host.now,
      tell: (fact) => host.scope.outside(() => reporter.report({ ...fact, space: store.space, beat: undefined })),
      stop: host.watch?.stop,
      watchdog
    }),
    bindings,
    durable,
    runs: executorOf(store, parts, states),
    mode,
    arrived: arrivedIn(store),
    ...clocks,
    parked: new ParkedSignals(),
    ledgers,
    states,
    settings,
    labels: settings.labels === undefined ? undefined : Labels.read(Labels.documentOf(settings.labels)),
    hash: hash.hex,
    seed: pacemaker.seed,
    watchdog,
    restore,
    startHash: hash.start,
    reporter,
    telemetry,
    handshake: new CommitHandshake({ space: store.space, store, host, limits: settings.limits, reporter, telemetry }),
    schedules,
    lostBeats,
    held,
    number: next
  }
}

/**
 * Draws numbers after that of the newest row. A copy tells its own signals from those of the original by their numbers, also once the
 * rows of the original are gone.
 */
const numbers = (newest: number, { copied = 0, detached, dropped }: SpaceMode.SpaceMode): (() => number) => {
  let number = Math.max(newest, detached?.last ?? 0, copied)
  number = Math.max(number, dropped?.outbox ?? 0, dropped?.timers ?? 0)
  return () => ++number
}

/** Arms the timers of ledgers. */
const restoreTimers = (inbox: Inbox, { ledgers, number, states }: Pick<LiveState, "ledgers" | "number" | "states">): void => {
  for (const { ledger, place } of ledgers.all) {
    inbox.waits.rebook({ gone: [], next: ledger.timers(states[place]) }, { number, urgent: ledger.urgentTimers !== undefined })
  }
}

/** The source of an imported space; `undefined` after its first beat, and for each other space. */
const arrivedIn = (store: PlacedStore): Arrived.Arrived | undefined => {
  const arrival = store.arrival()
  return arrival === undefined ? undefined : Arrived.arrived(arrival.note)
}

/** Nothing goes out of an imported space before the beat that says so. */
const modeIn = (store: PlacedStore, documents: Documents, arrived: Arrived.Arrived | undefined): SpaceMode.SpaceMode => {
  const mode = SpaceMode.read(store, documents)
  if (arrived === undefined) return mode
  const { beat, from, why } = arrived
  return { ...mode, detached: { why, from, beat, last: 0 } }
}

/** The documents of a space. Content that arrived after the last beat of the previous process is dated by the next beat. */
const documentsOf = (store: SpaceStore, { host, settings }: Pick<Parts, "host" | "settings">): Documents => {
  const documents = new Documents(store, settings.limits.residentBytes, host.scope.outside)
  for (const hash of store.undated()) documents.arrive(hash)
  return documents
}

/** The clock of a space, over that of the host. */
const clocksOf = (store: SpaceStore, documents: Documents, { host, settings, steady }: Parts) => {
  const clock = SpaceClock.read(documents.read(SpaceClock.ADDRESS.key))
  const { behindMillis } = settings.limits
  const liveClock = new LiveClock({ host, head: () => store.head(), recorded: clock, behindMillis })
  return { clock, liveClock, host: liveClock.host, steady }
}

/** The executor of the durable runs of a space. */
const executorOf = ({ space }: SpaceStore, { durable, hash, host, ledgers, reporter, settings }: Parts, states: ByPlace): RunExecutor =>
  durable.executor({
    space,
    hash: hash.hex,
    resident: settings.limits.residentRuns,
    ledgers,
    states,
    placeOf: host.scope.placeOf,
    // Only a development host watches runs.
    report: host.watch === undefined ? undefined : (told) => host.scope.outside(() => reporter.report(told))
  })

const watched = (store: SpaceStore, lostBeats: LostBeats, { events, waiting }: Inbox): WatchedSpace => {
  const head = store.head().beat
  const isOpen = (event: string): boolean => waiting.has(event) || events.get(event) !== undefined
  return { space: store.space, head, next: Math.max(head, lostBeats.newest(store.space)) + 1, isOpen }
}

/** The parts of a space with what waits. */
interface Queues {
  readonly inbox: Inbox
  readonly departures: OutboxQueue
  readonly durable: DurableRuns
  readonly liveClock: LiveClock
  readonly schedules: Schedules
}

/**
 * Restores all that waits. Returns the number of the newest row.
 *
 * @throws PersistenceError
 */
const restoreQueue = (store: SpaceStore, { departures, durable, inbox, liveClock, schedules }: Queues): number => {
  let number = 0
  for (const row of store.queue()) {
    const pending = durable.whole(PendingSignal.fromRow(row), store)
    if (pending.since !== undefined) liveClock.note(pending.since)
    if (pending.leaves) departures.add(pending)
    else inbox.restore(pending)
    schedules.restore(pending.signal)
    number = row.seq
  }
  for (const [oid, isEnd] of durable.noted(store)) inbox.resumeRun(oid, undefined, isEnd)
  return number
}

/** The initial signal of a new space, for enzymes that match it. */
export const INIT = "/CEP:sig_sys/init"

/**
 * Whether a recovered space is new and has enzymes for its initial signal.
 */
export const isBeginning = ({ mode, store }: Pick<LiveState, "mode" | "store">): boolean => mode.gated && store.head().beat < 0

/** Reports each absent enzyme with held signals, once. */
const telling = (space: string, reporter: Reporter, resolve: (signal: Signal) => Resolution) => {
  const told = new Set<string>()
  return (signal: Signal): void => {
    for (const { name } of resolve(signal).leftOut?.() ?? []) {
      if (told.has(name)) continue
      told.add(name)
      const note = `what only ${name} takes waits, first ${signal.id} on ${signal.signal ?? signal.target ?? ""}`
      const fact = Diagnostic.of("enzyme/held", { origin: { kind: "enzyme", name }, subject: undefined, note })
      reporter.report({ ...fact, space, beat: undefined })
    }
  }
}

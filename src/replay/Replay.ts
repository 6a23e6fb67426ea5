/**
 * Replay: beats run again on recorded input, and compared with their journal entries.
 *
 * The same heartbeat runs over the historic state and the recorded input. Each entry that it makes must equal the
 * recorded entry to the byte.
 *
 * @module
 */
import type * as Inspection from "../contract/Inspection.ts"
import { silent } from "../diagnostic/Telemetry.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { RunExecutor } from "../kernel/beat/RunExecutor.ts"
import type { ByPlace } from "../ledger/LedgerList.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Executed } from "../kernel/beat/Phases.ts"
import type { Beat } from "../kernel/beat/step/Commit.ts"
import { bindingsIn, Documents } from "../kernel/model/Documents.ts"
import { Heartbeat, type HeartbeatSpace } from "../kernel/beat/step/Heartbeat.ts"
import { Inbox } from "../kernel/inbox/Inbox.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import { ParkedSignals } from "../kernel/model/ParkedSignals.ts"
import * as SpaceMode from "../kernel/model/SpaceMode.ts"
import { BeatAborted } from "../kernel/model/SpaceError.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import type { Enzymes } from "../registry/Registry.ts"
import * as Semantics from "../stage/Semantics.ts"
import * as SpaceClock from "../stage/SpaceClock.ts"
import { Code } from "./Code.ts"
import type { Difference } from "./Difference.ts"
import * as Differences from "./Difference.ts"
import { NotReplayable, reasonOf } from "../kernel/history/NotReplayable.ts"
import { HistoricStore } from "../kernel/history/HistoricStore.ts"
import { RecordedDerivation, type StartedNode } from "./RecordedDerivation.ts"
import { RecordedInput } from "./RecordedInput.ts"

/** The result of a replay. */
export type ReplayResult = ReturnType<typeof Inspection.replayResult>["Type"]

/** The reason why a beat cannot be replayed. */
export type Impossible = Pick<NotReplayable, "beat" | "code" | "reason">

/** A replay in progress, one beat after another. */
interface Rerun {
  /** The code of its newest beat. */
  readonly code: Code
  readonly derivation: RecordedDerivation
  /**
   * Runs the beat of an entry; returns its work and the entry that it made. With `interest`, other nodes may adopt
   * their recorded results.
   */
  readonly step: (
    row: JournalRow,
    entry: Journal.Entry,
    interest?: ReadonlySet<string>
  ) => Promise<{ readonly beat: Beat; readonly made: JournalRow }>
  /** Returns a reason other than different code why the newest beat may differ, if there is one. */
  readonly excuse: () => Pick<Impossible, "code" | "reason"> | undefined
}

/** The factor on a run's time limit in a replay, because a replay shares the host with live beats. */
const PATIENCE = 60

/**
 * Replays the beats from `from` (default: the oldest one) to `to`, up to the limit of one request.
 *
 * @category combinators
 * @since 0.1.0
 */
export const replay = async (history: HistorySource, from: number | undefined, to: number): Promise<ReplayResult> => {
  const { limits: { replayBeats } } = history.settings
  // A range that ends before the kept beats is refused as one that begins there.
  const start = from ?? Math.min(history.store.anchor().beat + 1, to)
  const last = Math.min(to, history.store.head().beat)
  let beats = 0
  let before: { readonly beat: number; readonly hash: string } | undefined
  let code: Code | undefined
  const found = (to: number, { difference, impossible, next }: Partial<ReplayResult> = {}): ReplayResult =>
    ({ from: start, to, beats, next, changed: [...code?.replaced ?? []], difference, impossible })
  try {
    const rerun = await begin(history, start)
    code = rerun.code
    for (const row of history.store.scanJournal(start, last)) {
      const pause = history.rest()
      if (pause !== undefined) await pause
      if (beats === replayBeats) return found(row.beat - 1, { next: row.beat })
      const entry = Journal.parse(row.text)
      // Pruning continues meanwhile, and would otherwise cause rows to be skipped.
      if (before !== undefined && entry.prev !== before.hash) throw prunedAfter(before.beat)
      before = row
      const { difference, made } = await compared(rerun, { row, entry })
      beats++
      if (difference === undefined) continue
      const impossible = excuse(rerun, entry, made)
      return found(last, impossible === undefined ? { difference } : { impossible })
    }
    if (before !== undefined && before.beat < Math.min(last, history.store.anchor().beat)) throw prunedAfter(before.beat)
  } catch (error) {
    return found(last, { impossible: reasonOf(error) })
  }
  return found(last)
}

const newer = ({ beat, semantics }: Journal.Entry): NotReplayable => {
  const rules = `it followed the rules of semantics ${semantics}, and this version knows up to ${Semantics.NEWEST}`
  const reason = `${rules}. Take a newer version`
  return new NotReplayable({ beat, code: "replay/semantics", reason })
}

const prunedAfter = (beat: number): NotReplayable => {
  const reason = "the journal was pruned while it was replayed. Begin with a later one"
  return new NotReplayable({ beat: beat + 1, code: "replay/pruned", reason })
}

/** A recorded beat. */
interface Written {
  readonly row: JournalRow
  readonly entry: Journal.Entry
}

/** The result of a comparison; `made` is the replayed entry, if it differs. */
interface Compared {
  readonly difference: Difference | undefined
  readonly made?: Journal.Entry
}

/** The recorded beat was not aborted, since it is in the journal; so an aborted replay is a difference. */
const compared = async (rerun: Rerun, { entry, row }: Written, interest?: ReadonlySet<string>): Promise<Compared> => {
  try {
    const { made } = await rerun.step(row, entry, interest)
    const difference = Differences.between(row, made)
    return difference === undefined ? { difference } : { difference, made: Journal.parse(made.text) }
  } catch (error) {
    if (error instanceof BeatAborted) return { difference: Differences.failed(row.beat, error) }
    throw error
  }
}

/** Returns the reason for which a beat may differ though its journal is sound, if there is one. */
const excuse = (rerun: Rerun, entry: Journal.Entry, made: Journal.Entry | undefined): Impossible | undefined => {
  const { beat, semantics } = entry
  const names = rerun.code.missing(entry, made)
  if (names.length > 0) {
    const reason = `it did not come out the same, and code that ran then is not to be had: ${names.join("; ")}. Bring it back`
    return { beat, code: "replay/code", reason }
  }
  const services = rerun.code.missingServices(entry, made)
  if (services.length > 0) {
    const reason = `it did not come out the same, and services that ran then are not to be had: ${services.join("; ")}. ` +
      "Bring the plugin back, or give the one of today the same results"
    return { beat, code: "replay/service", reason }
  }
  const excuse = rerun.excuse()
  if (excuse !== undefined) return { beat, ...excuse }
  if (semantics >= Semantics.NEWEST) return undefined
  const rules = `it followed the rules of semantics ${semantics}, and this version follows those of ${Semantics.NEWEST}`
  const remedy = "Begin with a later one, or replay it with the version that made it"
  return { beat, code: "replay/semantics", reason: `${rules}. ${remedy}` }
}

/** A beat as observed in a replay, and the enzymes that were active in it. */
export interface ObservedBeat {
  readonly executed: Executed
  /** The transactions of the nodes that ran, by their lines. */
  readonly nodeDrafts: ReadonlyArray<Draft>
  readonly enzymes: Enzymes
}

/**
 * Observes a beat by replaying it; resolves to `undefined` if that is impossible.
 */
export const observe = async (history: HistorySource, row: JournalRow): Promise<ObservedBeat | undefined> => {
  let executed: Executed | undefined
  try {
    const entry = Journal.parse(row.text)
    const rerun = await begin(history, row.beat, (seen) => {
      executed = seen
    })
    const { difference, made } = await compared(rerun, { row, entry })
    // The results of other code or rules reveal no information about the recorded run.
    if (executed === undefined || (difference !== undefined && excuse(rerun, entry, made) !== undefined)) return undefined
    return { executed, nodeDrafts: rerun.derivation.nodeDrafts, enzymes: rerun.code.enzymes }
  } catch (error) {
    if (error instanceof NotReplayable) return undefined
    throw error
  }
}

/**
 * Restores the children that parents started before a replay began, from the beats of these starts. Such a beat is
 * replayed only as far as the parents need it.
 */
const loadDefinitions = async (
  history: HistorySource,
  derivation: RecordedDerivation,
  unknown: ReturnType<RecordedDerivation["unknown"]>
): Promise<void> => {
  for (const [beat, nodes] of unknown) {
    const pause = history.rest()
    if (pause !== undefined) await pause
    const row = history.store.entry(beat)
    const impossible = (code: NotReplayable["code"], { name }: StartedNode, reason: string): NotReplayable =>
      new NotReplayable({ beat, code, reason: `it says what the node "${name}" is that ran later, and ${reason}` })
    if (row === undefined) throw impossible("replay/pruned", nodes[0]!, "is pruned. Begin with a later one")
    const entry = Journal.parse(row.text)
    const rerun = await begin(history, beat)
    const { difference, made } = await compared(rerun, { row, entry }, new Set(nodes.flatMap(({ parent }) => parent.split("/"))))
    const differs = difference === undefined ? undefined : excuse(rerun, entry, made)
    if (differs !== undefined) throw new NotReplayable(differs)
    const absent = derivation.learn(rerun.derivation, nodes)
    if (absent !== undefined) throw impossible("replay/code", absent, `${absent.parent} does not start it there today. Bring back its code`)
  }
}

/** The durable runs of a replay. None of them is in memory. */
const runsOf = ({ durable, hash, host, ledgers, settings }: HistorySource, space: string, states: ByPlace): RunExecutor =>
  durable.executor({
    space,
    hash,
    resident: settings.limits.residentRuns,
    ledgers,
    states,
    placeOf: host.scope.placeOf,
    report: undefined
  })

/** Starts a replay from the state before a beat. */
const begin = async (history: HistorySource, from: number, seen?: (executed: Executed) => void): Promise<Rerun> => {
  const historic = await HistoricStore.before(history, from)
  const documents = new Documents(historic, history.settings.limits.residentBytes)
  const bindings = bindingsIn(historic, documents)
  const input = new RecordedInput(history, historic)
  const code = await Code.before(history, historic, documents)
  const derivation = new RecordedDerivation(code)
  let number = 0
  let isLate = false
  const { host } = history
  const late = (run: () => void) => (): void => {
    isLate = true
    run()
  }
  const states = history.ledgers.open({ store: historic, documents, bindings, tempo: history.settings.tempo })
  const state: HeartbeatSpace = {
    get space() {
      return historic.space
    },
    store: historic,
    documents,
    // Signals are compared when they are sent; the entries record their capture.
    get inbox() {
      return new Inbox()
    },
    // The same holds for parked signals.
    get parked() {
      return new ParkedSignals()
    },
    get enzymes() {
      return code.enzymes
    },
    derivation,
    bindings,
    runs: runsOf(history, historic.space, states),
    mode: SpaceMode.read(historic, documents),
    clock: SpaceClock.read(documents.read(SpaceClock.ADDRESS.key)),
    ledgers: history.ledgers,
    states,
    // The entries record overload.
    settings: history.settings,
    hash: history.hash,
    host: { ...host, runs: silent, timer: (at, run) => host.timer(host.now() + PATIENCE * (at - host.now()), late(run)) },
    restore: history.restore,
    number: () => ++number
  }
  const heartbeat = new Heartbeat(state, input, seen)
  return {
    code,
    derivation,
    step: async (row, entry, interest) => {
      if (entry.semantics > Semantics.NEWEST) throw newer(entry)
      await loadDefinitions(history, derivation, derivation.unknown(entry, interest))
      historic.absent = undefined
      isLate = false
      await code.see(entry)
      input.load(entry)
      derivation.load(entry)
      const beat = await heartbeat.step(row.beat)
      return { beat, made: historic.made! }
    },
    excuse: () => {
      const late = `a run took ${PATIENCE} times as long as it may. Replay it where there is less to do`
      if (isLate) return { code: "replay/time", reason: late }
      if (historic.absent === undefined) return undefined
      const reason = `a run asks for ${historic.absent}, which is not kept any more or never was. Bring the content back`
      return { code: "replay/content", reason }
    }
  }
}

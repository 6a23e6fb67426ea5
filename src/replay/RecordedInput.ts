/**
 * The input of a replayed beat, from its journal entry.
 *
 * @module
 */
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { BeatStart } from "../kernel/model/BeatStart.ts"
import type { QueuedCommand } from "../kernel/model/Command.ts"
import * as Commands from "../kernel/model/Command.ts"
import type { DueTimers } from "../kernel/beat/LedgerBeats.ts"
import * as DeadLetter from "../kernel/beat/command/DeadLetter.ts"
import type { Outcome, TakenSignal } from "../kernel/model/InFlight.ts"
import { InFlight } from "../kernel/model/InFlight.ts"
import * as Dossier from "../operation/Dossier.ts"
import * as Semantics from "../stage/Semantics.ts"
import type { BeatInput } from "../kernel/beat/step/BeatInput.ts"
import type { ExpiredRecords } from "../kernel/journal/RetiredLine.ts"
import type { Entry } from "../kernel/journal/Journal.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import * as LabelCheck from "../kernel/beat/step/LabelCheck.ts"
import type { ParkedNote } from "../kernel/model/ParkedSignals.ts"
import * as Run from "../kernel/beat/step/Run.ts"
import type { Heard, Signal } from "../kernel/model/Signal.ts"
import * as Signals from "../kernel/model/Signal.ts"
import type { HistoricStore } from "../kernel/history/HistoricStore.ts"
import type { InputRecord } from "../kernel/journal/InputLine.ts"
import type { RunRecord } from "../kernel/journal/RunLine.ts"
import type { SentRecord } from "../kernel/journal/SentLine.ts"
import type { SignalSend } from "../kernel/journal/JournalRecords.ts"
import * as Records from "../kernel/journal/JournalRecords.ts"
import { NotReplayable } from "../kernel/history/NotReplayable.ts"

/** An earlier entry: its signals with their payloads, by their ids. */
interface Earlier {
  readonly beat: number
  readonly clock: number
  readonly captured: ReadonlyMap<string, InputRecord>
  readonly sent: ReadonlyMap<string, SignalSend>
}

/**
 * Returns the input of one entry after another.
 */
export class RecordedInput implements BeatInput {
  private readonly history: HistorySource
  private readonly historic: HistoricStore
  private entry: Entry = unloaded
  private runs: ReadonlyArray<RunRecord> = []
  private sent: ReadonlyArray<SentRecord> = []
  /** The earlier entry requested last: the signals of one beat are mostly captured together. */
  private earlier: Earlier | undefined
  /** The inputs of each captured event: several of its enzymes may be retried in one beat. */
  private flights: ReadonlyMap<InFlight, ReadonlyArray<number>> = new Map()

  constructor(history: HistorySource, historic: HistoricStore) {
    this.history = history
    this.historic = historic
  }

  /** Loads the entry of the next beat. */
  load(entry: Entry): void {
    this.entry = entry
    this.runs = Records.runsOf(entry)
    this.sent = Records.sentByBeat(entry)
  }

  begin(beat: number): BeatStart {
    const { entry } = this
    const { activated = 0, clock, content = [], isolation = "snapshot", made = [], seed, semantics, spent = [], tempo = 0 } = entry
    this.historic.load(entry)
    const cells = Records.cellsOf(entry)
    const modules = Records.modulesOf(cells)
    const digests = new Set(modules.flatMap(({ digests }) => digests))
    // Their bytes are in the historic store.
    const texts = made.filter((hash) => digests.has(hash)).map((hash) => ({ hash, bytes: none }))
    const active = { modules, descriptions: Records.descriptionsOf(cells), titled: Records.titlesOf(cells), texts }
    const inputs = this.history.ledgers.recorded((field) => Journal.inputOf(entry, field))
    const labels = Records.labelRulesOf(cells)
    return { beat, semantics, clock, seed, tempo, inputs, isolation, activated, spent, ...active, content, labels }
  }

  commands(): ReadonlyArray<QueuedCommand> {
    return (this.entry.control ?? []).map((line) => ({ command: Commands.decode(line), answer: nobody }))
  }

  /** It is part of the control input. */
  own(): ReadonlyArray<QueuedCommand> {
    return []
  }

  take(): ReadonlyArray<TakenSignal> {
    const flights = new Map<InFlight, ReadonlyArray<number>>()
    const byId = new Map<string, InFlight>()
    const runs = Map.groupBy(this.runs, ({ input }) => input)
    const taken = Records.inputsOf(this.entry).map((input, i): TakenSignal => {
      const own = runs.get(i) ?? []
      const isStorm = own.some((run) => run.enzyme === DeadLetter.STORM.key && Records.codeOf(run) === DeadLetter.STORM.code)
      const label = LabelCheck.at(this.entry.labels?.in, i)
      const signal = Signals.withLabel({ ...this.signal(input), depth: isStorm ? Infinity : 0 }, label)
      const flight = byId.get(signal.id) ?? new InFlight(signal, input.again?.captured ?? this.entry.beat, undefined)
      byId.set(signal.id, flight)
      flights.set(flight, [...flights.get(flight) ?? [], i])
      flight.discarded = own.some(({ kind }) => kind === "discarded")
      if (input.again === undefined) {
        const undelivered = signal.to === undefined ? undefined : undeliveredIn(own)
        return { flight, pending: new Signals.PendingSignal(0, signal, { undelivered, anew: input.isWhole }) }
      }
      flight.open++
      flight.strict++
      const told = LabelCheck.at(this.entry.labels?.again, i)
      const again = { ...input.again, document: undefined, lane: undefined, loose: false, label: told }
      return { flight, pending: new Signals.PendingSignal(0, signal, { again }) }
    })
    this.flights = flights
    return taken
  }

  /** The entry names the runs among the handlings of the signal. Runs that came to hear it in this beat do so again at its merge. */
  hearers(flight: InFlight): ReadonlyArray<Heard> {
    const inputs = this.flights.get(flight)
    return this.entry.runs.flatMap(([input, oid, result]): ReadonlyArray<Heard> => {
      if (inputs?.includes(input) !== true || !Dossier.isOid(oid) || typeof result !== "object") return []
      const [heard] = result as readonly [Omit<Heard, "oid">]
      return [{ ...heard, oid }]
    })
  }

  /** All segments are in the entry. */
  resume(): ReadonlyArray<TakenSignal> {
    return []
  }

  timers(): DueTimers {
    const { due = [], met = [] } = this.entry
    const { urgentTimers } = this.history.ledgers
    return { due: urgentTimers === undefined ? [] : due.map((line) => urgentTimers.decode(line)), met }
  }

  parked(): ParkedNote | undefined {
    return this.entry.parked
  }

  retired(): ReadonlyArray<ExpiredRecords> {
    return Records.retiredOf(this.entry)
  }

  /** The listeners of the recorded beat may be gone. */
  hears(signal: string, place: string): boolean {
    return this.sent.some((sent) => sent.signal === signal && sent.payload === place)
  }

  /**
   * Decisions of the host are taken from the journal: a run that exceeded its time, too many signals, and a run that
   * aborted the beat before.
   */
  settled(flight: InFlight, key: string): Outcome | undefined {
    const inputs = this.flights.get(flight)
    let number = -1
    for (const run of this.runs) {
      if (Records.isOwn(run)) number++
      if (inputs?.includes(run.input) !== true || run.enzyme !== key || !("code" in run)) continue
      const { code, kind, tag } = run
      const label = LabelCheck.at(this.entry.labels?.runs, number)
      if (kind === "fatal") return { kind, tag, code, message: "", label }
      // An author's error may have such a code and is dead at once, so each outcome is kept.
      if (Run.isHosts(run)) return { kind, tag, code, message: "", label }
    }
    return undefined
  }

  putBack(): void {
    // An aborted beat differs from the committed one, and is reported as that difference.
  }

  committed(): void {
    this.flights = new Map()
  }

  /** Returns a captured signal, with the payload of its sender. */
  private signal(input: InputRecord): Signal {
    const { again, id, isWhole } = input
    if (isWhole) return signalOf(input, { origin: Signals.originOf(id) })
    if (again === undefined || (Signals.expectedBy(id) !== undefined && !id.startsWith("x."))) return this.emitted(id)
    const captured = this.earlierAt(again.captured).captured.get(id)
    if (captured === undefined) throw this.impossible("replay/journal", `no entry says what the signal ${id} was. Verify the journal`)
    return this.signal(captured)
  }

  private impossible(code: NotReplayable["code"], reason: string): NotReplayable {
    return new NotReplayable({ beat: this.entry.beat, code, reason })
  }

  /** Returns a signal that a beat or its runs sent, from that beat's entry. */
  private emitted(id: string): Signal {
    const { beat, clock, sent } = this.earlierAt(Number(id.split(".")[0]))
    const signal = sent.get(id)?.signal
    if (signal === undefined) throw this.impossible("replay/journal", `no entry says who sent the signal ${id}. Verify the journal`)
    const { at, space } = signal
    const isOwn = space === undefined || space === this.historic.past.earlierName(beat)
    const to = isOwn ? undefined : Signals.passage(space, { at, since: clock })
    return signalOf(signal, { origin: "run", to })
  }

  private earlierAt(beat: number): Earlier {
    if (this.earlier?.beat === beat) return this.earlier
    const row = this.history.store.entry(beat)
    if (row === undefined) {
      throw this.impossible("replay/pruned", `beat ${beat}, which tells of a signal of this one, is pruned. Begin with a later one`)
    }
    const entry = Journal.parse(row.text)
    const captured = Records.inputsOf(entry).filter(({ again, isWhole }) => isWhole && again === undefined)
    const byId = new Map(captured.map((input) => [input.id, input]))
    return this.earlier = { beat: entry.beat, clock: entry.clock, captured: byId, sent: Records.sentIn(entry) }
  }
}

const nobody = (): void => {}
const none = new Uint8Array()

/** The entry before the first one is loaded. */
const start = { beat: -1, prev: "", semantics: Semantics.NEWEST, clock: 0, seed: "" }

const unloaded: Entry = { ...start, in: [], runs: [], cells: [], messages: new Map(), places: new Map() }

/** Returns the recorded reason why another space never accepted a signal. */
const undeliveredIn = (runs: ReadonlyArray<RunRecord>): Signals.DeliveryRefusal => {
  const failed = runs.find((run) => "code" in run)
  return { tag: failed?.tag ?? "", code: failed?.code ?? "", message: "" }
}

const signalOf = (
  { awaits, id, payload, signal, target, tells }: Omit<SentRecord, "at" | "space">,
  { origin, to }: Pick<Signal, "origin"> & { readonly to?: Signals.Passage | undefined }
): Signal => {
  const sent = { id, signal, target, payload: Records.documentOf(payload), at: undefined, tells }
  return Signals.make(sent, { origin, depth: 0, expected: Signals.expectedBy(id), to, awaits })
}

/**
 * The input of a replayed beat, from its journal entry.
 *
 * @module
 */
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { Begun } from "../kernel/model/Begun.ts"
import type { Queued } from "../kernel/model/Command.ts"
import * as Commands from "../kernel/model/Command.ts"
import type { DueTimers } from "../kernel/beat/LedgerBeats.ts"
import * as DeadLetter from "../kernel/beat/DeadLetter.ts"
import type { Outcome, Taken } from "../kernel/model/Flight.ts"
import { Flight } from "../kernel/model/Flight.ts"
import type { Intake } from "../kernel/beat/Intake.ts"
import type { Emitted, In, Parsed } from "../kernel/model/Journal.ts"
import * as Journal from "../kernel/model/Journal.ts"
import * as LabelCheck from "../kernel/beat/LabelCheck.ts"
import type { ParkedNote } from "../kernel/model/Parked.ts"
import * as Run from "../kernel/beat/Run.ts"
import type { Signal } from "../kernel/model/Signal.ts"
import * as Signals from "../kernel/model/Signal.ts"
import { NotReplayable } from "./NotReplayable.ts"
import type { HistoricStore } from "./HistoricStore.ts"

/**
 * Returns the input of one entry after another.
 *
 * @category models
 * @since 0.1.0
 */
export class RecordedInput implements Intake {
  private readonly history: HistorySource
  private readonly historic: HistoricStore
  private entry: Parsed | undefined
  /** The last sending entry requested: the signals of one beat are mostly captured together. */
  private sender: Parsed | undefined
  /** The inputs of each captured event: several of its enzymes may be retried in one beat. */
  private flights: ReadonlyMap<Flight, ReadonlyArray<number>> = new Map()

  constructor(history: HistorySource, historic: HistoricStore) {
    this.history = history
    this.historic = historic
  }

  /** Loads the entry of the next beat. */
  load(entry: Parsed): void {
    this.entry = entry
  }

  begin(beat: number): Begun {
    const { activated = 0, clock, content = [], isolation = "snapshot", made = [], seed, spent = [], tempo = 0 } = this.entry!
    this.historic.see(content)
    const modules = Journal.modules(this.entry!)
    const digests = new Set(modules.flatMap(({ digests }) => digests))
    // Their bytes are in the historic store.
    const texts = made.filter((hash) => digests.has(hash)).map((hash) => ({ hash, bytes: none }))
    const entry = this.entry!
    const active = { modules, descriptions: Journal.descriptions(entry), titled: Journal.titled(entry), texts }
    const inputs = this.history.ledgers.recorded((field) => Journal.inputOf(entry, field))
    return { beat, clock, seed, tempo, inputs, isolation, activated, spent, ...active, content, labels: Journal.labels(entry) }
  }

  commands(): ReadonlyArray<Queued> {
    return (this.entry!.control ?? []).map((line) => ({ command: Commands.decode(line), answer: nobody }))
  }

  /** It is part of the control input. */
  own(): ReadonlyArray<Queued> {
    return []
  }

  take(): ReadonlyArray<Taken> {
    const flights = new Map<Flight, ReadonlyArray<number>>()
    const byId = new Map<string, Flight>()
    const { labels } = this.entry!
    const taken = this.entry!.in.map((input, i): Taken => {
      const isStorm = this.entry!.runs.some((line) => line[0] === i && line[1] === DeadLetter.STORM.key && line[4] === DeadLetter.STORM.code)
      const signal = Signals.labelled({ ...this.signal(input), depth: isStorm ? Infinity : 0 }, LabelCheck.at(labels?.in, i))
      const again = typeof input === "object" && "id" in input ? input : undefined
      const flight = byId.get(signal.id) ?? new Flight(signal, again?.captured ?? this.entry!.beat, undefined)
      byId.set(signal.id, flight)
      flights.set(flight, [...flights.get(flight) ?? [], i])
      flight.discarded = this.entry!.runs.some((line) => line[0] === i && line[2] === "discarded")
      if (again === undefined) return { flight, pending: new Signals.Pending(0, signal, { undelivered: this.undelivered(signal, i), anew: typeof input !== "string" }) }
      flight.open++
      flight.strict++
      const { attempt, captured, enzyme, losses, timeouts, why } = again
      const left: Signals.Again = { enzyme, attempt, why, losses, timeouts, captured, document: undefined, lane: undefined, loose: false, label: LabelCheck.at(labels?.again, i) }
      return { flight, pending: new Signals.Pending(0, signal, { again: left }) }
    })
    this.flights = flights
    return taken
  }

  timers(): DueTimers {
    const { due = [], met = [] } = this.entry!
    const { urgentTimers } = this.history.ledgers
    return { due: urgentTimers === undefined ? [] : due.map((line) => urgentTimers.decode(line)), met }
  }

  parked(): ParkedNote | undefined {
    return this.entry!.parked
  }

  retired(): ReadonlyArray<Journal.Retired> {
    return this.entry!.retired ?? []
  }

  /** The listeners of the recorded beat may be gone. */
  hears(signal: string, place: string): boolean {
    return this.entry!.sent?.some(([, path, , , [payload]]) => path === signal && payload === place) === true
  }

  /** Returns the recorded reason why another space never accepted a signal. */
  private undelivered({ to }: Signal, input: number): Signals.Undelivered | undefined {
    if (to === undefined) return undefined
    const [, , , tag, code] = this.entry!.runs.find((line) => line[0] === input)!
    return { tag: tag as string, code: code as string, message: "" }
  }

  /**
   * Decisions of the host are taken from the journal: a run that exceeded its time, too many signals, and a run that
   * aborted the beat before.
   */
  settled(flight: Flight, key: string): Outcome | undefined {
    const inputs = this.flights.get(flight)
    let run = -1
    for (const line of this.entry!.runs) {
      const [i, enzyme, kind, tag, code] = line
      if (Journal.isOwn(line)) run++
      if (inputs?.includes(i) !== true || enzyme !== key) continue
      const label = LabelCheck.at(this.entry!.labels?.runs, run)
      if (kind === "fatal") return { kind, tag: tag as string, code: code as string, message: "", label }
      // An author's error may have such a code and is dead at once, so each outcome is kept.
      if ((kind === "retry" || kind === "dead") && Run.isHosts(code)) return { kind, tag: tag as string, code: code as string, message: "", label }
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
  private signal(input: In): Signal {
    if (Array.isArray(input)) {
      const [id, signal, target, ...payload] = input as readonly [string, string | 0, string | 0, unknown?]
      return sent({ id, signal, target, payload: document(payload[0]) }, Signals.originOf(id))
    }
    if (typeof input === "object" && "payload" in input) {
      const { awaits, id, payload, signal, target } = input
      return sent({ id, signal, target, payload: document(payload?.[0]), awaits }, Signals.originOf(id))
    }
    const id = Journal.idOf(input)
    const expected = Signals.expectedBy(id)
    if (typeof input === "string" || (expected !== undefined && !id.startsWith("x."))) return this.emitted(id)
    const captured = this.entryOf((input as { readonly captured: number }).captured).in.find((other) => Journal.idOf(other) === id && Array.isArray(other))
    if (captured === undefined) throw this.impossible("replay/journal", `no entry says what the signal ${id} was. Verify the journal`)
    return this.signal(captured)
  }

  private impossible(code: NotReplayable["code"], reason: string): NotReplayable {
    return new NotReplayable({ beat: this.entry!.beat, code, reason })
  }

  /** Returns a signal of a run, from the entry of the sending beat. */
  private emitted(id: string): Signal {
    const { clock, runs, sent: awaited = [] } = this.entryOf(Number(id.split(".")[0]))
    for (const [other, signal, target, awaits, [payload]] of awaited) {
      if (other === id) return sent({ id, signal, target, payload: document(payload), awaits: awaits === 0 ? undefined : awaits }, "run")
    }
    for (const line of runs) {
      const emissions = typeof line[2] === "object" ? (line[3] as ReadonlyArray<Emitted> | undefined) ?? [] : []
      const found = emissions.find((emission) => emission[0] === id)
      if (found === undefined) continue
      const payload = found.length > 4 ? (found[3] as ReadonlyArray<unknown>)[0] : found[3]
      const [, signal, target, , at = 0, space] = found
      const to = space === undefined || space === this.historic.space ? undefined : Signals.passage(space, at === 0 ? undefined : at, clock)
      return sent({ id, signal, target, payload: document(payload), to }, "run")
    }
    throw this.impossible("replay/journal", `no entry says who sent the signal ${id}. Verify the journal`)
  }

  private entryOf(beat: number): Parsed {
    if (this.sender?.beat === beat) return this.sender
    const row = this.history.store.entry(beat)
    if (row === undefined) throw this.impossible("replay/pruned", `beat ${beat}, which tells of a signal of this one, is pruned. Begin with a later one`)
    return this.sender = Journal.parse(row.text)
  }
}

const nobody = (): void => {}
const none = new Uint8Array()

const document = (value: unknown): Document | undefined => value === undefined ? undefined : Codec.decode(JSON.stringify(value))

const sent = (
  { awaits, id, payload, signal, target, to }: { readonly id: string; readonly signal: string | 0; readonly target: string | 0; readonly payload: Document | undefined; readonly to?: Signals.Passage | undefined; readonly awaits?: string | undefined },
  origin: Signal["origin"]
): Signal => {
  const paths = { signal: signal === 0 ? undefined : signal, target: target === 0 ? undefined : target }
  return Signals.make({ id, ...paths, payload, at: undefined }, { origin, depth: 0, expected: Signals.expectedBy(id), to, awaits })
}

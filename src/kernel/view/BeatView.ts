/**
 * The beat view: `/rt/beat/<N>/{inbox,agenda,stage,meta,state}`, `/rt/receipts/<id>` with the receipts of segments,
 * `/rt/analytics/diag`, `/rt/analytics/persist`, and the views of the live halves of ledgers.
 *
 * These views are rendered on reads from outside, from the journal and from counters, in
 * the text forms of [S0 §Filesystem Layout]. Runs cannot read them. The state of a beat is
 * `ist:store` if the beat is durable, and `ist:fail` if it was lost with its flush.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import { at } from "../../cell/Value.ts"
import type { Count } from "../../diagnostic/Reporter.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as SpaceClock from "../../stage/SpaceClock.ts"
import type { InputRecord } from "../journal/InputLine.ts"
import type { RunRecord } from "../journal/RunLine.ts"
import type { SentRecord } from "../journal/SentLine.ts"
import * as Journal from "../journal/Journal.ts"
import * as Records from "../journal/JournalRecords.ts"
import * as Parked from "../model/ParkedSignals.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import type { HandshakeMetrics } from "../beat/loop/CommitHandshake.ts"
import * as LostBeats from "../journal/LostBeats.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { DurableRuns } from "../beat/RunExecutor.ts"
import { MAX_ROWS } from "./PageTurns.ts"
import type { Loss } from "../journal/LostBeats.ts"

/** The sources of views in an open space. */
export interface LiveSources {
  readonly receipt: (id: string) => Receipt | undefined
  /** A view of the live halves of ledgers; `undefined` for an unknown one. */
  readonly view: (id: string) => Value
}

/** The data for rendering, beside the journal. */
export interface Source extends LiveSources {
  readonly store: SpaceStore
  readonly shown: boolean
  readonly durable: Pick<DurableRuns, "segments">
  readonly hash: (text: string) => string
  /** The label of an enzyme at a beat, as the agenda shows it. */
  readonly label: (enzyme: string, beat: number) => string
  /** Counts of diagnostics in the space since the runtime started. */
  readonly counts: () => ReadonlyArray<Count>
  readonly metrics: () => HandshakeMetrics
  readonly clock: () => SpaceClock.SpaceClock
  /** The loss of the space that is not journaled yet. */
  readonly loss: () => Loss | undefined
}

/**
 * The value of a view; `undefined` for an unknown one.
 */
export const read = (source: Source, id: string): Value => {
  const [, , kind, name = "", part = "", field] = id.split("/")
  if (kind === "receipts") {
    const receipt = source.receipt(name)
    const handling = receipt?.handlings.find(({ enzyme, run }) => enzyme === part || run === part)
    if (part !== "" || receipt === undefined) return handling as Value
    const segment = source.durable.segments(source.store, receipt, source.hash)
    return (segment === undefined ? receipt : { ...receipt, segment }) as unknown as Value
  }
  if (isLive(id)) return source.view(id)
  if (kind === "analytics") {
    if (part !== "") return undefined
    if (id === METRICS) return { ...source.metrics() }
    if (name !== "diag") return undefined
    return source.counts().map(({ count, severity, topic }) => ({ count, sev: severity, topic }))
  }
  const render = Object.hasOwn(renderers, part) ? renderers[part] : undefined
  if (kind !== "beat" || !source.shown || render === undefined || !/^\d{1,15}$/.test(name)) return undefined
  const row = source.store.entry(Number(name))
  if (row === undefined && part !== "state") return undefined
  const value = row === undefined ? lost(source, Number(name)) : render(new EntryView(source, Journal.parse(row.text)), row.hash)
  return field === undefined ? value : at(value, [field])
}

/** The folder of beats, and the names of the views below `/rt`. */
export const BEATS = "/rt/beat"
export const ROOTS = ["analytics", "beat", "receipts"]

/** The names below a view that is no beat. */
export const names = (id: string): ReadonlyArray<string> => id === "/rt/analytics" ? ["async", "diag", "persist"] : []

/** The names below a beat that has a row. */
export const parts = (store: Pick<SpaceStore, "entry">, id: string): ReadonlyArray<string> => {
  const [, , , beat = "", ...below] = id.split("/")
  const isBeat = below.length === 0 && /^\d{1,15}$/.test(beat)
  return isBeat && store.entry(Number(beat)) !== undefined ? Object.keys(renderers).sort() : []
}

/** Tests whether a view is one of the live halves of ledgers, which every beat may change. */
export const isLive = (id: string): boolean => live.some((folder) => id.startsWith(folder))

const live = ["/rt/io_reactors/", "/rt/analytics/async/"]

/** The view of the commit's metrics. It is read at once, for it tells how far a running flush is. */
export const METRICS = "/rt/analytics/persist"

const lost = ({ loss, store }: Source, beat: number): Value => {
  const found = LostBeats.find(beat, store, loss())
  return found && { ...found }
}

const renderers: Readonly<Record<string, (view: EntryView, hash: string) => Value>> = {
  inbox: (view) => view.inputs,
  agenda: (view) => view.agenda(),
  stage: ({ entry }) => {
    const sent = [...Records.sentIn(entry).values()]
    const promoted = sent.filter(({ signal: { at, space } }) => at === undefined && space === undefined).length
    return [
      ...entry.parked === undefined ? [] : Parked.render(entry.parked),
      `commit: promoted ${promoted} ${promoted === 1 ? "impulse" : "impulses"} -> beat ${entry.beat + 1}`
    ]
  },
  meta: (view, hash) => ({
    activated: view.entry.activated ?? 0,
    hash,
    prev: view.entry.prev,
    unix_ts_ns: String(BigInt(view.date) * 1_000_000n)
  }),
  // A row is read only when it is durable.
  state: () => ({ state: "ist:store" })
}

/** The paths of a signal. */
type Paths = Pick<SentRecord, "signal" | "target">

/** One entry with the paths of its signals. The paths may stand in the entries that sent the signals. */
class EntryView {
  readonly entry: Journal.Entry
  /** `signal=… target=…` of each captured signal. */
  readonly inputs: ReadonlyArray<string>
  private readonly source: Source
  private readonly sendings = new Map<number, ReadonlyMap<string, Records.SignalSend>>()

  constructor(source: Source, entry: Journal.Entry) {
    this.source = source
    this.entry = entry
    this.inputs = Records.inputsOf(entry).map((input) => {
      const { signal = "-", target = "-" }: Paths = input.isWhole || input.again !== undefined ? input : this.sent(input.id)
      return `signal=${signal} target=${target}`
    })
  }

  /** The date that the runs of the beat saw. */
  get date(): number {
    const { beat, clock } = this.entry
    return clock - SpaceClock.shiftAt(this.source.clock(), beat)
  }

  agenda(): ReadonlyArray<string> {
    const codes = Records.ownRunsOf(this.entry).map(codeOf)
    const runs = Map.groupBy(Records.runsOf(this.entry), ({ input }) => input)
    const records = Records.inputsOf(this.entry)
    return this.inputs.flatMap((place, input) =>
      runs.get(input)?.map((run) => this.line(run, `${place}${segmentOf(records[input], run)}`, codes)) ?? [`no-match ${place}`])
  }

  private line(run: RunRecord, place: string, codes: ReadonlyArray<string>): string {
    if (run.kind === "discarded") return `discarded ${place}`
    if (run.kind === "cycle") return `cycle ${place} enzymes=${run.names.join(",")}`
    const code = run.kind === "same" ? codes[run.run] : codeOf(run)
    const enzyme = Records.enzymeOf(run)
    const by = enzyme === run.enzyme ? "" : ` run=${run.enzyme}`
    return `enzyme=${this.source.label(enzyme, this.entry.beat)} rc=${code} ${place}${by}${ownerOf(run)}`
  }

  /** The paths of a signal that a run or a beat sent; unknown beyond {@link MAX_ROWS} beats that sent signals. */
  private sent(id: string): Paths {
    const beat = Number(id.split(".")[0])
    let sent = this.sendings.get(beat)
    if (sent === undefined && this.sendings.size < MAX_ROWS) {
      const row = this.source.store.entry(beat)
      sent = row === undefined ? new Map() : Records.sentIn(Journal.parse(row.text))
      this.sendings.set(beat, sent)
    }
    return sent?.get(id)?.signal ?? { signal: undefined, target: undefined }
  }
}

/** The receipt of a segment; empty for any other run. */
const segmentOf = (input: InputRecord | undefined, run: RunRecord): string => {
  const name = input === undefined ? undefined : Records.nameOf(input, run)
  return name === undefined || name === input?.id ? "" : ` receipt=${name}`
}

/** The lock for which a run waits, and its owner. Entries of semantics 1 do not name the owner. */
const ownerOf = (run: RunRecord): string => {
  if (run.kind !== "conflict" || !SpaceMode.isLock(run.document)) return ""
  return ` lock=${SpaceMode.cellOf(run.document)}${run.holder === undefined ? "" : ` owner=${run.holder}`}`
}

/** 0 for success, -1 for a further attempt, -2 for fatal, `parked` for a wait for a lock; otherwise the code of the error. */
const codeOf = (run: RunRecord): string => {
  if (run.kind === "ok" || run.kind === "waits" || run.kind === "heard") return "0"
  if (run.kind === "retry") return "-1"
  if (run.kind === "fatal") return "-2"
  if (run.kind === "conflict" && SpaceMode.isLock(run.document)) return "parked"
  return run.kind === "dead" ? run.code : run.kind
}

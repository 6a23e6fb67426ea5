/**
 * The beat view: `/rt/beat/<N>/{inbox,agenda,stage,meta,state}`, `/rt/receipts/<id>`,
 * `/rt/analytics/diag`, `/rt/analytics/persist`, and the views of the live halves of ledgers.
 *
 * These views are rendered on reads from outside, from the journal and from counters, in
 * the text forms of [S0 Filesystem Layout]. Runs cannot read them. The state of a beat is
 * `ist:store` if the beat is durable, and `ist:fail` if it was lost with its flush.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import { at } from "../../cell/Value.ts"
import type { Count } from "../../diagnostic/Reporter.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Parsed, RunLine } from "../model/Journal.ts"
import * as Journal from "../model/Journal.ts"
import * as Parked from "../model/Parked.ts"
import type { HandshakeMetrics } from "../beat/CommitHandshake.ts"
import * as LostBeats from "../beat/LostBeats.ts"
import type { Receipt } from "../beat/Receipts.ts"
import type { Loss } from "../model/Losses.ts"

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
  /** The label of an enzyme at a beat, as the agenda shows it. */
  readonly label: (enzyme: string, beat: number) => string
  /** Counts of diagnostics in the space since the runtime started. */
  readonly counts: () => ReadonlyArray<Count>
  readonly metrics: () => HandshakeMetrics
  /** The loss of the space that is not journaled yet. */
  readonly loss: () => Loss | undefined
}

/**
 * The value of a view; `undefined` for an unknown one.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = (source: Source, id: string): Value => {
  const [, , kind, name = "", part = "", field] = id.split("/")
  if (kind === "receipts") {
    const receipt = source.receipt(name)
    const handling = receipt?.handlings.find(({ enzyme }) => enzyme === part)
    return (part === "" ? receipt : handling) as Value
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
    const sentBy = (line: RunLine): number => emissionsOf(line).filter((emitted) => emitted.length < 5).length
    const promoted = entry.runs.reduce((sum, line) => sum + sentBy(line), entry.sent?.length ?? 0)
    return [
      ...entry.parked === undefined ? [] : Parked.render(entry.parked),
      `commit: promoted ${promoted} ${promoted === 1 ? "impulse" : "impulses"} -> beat ${entry.beat + 1}`
    ]
  },
  meta: ({ entry }, hash) => ({
    activated: entry.activated ?? 0,
    hash,
    prev: entry.prev,
    unix_ts_ns: String(BigInt(entry.clock) * 1_000_000n)
  }),
  // A row is read only when it is durable.
  state: () => ({ state: "ist:store" })
}

/** One entry with the paths of its signals. The paths may stand in the entries that sent the signals. */
class EntryView {
  readonly entry: Parsed
  /** `signal=… target=…` of each captured signal. */
  readonly inputs: ReadonlyArray<string>
  private readonly source: Source
  private readonly senders = new Map<number, Parsed | undefined>()

  constructor(source: Source, entry: Parsed) {
    this.source = source
    this.entry = entry
    this.inputs = entry.in.map((input) => {
      const pathsOf = (): readonly [string | 0, string | 0] => {
        if (typeof input === "string") return this.sent(input)
        return "id" in input ? [input.signal, input.target] : [input[1], input[2]]
      }
      const [signal, target] = pathsOf()
      return `signal=${signal === 0 ? "-" : signal} target=${target === 0 ? "-" : target}`
    })
  }

  agenda(): ReadonlyArray<string> {
    const codes: Array<string> = []
    const lines = new Map<number, Array<string>>()
    for (const line of this.entry.runs) {
      const [input, enzyme] = line
      const place = this.inputs[input]!
      const list = lines.get(input) ?? []
      lines.set(input, list)
      if (line[2] === "discarded") {
        list.push(`discarded ${place}`)
        continue
      }
      if (line[2] === "cycle") {
        list.push(`cycle ${place} enzymes=${line[3].join(",")}`)
        continue
      }
      const code = line[2] === "same" ? codes[line[3] as number]! : codeOf(line)
      if (line[2] !== "same") codes.push(code)
      list.push(`enzyme=${this.source.label(enzyme, this.entry.beat)} rc=${code} ${place}`)
    }
    return this.inputs.flatMap((place, input) => lines.get(input) ?? [`no-match ${place}`])
  }

  /** The paths of a signal that a run sent. */
  private sent(id: string): readonly [string | 0, string | 0] {
    const beat = Number(id.split(".")[0])
    if (!this.senders.has(beat)) {
      const row = this.source.store.entry(beat)
      this.senders.set(beat, row === undefined ? undefined : Journal.parse(row.text))
    }
    for (const line of this.senders.get(beat)?.runs ?? []) {
      const emitted = emissionsOf(line).find((emitted) => emitted[0] === id)
      if (emitted !== undefined) return [emitted[1], emitted[2]]
    }
    const awaited = this.senders.get(beat)?.sent?.find((awaited) => awaited[0] === id)
    if (awaited !== undefined) return [awaited[1], awaited[2]]
    return [0, 0]
  }
}

/** The signals of a successful run. */
const emissionsOf = (line: RunLine): ReadonlyArray<Journal.Emitted> =>
  typeof line[2] === "object" ? (line[3] as ReadonlyArray<Journal.Emitted> | undefined) ?? [] : line[2] === "waits" ? line[5] ?? [] : []

/** 0 for success, -1 for a further attempt, -2 for fatal; otherwise the code of the error. */
const codeOf = (line: RunLine): string => {
  if (typeof line[2] === "object" || line[2] === "waits") return "0"
  if (line[2] === "retry") return "-1"
  if (line[2] === "fatal") return "-2"
  return line[2] === "dead" ? line[4] as string : line[2]
}

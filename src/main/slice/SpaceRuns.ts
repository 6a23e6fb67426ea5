/**
 * The durable runs of an open space, as the outside uses them.
 *
 * @module
 */
import * as Cells from "../../durable/Cells.ts"
import type { RunCommand } from "../../durable/Ledger.ts"
import type { KindsOf } from "../../contract/Face.ts"
import { face } from "../../durable/Face.ts"
import { Log, type OpenHandle } from "../../durable/Log.ts"
import * as Note from "../../durable/Note.ts"
import { CODE_MISSING } from "../../durable/RunCode.ts"
import { RunAbsent, RunState } from "../../durable/RunError.ts"
import type { AwaitedRow, RunDetails, RunRow, StepRow } from "../../durable/Schemas.ts"
import * as Step from "../../durable/Step.ts"
import * as CellRecords from "../../ledger/CellRecords.ts"
import type { Look, Page, Search } from "../../ledger/Outside.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as DeadLetter from "../../kernel/beat/command/DeadLetter.ts"
import * as OwnId from "../../kernel/model/OwnId.ts"
import { stepAddress } from "../../kernel/runs/Segment.ts"
import { reader } from "../../kernel/runs/SegmentReceipts.ts"
import type { OpenRuns } from "../../kernel/live/OpenRuns.ts"
import { PendingSignal } from "../../kernel/model/Signal.ts"
import type { CountedRows, ListedStore } from "../../kernel/view/CountedRows.ts"
import { MAX_ROWS } from "../../kernel/view/PageTurns.ts"
import type { SpacePart } from "../../kernel/api/SpacePart.ts"
import * as SpaceFace from "../../kernel/api/SpaceFace.ts"

/** The cursor of the dead runs, which follow the open ones: this, and the cell of a letter. */
const DEAD = "dead"

/** The maximum number of steps that a run is shown with, and of calls of a step. */
const MAX_SHOWN = 100

/** The maximum length of a log that a list reads, in characters, and the maximum number of its steps. */
const MAX_LISTED = 16_384
const MAX_STEPS = 50

/** The state of a run. */
type Standing = Pick<RunRow, "state" | "note" | "segment" | "attempt" | "cancel">

/** The steps of a run that were read, and the whole run after the last one. */
interface Reading {
  readonly begun: number
  readonly log: Log
  readonly since: number
  readonly steps: Array<StepRow>
  readonly details?: RunDetails
}

type Kinds = KindsOf<typeof face>

/**
 * The open runs in the order of their ids, and then the dead ones; or all runs. A page may have fewer than were asked for,
 * and costs its runs, however many are over.
 */
const list: SpaceFace.RecordReads<Kinds>["list"] = ({ look, reads, runs: open }, { after, all = false, limit }) => reads.page((rows) => {
  const runs = new RunReads({ hash: look.hash, open, rows })
  if (all) return CellRecords.pages({ folder: Dossier.FOLDER, isDeep: true, rowOf: (_, oid) => runs.rowOf(oid) })(rows, { after, limit })
  return after?.startsWith(DEAD) === true ? runs.dead(after, limit) : runs.open(after, limit)
})

/** A run, its log a page at a time. */
export const get: SpaceFace.RecordReads<Kinds>["get"] = ({ look, reads, runs: open }, oid) =>
  reads.search((rows) => new RunReads({ hash: look.hash, open, rows }).whole(oid))

/** The durable runs of a space, as one page reads them. */
class RunReads {
  private readonly hash: Look["hash"]
  private readonly runs: OpenRuns
  private readonly store: CountedRows

  constructor({ hash, open, rows }: { readonly hash: Look["hash"]; readonly open: OpenRuns; readonly rows: CountedRows }) {
    this.hash = hash
    this.runs = open
    this.store = rows
  }

  /** A page that begins with the open runs after one of them. One that still tries its first segment is no run yet. */
  open(after: string | undefined, most: number): Page<RunRow> {
    const { store } = this
    const runs: Array<RunRow> = []
    let last = after
    // Each of them costs a row, so that the page ends before they do if more follow.
    for (const oid of this.runs.after(after, MAX_ROWS + 1)) {
      if (runs.length >= most || store.isSpent) return { rows: runs, next: last }
      runs.push(...this.openRow(oid))
      last = oid
    }
    const dead = this.dead(DEAD, most - runs.length)
    return { rows: [...runs, ...dead.rows], next: dead.next }
  }

  /** A page of dead runs, of the letters after a cursor. */
  dead(after: string, most: number): Page<RunRow> {
    const { hash, store } = this
    const runs: Array<RunRow> = []
    for (let last = after; ;) {
      const from = last.slice(DEAD.length) || undefined
      const { keys: [letter], next } = DeadLetter.keysAfter(store, { after: from, limit: 1 })
      if (letter === undefined && next === undefined) return { rows: runs, next: undefined }
      if (runs.length >= most || store.isSpent) return { rows: runs, next: last }
      if (letter !== undefined) runs.push(...this.openRow(Cells.oidOf(letter[0], letter[1], hash)))
      if (next === undefined) return { rows: runs, next }
      last = `${DEAD}${next}`
    }
  }

  /** The run with an id, unless it is over or has not begun. */
  private openRow(oid: string): ReadonlyArray<RunRow> {
    const row = this.rowOf(oid)
    return row === undefined || row.state === "over" ? [] : [row]
  }

  *whole(oid: string): Search<RunDetails> {
    for (let reading: Reading | undefined; ; yield) {
      const next = this.read(oid, reading)
      if (next === undefined || next.details !== undefined) return next?.details
      reading = next
    }
  }

  /** Reads more steps of a run, and the rest of it after the last one. A run with another log meanwhile is read from its beginning. */
  private read(oid: string, before: Reading | undefined): Reading | undefined {
    const { store } = this
    const run = find(store, oid)
    if (run === undefined) return undefined
    const isSame = before !== undefined && before.begun === run.begun && this.has(oid, before)
    const { log, steps }: Pick<Reading, "log" | "steps"> = isSame ? before : { log: new Log(), steps: [] }
    let since = isSame ? before.since : run.begun
    // A row names all open handles, so none is made for a step that is not shown.
    const first = stepsOf(store, oid) - MAX_SHOWN
    for (const step of Cells.stepsOf(oid, reader(store), log.segments)) {
      log.add(step)
      since = step.beat
      if (log.segments > first) steps.push(stepRow(step, log))
      if (store.isSpent) return { begun: run.begun, log, since, steps }
    }
    const details = { ...this.row(run, { since, log, standing: this.standing(run) }), begun: run.begun, steps: steps.slice(-MAX_SHOWN) }
    return { begun: run.begun, log, since, steps, details }
  }

  /** Whether a log has the newest step that was read. A run that starts anew, or that a rollback takes back, loses it. */
  private has(oid: string, { log: { segments }, since }: Reading): boolean {
    return segments === 0 || Step.decode(reader(this.store)(stepAddress(oid, segments - 1).key))?.beat === since
  }

  rowOf(oid: string): RunRow | undefined {
    const { store } = this
    const run = find(store, oid)
    if (run === undefined) return undefined
    const standing = this.standing(run)
    const newest = Step.decode(reader(store)(stepAddress(oid, standing.segment - 1).key))
    const isLong = (newest?.size ?? 0) > MAX_LISTED || standing.segment > MAX_STEPS
    const log = isLong ? undefined : Log.of(Cells.stepsOf(oid, reader(store)))
    return this.row(run, { since: newest?.beat ?? run.begun, log, standing })
  }

  private row(run: Cells.Run, { log, since, standing }: {
    readonly since: number
    readonly log: Log | undefined
    readonly standing: Standing
  }): RunRow {
    const { enzyme, event, oid, status } = run
    return {
      oid, event, enzyme, since,
      ...OwnId.ownField(OwnId.ownOf(this.store, event)),
      ...standing,
      ...log === undefined || status !== undefined ? {} : { awaits: Array.from(log.open.values(), (handle) => this.awaited(handle)) }
    }
  }

  private awaited({ awaited, beat, number, object }: OpenHandle): AwaitedRow {
    if (awaited.kind !== "sleep") return { number, object, since: beat }
    const { due: { beat: at, moment } } = awaited
    const { shifted } = this.runs
    return { number, object, since: beat, due: { beat: at, moment: moment === undefined ? undefined : moment - shifted } }
  }

  /** The state of a run, from its dossier and the row of its next segment. */
  private standing(run: Cells.Run): Standing {
    const { enzyme, event, isDead, note, oid, status } = run
    const { runs, store } = this
    if (status !== undefined) return { state: "over", note: status, segment: stepsOf(store, oid) }
    if (isDead) return { state: "dead", ...note === undefined ? {} : { note }, segment: stepsOf(store, oid) }
    const row = store.waiting(event).map(PendingSignal.fromRow).find(({ again }) => again?.enzyme === enzyme)
    const { back, cancel } = Note.read(reader(store)(Note.addressOf(oid).key))
    const next = {
      segment: back ?? row?.again?.segment ?? stepsOf(store, oid),
      ...row?.again === undefined ? {} : { attempt: row.again.attempt },
      ...cancel === undefined ? {} : { cancel }
    }
    const reason = row?.again?.run?.isHeld === true ? CODE_MISSING : "enzyme/held"
    if (row !== undefined && runs.isHeld(row.seq)) return { state: "held", note: reason, ...next }
    if (runs.isPaused) return { state: "held", note: "pause", ...next }
    return { state: runs.isWaiting(oid) ? "waiting" : "running", ...next }
  }
}

/** The commands of the verbs. */
const commands: SpaceFace.BeatCommands<Kinds["Verbs"]> = {
  cancel: ({ now = false }, oid) => {
    if (!Dossier.isOid(oid)) throw new RunAbsent({ oid })
    const command: RunCommand = { verb: "cancel", oid, how: now ? "now" : "await" }
    return { kind: "ledger", ledger: face.ledger, command }
  },
  retry: ({ anew = false }, oid, { look, name }) => {
    const run = find(look.store, oid)
    if (run === undefined) throw new RunAbsent({ oid })
    const { enzyme, event, isDead, status } = run
    if (status === "sts:ok") throw new RunState({ oid, verb: "retry", reason: "it is over" })
    if (!isDead && status === undefined) throw new RunState({ oid, verb: "retry", reason: "it was not given up. Cancel it first" })
    return DeadLetter.redelivery(name, { id: event, enzyme, anew })
  }
}

/** The operation of a run in a store. */
const find = (store: Pick<ListedStore, "read">, oid: string): Cells.Run | undefined => Cells.find(oid, reader(store))

/** The number of steps of a run, which are numbered from 0: by doubling, and then by halving. */
const stepsOf = (store: Pick<ListedStore, "read">, oid: string): number => {
  const isThere = (k: number): boolean => store.read(stepAddress(oid, k).key) !== undefined
  let [steps, end] = [0, 1]
  while (isThere(end - 1)) [steps, end] = [end, 2 * end]
  while (end - steps > 1) {
    const middle = (steps + end) >> 1
    if (isThere(middle - 1)) steps = middle
    else end = middle
  }
  return steps
}

const stepRow = ({ beat, calls, now, settled }: Step.Step, { segments, texts }: Log): StepRow => ({
  segment: segments - 1,
  beat,
  now,
  results: settled.map(([number, outcome, , code]) => `${number} ${outcome === "ok" ? outcome : String(code)}`),
  calls: calls.slice(0, MAX_SHOWN).map(([name, at]) => at === "" ? `tx.${name}()` : `tx.${name}(${JSON.stringify(at)})`),
  called: calls.length,
  on: texts
})

/**
 * The part of the API of a space for durable runs.
 */
export const part: SpacePart = {
  name: face.records.segment,
  make: (access) => SpaceFace.make({ face, commands, list, get }, access)
}

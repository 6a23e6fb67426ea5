/**
 * Explanations: the reason why an enzyme ran in a beat, or did not.
 *
 * The journal records runs. To explain a missing run, the registry and the bindings of that beat are queried again.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Pattern from "../cell/Pattern.ts"
import type * as Inspection from "../contract/Inspection.ts"
import * as Cells from "../durable/Cells.ts"
import { Log } from "../durable/Log.ts"
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import * as OwnId from "../kernel/model/OwnId.ts"
import type { CapturedSignal } from "../kernel/model/InFlight.ts"
import type { Again } from "../kernel/model/Signal.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import type { BindingTable } from "../registry/Bindings.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import type { Entry } from "../registry/Registry.ts"
import type { InputRecord } from "../kernel/journal/InputLine.ts"
import type { RunRecord } from "../kernel/journal/RunLine.ts"
import * as Records from "../kernel/journal/JournalRecords.ts"
import * as SpaceMode from "../kernel/model/SpaceMode.ts"
import type { Stage } from "../stage/Stage.ts"
import * as Replay from "./Replay.ts"

/** The explanation of an enzyme's handling of one signal. */
export type Explanation = ReturnType<typeof Inspection.explanation>["Type"]

/** The explanations of an enzyme in a beat. */
export type Explanations = ReturnType<typeof Inspection.explanations>["Type"]

/**
 * Explains the runs of an enzyme in a beat, signal by signal; resolves to `undefined` if the journal does not contain
 * the beat.
 *
 * @category combinators
 * @since 0.1.0
 */
export const explain = async (history: HistorySource, beat: number, enzyme: string): Promise<Explanations | undefined> => {
  const row = history.store.entry(beat)
  if (row === undefined) return undefined
  const observed = await Replay.observe(history, row)
  const entry = Journal.parse(row.text)
  const runs = Records.runsOf(entry)
  const ownOf = (id: string) => OwnId.ownField(OwnId.ownOf(history.store, id))
  if (observed === undefined) {
    return { beat, enzyme, signals: Records.inputsOf(entry).map((input, i) => fromEntry(input, runOf(runs, i, enzyme), ownOf(input.id))) }
  }
  const { enzymes, executed: { captured: { inputs, stage, transaction: { bindings: { table } } } } } = observed
  const entries = enzymes.active().filter(({ name }) => name === enzyme)
  const records = Records.inputsOf(entry)
  const signals = inputs.map((captured, i): Explanation => {
    const { signal, target } = captured.flight.signal
    const run = runOf(runs, i, enzyme)
    const record = records[i]
    const id = record === undefined ? captured.flight.signal.id : Records.nameOf(record, run)
    const verdict = run === undefined
      ? absent(captured, { enzyme, entries, table })
      : ended(run, { again: captured.pending.again, on: openAfter(captured, run, stage) })
    return { id, ...ownOf(captured.flight.signal.id), signal, target, ...verdict }
  })
  return { beat, enzyme, signals }
}

/** Explains a signal from the entry alone, if its beat cannot be replayed. */
const fromEntry = (input: InputRecord, run: RunRecord | undefined, own: Pick<Explanation, "own">): Explanation => {
  const verdict: Verdict = run === undefined
    ? { verdict: "unknown", detail: "It did not run, and the beat cannot be run again to see why." }
    : ended(run, { again: undefined, on: [] })
  return { id: Records.nameOf(input, run), ...own, signal: undefined, target: undefined, ...verdict }
}

/** Returns the handling of an input by an enzyme. */
const runOf = (runs: ReadonlyArray<RunRecord>, input: number, enzyme: string): RunRecord | undefined =>
  runs.find((run) => {
    const taker = Records.enzymeOf(run)
    return run.input === input && (taker === enzyme || taker.startsWith(`${enzyme}~`) || run.enzyme === enzyme)
  })

interface Question {
  readonly enzyme: string
  readonly entries: ReadonlyArray<Entry>
  readonly table: BindingTable
}

type Verdict = Pick<Explanation, "verdict" | "detail">

const reasons = {
  retry: "after it asked for another",
  stuck: "after one that came to no end",
  gate: "after a gate opened",
  conflict: "after a conflict",
  redelivery: "sent again from the dead letters",
  segment: "by which a durable run went on"
} as const

const discardedByRollback: Verdict = { verdict: "discarded", detail: "A rollback dropped the signal, as its qos says." }

const inCycle = (names: ReadonlyArray<string>): Verdict =>
  ({ verdict: "cycle", detail: `None of ${names.join(", ")} could run: their before and after contradict each other.` })

/** The open handles at the end of a segment, as the log of its run has them. */
const openAfter = ({ handlings }: CapturedSignal, { enzyme }: RunRecord, stage: Stage): ReadonlyArray<string> => {
  const outcome = handlings.find(({ key }) => key === enzyme)?.outcome
  return outcome?.kind === "waits" ? Log.of(Cells.stepsOf(outcome.oid, (key) => stage.newest(key))).texts : []
}

/** A further attempt, and the handles that a segment left open, if they are known. */
interface Context {
  readonly again: Again | undefined
  readonly on: ReadonlyArray<string>
}

/** The most open handles of a segment in an explanation. */
const MAX_SHOWN = 10

/** Returns the outcome of a run. */
const ended = (run: RunRecord, { again, on }: Context): Verdict => {
  const attempt = again === undefined ? "" : ` It was attempt ${again.attempt}, ${reasons[again.why]}.`
  switch (run.kind) {
    case "ok":
    case "heard":
      return { verdict: "ran", detail: `It took the signal and was well.${attempt}` }
    case "waits": {
      const more = on.length > MAX_SHOWN ? ` and ${on.length - MAX_SHOWN} more` : ""
      const results = on.length === 0 ? "results" : `${on.slice(0, MAX_SHOWN).join(", ")}${more}`
      return { verdict: "waits", detail: `It made segment ${run.segment} and awaits ${results}.${attempt}` }
    }
    case "discarded":
      return discardedByRollback
    case "cycle":
      return inCycle(run.names)
    case "same":
      return { verdict: "shared", detail: `An equal impulse of this beat had run it already, as run ${run.run}.` }
    case "conflict": {
      if (SpaceMode.isLock(run.document)) {
        const holder = run.holder === undefined ? "" : `, which ${run.holder} holds`
        return { verdict: "parked", detail: `It waits for the lock on ${SpaceMode.cellOf(run.document)}${holder}.${attempt}` }
      }
      const detail = `Another run of the beat had written ${run.document} before it; it runs again.${attempt}`
      return { verdict: "conflict", detail }
    }
    default: {
      const next = run.next === undefined ? "" : ` It runs again at ${new Date(run.next).toISOString()}.`
      return { verdict: run.kind, detail: `It ended with ${run.tag} (${run.code}).${attempt}${next}` }
    }
  }
}

/** Returns the reason for a missing run. */
const absent = (captured: CapturedSignal, { enzyme, entries, table }: Question): Verdict => {
  const { flight: { discarded, signal }, pending: { again }, resolution } = captured
  if (discarded) return discardedByRollback
  if (again !== undefined) {
    const detail = `Only ${again.enzyme} ran again for this signal; ${enzyme} was done with it, or never took it.`
    return { verdict: "other-attempt", detail }
  }
  if (resolution.cycle.includes(enzyme)) return inCycle(resolution.cycle)
  if (entries.length === 0) return { verdict: "not-registered", detail: `No enzyme "${enzyme}" is registered.` }
  const names = signal.signal?.slice(1).split("/")
  const matching = entries.find((entry) => names === undefined || Pattern.matches(entry.pattern, names, entry.mode))
  if (matching === undefined) {
    const queries = entries.map(({ enzyme: { query } }) => JSON.stringify(query)).join(" or ")
    return { verdict: "no-match", detail: `Its query ${queries} does not match ${signal.signal}.` }
  }
  if (signal.target === undefined) {
    const detail = matching.enzyme.target === "required"
      ? `It takes only signals with a target, as its target: "required" says, and ${signal.signal} has none. Send it with a target.`
      : "It was not active in this beat."
    return { verdict: "no-match", detail }
  }
  return unbound(enzyme, signal.target, { declared: matching.enzyme, table })
}

/** Decides, for a target, whether the enzyme is unbound on its ancestors or withdrawn. */
const unbound = (
  enzyme: string,
  target: string,
  { declared, table }: { readonly declared: Enzyme; readonly table: BindingTable }
): Verdict => {
  const { id } = Address.ofKey(target)
  for (let cell = id; cell !== "/"; cell = Address.parent(cell)) {
    const newest = table.get(cell)?.find((binding) => binding.enzyme === enzyme)
    if (newest?.tombstone === true) {
      return { verdict: "masked", detail: `It was withdrawn at ${cell} in beat ${newest.beat}, which hides what is bound above.` }
    }
    const here = newest ?? declared.bind.find((binding) => binding.cell === cell)
    if (here !== undefined && !here.propagate && cell !== id) {
      return { verdict: "not-bound", detail: `It is bound at ${cell}, and that does not reach the cells below.` }
    }
  }
  return { verdict: "not-bound", detail: `It is bound neither at ${id} nor at a cell above it.` }
}

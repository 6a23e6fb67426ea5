/**
 * The diagnostics of a beat at its commit.
 *
 * Each diagnostic becomes a cell of the beat, and is sent to the enzymes that take
 * its signal. An attached failure closes its operation. The reporter receives the
 * diagnostic when the beat is durable.
 *
 * @module
 */
import * as Document from "../../../cell/Document.ts"
import * as Severity from "../../../cell/Severity.ts"
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../../diagnostic/Reporter.ts"
import type { ReportLaunch } from "../../../stage/Launch.ts"
import * as Address from "../../../cell/Address.ts"
import * as Dossier from "../../../operation/Dossier.ts"
import * as Verbs from "../../../operation/Verbs.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { LedgerBeats } from "../LedgerBeats.ts"
import { COMMIT } from "../../../stage/Stage.ts"
import type { Hears } from "../../model/BeatStart.ts"
import type { CapturedSignal, Handling } from "../../model/InFlight.ts"
import * as Signal from "../../model/Signal.ts"

/** A diagnostic and its cell. */
export interface Fact {
  readonly fact: Diagnostic.Diagnostic
  readonly place: Address.Address
}

/** Collects the facts of a beat. */
export class Facts {
  readonly all: Array<Fact> = []
  private readonly transaction: Pick<BeatTransaction, "moment" | "stage">

  constructor(transaction: Facts["transaction"]) {
    this.transaction = transaction
  }

  /** Puts a diagnostic into a cell of its own. */
  diagnose(fact: Diagnostic.Diagnostic): void {
    const { moment, stage } = this.transaction
    const place = Diagnostic.address(moment.beat, this.all.length)
    this.all.push({ fact, place })
    stage.put(place, Diagnostic.toDocument(fact, { beat: moment.beat, now: moment.date }, place), COMMIT)
    if (fact.payload !== undefined) stage.put(Diagnostic.payloadOf(place), fact.payload, COMMIT)
  }
}

/** The part of a diagnostic that names its source. */
type Source = Pick<Diagnostic.Diagnostic, "origin" | "subject" | "signal"> & { readonly depth: number }

/** The source of a diagnostic about a handling. A failure of a diagnostic's own handling sends no signal. */
export const about = ({ flight: { signal }, key }: Handling): Source => ({
  origin: { kind: "enzyme", name: key },
  subject: signal.signal ?? subjectOf(signal),
  depth: signal.depth,
  ...(signal.signal?.startsWith(`${Diagnostic.SIGNALS}/`) === true ? { signal: "never" } : {})
})

/** The target cell of a signal, or its id. */
export const subjectOf = ({ id, target }: Pick<Signal.Signal, "id" | "target">): Address.Address | string =>
  target === undefined ? id : Address.ofKey(target)

/** Adds the diagnostics that a merged run reports. Returns whether one of them is fatal, so that the space shuts down. */
export const take = (reports: ReadonlyArray<ReportLaunch>, handling: Handling, { diagnostics }: BeatTransaction): boolean => {
  const { depth, origin, signal } = about(handling)
  for (const { signal: always, ...report } of reports) {
    diagnostics.push({ origin, depth, signal: signal ?? (always ? "always" : undefined), ...report })
  }
  return reports.some(({ severity }) => severity === "sev:fatal") && handling.entry?.enzyme.onFatal !== "continue"
}

/** Closes operations with an attached failure by `sts:fail`, with the code and the note of the diagnostic. */
export const attach = ({ diagnostics }: BeatTransaction, ledgers: LedgerBeats): void => {
  const failing = diagnostics.filter(({ attach, severity }) => attach !== undefined && Severity.fails(severity))
  if (failing.length === 0) return
  ledgers.amend((draft) => {
    for (const { attach: oid = "", code, note } of failing) {
      const live = Dossier.live(draft.get(Dossier.address(oid).text))
      if (live === undefined || live.status !== undefined || Dossier.isOfRuntime(oid)) continue
      Verbs.close(draft, { oid, status: "sts:fail", summary: Document.encode({ code, note }) })
    }
  })
}

/** Writes a cell for each diagnostic, among them one for each kind of signal whose enzymes form a cycle. */
export const put = ({ diagnostics }: BeatTransaction, inputs: ReadonlyArray<CapturedSignal>, facts: Facts): void => {
  const seen = new Set<string>()
  for (const { flight, resolution: { cycle, status } } of inputs) {
    const { signal } = flight
    if (status !== "cycle") continue
    if (seen.has(signal.pair)) continue
    seen.add(signal.pair)
    diagnostics.push(Diagnostic.of("registry/cycle", {
      note: `none of ${cycle.join(", ")} runs: their before and after contradict each other`,
      origin: { kind: "runtime", name: "registry" },
      subject: signal.signal ?? subjectOf(signal)
    }))
  }
  for (const diagnostic of diagnostics) facts.diagnose(diagnostic)
}

/** The source of numbers, and of the enzymes that take a signal. */
interface Outside {
  readonly state: { readonly number: () => number }
  readonly input: { readonly hears: Hears }
}

/** Sends each diagnostic of the beat as a signal to the enzymes that take its severity. */
export const send = (work: BeatTransaction, { all }: Facts, { state, input }: Outside): void => {
  const { beat } = work.moment
  for (const { fact: { depth = 0, severity, signal }, place } of all) {
    const path = `${Diagnostic.SIGNALS}/${severity}`
    if (signal === "never" || (signal === undefined && !input.hears(path, place.text, work.bindings.table))) continue
    const id = `${beat}.cei.${work.unawaited}`
    const sent = { id, signal: path, target: undefined, payload: Document.encode(place.text), at: undefined, qos: "control" } as const
    const label = work.labels === undefined ? undefined : Signal.labelOrNone(work.labels.top)
    const signalled = Signal.make(sent, { origin: "run", depth: depth + 1, expected: beat + 1, label })
    work.send({ ...sent, enzyme: undefined }, new Signal.PendingSignal(state.number(), signalled))
  }
}

/** The diagnostics of a beat, by its number. */
interface Reported {
  readonly facts: ReadonlyArray<Diagnostic.Diagnostic>
  readonly number: number
}

/** Passes the diagnostics of a durable beat to the reporter. */
export const publish = (reporter: Reporter, space: string, { facts, number }: Reported): void => {
  for (const fact of facts) reporter.report({ ...fact, space, beat: number })
}

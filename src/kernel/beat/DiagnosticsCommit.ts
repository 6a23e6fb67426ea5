/**
 * Reporting: what became known in a beat to have gone wrong, as facts.
 *
 * Each is a cell of the beat, fails the operation that it is attached to, is
 * sent to the enzymes that take such signals, and comes to the reporter when the
 * beat is durable. (Semantics, section 6.6.)
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import * as Severity from "../../cell/Severity.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { ReportLaunch } from "../../stage/Launch.ts"
import * as Address from "../../cell/Address.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as Verbs from "../../operation/Verbs.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import type { Handling } from "../model/Flight.ts"
import * as Signal from "../model/Signal.ts"

/** What a fact about a handling says of where it comes from. What goes wrong with such a signal itself is not sent round again. */
export const about = ({ flight: { signal }, key }: Handling): Pick<Diagnostic.Diagnostic, "origin" | "subject" | "depth" | "signal"> => ({
  origin: { kind: "enzyme", name: key },
  subject: signal.signal ?? subjectOf(signal),
  depth: signal.depth,
  ...(signal.signal?.startsWith(`${Diagnostic.SIGNALS}/`) === true ? { signal: "never" } : {})
})

/** The cell that a signal is for, or its id. */
export const subjectOf = ({ id, target }: Pick<Signal.Signal, "id" | "target">): Address.Address | string => target === undefined ? id : Address.ofKey(target)

/**
 * Takes in what a run reports, once it is merged.
 *
 * @category combinators
 * @since 0.1.0
 */
export const take = (reports: ReadonlyArray<ReportLaunch>, handling: Handling, work: BeatWork): void => {
  const { depth, origin, signal } = about(handling)
  if (reports.some(({ severity }) => severity === "sev:fatal") && handling.entry?.enzyme.onFatal !== "continue") work.falls = true
  for (const { signal: always, ...report } of reports) work.diagnostics.push({ origin, depth: depth!, signal: signal ?? (always ? "always" : undefined), ...report })
}

/**
 * Closes the operations that facts of the beat are attached to with `sts:fail`, each with the code and the note of its fact.
 *
 * @category combinators
 * @since 0.1.0
 */
export const attach = (work: BeatWork): void => {
  const failing = work.diagnostics.filter(({ attach, severity }) => attach !== undefined && Severity.fails(severity))
  if (failing.length === 0) return
  work.ledgers.amend((draft) => {
    for (const { attach: oid = "", code, note } of failing) {
      const live = Dossier.live(draft.get(Dossier.address(oid).text))
      // One that is closed already stays as it is.
      if (live !== undefined && live.status === undefined) Verbs.close(draft, { oid, status: "sts:fail", summary: Document.encode({ code, note }) })
    }
  })
}

/**
 * Puts a cell for each fact, and for each kind of signal whose enzymes contradict each other.
 *
 * @category combinators
 * @since 0.1.0
 */
export const put = (work: BeatWork): void => {
  const seen = new Set<string>()
  for (const { flight, resolution: { cycle, status } } of work.captured) {
    const { signal } = flight
    if (status !== "cycle") continue
    flight.cycle = true
    if (seen.has(signal.pair)) continue
    seen.add(signal.pair)
    work.diagnostics.push(Diagnostic.of("registry/cycle", {
      note: `none of ${cycle.join(", ")} runs: their before and after contradict each other`,
      origin: { kind: "runtime", name: "registry" },
      subject: signal.signal ?? subjectOf(signal)
    }))
  }
  for (const diagnostic of work.diagnostics) work.diagnose(diagnostic)
}

/**
 * Sends the facts of the beat round, each to whoever takes signals of its severity.
 *
 * @category combinators
 * @since 0.1.0
 */
export const send = (work: BeatWork, body: Body): void => {
  const { beat } = work.moment
  for (const { fact: { depth = 0, severity, signal }, place } of work.facts) {
    const path = `${Diagnostic.SIGNALS}/${severity}`
    if (signal === "never" || (signal === undefined && !work.hears(path, place.text))) continue
    const sent = { id: `${beat}.cei.${work.unawaited++}`, signal: path, target: undefined, payload: Document.encode(place.text), at: undefined, qos: "control" } as const
    work.told.push({ ...sent, enzyme: undefined })
    work.queued.push(new Signal.Pending(body.number(), Signal.make(sent, { origin: "run", depth: depth + 1, expected: beat + 1, label: work.labels === undefined ? undefined : Signal.carried(work.labels.top) })))
  }
}

/**
 * Tells the log and the counts of a beat's facts, once it is durable.
 *
 * @category combinators
 * @since 0.1.0
 */
export const publish = (reporter: Reporter, space: string, { facts, number }: { readonly facts: ReadonlyArray<Diagnostic.Diagnostic>; readonly number: number }): void => {
  for (const fact of facts) reporter.report({ ...fact, space, beat: number })
}

/**
 * Journal lines of handlings: the runs of enzymes, and the reasons why a signal had none of its own.
 *
 * @module
 */
import type { OutgoingSignal } from "../../stage/Launch.ts"
import { type CapturedSignal, type Handling, isMerged, type Outcome } from "../model/InFlight.ts"
import { type EmittedLine, readEmitted, type SentRecord, writeEmitted } from "./SentLine.ts"
import type { Heard } from "../model/Signal.ts"

/** Follows the document of a lost conflict: the run's reads derive from it. */
const DERIVED = "derived"

/** The kinds of failures. */
type Failure = "retry" | "dead" | "fatal"

/** One handling, after the index of its input. A failed run with emissions is a cancelled one, which undid its effects. */
export type RunLine =
  | readonly [input: number, enzyme: string, result: readonly [unknown?], emissions?: ReadonlyArray<EmittedLine>]
  | readonly [input: number, enzyme: string, outcome: "waits", segment: number, emissions?: ReadonlyArray<EmittedLine>]
  | readonly [input: number, enzyme: string, outcome: "conflict", document: string, through?: typeof DERIVED | { readonly by: string }]
  | readonly [input: number, enzyme: string, outcome: "same", run: number]
  | readonly [input: number, oid: string, outcome: "heard", heard: Omit<Heard, "oid">]
  | readonly [input: number, enzyme: "", outcome: "cycle", names: ReadonlyArray<string>]
  | readonly [input: number, enzyme: "", outcome: "discarded"]
  | readonly [input: number, enzyme: string, outcome: Failure, tag: string, code: string, more?: ReadonlyArray<EmittedLine> | NextLine]

/** The date of the next attempt, in milliseconds since 1970, if it is by the clock. */
interface NextLine {
  readonly next: number
}

/** The result of a handling. */
type End =
  | { readonly kind: "ok"; readonly value: readonly [json?: unknown]; readonly sent: ReadonlyArray<SentRecord> }
  | { readonly kind: "waits"; readonly segment: number; readonly sent: ReadonlyArray<SentRecord> }
  | { readonly kind: "conflict"; readonly document: string; readonly isDerived: boolean; readonly holder: string | undefined }
  | { readonly kind: "same"; readonly run: number }
  | { readonly kind: "heard"; readonly heard: unknown }
  | { readonly kind: "cycle"; readonly names: ReadonlyArray<string> }
  | { readonly kind: "discarded" }
  | {
    readonly kind: Failure
    readonly tag: string
    readonly code: string
    readonly sent: ReadonlyArray<SentRecord>
    /** The date of the next attempt, in milliseconds since 1970, if it is by the clock. */
    readonly next: number | undefined
  }

/** A handling: the index of its input, its enzyme and its result. */
export type RunRecord = { readonly input: number; readonly enzyme: string } & End

const unheard: ReadonlyArray<Heard> = []

/** The lines of the handlings of one input, as JSON text; empty if it has none. */
export const write = (captured: CapturedSignal, input: number): string => {
  let lines = ""
  for (const handling of captured.handlings) {
    lines = join(lines, handling.flight !== captured.flight
      ? `[${input},"${handling.key}","same",${handling.run}]`
      : `[${input},"${handling.key}"${outcome(handling)}]`)
  }
  for (const { oid, ...heard } of captured.heard ?? unheard) lines = join(lines, `[${input},"${oid}","heard",${JSON.stringify(heard)}]`)
  if (captured.flight.discarded) return join(lines, `[${input},"","discarded"]`)
  const { cycle, status } = captured.resolution
  return status === "cycle" ? join(lines, `[${input},"","cycle",${JSON.stringify(cycle)}]`) : lines
}

/** Lines with further ones; either may be empty. */
export const join = (lines: string, more: string): string => lines === "" ? more : more === "" ? lines : `${lines},${more}`

const none: ReadonlyArray<OutgoingSignal> = []

const outcome = ({ draft, outcome }: Handling): string => {
  if (outcome === undefined) return ""
  if (outcome.kind === "conflict") return `,"conflict","${outcome.document}"${reason(outcome)}`
  const emissions = isMerged(outcome) ? draft?.emissions ?? none : none
  const result = "code" in outcome
    ? `"${outcome.kind}","${outcome.tag}","${outcome.code}"${outcome.next === undefined ? "" : `,{"next":${outcome.next}}`}`
    : outcome.kind === "waits" ? `"waits",${outcome.segment}`
    : outcome.result === undefined ? "[]" : `[${outcome.result.text}]`
  if (emissions.length === 0) return `,${result}`
  let text = ""
  for (const sent of emissions) text = join(text, writeEmitted(sent))
  return `,${result},[${text}]`
}

/** Follows the document of a lost conflict: the holder of a lock, or that the run's reads derive from it. */
const reason = ({ holder, isDerived }: Extract<Outcome, { readonly kind: "conflict" }>): string =>
  holder === undefined ? isDerived === true ? `,"${DERIVED}"` : "" : `,${JSON.stringify({ by: holder })}`

/** The handling of a line. */
export const read = (line: RunLine): RunRecord => {
  const [input, enzyme] = line
  return { input, enzyme, ...endOf(line) }
}

const endOf = ([, , kind, detail, last, more]: RunLine): End => {
  if (typeof kind === "object") return { kind: "ok", value: kind, sent: sentOf(detail) }
  if (kind === "waits") return { kind, segment: detail as number, sent: sentOf(last) }
  if (kind === "conflict") {
    const { by: holder } = (typeof last === "object" ? last : {}) as { readonly by?: string }
    return { kind, document: detail as string, isDerived: last === DERIVED, holder }
  }
  if (kind === "same") return { kind, run: detail as number }
  if (kind === "heard") return { kind, heard: detail }
  if (kind === "cycle") return { kind, names: detail as ReadonlyArray<string> }
  if (kind === "discarded") return { kind }
  const failure = { kind, tag: detail as string, code: last as string }
  const { next } = (more ?? {}) as Partial<NextLine>
  return next === undefined ? { ...failure, sent: sentOf(more), next } : { ...failure, sent: [], next }
}

const sentOf = (lines: unknown): ReadonlyArray<SentRecord> => ((lines ?? []) as ReadonlyArray<EmittedLine>).map(readEmitted)

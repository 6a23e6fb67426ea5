/**
 * Diagnostics: the one form of every fact that went wrong.
 *
 * A diagnostic is a cell under `/data/mailbox/diag/msgs`, committed with the
 * beat that found it. Its text is made of names and codes only, because what
 * engines put into their error messages differs, and cells are hashed.
 * (Semantics, section 6.6; architecture, sections 2 and 9.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"

/** How bad it is: `fatal` stops the runtime, `crit` lost a handling, `usage` is a mistake of an author or caller. */
export type Severity = "sev:fatal" | "sev:crit" | "sev:usage" | "sev:warn" | "sev:debug"

/**
 * A fact that went wrong.
 *
 * @category models
 * @since 0.1.0
 */
export interface Diagnostic {
  readonly severity: Severity
  /** What kind of thing: `run/dead`, `registry/cycle` … */
  readonly topic: string
  /** The stable code of the error, where there was one. */
  readonly code: string
  readonly note: string
  /** The enzyme that was running, where one was. */
  readonly origin: string
  /** The address or signal it is about. */
  readonly subject: string
}

/** Most characters of a note: what it lists may be as long as the registry. */
const MAX_NOTE = 2000

const FOLDER = "/data/mailbox/diag/msgs"

/**
 * The cell of diagnostic number `index` of a beat.
 *
 * @category constructors
 * @since 0.1.0
 */
export const address = (beat: number, index: number): Address.Address => Address.make(`${FOLDER}/${beat}.${index}`)

/**
 * What the cell holds.
 *
 * @category getters
 * @since 0.1.0
 */
export const toValue = (diagnostic: Diagnostic, beat: number) => ({
  sev: diagnostic.severity,
  topic: diagnostic.topic,
  code: diagnostic.code,
  note: diagnostic.note.slice(0, MAX_NOTE),
  origin: diagnostic.origin,
  subject: diagnostic.subject,
  issued_beat: beat
})

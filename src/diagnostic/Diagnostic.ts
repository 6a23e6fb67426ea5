/**
 * Diagnostics: the one form of every fact that went wrong.
 *
 * Within a space a diagnostic is a cell under `/data/mailbox/diag/msgs`,
 * committed with the beat that found it. Its text is made of names and codes
 * only, because what engines put into their error messages differs, and cells
 * are hashed. (Semantics, section 6.6; architecture, sections 2 and 9.)
 *
 *     /data/mailbox/diag/msgs/<beat>.<n>           { sev, topic, code, note, origin: { kind, name }, subject?, issued_beat, issued_ms, payload_id? }
 *     /data/mailbox/diag/msgs/<beat>.<n>/payload   what goes with it
 *
 * `subject` is a link to the cell that it is about, or the path of a signal.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import type { Severity } from "../cell/Severity.ts"
import { type Topic, topics } from "./Topic.ts"

/** Where it comes from: an enzyme, a node, or a part of the runtime; and which. */
export interface Origin {
  readonly kind: "enzyme" | "node" | "runtime"
  readonly name: string
}

/**
 * A fact that went wrong.
 *
 * @category models
 * @since 0.1.0
 */
export interface Diagnostic {
  readonly severity: Severity
  /** What kind of thing: one of the runtime's topics, or an enzyme's own. */
  readonly topic: string
  /** The stable code of the error, where there was one. */
  readonly code: string
  readonly note: string
  readonly origin: Origin
  /** The cell that it is about, or the path of a signal. */
  readonly subject: Address.Address | string | undefined
  readonly payload?: Document.Document | undefined
  /** The operation that it is about. */
  readonly attach?: string | undefined
  /** How it is told to enzymes: always, where one listens, or never, since it is about such a signal itself. */
  readonly signal?: "always" | "never" | undefined
  /** How many signals led to it. */
  readonly depth?: number
  /** The error behind it, for the log alone: what errors say differs between engines, and is in no cell. */
  readonly raised?: Raised | undefined
}

/** An error as it is told to the operator. */
export interface Raised {
  readonly message: string
  /** The thrown value, where it is at hand. */
  readonly thrown?: unknown
}

/** Most characters of a note: what it lists may be as long as the registry. */
const MAX_NOTE = 2000

/** Where facts lie. */
export const FOLDER = "/data/mailbox/diag/msgs"

/** The signals that tell of facts; the severity follows. */
export const SIGNALS = "/CEP:sig_cei"

/**
 * A fact of one of the runtime's topics.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (topic: Topic, fact: Omit<Diagnostic, "severity" | "topic" | "code"> & { readonly code?: string }): Diagnostic =>
  ({ code: topic, ...fact, severity: topics[topic].severity, topic })

/**
 * The cell of diagnostic number `index` of a beat.
 *
 * @category constructors
 * @since 0.1.0
 */
export const address = (beat: number, index: number): Address.Address => Address.make(`${FOLDER}/${beat}.${index}`)

/** The cell of what goes with a diagnostic. */
export const payloadOf = ({ id }: Address.Address): Address.Address => Address.make(`${id}/payload`)

/**
 * What the cell holds.
 *
 * @category getters
 * @since 0.1.0
 */
export const toDocument = ({ code, note, origin, payload, severity, subject, topic }: Diagnostic, { beat, now }: { readonly beat: number; readonly now: number }, place: Address.Address): Document.Document =>
  Document.encode({
    sev: severity,
    topic,
    code,
    note: note.slice(0, MAX_NOTE).toWellFormed(),
    origin: { ...origin },
    ...(subject === undefined ? {} : { subject: typeof subject === "string" ? subject : Link.make(subject.text) }),
    issued_beat: beat,
    issued_ms: now,
    ...(payload === undefined ? {} : { payload_id: Link.make(payloadOf(place).text) })
  })

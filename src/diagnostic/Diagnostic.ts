/**
 * Diagnostics: the record of every reported failure.
 *
 * Within a space a diagnostic is a cell under `/data/mailbox/diag/msgs`, committed with the beat that found it. Its
 * text contains only names and codes. Error messages of engines differ, and cells are hashed.
 *
 *     /data/mailbox/diag/msgs/<beat>.<n>           { sev, topic, code, note, origin: { kind, name }, subject?,
 *                                                    issued_beat, issued_ms, payload_id? }
 *     /data/mailbox/diag/msgs/<beat>.<n>/payload   the payload
 *
 * `subject` is a link to the affected cell, or the path of a signal.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import type { Severity } from "../cell/Severity.ts"
import { severities, type Topic } from "./Topic.ts"

/** The source of a diagnostic: an enzyme, a node or a part of the runtime, and its name. */
export interface Origin {
  readonly kind: "enzyme" | "node" | "runtime"
  readonly name: string
}

/**
 * A reported failure.
 */
export interface Diagnostic {
  readonly severity: Severity
  /** The topic: one of the runtime's topics, or an enzyme's own. */
  readonly topic: string
  /** The stable code of the error, if there was one. */
  readonly code: string
  readonly note: string
  readonly origin: Origin
  /** The affected cell, or the path of a signal. */
  readonly subject: Address.Address | string | undefined
  readonly payload?: Document.Document | undefined
  /** The operation to which the diagnostic is attached. */
  readonly attach?: string | undefined
  /** Whether a signal announces it to enzymes; by default only if an enzyme listens. `never` prevents a loop over such signals. */
  readonly signal?: "always" | "never" | undefined
  /** The length of the chain of signals that led to it. */
  readonly depth?: number
  /** The error behind it, for the log only: messages differ between engines and are in no cell. */
  readonly raised?: LoggedError | undefined
}

/** An error as the operator's log shows it. */
export interface LoggedError {
  readonly message: string
  /** The thrown value, if it is available. */
  readonly thrown?: unknown
}

/** The maximum length of a note, in characters; a note may list the whole registry. */
const MAX_NOTE = 2000

/** The folder of the diagnostics. */
export const FOLDER = "/data/mailbox/diag/msgs"

/** The prefix of the signals that announce diagnostics; the severity follows. */
export const SIGNALS = "/CEP:sig_cei"

/**
 * Creates a diagnostic with one of the runtime's topics.
 */
export const of = (topic: Topic, fact: Omit<Diagnostic, "severity" | "topic" | "code"> & { readonly code?: string }): Diagnostic =>
  ({ code: topic, ...fact, severity: severities[topic], topic })

/**
 * Returns the address of diagnostic number `index` of a beat.
 */
export const address = (beat: number, index: number): Address.Address => Address.make(`${FOLDER}/${beat}.${index}`)

/** Returns the address of a diagnostic's payload. */
export const payloadOf = ({ id }: Address.Address): Address.Address => Address.make(`${id}/payload`)

/**
 * Encodes a diagnostic as the document of its cell.
 */
export const toDocument = (
  { code, note, origin, payload, severity, subject, topic }: Diagnostic,
  { beat, now }: { readonly beat: number; readonly now: number },
  place: Address.Address
): Document.Document =>
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

/**
 * Outgoing signals, validated when they are created.
 *
 * Signals sent by runs and signals posted by callers pass the same validation.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import { TextCache } from "../cell/TextCache.ts"
import { type Declared, misfit } from "../cell/Type.ts"
import { checkSpaceName } from "../persistence/Persistence.ts"
import * as Duration from "../time/Duration.ts"
import { MAX_WAIT } from "./Due.ts"
import type { At, DueAt, OutgoingSignal, Qos, SignalRequest } from "./Launch.ts"

/** A signal request is invalid. `reason` names the rule that it breaks. */
export class InvalidSignal extends Data.TaggedError("InvalidSignal")<{
  readonly reason: string
  /** Given if the signal is well formed, and its payload does not fit the type of its path. */
  readonly kind?: "unfit"
}> {
  readonly code = "signal/invalid"
  override get message() {
    return `The signal is refused: ${this.reason}`
  }
}

/**
 * Checks a payload by the type of its signal.
 *
 * @throws InvalidSignal
 */
export const checkPayload = ({ type }: Declared, payload: unknown): void => {
  const mistakes = type.mistakes(payload)
  if (mistakes.length > 0) throw new InvalidSignal({ reason: misfit(type, mistakes), kind: "unfit" })
}

/** The refusal of a label. Unknown atoms and inaccessible atoms get the same message, which names only the given atoms. */
export const labelRefusal = (label: unknown): InvalidSignal =>
  new InvalidSignal({
    reason: `its label is ${(JSON.stringify(label) ?? typeof label).slice(0, 200)}. ` +
      "Give a list of atoms that the configuration's labels name and that you are cleared for"
  })

/** Signal paths that passed validation, because each beat uses the same few. */
const checked = new TextCache<true>(8192)

/**
 * Validates a signal request. `beat` is the current or newest beat: a signal for it or an earlier one is refused.
 *
 * @throws InvalidSignal, InvalidAddress, InvalidValue
 */
export const make = (id: string, request: SignalRequest, beat: number): OutgoingSignal => {
  const { at, payload, qos, signal, space, target } = request
  if (signal === undefined && target === undefined) throw refuse("it has neither a signal nor a target; give at least one of the two")
  if (signal !== undefined) checkPath(signal)
  const due = at === undefined ? undefined : dueAt(at, beat)
  if (space !== undefined) checkSpace(space, due)
  if (qos !== undefined && !services.has(qos)) throw refuse(`its qos is ${JSON.stringify(qos)}; give control, retain or discard`)
  return {
    id,
    signal,
    target: target === undefined ? undefined : cell(target),
    payload: payload === undefined ? undefined : Document.encode(payload),
    at: due,
    ...(space === undefined ? {} : { space }),
    ...(qos === undefined ? {} : { qos })
  }
}

const services: ReadonlySet<unknown> = new Set<Qos>(["control", "retain", "discard"])

const checkSpace = (space: string, at: DueAt | undefined): void => {
  try {
    checkSpaceName(space)
  } catch (error) {
    throw refuse((error as Error).message)
  }
  if (at !== undefined && "beat" in at) {
    throw refuse(`its at.beat is ${at.beat} and space "${space}" may count its beats apart; give at.beats or at.ms`)
  }
}

const cell = (text: string): string => {
  const address = Address.parse(text)
  if (address.path.length > 0) throw refuse(`its target ${text} is a place inside a cell; name the cell and put the place into the payload`)
  return address.key
}

const checkPath = (signal: string): void => {
  if (checked.get(signal) === true) return
  if (typeof signal === "string" && signal.length > Address.MAX_TEXT) {
    throw refuse(
      `its path has ${signal.length} characters and the limit is ${Address.MAX_TEXT}; ` +
        "put what it says beside the path into the payload"
    )
  }
  const names = typeof signal === "string" ? Name.split(signal) : `it is a ${typeof signal}`
  if (typeof names === "string") {
    throw refuse(`${JSON.stringify(signal)} is not a signal path: ${names}. Write it like /signals/image/thumbnail`)
  }
  checked.set(signal, true)
}

/** The time of a signal, validated. */
const dueAt = (at: At, beat: number): DueAt => {
  if (typeof at === "string") {
    const ms = Duration.parse(at)
    if (ms === undefined) throw refuse(`its at is ${JSON.stringify(at.slice(0, 100))}; give a time such as "10s", or { beats: 3 }`)
    return { ms }
  }
  if (typeof at !== "object" || at === null || Object.keys(at).length !== 1) {
    throw refuse("its at is no time such as \"10s\", and not one of { beat }, { beats } and { ms }; give exactly one")
  }
  const [kind, amount] = "beat" in at ? ["beat", at.beat] as const : "beats" in at ? ["beats", at.beats] as const : ["ms", at.ms] as const
  if (!Number.isInteger(amount) || amount < 0 || amount > MAX_WAIT) {
    throw refuse(`its at.${kind} is ${String(amount)}; give a whole number from 0 to ${MAX_WAIT}`)
  }
  checkBeat(at, beat)
  return at
}

/**
 * Refuses a wait for a beat in the past.
 *
 * @throws InvalidSignal
 */
export const checkBeat = (at: DueAt | undefined, beat: number): void => {
  if (at === undefined || !("beat" in at) || at.beat > beat) return
  throw refuse(`beat ${at.beat} is not to come any more, the newest is ${beat}; name a later one`)
}

const refuse = (reason: string) => new InvalidSignal({ reason })

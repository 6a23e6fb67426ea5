/**
 * Specifications: a new entry, from the given fields, the defaults of its profile
 * and the general defaults [S1 §Technical Details].
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import * as Value from "../cell/Value.ts"
import type { Now } from "../stage/Due.ts"
import * as Due from "../stage/Due.ts"
import type { Entry } from "./Entry.ts"
import { isKey, MAX_BEAT, misses, profiles, signalFor } from "./Entry.ts"
import { InvalidRendezvous, NoSpec } from "./RendezvousError.ts"
import * as Schemas from "./Schemas.ts"
import * as Time from "./Time.ts"
import { dueAt, killing } from "./Transition.ts"

/** The fields of a specification. */
const known = (): ReadonlySet<string> => fields ??= new Set(Object.keys(Schemas.spec().fields))

let fields: ReadonlySet<string> | undefined

/** The context of a specification. */
export interface SpecContext {
  readonly now: Now
  /** The defaults in the cell of a profile. */
  readonly defaults: (profile: string) => Value.Value
  readonly hash: (text: string) => string
}

/** A new entry and its key. */
export interface PreparedEntry {
  readonly key: string
  readonly entry: Entry
}

type Fields = Readonly<Record<string, Value.Value>>

/**
 * The entry for a specification.
 *
 * @throws NoSpec, InvalidRendezvous
 */
export const prepare = (spec: Value.Value, { defaults, hash, now }: SpecContext): PreparedEntry => {
  if (spec === undefined || spec === null) throw new NoSpec()
  if (!isFields(spec)) throw refuse("a specification is an object with fields")
  const strange = Object.keys(spec).find((name) => !known().has(name))
  if (strange !== undefined) {
    throw refuse(`its specification has a field "${strange.slice(0, 100)}". It may have ${[...known()].join(", ")}`)
  }
  const key = spec["key"]
  if (!isKey(key)) throw refuse(`its key is ${shown(key)}; give one name such as job17 or app:job17`)
  const prof = one("prof", spec["prof"] ?? spec["profile"] ?? "rv-fixed", profiles)
  const given = defaults(prof)
  const all: Fields = { ...(isFields(given) ? given : {}), ...defined(spec) }
  const number = (name: string): number => numberOf(name, waits.has(name) ? Due.inBeats(all[name], now) : all[name])
  const due = reachable("due", all["due"] !== undefined ? Time.named(number("due")) : Time.after(number("due_off"), now))
  const isOff = all["deadline"] === undefined && all["deadl_off"] !== undefined
  const deadline = reachable("deadline", isOff ? Time.later(due, number("deadl_off"), now) : Time.named(number("deadline")))
  return {
    key,
    entry: {
      state: "pending",
      prof,
      spawn_beat: now.beat,
      ...dueAt(due),
      epoch_k: epochOf(prof, number("epoch_k")),
      input_fp: all["input"] === undefined ? number("input_fp") : fingerprint(hash(Document.encode(all["input"]).text)),
      deadline: deadline.beat,
      deadline_ms: deadline.ms,
      grace_delta: number("grace_delta"),
      max_grace: number("max_grace"),
      grace_used: 0,
      on_miss: one("on_miss", all["on_miss"] ?? "timeout", misses),
      ...killing(mode(all["kill_mode"] ?? "none"), number("kill_wait"), now),
      cas_hash: text("cas_hash", all["cas_hash"] ?? ""),
      signal_path: signalPath(all["signal_path"] ?? all["signal"] ?? signalFor(key)),
      event_flag: 0,
      inst_id: instance(all["inst_id"]),
      token_id: "",
      telemetry: telemetryOf(all["telemetry"])
    }
  }
}

/** The fields that are waits, which may be given as times, too. */
const waits: ReadonlySet<string> = new Set(["due_off", "deadl_off", "grace_delta", "epoch_k"])

/** The most scans of an entry that only count down. */
export const MAX_SCANS = 1000

/** The limits of the fields that are not beats. */
const limits: Readonly<Record<string, number>> = { input_fp: Number.MAX_SAFE_INTEGER, kill_wait: MAX_SCANS, max_grace: MAX_SCANS }

/**
 * A number of beats, given as a number or as decimal text.
 *
 * @throws InvalidRendezvous
 */
export const numberOf = (name: string, value: unknown): number => {
  if (value === undefined) return 0
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value
  const most = limits[name] ?? MAX_BEAT
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0 || number > most) {
    throw refuse(`its ${name} is ${shown(value)}; give a whole number from 0 to ${most}`)
  }
  return number
}

/**
 * A kill mode, validated.
 *
 * @throws InvalidRendezvous
 */
export const mode = (value: unknown): string => {
  if (!isKey(value)) throw refuse(`its kill_mode is ${shown(value)}; give one name such as kill, or none`)
  return value
}

/** Telemetry, validated: an object of fields. */
export const telemetryOf = (value: Value.Value): Value.Value => {
  if (value === undefined) return {}
  if (!isFields(value)) throw refuse("its telemetry is no object; give fields such as { progress: 3 }")
  return value
}

/** The refusal of a malformed request. */
export const refuse = (reason: string): InvalidRendezvous => new InvalidRendezvous({ reason })

/** The first 53 bits of a digest. */
const fingerprint = (hex: string): number => Number(BigInt(`0x${hex.slice(0, 14)}`) >> 3n)

const epochOf = (prof: string, epoch: number): number => {
  if (prof === "rv-epoch" && epoch === 0) {
    throw refuse("its profile is rv-epoch and it has no epoch_k; say after how many beats it is due again")
  }
  return epoch
}

const reachable = (name: string, time: Time.Time): Time.Time => {
  if (time.beat > MAX_BEAT) throw refuse(`its ${name} would be beat ${time.beat}, and the furthest is ${MAX_BEAT}`)
  return time
}

const one = (name: string, value: Value.Value, words: ReadonlyArray<string>): string => {
  if (typeof value !== "string" || !words.includes(value)) throw refuse(`its ${name} is ${shown(value)}; give one of ${words.join(", ")}`)
  return value
}

const text = (name: string, value: Value.Value): string => {
  if (typeof value !== "string" || value.length > 1000) {
    throw refuse(`its ${name} is ${shown(value)}; give a text of at most 1000 characters`)
  }
  return value
}

const signalPath = (value: Value.Value): string => {
  const path = text("signal_path", value).replace(/^\//, "")
  const names = Name.split(`/${path}`)
  if (typeof names === "string") throw refuse(`its signal_path is ${shown(value)}: ${names}. Write it like app:done/job17`)
  return path
}

const instance = (value: Value.Value): string | undefined => {
  if (value === undefined) return undefined
  if (!isKey(value)) throw refuse(`its inst_id is ${shown(value)}; give one name such as order:17`)
  return value
}

const isFields = (value: Value.Value): value is Fields => Value.isContainer(value) && !Array.isArray(value)

const defined = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const shown = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, 200)

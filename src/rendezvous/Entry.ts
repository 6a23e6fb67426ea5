/**
 * Entries: the records of rendezvous with work outside the beat, one cell each.
 *
 * An entry is one document under `/data/rv/<key>`, so each write of it is atomic.
 * Its fields are texts, with numbers in canonical decimal form [S1 §Technical
 * Details].
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"

/** The cell above all entries. The ledger exists if this cell does. */
export const FOLDER = "/data/rv"

/** The folder of completion events, each under its entry's key. */
export const EVENTS = "/data/inbox/flow/inst_event"

/** The index of open entries, one cell per key, which is read when a space is opened. */
export const OPEN = "/sys/index/rv"

/** The folder of profile defaults. */
export const DEFAULTS = "/defaults"

/** The states of an entry. The last four are no longer awaited. */
const states = ["pending", "ready", "late", "applied", "timeout", "killed", "quarantine"] as const
export type State = typeof states[number]

/** The outcome of a completion. */
export type Outcome = "applied" | "timeout" | "killed"

export const profiles = ["rv-fixed", "rv-epoch", "rv-cas", "observer", "spec"] as const

/** The actions for an entry past its due time and its grace. */
export const misses = ["timeout", "kill", "grace", "ignore", "quarantine"] as const

/** The highest beat of an entry. */
export const MAX_BEAT = 2 ** 43

/** The numeric fields, in the order of [S1 §Technical Details]. */
export const numbers =
  ["spawn_beat", "due", "epoch_k", "input_fp", "deadline", "grace_delta", "max_grace", "kill_wait", "event_flag", "grace_used"] as const

/** The clock fields, in milliseconds since 1970; those equal to 0 are omitted. */
const clocks = ["due_ms", "deadline_ms", "kill_ms"] as const

/**
 * A decoded entry.
 */
export interface Entry {
  readonly state: State
  readonly prof: string
  /** The beat that spawned it. */
  readonly spawn_beat: number
  /** The beat at which its result is expected, and the clock before which it is not; 0 if the beat was named absolutely. */
  readonly due: number
  readonly due_ms: number
  /** For `rv-epoch`: the number of beats from a completion until it is due again. */
  readonly epoch_k: number
  /** The first 53 bits of its input's digest. */
  readonly input_fp: number
  /** The beat at which it ends even without a report, and its clock; 0 for never. */
  readonly deadline: number
  readonly deadline_ms: number
  /** The beats by which each grace delays it, the number of graces, and the number used. */
  readonly grace_delta: number
  readonly max_grace: number
  readonly grace_used: number
  readonly on_miss: string
  /** The kill mode, or `none`; the number of scans left, and the clock before which the next scan does not count. */
  readonly kill_mode: string
  readonly kill_wait: number
  readonly kill_ms: number
  /** The content digest with which an `rv-cas` entry was reported. */
  readonly cas_hash: string
  /** The signal of its completion, without the leading slash. */
  readonly signal_path: string
  /** 1 while a completion has no event yet. */
  readonly event_flag: number
  /** The recipient of its completion. */
  readonly inst_id: string | undefined
  /** The digest of the token with which a worker reports. */
  readonly token_id: string
  readonly telemetry: Value
}

/** The address of an entry. */
export const address = (key: string): Address.Address => Address.make(`${FOLDER}/${key}`)

/** The key of the entry stored under a document's key; `undefined` for any other document. */
export const keyOf = (key: string): string | undefined =>
  key.startsWith(`${FOLDER}/`) && key.indexOf("/", FOLDER.length + 1) < 0 && !key.includes("?") ? key.slice(FOLDER.length + 1) : undefined

/** Whether a text is a valid entry key: one name. */
export const isKey = (key: unknown): key is string => typeof key === "string" && Name.refusal(key) === undefined

/** The default signal path of an entry, from the tag of its key. */
export const signalFor = (key: string): string => `CEP:sig_rv/${key.slice(key.indexOf(":") + 1)}`

/** Whether the entry has completed. */
export const isFinished = ({ state }: Entry): boolean => state === "applied" || state === "timeout" || state === "killed"

/**
 * An entry from its cell; `undefined` for another value. An unknown state reads as `pending`, an invalid number as 0.
 */
export const read = (value: Value): Entry | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const fields = value as Readonly<Record<string, Value>>
  const text = (name: string, otherwise: string): string => typeof fields[name] === "string" ? fields[name] as string : otherwise
  const number = (name: string): number => {
    const found = Number(text(name, "0"))
    return Number.isSafeInteger(found) && found >= 0 ? found : 0
  }
  const state = text("state", "pending")
  return {
    state: states.find((known) => known === state) ?? "pending",
    prof: text("prof", "rv-fixed"),
    ...Object.fromEntries(
      [...numbers, ...clocks].map((name) => [name, number(name)])
    ) as Record<typeof numbers[number] | typeof clocks[number], number>,
    on_miss: text("on_miss", "timeout"),
    kill_mode: text("kill_mode", "none"),
    cas_hash: text("cas_hash", ""),
    signal_path: text("signal_path", ""),
    inst_id: typeof fields["inst_id"] === "string" ? fields["inst_id"] : undefined,
    token_id: text("token_id", ""),
    telemetry: fields["telemetry"] ?? {}
  }
}

/**
 * An entry in its stored form.
 */
export const write = ({ deadline_ms, due_ms, inst_id, kill_ms, ...entry }: Entry): Document.Document => {
  const given = Object.entries({ due_ms, deadline_ms, kill_ms }).filter(([, ms]) => ms > 0)
  return Document.encode({
    ...entry,
    ...Object.fromEntries(
      [...numbers.map((name) => [name, entry[name]] as const), ...given].map(([name, number]) => [name, String(number)])
    ),
    ...(inst_id === undefined ? {} : { inst_id })
  })
}

/** The event of a completion, as stored under {@link EVENTS}. */
export const event = (key: string, { inst_id, signal_path, telemetry }: Entry, { beat, outcome }: {
  readonly beat: number
  readonly outcome: Outcome
}): Document.Document =>
  Document.encode({
    key, outcome, state: outcome, signal_path, beat: String(beat), ...(inst_id === undefined ? {} : { inst_id }), telemetry
  })

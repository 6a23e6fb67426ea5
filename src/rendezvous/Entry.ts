/**
 * Entries: the ledger of meetings with work outside the beat, one cell each.
 *
 * An entry is one document under `/data/rv/<key>`, so it is there whole or not at
 * all. Its fields are texts, numbers in canonical decimal form. (Seed 001,
 * "Ledger schema"; semantics, section 5.1.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import type { Value } from "../cell/Value.ts"

/** The cell below which all entries lie. Where it is absent, the ledger is. */
export const FOLDER = "/data/rv"

/** Where each completion puts its event, under the entry's key. */
export const EVENTS = "/data/inbox/flow/inst_event"

/** Where each entry that is not over has a cell under its key, by which it is found when a space is opened. */
export const OPEN = "/sys/index/rv"

/** Where the defaults of a profile lie. */
export const DEFAULTS = "/defaults"

/** How an entry can stand. The last four are not waited for any more. */
const states = ["pending", "ready", "late", "applied", "timeout", "killed", "quarantine"] as const
export type State = typeof states[number]

/** What a completion can be. */
export type Outcome = "applied" | "timeout" | "killed"

export const profiles = ["rv-fixed", "rv-epoch", "rv-cas", "observer", "spec"] as const

/** What follows where the time of an entry and its grace are over. */
export const misses = ["timeout", "kill", "grace", "ignore", "quarantine"] as const

/** Furthest beat that an entry reaches. */
export const MAX_BEAT = 2 ** 43

/** The fields that hold numbers, in the order of the seed. */
export const numbers = ["spawn_beat", "due", "epoch_k", "input_fp", "deadline", "grace_delta", "max_grace", "kill_wait", "event_flag", "grace_used"] as const

/** The fields that hold clocks; those that are 0 are left out. */
const clocks = ["due_ms", "deadline_ms", "kill_ms"] as const

/**
 * An entry as it is worked with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  readonly state: State
  readonly prof: string
  /** The beat that spawned it. */
  readonly spawn_beat: number
  /** The beat from which its result is expected, and the clock before which it is not; 0 where that beat was named. */
  readonly due: number
  readonly due_ms: number
  /** For `rv-epoch`: how many beats after a completion it is due again. */
  readonly epoch_k: number
  /** The first 53 bits of the digest of what it was given to work on. */
  readonly input_fp: number
  /** The beat at which it ends, reported or not, with its clock likewise; 0 for never. */
  readonly deadline: number
  readonly deadline_ms: number
  /** How many beats each grace puts it off, how many there are, and how many it has used. */
  readonly grace_delta: number
  readonly max_grace: number
  readonly grace_used: number
  readonly on_miss: string
  /** How it is to be killed, or `none`; how many scans on, and the clock before which the next one does not count. */
  readonly kill_mode: string
  readonly kill_wait: number
  readonly kill_ms: number
  /** The digest of the content that an `rv-cas` entry was reported with. */
  readonly cas_hash: string
  /** The signal that its completion sends, without the slash in front. */
  readonly signal_path: string
  /** 1 while a completion has no event yet. */
  readonly event_flag: number
  /** Whoever is to hear of it. */
  readonly inst_id: string | undefined
  /** The digest of the token that lets a worker report. */
  readonly token_id: string
  readonly telemetry: Value
}

/** The address of an entry. */
export const address = (key: string): Address.Address => Address.make(`${FOLDER}/${key}`)

/** The key of the entry that a document's key names; `undefined` for any other document. */
export const keyOf = (key: string): string | undefined =>
  key.startsWith(`${FOLDER}/`) && key.indexOf("/", FOLDER.length + 1) < 0 && !key.includes("?") ? key.slice(FOLDER.length + 1) : undefined

/** Whether a text can be the key of an entry: one name. */
export const isKey = (key: unknown): key is string => typeof key === "string" && Name.refusal(key) === undefined

/** The signal path of an entry that was given none: its tag alone tells it. */
export const signalFor = (key: string): string => `CEP:sig_rv/${key.slice(key.indexOf(":") + 1)}`

/** Whether a completion is what the entry has come to. */
export const isFinished = ({ state }: Entry): boolean => state === "applied" || state === "timeout" || state === "killed"

/**
 * An entry from its cell; `undefined` where it holds none. A state or a number that nobody knows reads as `pending` and 0.
 *
 * @category constructors
 * @since 0.1.0
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
    ...Object.fromEntries([...numbers, ...clocks].map((name) => [name, number(name)])) as Record<typeof numbers[number] | typeof clocks[number], number>,
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
 * An entry as it is kept.
 *
 * @category getters
 * @since 0.1.0
 */
export const write = ({ deadline_ms, due_ms, inst_id, kill_ms, ...entry }: Entry): Document.Document => {
  const given = Object.entries({ due_ms, deadline_ms, kill_ms }).filter(([, ms]) => ms > 0)
  return Document.encode({
    ...entry,
    ...Object.fromEntries([...numbers.map((name) => [name, entry[name]] as const), ...given].map(([name, number]) => [name, String(number)])),
    ...(inst_id === undefined ? {} : { inst_id })
  })
}

/** The event of a completion, as it is kept under {@link EVENTS}. */
export const event = (key: string, { inst_id, signal_path, telemetry }: Entry, { beat, outcome }: { readonly beat: number; readonly outcome: Outcome }): Document.Document =>
  Document.encode({ key, outcome, state: outcome, signal_path, beat: String(beat), ...(inst_id === undefined ? {} : { inst_id }), telemetry })

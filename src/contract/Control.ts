/**
 * Endpoints of a space as a whole: its lifecycle, its clock, its locks, and its debugger.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import { SPACE } from "./Paths.ts"
import * as Query from "./Query.ts"
import { words } from "./Words.ts"

const text = Schema.String
const count = Schema.Number

const CONTROL = `${SPACE}/control` as const
const CLOCK = `${SPACE}/clock` as const
const DEBUG = `${SPACE}/debug` as const

/** A list of kinds of work. */
const DROPS = /^(?:requests|outbox|timers)(?:,(?:requests|outbox|timers)){0,2}$/

/** The state of a whole space, and a page of its locks. */
const status = () => Schema.Struct({
  /** `gated` while a pause or a shutdown is in progress. */
  state: Schema.Literals(["running", "gated", "paused", "halted"]),
  /** Whether beats run by `step` alone. Input is accepted and waits. */
  held: Schema.Boolean,
  /** The control operation in progress. */
  control: Schema.NullOr(Schema.Struct({ verb: text, oid: text })),
  /** Number of signals that wait until the space resumes. */
  parked: count,
  /** The source of a space that arrived by an import, until it is released. */
  detached: Schema.optionalKey(Schema.Struct({ why: Schema.Literals(["copy", "restore"]), from: text, beat: count })),
  /** The beat of a rollback, until the space resumes. */
  view_hzn: Schema.NullOr(count),
  boot_oid: Schema.NullOr(text),
  shdn_oid: Schema.NullOr(text),
  locks: Schema.Array(Schema.Struct({ cell: text, by: text })),
  next: Query.next(text)
})

/** The state of a space. */
export const state = Endpoint.make("GET", CONTROL, {
  does: words("The state of the space: running, gated, paused or halted; parked signals; a page of its locks, and `next`."),
  query: () => Schema.Struct({ after: Query.text(), limit: Query.limit(Query.MOST, Query.MOST) }),
  answer: status
})

/** The operation of a change that takes several beats. */
const begun = {
  answer: () => Schema.Struct({ oid: text, beat: count }),
  status: 202,
  refusals: ["control/refused", "inbox/full", "space/held"],
  location: ({ oid }: { readonly oid: string }, { space }: { readonly space: string }) => `${SPACE.replace(":space", space)}/ops/${oid}`,
  effect: "controls"
} as const

/** The lifecycle of a space, by its verbs. */
export const verbs = {
  pause: Endpoint.make("POST", `${CONTROL}/pause`, { does: words("Begins a pause: 202 with its operation."), ...begun }),
  resume: Endpoint.make("POST", `${CONTROL}/resume`, {
    does: words("Begins the resumption of a paused space: 202 with its operation."),
    ...begun
  }),
  shutdown: Endpoint.make("POST", `${CONTROL}/shutdown`, { does: words("Begins a shutdown: 202 with its operation."), ...begun }),
  restart: Endpoint.make("POST", `${CONTROL}/restart`, {
    does: words("Begins the boot of a space that was shut down: 202 with its operation."),
    ...begun
  })
}

/** The rollback of a space. */
export const rollback = Endpoint.make("POST", `${CONTROL}/rollback`, {
  does: words("Begins the restoration of all user data as of beat `to`, in a paused space: 202 with its operation."),
  body: () => Schema.Struct({ to: Schema.Number.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0)) }),
  ...begun
})

/** The hold and the release of beats. */
export const holds = {
  hold: Endpoint.make("POST", `${CONTROL}/hold`, {
    does: words(
      "Holds the space: no beat runs by itself until it is released or the server ends. Signals wait, and commands are refused " +
        "after `limits.commandMillis`."
    ),
    answer: status,
    effect: "controls"
  }),
  release: Endpoint.make("POST", `${CONTROL}/release`, { does: words("Releases a held space."), answer: status, effect: "controls" })
}

const DETACHED = `${SPACE}/detached` as const

/** The kinds of work that wait in a detached space, and that its release may drop. */
export const drops = ["requests", "outbox", "timers"] as const

/** The most works that a list shows of one kind. */
export const LEAVING = 20

/** Waiting work of one kind: all that there is, the oldest date, and the first ones. */
const leaving = () => Schema.Struct({
  count,
  /** The oldest date of one; absent without one. For delayed signals and schedules, the earliest due time. */
  oldest: Schema.optionalKey(count),
  /** The first 20. */
  first: Schema.Array(Schema.Struct({
    id: text,
    /** Its channel and operation, its signal, or its enzyme. */
    name: text,
    /** The space that it is for. */
    to: Schema.optionalKey(text),
    date: Schema.optionalKey(count)
  }))
})

/** The work that waits in a detached space. */
export const detached = Endpoint.make("GET", DETACHED, {
  does: words(
    "The work that goes out of a detached space at its release, by kind: how much, since when, and the first 20. `original` are the " +
    "signals to other spaces that a copy has from its original, and never sends."
  ),
  answer: () => Schema.Struct({
    why: Schema.Literals(["copy", "restore"]),
    from: text,
    beat: count,
    requests: leaving(),
    outbox: leaving(),
    timers: leaving(),
    original: leaving()
  }),
  refusals: ["control/refused"]
})

/** The release of a detached space. */
export const releaseDetached = Endpoint.make("DELETE", DETACHED, {
  does: words(
    "Releases an imported space: its requests, deliveries, timers and signals to other spaces go out. With `drop`, such as " +
    "`requests,outbox,timers`, those of these kinds end: requests with `io/interrupted`, signals to other spaces as dead letters, and " +
    "delayed signals as discarded."
  ),
  query: () => Schema.Struct({
    drop: Schema.optionalKey(Schema.String.check(Schema.isPattern(DROPS)).annotate({
      expected: "some of requests, outbox and timers, with commas between",
      description: "requests,timers"
    }))
  }),
  answer: () => Schema.Struct({ beat: count }),
  refusals: ["control/refused", "inbox/full", "space/held"]
})

/** The clock of a space. Dates are in milliseconds since 1970. */
const times = () => Schema.Struct({
  /** The date that runs see. */
  date: count,
  /** The date of the host. */
  host: count,
  /** Milliseconds by which the date is ahead of the host: it was set back by more than a limit. 0 otherwise. */
  offset: count,
  /** The resets: each beat, and the offset that it took off later dates. */
  shifts: Schema.Array(Schema.Struct({ beat: count, by: count })),
  /** When the newest jump or sleep of over a day is confirmed. Until then it makes nothing older; `null` if all are confirmed. */
  keeps: Schema.NullOr(count)
})

/** The clock of a space. */
export const clock = Endpoint.make("GET", CLOCK, {
  does: words("The date of the space and that of its host, its offset, and the resets."),
  answer: times
})

/** The reset of the clock. */
export const resetClock = Endpoint.make("POST", `${CLOCK}/reset`, {
  does: words("Takes the offset off the dates of later beats: `{ offset, beat }`."),
  answer: () => Schema.Struct({ offset: count, beat: count }),
  refusals: ["control/refused", "inbox/full", "space/held"]
})

/** The refusals of a lock or an unlock. */
const ofLock = ["address/invalid", "cell/refused", "control/refused", "inbox/full", "space/held"]

const locked = () => Schema.Struct({ cell: text, beat: count })

/** The locks of cells. */
export const locks = {
  lock: Endpoint.make("PUT", `${SPACE}/locks/*`, { does: words("Locks a cell and all cells below it."), answer: locked, refusals: ofLock }),
  unlock: Endpoint.make("DELETE", `${SPACE}/locks/*`, { does: words("Unlocks a cell."), answer: locked, refusals: ofLock })
}

/** The debugging state of a space. */
const debugged = () => Schema.Struct({
  /** The newest durable beat; -1 before the first. */
  beat: count,
  /** The nodes before whose runs the attached debugger stops the process. */
  breakpoints: Schema.Array(text),
  /** Whether beats run by `step` alone. */
  held: Schema.Boolean
})

/** The state of the debugger. */
export const debug = Endpoint.make("GET", DEBUG, {
  does: words("Under `systole dev`: whether the space is held, and its breakpoints."),
  answer: debugged
})

/** The maximum number of breakpoints. */
const MAX_BREAKPOINTS = 100

/** The breakpoints of the debugger. */
export const breakAt = Endpoint.make("PUT", DEBUG, {
  does: words(`Under \`systole dev\`: the nodes before which an attached debugger stops, at most ${MAX_BREAKPOINTS}.`),
  body: () => Schema.Struct({ breakpoints: Schema.Array(text).check(Schema.isMaxLength(MAX_BREAKPOINTS)) }),
  answer: debugged,
  effect: "controls",
  isUncached: true
})

/** A single beat. */
export const step = Endpoint.make("POST", `${DEBUG}/step`, {
  does: words("Under `systole dev`: runs exactly one beat."),
  answer: () => Schema.Struct({ beat: count }),
  refusals: ["beat/aborted"],
  isUncached: true
})

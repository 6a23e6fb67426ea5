/**
 * The lifecycle of a space: boot, shutdown, pause, rollback and resume, as
 * operations of the space itself.
 *
 * Each has a dossier like any operation, and advances by one state per beat, as
 * the first step of the capture. A table holds the effect of each state.
 *
 * @module
 */
import * as Address from "../../../cell/Address.ts"
import * as Document from "../../../cell/Document.ts"
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import * as Dossier from "../../../operation/Dossier.ts"
import * as Verbs from "../../../operation/Verbs.ts"
import * as Requests from "../../../reactor/Request.ts"
import type { Draft } from "../../../stage/Draft.ts"
import * as Due from "../../../stage/Due.ts"
import { FOLDER } from "../../../stage/Content.ts"
import type { ReactorRecord } from "../../../stage/Io.ts"
import * as Semantics from "../../../stage/Semantics.ts"
import { CAPTURE } from "../../../stage/Stage.ts"
import * as Write from "../../../stage/write/Write.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { LedgerBeats } from "../LedgerBeats.ts"
import type * as Commands from "../../model/Command.ts"
import type { AbsentContent } from "../../model/Arrived.ts"
import * as SpaceMode from "../../model/SpaceMode.ts"
import { ControlRefused } from "../../model/SpaceError.ts"

/** The root of user data, which a pause locks. */
const DATA = "/data"

/** The effect of a step: the changed parts of the space's mode, or the reason of its failure. */
type Change = Partial<Pick<SpaceMode.SpaceMode, SpaceMode.Part | "locks">> | string
type Step = readonly [state: string, act: (mode: SpaceMode.SpaceMode, control: SpaceMode.LifecycleProgress) => Change]

const nothing = (): Change => ({})

/** The states that end when no ledger has work in progress, and the most beats of their wait. */
const QUIESCING: ReadonlySet<string> = new Set(["ist:quiesce", "ist:stop"])
const QUIESCE_BEATS = 2

/** The state of the reactor that begins with a state of an operation. */
const FLAGS: Readonly<Record<string, ReactorRecord>> = {
  "pause ist:quiesce": { draining: true },
  "pause ist:paused": { draining: false, paused: true },
  "rollback ist:plan": { draining: true },
  "rollback ist:cutover": { draining: false },
  "shutdown ist:stop": { draining: true, shutting_down: true },
  "shutdown ist:flush": { draining: false }
}

const none: ReadonlyArray<string> = []

/** The states of each verb after `ist:run`, and their effects. The beat after the last state closes the operation. */
const courses: Readonly<Record<SpaceMode.Verb, { readonly verb: string; readonly steps: ReadonlyArray<Step> }>> = {
  boot: {
    verb: "op/boot",
    steps: [
      ["ist:kernel", ({ paused }) => ({ gated: paused, halted: false, shdn_oid: undefined })],
      ["ist:store", nothing],
      ["ist:packs", nothing]
    ]
  },
  shutdown: {
    verb: "op/shdn",
    steps: [["ist:stop", () => ({ gated: true })], ["ist:flush", nothing], ["ist:halt", () => ({ halted: true })]]
  },
  pause: {
    verb: "op/pause",
    steps: [
      ["ist:plan", (mode, { oid }) => locked(mode, oid)],
      ["ist:quiesce", nothing],
      ["ist:paused", () => ({ paused: true })]
    ]
  },
  rollback: { verb: "op/rollback", steps: [["ist:plan", nothing], ["ist:cutover", (_, { to }) => ({ view_hzn: to })]] },
  resume: {
    verb: "op/resume",
    steps: [
      ["ist:plan", nothing],
      ["ist:run", ({ locks }) => ({ gated: false, paused: false, view_hzn: undefined, locks: without(locks, DATA) })]
    ]
  }
}

const locked = ({ locks }: SpaceMode.SpaceMode, oid: string): Change => {
  const holder = locks.get(DATA)
  if (holder !== undefined) return `${DATA} is locked by ${holder}. Unlock it and ask again`
  return { gated: true, locks: new Map([...locks, [DATA, oid]]) }
}

const without = (locks: ReadonlyMap<string, string>, cell: string): ReadonlyMap<string, string> =>
  new Map([...locks].filter(([locked]) => locked !== cell))

/** The reason for which the present mode refuses a verb. A shutdown is never refused. */
const refusals: Readonly<Record<Exclude<SpaceMode.Verb, "shutdown">, (mode: SpaceMode.SpaceMode) => string | undefined>> = {
  boot: ({ boot_oid, halted }) => boot_oid === undefined || halted ? undefined : "it was not shut down",
  pause: ({ halted, paused }) => halted ? "it was shut down" : paused ? "it is paused" : undefined,
  rollback: ({ halted, paused, view_hzn }) => {
    if (halted) return "it was shut down"
    if (!paused) return "it is not paused"
    return view_hzn === undefined ? undefined : `it was rolled back to beat ${view_hzn} already. Resume it first`
  },
  resume: ({ halted, paused }) => halted ? "it was shut down" : paused ? undefined : "it is not paused"
}

/**
 * Advances the running lifecycle operation to its next state. A rollback stays in `ist:plan` until its cutover.
 */
export const advance = (work: BeatTransaction, draft: Draft, ledgers: LedgerBeats): void => {
  const { control } = work.mode
  if (control === undefined || SpaceMode.isPlanning(work.mode)) return
  if (isClosed(draft, control.oid)) return abandon(work, draft, control)
  const state = courses[control.verb].steps[control.step - 1]?.[0]
  if (state !== undefined && QUIESCING.has(state) && !ledgers.isResting) return quiesce(work, draft, ledgers)
  const { until: _until, ...rest } = control
  step(work, draft, rest)
}

/** Waits for work in progress until the deadline, then ends it. A pause fails then, and a shutdown goes on. */
const quiesce = (work: BeatTransaction, draft: Draft, ledgers: LedgerBeats): void => {
  const { mode: { control }, moment } = work
  if (control === undefined) return
  const { until = Due.after(QUIESCE_BEATS, moment), ...rest } = control
  if (!Due.isOver(until, moment)) return apply(work, draft, { control: { ...rest, until } })
  ledgers.abandon()
  if (control.verb === "shutdown") return step(work, draft, rest)
  fail(work, draft, { control: rest, reason: `work in progress did not end within ${QUIESCE_BEATS} beats` })
}

const step = (work: BeatTransaction, draft: Draft, control: SpaceMode.LifecycleProgress): void => {
  const { oid, verb } = control
  const next = courses[verb].steps[control.step]
  if (next === undefined) {
    Verbs.close(draft, { oid, status: "sts:ok", summary: undefined })
    return apply(work, draft, { control: undefined })
  }
  const [state, act] = next
  const change = act(work.mode, control)
  if (typeof change === "string") return fail(work, draft, { control, reason: change })
  Verbs.setState(draft, { oid, state })
  const flags = FLAGS[`${verb} ${state}`]
  if (flags !== undefined) noteReactor(work, draft, { oid, flags })
  apply(work, draft, { ...change, control: { ...control, step: control.step + 1 } })
}

/** The operation that quiesces the reactor, and its flags that change. */
interface Quiescing {
  readonly oid: string
  readonly flags: ReactorRecord
}

/** Writes the state of the reactor into the dossier of the operation [S3 §Control-plane directories]. */
const noteReactor = ({ mode: { paused }, moment }: BeatTransaction, draft: Draft, { flags, oid }: Quiescing): void => {
  if (!Semantics.follows(moment, "reactorIsRecorded")) return
  const place = Requests.reactorAddress(oid)
  const before = draft.get(place.text) as ReactorRecord | undefined
  const { deadline_beats = QUIESCE_BEATS, draining = false, paused: was = paused, shutting_down = false } = { ...before, ...flags }
  draft.operate([Write.set(place, { deadline_beats, draining, paused: was, shutting_down })])
}

/** The operation that fails, and why. */
interface Failing {
  readonly control: SpaceMode.LifecycleProgress
  readonly reason: string
}

/** Fails the running operation, and restores the mode from before it. */
const fail = (work: BeatTransaction, draft: Draft, { control, reason }: Failing): void => {
  const note = `${control.verb} failure: ${reason}`
  Verbs.close(draft, { oid: control.oid, status: "sts:fail", summary: Document.encode({ code: "control/failed", note }) })
  const subject = Dossier.address(control.oid)
  work.diagnostics.push(Diagnostic.of("control/failed", { note, origin: { kind: "runtime", name: control.verb }, subject }))
  abandon(work, draft, control)
}

/** Reverts the effects of an operation that was closed early, or that another one replaces. */
const abandon = (work: BeatTransaction, draft: Draft, { oid, verb }: SpaceMode.LifecycleProgress): void => {
  const { halted, locks, paused } = work.mode
  const isOpen = verb === "pause" || verb === "shutdown"
  const reactor = draft.get(Requests.reactorAddress(oid).text) as ReactorRecord | undefined
  if (reactor?.draining === true) noteReactor(work, draft, { oid, flags: { draining: false } })
  apply(work, draft, {
    control: undefined,
    ...(isOpen && !paused && !halted ? { gated: false } : {}),
    ...(verb === "pause" && !paused && locks.get(DATA) === oid ? { locks: without(locks, DATA) } : {})
  })
}

const isClosed = (draft: Draft, oid: string): boolean => Dossier.live(draft.get(Dossier.address(oid).text))?.status !== undefined

/**
 * Starts a lifecycle operation, and returns its id. A refusal is returned and recorded as a diagnostic.
 */
export const start = (work: BeatTransaction, draft: Draft, { born, to, verb }: Commands.LifecycleCommand): string | ControlRefused => {
  const { control, halted, shdn_oid } = work.mode
  if (verb === "shutdown" && shdn_oid !== undefined && (halted || control?.verb === "shutdown")) return shdn_oid
  const reason = verb === "shutdown" ? undefined : control === undefined ? refusals[verb](work.mode) : `its ${control.verb} is under way`
  if (reason !== undefined) {
    const note = `${verb} failure: ${reason}`
    work.diagnostics.push(Diagnostic.of("control/refused", { note, origin: { kind: "runtime", name: verb }, subject: undefined }))
    return new ControlRefused({ verb, reason })
  }
  if (born !== undefined) apply(work, draft, { born })
  return begin(work, draft, { verb, ...(to === undefined ? {} : { to }) })
}

const begin = (work: BeatTransaction, draft: Draft, { to, verb }: Pick<SpaceMode.LifecycleProgress, "verb" | "to">): string => {
  const { control } = work.mode
  if (control !== undefined) {
    if (!isClosed(draft, control.oid)) Verbs.close(draft, { oid: control.oid, status: "sts:cnl", summary: undefined })
    abandon(work, draft, control)
  }
  const payload = to === undefined ? undefined : Document.encode({ view_hzn: to })
  const oid = Verbs.start(draft, { verb: courses[verb].verb, target: "/", mode: "opm:states" }, payload)
  const published = verb === "boot" ? { boot_oid: oid } : verb === "shutdown" ? { shdn_oid: oid } : {}
  apply(work, draft, { ...published, control: { verb, oid, step: 0, ...(to === undefined ? {} : { to }) } })
  return oid
}

/**
 * Begins a shutdown at the commit, after a fatal failure, unless one is running.
 */
export const shutDown = (work: BeatTransaction, ledgers: LedgerBeats): void => {
  const { control, halted } = work.mode
  if (!halted && control?.verb !== "shutdown") ledgers.amend((draft) => void begin(work, draft, { verb: "shutdown" }))
}

/** Most lines on records that the dossier of a rollback lists. */
const MAX_TAKEN_BACK = 1000

/**
 * Restores the documents of the rollback's beat, or fails the rollback if the journal no longer has them.
 */
export const cutOver = (
  { ledgers, work }: { readonly work: BeatTransaction; readonly ledgers: LedgerBeats },
  draft: Draft,
  { lost, records, sent, writes }: Omit<Commands.Cutover, "kind">
): ReadonlyArray<string> => {
  const { control } = work.mode
  if (control === undefined) throw new Error("a cutover without a rollback")
  if (isClosed(draft, control.oid)) {
    abandon(work, draft, control)
    return none
  }
  if (lost !== undefined) {
    fail(work, draft, { control, reason: lost })
    return none
  }
  const place = Dossier.address(control.oid, "sent")
  draft.operate([Write.set(place, { ...sent, requests: sent.requests.map((request) => ({ ...request })) })])
  for (const { lines, listed: [cell, field] } of ledgers.takeBack(records, control.to ?? 0)) {
    if (lines.length === 0) continue
    const listed = { count: lines.length, [field]: lines.slice(0, MAX_TAKEN_BACK) }
    draft.operate([Write.set(Dossier.address(control.oid, cell), listed)])
  }
  for (const [key, document] of writes) work.stage.put(Address.ofKey(key), document, CAPTURE)
  step(work, draft, control)
  return writes.map(([key]) => key)
}

/**
 * Begins another incarnation of an imported space, detached. The restoration of a space that was detached already stays what it was:
 * signals that wait in a copy are those of its original.
 */
export const arrive = (work: BeatTransaction, draft: Draft, { absent, born, detached }: Omit<Commands.Arrival, "kind">): void => {
  const known = detached.why === "copy" ? undefined : storedDetached(work)
  apply(work, draft, { born, detached: known ?? detached })
  if (absent !== undefined) work.diagnostics.push(...withoutContent(absent))
}

/** The facts of a space that refers to content and is without it. */
const withoutContent = ({ count, hashes }: AbsentContent): ReadonlyArray<Diagnostic.Diagnostic> => {
  const fact = (note: string, subject: Address.Address | undefined): Diagnostic.Diagnostic =>
    Diagnostic.of("persist.recover", { note, subject, origin: { kind: "runtime", name: "import" } })
  const named = hashes.map((hash) =>
    fact(`the frame has content ${hash} by reference, and it was found nowhere`, Address.make(`${FOLDER}${hash}`)))
  const more = count - hashes.length
  return more === 0 ? named : [...named, fact(`${more} more contents that the frame has by reference were found nowhere`, undefined)]
}

/** The detachment in the cells of a space. Its mode has another one before the beat of its arrival. */
const storedDetached = ({ stage }: BeatTransaction): SpaceMode.Detached | undefined =>
  Document.read(stage.committed.read(SpaceMode.address("detached").key), []) as SpaceMode.Detached | undefined

/**
 * Ends the detachment of a space. The signals to other spaces that came with a copy stay with the original. Dropped requests end in this
 * beat. Dropped signals leave later, up to a number, since there may be any number of them. Returns the refusal, if any.
 */
export const release = (
  { ledgers, work }: { readonly work: BeatTransaction; readonly ledgers: LedgerBeats },
  draft: Draft,
  { drop = none as ReadonlyArray<SpaceMode.Drop>, last = 0 }: Pick<Commands.Release, "drop" | "last">
): ControlRefused | undefined => {
  const { mode: { detached, dropped }, moment: { clock } } = work
  if (detached === undefined) return new ControlRefused({ verb: "release", reason: "it is not detached" })
  if (drop.includes("requests")) ledgers.drop(detached.beat)
  apply(work, draft, {
    detached: undefined,
    ...detached.why === "copy" ? { copied: detached.last } : {},
    ...drop.includes("outbox") ? { dropped: { ...dropped, outbox: last } } : {}
  })
  if (drop.includes("timers")) apply(work, draft, { dropped: { ...work.mode.dropped, timers: last, until: clock } })
  return undefined
}

/**
 * Locks a cell against writes from outside, or unlocks it. Returns the refusal, if any.
 */
export const lock = (
  work: BeatTransaction, draft: Draft, { cell, on }: Pick<Commands.LockChange, "cell" | "on">
): ControlRefused | undefined => {
  const { locks } = work.mode
  const holder = locks.get(cell)
  const refuse = (reason: string) => new ControlRefused({ verb: on ? "lock" : "unlock", reason })
  if (on && holder !== undefined) return refuse(`${cell} is locked by ${holder}`)
  if (on && locks.size >= SpaceMode.MAX_LOCKS) return refuse(`${SpaceMode.MAX_LOCKS} cells are locked, which is the limit`)
  if (!on && holder === undefined) return refuse(`${cell} is not locked`)
  if (!on && holder !== SpaceMode.OUTSIDE) return refuse(`${cell} is locked by ${holder}, which unlocks it when it ends`)
  apply(work, draft, { locks: on ? new Map([...locks, [cell, SpaceMode.OUTSIDE]]) : without(locks, cell) })
  return undefined
}

/** Changes the mode for the rest of the beat, and writes the parts that differ. */
const apply = (work: BeatTransaction, draft: Draft, change: Partial<SpaceMode.SpaceMode>): void => {
  const before = work.mode
  const after = { ...before, ...change }
  const writes: Array<Write.Write> = []
  for (const part of Object.keys(change) as ReadonlyArray<keyof SpaceMode.SpaceMode>) {
    if (part === "locks" || before[part] === after[part]) continue
    const value = after[part]
    writes.push(Write.set(SpaceMode.address(part), value === false ? undefined : typeof value === "object" ? { ...value } : value))
  }
  const { beat } = work.moment
  for (const [cell, by] of after.locks) if (!before.locks.has(cell)) writes.push(Write.set(SpaceMode.lockAddress(cell), { by, beat }))
  for (const cell of before.locks.keys()) if (!after.locks.has(cell)) writes.push(Write.set(SpaceMode.lockAddress(cell), undefined))
  draft.operate(writes)
  work.mode = after
}

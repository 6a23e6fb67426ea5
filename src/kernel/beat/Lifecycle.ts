/**
 * Steering: boot, shutdown, pause, rollback and resume, as operations of the
 * space itself.
 *
 * Each has a dossier like any operation and comes through one state in a beat, at
 * the capture, before anything else is. What a state does to the space is
 * written with it. (Semantics, section 3.1; architecture, section 1.1, step 3.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as Verbs from "../../operation/Verbs.ts"
import type { Draft } from "../../stage/Draft.ts"
import { CAPTURE } from "../../stage/Stage.ts"
import * as Write from "../../stage/Write.ts"
import type { BeatWork } from "./BeatWork.ts"
import type * as Commands from "../model/Command.ts"
import * as Regime from "../model/Regime.ts"
import { ControlRefused } from "../model/SpaceError.ts"

/** What user code writes, and what a pause locks. */
const DATA = "/data"

/** A step's work: what is to hold from now on, or why it cannot go on. */
type Change = Partial<Pick<Regime.Regime, Regime.Part | "locks">> | string
type Step = readonly [state: string, act: (regime: Regime.Regime, control: Regime.Steer) => Change]

const nothing = (): Change => ({})

/** The states of each verb after `ist:run`, and what they do. A verb without more of them is closed in the next beat. */
const courses: Readonly<Record<Regime.Verb, { readonly verb: string; readonly steps: ReadonlyArray<Step> }>> = {
  boot: { verb: "op/boot", steps: [["ist:kernel", ({ paused }) => ({ gated: paused, halted: false, shdn_oid: undefined })], ["ist:store", nothing], ["ist:packs", nothing]] },
  shutdown: { verb: "op/shdn", steps: [["ist:stop", () => ({ gated: true })], ["ist:flush", nothing], ["ist:halt", () => ({ halted: true })]] },
  pause: { verb: "op/pause", steps: [["ist:plan", (regime, { oid }) => locked(regime, oid)], ["ist:quiesce", nothing], ["ist:paused", () => ({ paused: true })]] },
  rollback: { verb: "op/rollback", steps: [["ist:plan", nothing], ["ist:cutover", (_, { to }) => ({ view_hzn: to! })]] },
  resume: { verb: "op/resume", steps: [["ist:plan", nothing], ["ist:run", (regime) => ({ gated: false, paused: false, view_hzn: undefined, locks: without(regime.locks, DATA) })]] }
}

const locked = ({ locks }: Regime.Regime, oid: string): Change => {
  const holder = locks.get(DATA)
  return holder === undefined ? { gated: true, locks: new Map([...locks, [DATA, oid]]) } : `${DATA} is locked by ${holder}. Unlock it and ask again`
}

const without = (locks: ReadonlyMap<string, string>, cell: string): ReadonlyMap<string, string> => new Map([...locks].filter(([locked]) => locked !== cell))

/** Why a verb cannot be asked for as the space stands; a shutdown always can. */
const refusals: Readonly<Record<Exclude<Regime.Verb, "shutdown">, (regime: Regime.Regime) => string | undefined>> = {
  boot: ({ boot_oid, halted }) => boot_oid === undefined || halted ? undefined : "it was not shut down",
  pause: ({ halted, paused }) => halted ? "it was shut down" : paused ? "it is paused" : undefined,
  rollback: ({ halted, paused, view_hzn }) => halted ? "it was shut down" : !paused ? "it is not paused" : view_hzn === undefined ? undefined : `it was rolled back to beat ${view_hzn} already. Resume it first`,
  resume: ({ halted, paused }) => halted ? "it was shut down" : paused ? undefined : "it is not paused"
}

/**
 * Takes the operation under way to its next state; a rollback stays in its plan until the cutover comes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (work: BeatWork, draft: Draft): void => {
  const { control } = work.regime
  if (control === undefined || Regime.isPlanning(work.regime)) return
  if (isClosed(draft, control.oid)) return abandon(work, draft, control)
  step(work, draft, control)
}

const step = (work: BeatWork, draft: Draft, control: Regime.Steer): void => {
  const { oid, verb } = control
  const next = courses[verb].steps[control.step]
  if (next === undefined) {
    Verbs.close(draft, { oid, status: "sts:ok", summary: undefined })
    return apply(work, draft, { control: undefined })
  }
  const [state, act] = next
  const change = act(work.regime, control)
  if (typeof change === "string") return fail(work, draft, { control, reason: change })
  Verbs.setState(draft, { oid, state })
  apply(work, draft, { ...change, control: { ...control, step: control.step + 1 } })
}

/** What cannot go on leaves the space as it was before it began. */
const fail = (work: BeatWork, draft: Draft, { control, reason }: { readonly control: Regime.Steer; readonly reason: string }): void => {
  const note = `${control.verb} failure: ${reason}`
  Verbs.close(draft, { oid: control.oid, status: "sts:fail", summary: Document.encode({ code: "control/failed", note }) })
  work.diagnostics.push(Diagnostic.of("control/failed", { note, origin: { kind: "runtime", name: control.verb }, subject: Dossier.address(control.oid) }))
  abandon(work, draft, control)
}

/** Takes back what an operation did that somebody closed, or that another one takes the place of. */
const abandon = (work: BeatWork, draft: Draft, { oid, verb }: Regime.Steer): void => {
  const { halted, locks, paused } = work.regime
  const isOpen = verb === "pause" || verb === "shutdown"
  apply(work, draft, {
    control: undefined,
    ...(isOpen && !paused && !halted ? { gated: false } : {}),
    ...(verb === "pause" && !paused && locks.get(DATA) === oid ? { locks: without(locks, DATA) } : {})
  })
}

const isClosed = (draft: Draft, oid: string): boolean => Dossier.live(draft.get(Dossier.address(oid).text))?.status !== undefined

/**
 * Does what is asked of the space as a whole: begins an operation and answers its id, or says why not, which is a fact of the space.
 *
 * @category combinators
 * @since 0.1.0
 */
export const start = (work: BeatWork, draft: Draft, { to, verb }: Commands.LifecycleCommand): string | ControlRefused => {
  const { control, halted, shdn_oid } = work.regime
  if (verb === "shutdown" && shdn_oid !== undefined && (halted || control?.verb === "shutdown")) return shdn_oid
  const reason = verb === "shutdown" ? undefined : control === undefined ? refusals[verb](work.regime) : `its ${control.verb} is under way`
  if (reason !== undefined) {
    work.diagnostics.push(Diagnostic.of("control/refused", { note: `${verb} failure: ${reason}`, origin: { kind: "runtime", name: verb }, subject: undefined }))
    return new ControlRefused({ verb, reason })
  }
  return begin(work, draft, { verb, ...(to === undefined ? {} : { to }) })
}

const begin = (work: BeatWork, draft: Draft, { to, verb }: Pick<Regime.Steer, "verb" | "to">): string => {
  const { control } = work.regime
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
 * Begins a shutdown at the commit, because something fatal happened; not where one is under way.
 *
 * @category combinators
 * @since 0.1.0
 */
export const shutDown = (work: BeatWork): void => {
  const { control, halted } = work.regime
  if (!halted && control?.verb !== "shutdown") work.ledgers.amend((draft) => void begin(work, draft, { verb: "shutdown" }))
}

/**
 * Takes the present back, by the documents as they were; or ends the rollback, where that cannot be told any more.
 *
 * @category combinators
 * @since 0.1.0
 */
export const cutOver = (work: BeatWork, draft: Draft, { lost, sent, writes }: Pick<Commands.Cutover, "lost" | "sent" | "writes">): void => {
  const control = work.regime.control!
  if (isClosed(draft, control.oid)) return abandon(work, draft, control)
  if (lost !== undefined) return fail(work, draft, { control, reason: lost })
  const place = Dossier.address(control.oid, "sent")
  draft.operate([Write.set(place, { ...sent, requests: sent.requests.map((request) => ({ ...request })) })])
  for (const [key, document] of writes) {
    work.stage.put(Address.ofKey(key), document, CAPTURE)
    work.takenBack.push(key)
  }
  step(work, draft, control)
}

/**
 * Locks a cell for those outside, or unlocks it; answers why not, where that cannot be.
 *
 * @category combinators
 * @since 0.1.0
 */
export const lock = (work: BeatWork, draft: Draft, { cell, on }: Pick<Commands.Locking, "cell" | "on">): ControlRefused | undefined => {
  const { locks } = work.regime
  const holder = locks.get(cell)
  const refuse = (reason: string) => new ControlRefused({ verb: on ? "lock" : "unlock", reason })
  if (on && holder !== undefined) return refuse(`${cell} is locked by ${holder}`)
  if (on && locks.size >= Regime.MAX_LOCKS) return refuse(`${Regime.MAX_LOCKS} cells are locked, which is the limit`)
  if (!on && holder !== Regime.OUTSIDE) return refuse(holder === undefined ? `${cell} is not locked` : `${cell} is locked by ${holder}, which unlocks it when it ends`)
  apply(work, draft, { locks: on ? new Map([...locks, [cell, Regime.OUTSIDE]]) : without(locks, cell) })
  return undefined
}

/** Writes what differs from now on, and has the rest of the beat see it. */
const apply = (work: BeatWork, draft: Draft, change: Partial<Regime.Regime>): void => {
  const before = work.regime
  const after = { ...before, ...change }
  const writes: Array<Write.Write> = []
  for (const part of Object.keys(change) as ReadonlyArray<keyof Regime.Regime>) {
    if (part === "locks" || before[part] === after[part]) continue
    const value = after[part]
    writes.push(Write.set(Regime.address(part), value === false ? undefined : typeof value === "object" ? { ...value } : value))
  }
  for (const [cell, by] of after.locks) if (!before.locks.has(cell)) writes.push(Write.set(Regime.lockAddress(cell), { by, beat: work.moment.beat }))
  for (const cell of before.locks.keys()) if (!after.locks.has(cell)) writes.push(Write.set(Regime.lockAddress(cell), undefined))
  draft.operate(writes)
  work.regime = after
}

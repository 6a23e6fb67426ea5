/**
 * Meeting: where rendezvous meet the beat.
 *
 * The folder of rendezvous knows entries and what becomes of them; here their
 * verbs become control input, the beats that they wait for lie with all else that
 * waits, and what completes sends its signal. (Architecture, section 1.1, steps
 * 3, 5 and 10.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Label from "../cell/Label.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import * as Advance from "../rendezvous/Advance.ts"
import { type Appointment, Calendar } from "../rendezvous/Calendar.ts"
import * as Entries from "../rendezvous/Entry.ts"
import { refusals } from "../rendezvous/RendezvousError.ts"
import * as Verbs from "../rendezvous/Verbs.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Rendezvous } from "../stage/Launch.ts"
import type { RendezvousAsk, RendezvousRefused, Spawned } from "./Ask.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import type { Value } from "../cell/Value.ts"
import type { Documents } from "./Documents.ts"
import type * as Journal from "./Journal.ts"
import type { Inbox } from "./Inbox.ts"
import { lockOver } from "./Regime.ts"
import * as Signal from "./Signal.ts"
import { CellLocked } from "./SpaceError.ts"

/** Entries that are asked for at a time. */
const PAGE = 1000

/**
 * What the verbs know of a beat.
 *
 * A secret is made of what the journal has and of nothing that runs see or send, so it repeats and cannot be told from
 * another one: the digest of the entry before, and the seed.
 */
const around = ({ begun, labels }: BeatWork, { calendar, hash, space, store }: Body): Verbs.Around => ({
  hash,
  secret: (purpose) => hash(`${store.head().hash} ${begun.seed} ${space} ${purpose}`),
  tells: telling(labels),
  open: () => calendar.size
})

/** Whether all who may know what lies in one cell may know what lies in another. */
export const telling = (labels: BeatWork["labels"]) => (from: string, to: string): boolean =>
  labels === undefined || Label.isWithin(labels.of(Address.ofKey(from)), labels.of(Address.ofKey(to)))

/**
 * The face of rendezvous that the runs of a beat get.
 *
 * @category constructors
 * @since 0.1.0
 */
export const face = (work: BeatWork, body: Body) => (draft: Draft): Rendezvous => Verbs.make(draft, around(work, body))

/**
 * Does what the outside asks; answers what was spawned, or why not.
 *
 * @category combinators
 * @since 0.1.0
 */
export const perform = (draft: Draft, ask: RendezvousAsk, { body, work }: { readonly body: Body; readonly work: BeatWork }): Spawned | RendezvousRefused | undefined => {
  const value = Document.read(ask.value, [])
  const lock = lockOver(work.regime, address(ask, value))
  try {
    if (ask.verb === "report" && ask.proof !== undefined) Verbs.prove(draft, ask.key, ask.proof)
    if (lock !== undefined) return new CellLocked({ address: address(ask, value), lock })
    if (ask.verb === "spawn") return Verbs.spawn(draft, value, around(work, body))
    if (ask.verb === "claim") return Verbs.claim(draft, ask.key, around(work, body))
    if (ask.verb === "resched") Verbs.resched(draft, ask.key, ask.delta)
    else if (ask.verb === "kill") Verbs.kill(draft, ask.key, ask)
    else Verbs.report(draft, ask.key, value)
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** The cell that is to be written, as far as that can be told. */
const address = (ask: RendezvousAsk, value: Value): string => {
  const key = ask.verb === "spawn" ? (value as { readonly key?: unknown } | null | undefined)?.key : ask.key
  return Entries.isKey(key) ? Entries.address(key).id : Entries.FOLDER
}

export const isRefusal = (error: unknown): error is RendezvousRefused => error instanceof CellLocked || refusals.some((refusal) => error instanceof refusal)

/**
 * Step 10 for rendezvous: completions get their events, and what they send is queued.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (work: BeatWork, body: Body, queued: Array<Signal.Pending>): void => {
  if (work.met.length === 0 && Advance.written(work.stage).length === 0) return
  const { moment, moment: { beat } } = work
  for (const [i, { payload, signal, target }] of Advance.atCommit(work.stage, moment, body.calendar).entries()) {
    work.completions.push([target, payload])
    queued.push(new Signal.Pending(body.number(), tell(work, { id: `${beat}.rv.${i}`, signal, target, payload })))
  }
}

/** A signal that the beat itself sends to a cell: it tells what that cell may tell. */
export const tell = (work: BeatWork, sent: Omit<Journal.Sent, "enzyme"> & { readonly target: string }): Signal.Signal => {
  const { labels, moment: { beat }, told } = work
  told.push({ ...sent, enzyme: undefined })
  const label = labels === undefined ? undefined : Signal.carried(labels.of(Address.ofKey(sent.target)))
  return Signal.make({ ...sent, at: undefined }, { origin: "run", depth: 0, expected: beat + 1, to: undefined, label })
}

/**
 * What the store has taken becomes what is waited for from now on.
 *
 * @category combinators
 * @since 0.1.0
 */
export const apply = ({ met, moment: { beat, now: clock }, stage }: BeatWork, body: Body): void => {
  const keys = new Set([...met, ...Advance.written(stage)])
  if (keys.size === 0) return
  const { calendar, documents, inbox, number, settings: { tempo } } = body
  for (const key of keys) {
    const { gone, next } = calendar.see(key, Entries.read(Document.read(documents.read(Entries.address(key).key), [])), { beat, now: clock, tempo })
    for (let i = 0; i < gone.length; i++) inbox.waits.drop()
    for (const appointment of next) wait(appointment, { inbox, number })
  }
}

const wait = (appointment: Appointment, { inbox, number }: { readonly inbox: Inbox; readonly number: () => number }): void =>
  inbox.waits.add({ seq: number(), again: undefined, due: appointment.due, appointment })

/**
 * The calendar of the entries that a store holds, at the end of a beat. Those that are over are not looked at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const recall = (store: Pick<SpaceStore, "below" | "head">, documents: Documents, tempo: number): Calendar => {
  const { beat, clock: now } = store.head()
  const calendar = new Calendar()
  for (let keys = store.below(Entries.OPEN, { limit: PAGE }); ; keys = store.below(Entries.OPEN, { limit: PAGE, after: keys.at(-1)! })) {
    for (const place of keys) {
      const key = place.slice(Entries.OPEN.length + 1)
      calendar.see(key, Entries.read(Document.read(documents.read(Entries.address(key).key), [])), { beat, now, tempo })
    }
    if (keys.length < PAGE) return calendar
  }
}

/**
 * Has the entries that were recalled wait for their beats.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resume = (calendar: Calendar, around: { readonly inbox: Inbox; readonly number: () => number }): void => {
  for (const appointment of calendar.appointments()) wait(appointment, around)
}

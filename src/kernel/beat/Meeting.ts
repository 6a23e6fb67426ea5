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
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import * as Label from "../../cell/Label.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as Advance from "../../rendezvous/Advance.ts"
import * as Entries from "../../rendezvous/Entry.ts"
import { Open } from "../../rendezvous/Open.ts"
import { refusals } from "../../rendezvous/RendezvousError.ts"
import { nextDue } from "../../rendezvous/Transition.ts"
import * as Verbs from "../../rendezvous/Verbs.ts"
import type { Calendar, Rebooked } from "../../stage/Calendar.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Due, Now } from "../../stage/Due.ts"
import type { Rendezvous } from "../../stage/Launch.ts"
import type { RendezvousAsk, RendezvousRefused, Spawned } from "../model/Ask.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import type { Body } from "./Body.ts"
import type { Value } from "../../cell/Value.ts"
import { below, type Documents } from "../model/Documents.ts"
import type * as Journal from "../model/Journal.ts"
import { lockOver } from "../model/Regime.ts"
import * as Signal from "../model/Signal.ts"
import { CellLocked } from "../model/SpaceError.ts"

/**
 * What the verbs know of a beat.
 *
 * A secret is made of what the journal has and of nothing that runs see or send, so it repeats and cannot be told from
 * another one: the digest of the entry before, and the seed.
 */
const around = ({ begun, labels }: BeatWork, { hash, open, space, store }: Body): Verbs.Around => ({
  hash,
  secret: (purpose) => hash(`${store.head().hash} ${begun.seed} ${space} ${purpose}`),
  tells: telling(labels),
  open: () => open.size,
  sending: (path) => open.sending(path)
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
    if (ask.verb === "release") Verbs.release(draft, ask.key)
    else if (ask.verb === "resched") Verbs.resched(draft, ask.key, ask.delta)
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
 * Step 10 for rendezvous: completions get their events, what they send is queued, and quarantine is told of.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (work: BeatWork, body: Body, queued: Array<Signal.Pending>): void => {
  if (work.met.length === 0 && Advance.written(work.stage).length === 0) return
  const { moment, moment: { beat } } = work
  for (const key of Advance.quarantined(work.stage)) {
    work.diagnostics.push(Diagnostic.of("rv/quarantine", { note: `rendezvous ${key} is in quarantine`, origin: { kind: "runtime", name: "rendezvous" }, subject: Entries.address(key) }))
  }
  for (const [i, { payload, signal, target }] of Advance.atCommit(work.stage, moment, body.open).entries()) {
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
export const apply = ({ met, moment: { beat, now }, stage }: BeatWork, body: Body): void => {
  const { inbox, number, settings: { tempo } } = body
  for (const key of Advance.touched(stage, met)) inbox.waits.rebook(see(key, body, { beat, now, tempo }), number)
}

/** Takes in how an entry stands after a beat, and when it has to be looked at again. */
const see = (key: string, { calendar, documents, open }: Known, now: Now): Rebooked => {
  const place = Entries.address(key).key
  const entry = Entries.read(Document.read(documents.read(place), []))
  open.see(key, entry)
  return calendar.see(place, entry === undefined || Entries.isFinished(entry) ? none : nextDue(entry, now))
}

/** What is known of the entries that are not over. */
interface Known {
  readonly calendar: Calendar
  readonly documents: Documents
  readonly open: Open
}

const none: ReadonlyArray<Due> = []

/**
 * The entries that a store holds, at the end of a beat, with their times in the calendar. Those that are over are not looked at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const recall = (store: Pick<SpaceStore, "below" | "head">, { tempo, ...around }: Omit<Known, "open"> & { readonly tempo: number }): Open => {
  const { beat, clock: now } = store.head()
  const open = new Open()
  for (const place of below(store, Entries.OPEN)) see(place.slice(Entries.OPEN.length + 1), { ...around, open }, { beat, now, tempo })
  return open
}

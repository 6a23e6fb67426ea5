/**
 * Flowing: where flows meet the beat.
 *
 * The folder of flows knows instances and their steps; here their verbs become
 * control input, completions of rendezvous come to those who hear of them, and
 * what is ready is sent its signal. (Architecture, section 1.1, steps 3 and 10.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import * as Advance from "../../flow/Advance.ts"
import * as Flow from "../../flow/Flow.ts"
import { InstanceAbsent, refusals } from "../../flow/FlowError.ts"
import * as Instance from "../../flow/Instance.ts"
import * as Verbs from "../../flow/Verbs.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import { isOver, kill } from "../../rendezvous/Verbs.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Due } from "../../stage/Due.ts"
import type { Flows } from "../../stage/Launch.ts"
import type { Committed } from "../../stage/Moment.ts"
import { COMMIT } from "../../stage/Stage.ts"
import type { FlowAsk, FlowRefused } from "../model/Ask.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import type { Body } from "./Body.ts"
import { below } from "../model/Documents.ts"
import { tell, telling } from "./Meeting.ts"
import { lockOver } from "../model/Regime.ts"
import { amend } from "./Operating.ts"
import * as Signal from "../model/Signal.ts"
import { CellLocked } from "../model/SpaceError.ts"

const around = (draft: Draft, work: BeatWork, { enzymes }: Body): Verbs.Around => ({
  find: (name) => {
    if (!Instance.isId(name)) return undefined
    const { entries } = enzymes.resolve(`${Instance.SIGNALS}/${name}`, `${Instance.FOLDER}/any`, work.table)
    return entries.map(({ enzyme }) => Flow.planOf(enzyme)).find((plan) => plan?.name === name)
  },
  full: () => {
    const { full } = work.begun
    if (full === undefined || isRoom(draft, work, full)) return undefined
    if (!work.asked.full) work.asked = { ...work.asked, full: true }
    return full
  }
})

/** Whether one more instance can be started: those that the newest beat left count, and those that were started since. */
const isRoom = (draft: Draft, work: BeatWork, limit: number): boolean => {
  const left = limit - underWay(work.stage.committed) - startedBefore(draft, work)
  const own = draft.own?.keys ?? []
  return own.length < left || startsAmong(own, (key) => work.stage.newest(key)) < left
}

/** How many instances were started in this beat before a run, as far as it can know: those of a run that was well count, though its merge may drop them. */
const startedBefore = ({ run }: Draft, { runs, stage, started }: BeatWork): number => {
  if (started.runs < 0 && run >= 0) {
    started.instances = startsAmong(stage.documents.keys(), (key) => stage.committed.read(key))
    started.runs = 0
  }
  for (; started.runs < run; started.runs++) {
    const { draft, outcome } = runs[started.runs]!
    if (outcome?.kind === "ok") started.instances += startsAmong(draft?.own?.keys ?? [], (key) => stage.newest(key))
  }
  return started.instances
}

/** How many instances there are among what was written that were not there before. */
const startsAmong = (written: Iterable<string>, before: (key: string) => Document.Document | undefined): number => {
  let starts = 0
  for (const key of written) if (Advance.isInstance(key) && before(key) === undefined) starts++
  return starts
}

/**
 * The face of flows that the runs of a beat get.
 *
 * @category constructors
 * @since 0.1.0
 */
export const face = (work: BeatWork, body: Body) => (draft: Draft): Flows => Verbs.make(draft, around(draft, work, body))

/**
 * Does what the outside asks; answers the instance, or why not.
 *
 * @category combinators
 * @since 0.1.0
 */
export const perform = (draft: Draft, ask: FlowAsk, { body, work }: { readonly body: Body; readonly work: BeatWork }): string | FlowRefused => {
  const inst = ask.verb === "start" ? ask.request.inst : ask.inst
  const address = Instance.isId(inst) ? Instance.address(inst).id : Instance.FOLDER
  const lock = lockOver(work.regime, address)
  if (lock !== undefined) return new CellLocked({ address, lock })
  try {
    if (ask.verb === "start") return Verbs.start(draft, { ...ask.request, input: Document.read(ask.value, []) }, around(draft, work, body))
    if (inst === undefined) return new InstanceAbsent({ inst: "" })
    if (ask.verb === "budget") Verbs.allow(draft, inst, ask.budget)
    else Verbs.act(draft, inst, ask.verb)
    return inst
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return error as FlowRefused
    throw error
  }
}

/**
 * Step 10 for flows: completions and times come to those that wait for them, what is ready or over is sent its signal, and what those that are over spawned is ended.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (work: BeatWork, body: Body, queued: Array<Signal.Pending>): void => {
  const { completions, labels, met, moment, moment: { beat }, stage } = work
  const outgrown: Advance.Told["outgrown"] = (inst) => {
    work.diagnostics.push(Diagnostic.of("flow/outgrown", {
      note: "a completion does not fit the cell of the instance beside what it has already, so the instance is in error",
      origin: { kind: "runtime", name: "flow" },
      subject: Instance.address(inst)
    }))
  }
  const { left, sent } = Advance.atCommit(stage, moment, { completions, met, tells: telling(labels), outgrown })
  for (const [i, signal] of sent.entries()) queued.push(new Signal.Pending(body.number(), tell(work, { ...signal, id: `${beat}.flow.${i}` })))
  for (const key of left) {
    amend(work, (draft) => {
      if (!isOver(draft, key)) kill(draft, key, { mode: "cancel" })
    })
  }
  index(work)
}

const HERE = Document.encode(true)

/** Keeps how many instances are under way, and which of them wait for a time. */
const index = ({ stage }: BeatWork): void => {
  let by = 0
  for (const [key, { after, before }] of stage.documents) {
    if (!Advance.isInstance(key)) continue
    const [was, is] = [instanceOf(before), instanceOf(after)]
    by += openOf(is) - openOf(was)
    const waits = duesOf(is).length > 0
    if (waits !== duesOf(was).length > 0) stage.put(Address.make(`${Instance.OPEN.id}/${Instance.idOf(key)!}`), waits ? HERE : undefined, COMMIT)
  }
  if (by === 0) return
  const open = underWay(stage.committed) + by
  stage.put(Instance.OPEN, open === 0 ? undefined : Document.encode(open), COMMIT)
}

/**
 * What the store has taken becomes what is waited for from now on.
 *
 * @category combinators
 * @since 0.1.0
 */
export const apply = ({ met, stage }: BeatWork, { calendar, documents, inbox, number }: Body): void => {
  const see = (key: string): void => {
    if (Advance.isInstance(key)) inbox.waits.rebook(calendar.see(key, duesOf(instanceOf(documents.read(key)))), number)
  }
  for (const key of met) if (!stage.documents.has(key)) see(key)
  for (const key of stage.documents.keys()) see(key)
}

/**
 * Puts the times that the instances of a store wait for into the calendar. Those that wait for none are not looked at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const recall = (store: Pick<SpaceStore, "below">, { calendar, documents }: Pick<Body, "calendar" | "documents">): void => {
  for (const place of below(store, Instance.OPEN.id)) {
    const { key } = Instance.address(place.slice(Instance.OPEN.id.length + 1))
    calendar.see(key, duesOf(instanceOf(documents.read(key))))
  }
}

/**
 * How many instances are under way, as the newest beat left them.
 *
 * @category getters
 * @since 0.1.0
 */
export const underWay = (committed: Pick<Committed, "read">): number => (Document.read(committed.read(Instance.OPEN.key), []) as number | undefined) ?? 0

const instanceOf = (document: Document.Document | undefined): Instance.Instance | undefined => Instance.read(Document.read(document, []))

const openOf = (instance: Instance.Instance | undefined): number => instance === undefined || Instance.isOver(instance) ? 0 : 1

const duesOf = (instance: Instance.Instance | undefined): ReadonlyArray<Due> => instance === undefined ? [] : Instance.dues(instance)

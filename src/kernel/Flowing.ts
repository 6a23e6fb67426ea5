/**
 * Flowing: where flows meet the beat.
 *
 * The folder of flows knows instances and their steps; here their verbs become
 * control input, completions of rendezvous come to those who hear of them, and
 * what is ready is sent its signal. (Architecture, section 1.1, steps 3 and 10.)
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import * as Advance from "../flow/Advance.ts"
import * as Flow from "../flow/Flow.ts"
import { InstanceAbsent, refusals } from "../flow/FlowError.ts"
import * as Instance from "../flow/Instance.ts"
import * as Machine from "../flow/Machine.ts"
import * as Verbs from "../flow/Verbs.ts"
import { isOver, kill } from "../rendezvous/Verbs.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Flows } from "../stage/Launch.ts"
import type { Committed } from "../stage/Moment.ts"
import { COMMIT } from "../stage/Stage.ts"
import type { FlowAsk, FlowRefused } from "./Ask.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import { tell, telling } from "./Meeting.ts"
import { lockOver } from "./Regime.ts"
import { amend } from "./Operating.ts"
import * as Signal from "./Signal.ts"
import { CellLocked } from "./SpaceError.ts"

const around = (draft: Draft, work: BeatWork, { enzymes }: Body): Verbs.Around => ({
  find: (name) => {
    if (!Instance.isId(name)) return undefined
    const { entries } = enzymes.resolve(`${Instance.SIGNALS}/${name}`, `${Instance.FOLDER}/any`, work.table)
    return entries.map(({ enzyme }) => Flow.planOf(enzyme)).find((plan) => plan?.name === name)
  },
  kill: killing(draft),
  full: () => {
    const { full } = work.begun
    work.crowded ||= full !== undefined
    return full
  }
})

const killing = (draft: Draft) => (key: string): void => {
  if (!isOver(draft, key)) kill(draft, key, { mode: "cancel" })
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
    if (ask.verb === "budget") Verbs.allow(draft, inst, { around: around(draft, work, body), budget: ask.budget })
    else Verbs.act(draft, inst, { action: ask.verb, around: around(draft, work, body) })
    return inst
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return error as FlowRefused
    throw error
  }
}

/**
 * Step 10 for flows: completions come to those who hear of them, and what is ready or over is sent its signal.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (work: BeatWork, body: Body, queued: Array<Signal.Pending>): void => {
  const { beat } = work.moment
  const outgrown: Advance.Told["outgrown"] = (inst, instance) => {
    work.diagnostics.push(Diagnostic.of("flow/outgrown", {
      note: "a completion does not fit the cell of the instance beside what it has already, so the instance is in error",
      origin: { kind: "runtime", name: "flow" },
      subject: Instance.address(inst)
    }))
    amend(work, (draft) => Machine.release(draft, inst, { instance, kill: killing(draft) }))
  }
  for (const [i, { due, ...sent }] of Advance.atCommit(work.stage, { completions: work.completions, tells: telling(work.labels), outgrown }).entries()) {
    queued.push(new Signal.Pending(body.number(), tell(work, { ...sent, id: `${beat}.flow.${i}` }), { due }))
  }
  count(work)
}

/** Keeps how many instances are under way. */
const count = ({ stage }: BeatWork): void => {
  let by = 0
  for (const [key, { after, before }] of stage.documents) if (Advance.isInstance(key)) by += openOf(after) - openOf(before)
  if (by === 0) return
  const open = underWay(stage.committed) + by
  stage.put(Instance.OPEN, open === 0 ? undefined : Document.encode(open), COMMIT)
}

/**
 * How many instances are under way, as the newest beat left them.
 *
 * @category getters
 * @since 0.1.0
 */
export const underWay = (committed: Pick<Committed, "read">): number => (Document.read(committed.read(Instance.OPEN.key), []) as number | undefined) ?? 0

const openOf = (document: Document.Document | undefined): number => {
  const instance = Instance.read(Document.read(document, []))
  return instance === undefined || Instance.isOver(instance) ? 0 : 1
}

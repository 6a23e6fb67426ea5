/**
 * The ledger of flows: pipelines in progress.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import { type ExpiryRule, gradual, whole } from "../ledger/Expiry.ts"
import type { CommandRule, InputRule, Ledger, LedgerBeat, Opening } from "../ledger/Ledger.ts"
import { below } from "../persistence/Below.ts"
import { CellTimers } from "../stage/CellTimers.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Due } from "../stage/Due.ts"
import type { FlowBudget, FlowRequest, Flows } from "../stage/Launch.ts"
import type { CommittedState } from "../stage/BeatClock.ts"
import { COMMIT, type Stage } from "../stage/Stage.ts"
import * as Advance from "./Advance.ts"
import * as Flow from "./Flow.ts"
import { refusals } from "./FlowError.ts"
import * as Instance from "./Instance.ts"
import * as Verbs from "./Verbs.ts"

/** A request from outside. Its value, an input, is a document. */
export type FlowCommand =
  & { readonly value?: Document.Document | undefined }
  & (
    | { readonly verb: "start"; readonly request: Omit<FlowRequest, "input"> }
    | { readonly verb: "budget"; readonly inst: string; readonly budget: FlowBudget }
    | { readonly verb: Verbs.Action; readonly inst: string }
  )

/** The number of instances started by the capture and by the first `runs` runs; -1 until the capture is counted. */
interface Started {
  runs: number
  instances: number
}

interface FlowKinds {
  readonly Face: Flows
  readonly Command: FlowCommand
  /** The id of the instance. */
  readonly Reply: string
  readonly Launch: never
  readonly State: CellTimers
  readonly Work: Started
  /** The limit on open instances. */
  readonly Input: number
  readonly Output: undefined
  readonly Limits: { readonly flowInstances: number }
}

type Beat = LedgerBeat<FlowKinds>

const contextOf = (draft: Draft, beat: Beat): Verbs.VerbContext => ({
  find: (name) => {
    if (!Instance.isId(name)) return undefined
    const enzymes = beat.takers(`${Instance.SIGNALS}/${name}`, `${Instance.FOLDER}/any`)
    return enzymes.map((enzyme) => Flow.planOf(enzyme)).find((plan) => plan?.name === name)
  },
  full: () => {
    const { input: full } = beat
    if (full === undefined || isRoom(draft, beat, full)) return undefined
    beat.useInput()
    return full
  }
})

/** Whether one more instance can be started, given the instances of the last beat and the starts of this one. */
const isRoom = (draft: Draft, beat: Beat, limit: number): boolean => {
  const left = limit - underWay(beat.stage.committed) - startedBefore(draft, beat)
  const own = draft.own?.keys ?? []
  return own.length < left || startsAmong(own, (key) => beat.stage.newest(key)) < left
}

/** The instances started in this beat before a run. Starts of a succeeded run count, even if its merge drops them. */
const startedBefore = ({ run }: Draft, beat: Beat): number => {
  const { stage } = beat
  const started = beat.work ??= { runs: -1, instances: 0 }
  if (started.runs < 0 && run >= 0) {
    started.instances = startsAmong(stage.documents.keys(), (key) => stage.committed.read(key))
    started.runs = 0
  }
  for (; started.runs < run; started.runs++) {
    started.instances += startsAmong(beat.draftOf(started.runs)?.own?.keys ?? [], (key) => stage.newest(key))
  }
  return started.instances
}

/** The number of new instances among written documents. */
const startsAmong = (written: Iterable<string>, before: (key: string) => Document.Document | undefined): number => {
  let starts = 0
  for (const key of written) if (Advance.isInstance(key) && before(key) === undefined) starts++
  return starts
}

/** A command on an instance, which checks the instance's lock first. */
const onInstance = <V extends Exclude<FlowCommand["verb"], "start">>(
  runsWhileHalted: boolean,
  act: (draft: Draft, command: FlowCommand & { readonly verb: V }) => void
): CommandRule<FlowKinds, V> => ({
  runsWhileHalted,
  execute: (draft, command, beat) => {
    beat.checkLock(cellOf(command.inst))
    act(draft, command)
    return command.inst
  }
})

const cellOf = (inst: string | undefined): string => Instance.isId(inst) ? Instance.address(inst).id : Instance.FOLDER

const commands: Ledger<FlowKinds>["commands"] = {
  start: {
    runsWhileHalted: false,
    execute: (draft, { request, value }, beat) => {
      beat.checkLock(cellOf(request.inst))
      return Verbs.start(draft, { ...request, input: Document.read(value, []) }, contextOf(draft, beat))
    }
  },
  budget: onInstance(true, (draft, { budget, inst }) => Verbs.allow(draft, inst, budget)),
  pause: onInstance(true, (draft, { inst }) => Verbs.act(draft, inst, "pause")),
  resume: onInstance(false, (draft, { inst }) => Verbs.act(draft, inst, "resume")),
  cancel: onInstance(true, (draft, { inst }) => Verbs.act(draft, inst, "cancel"))
}

/** The limit on instances. The journal records it only for a beat that refused a start. */
const input: InputRule<FlowKinds> = {
  field: "full",
  isWaiting: () => false,
  peek: (_, { limits }) => limits.flowInstances,
  drop: () => {},
  encode: (limit) => String(limit),
  decode: (limit) => limit as number
}

/** Delivers completions and due times, signals ready and ended instances, and ends the rendezvous of ended ones. */
const atCommit = (beat: Beat): void => {
  const { due, moment, stage } = beat
  const outgrown: Advance.CommitInput["outgrown"] = (inst) => {
    beat.diagnose(Diagnostic.of("flow/outgrown", {
      note: "a completion does not fit the cell of the instance beside what it has already, so the instance is in error",
      origin: { kind: "runtime", name: "flow" },
      subject: Instance.address(inst)
    }))
  }
  const { left, sent } = Advance.atCommit(stage, moment, { met: due, tells: (from, to) => beat.tells(from, to), outgrown })
  for (const signal of sent) beat.send(signal)
  for (const key of left) beat.launch("rv", { kind: "end", key })
  index(stage)
}

const HERE = Document.encode(true)

/** Updates the number of open instances and the index of those with a due time. */
const index = (stage: Stage): void => {
  let by = 0
  for (const [key, { after, before }] of stage.documents) {
    if (!Advance.isInstance(key)) continue
    const [was, is] = [instanceOf(before), instanceOf(after)]
    by += openOf(is) - openOf(was)
    const waits = duesOf(is).length > 0
    if (waits !== duesOf(was).length > 0) {
      stage.put(Address.make(`${Instance.OPEN.id}/${key.slice(Instance.FOLDER.length + 1)}`), waits ? HERE : undefined, COMMIT)
    }
  }
  if (by === 0) return
  const open = underWay(stage.committed) + by
  stage.put(Instance.OPEN, open === 0 ? undefined : Document.encode(open), COMMIT)
}

const committed = (beat: Beat): undefined => {
  const { due, stage: { committed, documents }, state } = beat
  const see = (key: string): void => {
    if (Advance.isInstance(key)) beat.reschedule(state.see(key, duesOf(instanceOf(committed.read(key)))))
  }
  for (const key of due) if (!documents.has(key)) see(key)
  for (const key of documents.keys()) see(key)
}

/** The due times of a store's instances. Instances without one are not read. */
const open = ({ documents, store }: Opening): CellTimers => {
  const timers = new CellTimers()
  for (const place of below(store, Instance.OPEN.id)) {
    const { key } = Instance.address(place.slice(Instance.OPEN.id.length + 1))
    timers.see(key, duesOf(instanceOf(documents.read(key))))
  }
  return timers
}

/** The number of open instances as of the last beat. */
const underWay = (committed: Pick<CommittedState, "read">): number =>
  (Document.read(committed.read(Instance.OPEN.key), []) as number | undefined) ?? 0

const instanceOf = (document: Document.Document | undefined): Instance.Instance | undefined => Instance.read(Document.read(document, []))

const openOf = (instance: Instance.Instance | undefined): number => instance === undefined || Instance.isOver(instance) ? 0 : 1

const duesOf = (instance: Instance.Instance | undefined): ReadonlyArray<Due> => instance === undefined ? [] : Instance.dues(instance)

const isOver = (instance: Instance.Instance | undefined): boolean => instance !== undefined && Instance.isOver(instance)

const expiry: ExpiryRule = {
  kind: "flow",
  order: 1,
  folders: [Instance.FOLDER, Instance.HEARD],
  ended: ({ address, after, before }) => {
    const inst = Instance.idOf(address.key)
    return inst !== undefined && isOver(instanceOf(after)) && !isOver(instanceOf(before)) ? inst : undefined
  },
  find: (inst, found, context) => {
    const { key } = Instance.address(inst)
    const instance = instanceOf(context.stage.newest(key))
    if (instance !== undefined && !(isOver(instance) && instance.started <= found.since)) return whole()
    const heard = `${Instance.HEARD}/${inst}`
    return gradual({ folder: heard, many: heard, key }, found, context)
  }
}

/**
 * The ledger of flows.
 */
export const flows: Ledger<FlowKinds> = {
  name: "flow",
  // The folder of completion events too: the commit writes them before flows advance.
  folders: [Instance.FOLDER, Instance.EVENTS],
  refusals,
  commands,
  open,
  timers: (timers) => timers.all(),
  input,
  transaction: (draft, _, beat) => Verbs.make(draft, contextOf(draft, beat)),
  atCommit,
  committed,
  expiry
}

declare module "../stage/Ledgers.ts" {
  interface Ledgers {
    /** Flow instances. */
    readonly flow: Flows
  }
}

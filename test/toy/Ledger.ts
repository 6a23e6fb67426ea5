/**
 * A complete ledger beside those of the runtime: alarms, which ring at their time unless they are answered from outside first.
 *
 *     /net/toy/<key>   { state: "armed" | "rung" | "done", due, since, asked, answer? }
 *
 * @module
 */
import { Kernel } from "systole"
import * as Address from "../../src/cell/Address.ts"
import * as Document from "../../src/cell/Document.ts"
import * as Name from "../../src/cell/Name.ts"
import * as Diagnostic from "../../src/diagnostic/Diagnostic.ts"
import { type ExpiryRule, nameBelow, whole } from "../../src/ledger/Expiry.ts"
import type { InputRule, Ledger, LedgerBeat } from "../../src/ledger/Ledger.ts"
import { ofLedger } from "../../src/ledger/SliceTable.ts"
import { below } from "../../src/persistence/Below.ts"
import { CellTimers } from "../../src/stage/CellTimers.ts"
import type { Draft } from "../../src/stage/Draft.ts"
import * as Due from "../../src/stage/Due.ts"
import { CAPTURE, type Stage } from "../../src/stage/Stage.ts"
import * as Write from "../../src/stage/write/Write.ts"
import { AlarmAbsent, AlarmRefused } from "./AlarmError.ts"

declare module "../../src/stage/Ledgers.ts" {
  interface Ledgers {
    readonly toy: Alarms
  }
}

declare module "../../src/stage/Launches.ts" {
  interface Launches {
    readonly toy: Ask
  }
}

/** The face of alarms. */
export interface Alarms {
  readonly arm: (key: string, beats: number) => void
  /** Counts a question, numbered when its run is merged. */
  readonly ask: (key: string) => void
}

interface Ask {
  readonly key: string
}

/** An alarm in its cell. */
export interface Alarm {
  readonly state: "armed" | "rung" | "done"
  readonly due: { readonly beat: number; readonly moment: number }
  readonly since: number
  readonly asked: number
  readonly answer?: unknown
}

/** The commands of alarms. */
export type ToyCommand =
  | { readonly verb: "arm"; readonly key: string; readonly beats: number; readonly value?: Document.Document | undefined }
  | { readonly verb: "cancel"; readonly key: string; readonly value?: Document.Document | undefined }

type Arrival = readonly [key: string, answer: string]

interface State {
  readonly timers: CellTimers
  readonly armed: Set<string>
  readonly arrived: Array<Arrival>
}

interface Toy {
  readonly Face: Alarms
  readonly Command: ToyCommand
  readonly Reply: string
  readonly Launch: Ask
  readonly State: State
  readonly Work: { readonly ended: Array<string> }
  readonly Input: ReadonlyArray<Arrival>
  readonly Output: ReadonlyArray<string>
  readonly Limits: unknown
}

/** The live half: the announced alarms, and a function to answer them. */
export class World {
  readonly heard: Array<string> = []
  readonly events: Array<string> = []
  answer: (key: string, answer: string) => void = () => {}
}

/** The folder of alarms. */
export const FOLDER = "/net/toy"

const addressOf = (key: string): Address.Address => Address.make(`${FOLDER}/${key}`)
const read = (document: Document.Document | undefined): Alarm | undefined => Document.read(document, []) as unknown as Alarm | undefined
const newest = (stage: Stage, key: string): Alarm | undefined => read(stage.newest(addressOf(key).key))
const put = (stage: Stage, key: string, { alarm, writer }: { readonly alarm: Alarm; readonly writer: number }): void =>
  stage.put(addressOf(key), Document.encode(alarm), writer)

/** Whether a key names a cell: it comes from outside. */
export const isKey = (key: string): boolean => Name.refusal(key) === undefined

const arm = (draft: Draft, key: string, beats: number): string => {
  const reason = Name.refusal(key)
  if (reason !== undefined) throw new AlarmRefused({ reason: `${reason}. Give a name as its key` })
  if (!Number.isSafeInteger(beats) || beats < 1) throw new AlarmRefused({ reason: `${beats} is no number of beats. Give 1 or more` })
  const { beat, moment } = Due.after(beats, draft.moment)
  const alarm = { state: "armed", due: { beat, moment }, since: draft.beat, asked: 0 }
  draft.operate([Write.set(addressOf(key), alarm)])
  return key
}

// The draft has what earlier commands of the beat wrote; the stage has not.
const cancel = (draft: Draft, key: string): string => {
  const alarm = isKey(key) ? draft.get(addressOf(key).id) as unknown as Alarm | undefined : undefined
  if (alarm === undefined) throw new AlarmAbsent({ key })
  draft.operate([Write.set(addressOf(key), { ...alarm, state: "done" })])
  return key
}

const input: InputRule<Toy> = {
  field: "toy",
  isWaiting: ({ arrived }, gated) => arrived.length > 0 && !gated,
  peek: ({ arrived }, { gated }) => arrived.length === 0 || gated ? undefined : [...arrived],
  drop: ({ arrived }, taken) => void arrived.splice(0, taken.length),
  encode: (taken) => JSON.stringify(taken),
  decode: (taken) => taken as ReadonlyArray<Arrival>
}

const atCapture = (beat: LedgerBeat<Toy>): void => {
  const { due, input, moment, stage } = beat
  const ended: Array<string> = []
  for (const [key, answer] of input ?? []) {
    beat.useInput()
    const alarm = newest(stage, key)
    if (alarm?.state !== "armed") continue
    put(stage, key, { alarm: { ...alarm, state: "done", answer }, writer: CAPTURE })
    ended.push(key)
  }
  for (const place of due) {
    const key = Address.name(place)
    const alarm = newest(stage, key)
    if (alarm?.state !== "armed" || !Due.isOver(alarm.due, moment)) continue
    put(stage, key, { alarm: { ...alarm, state: "rung" }, writer: CAPTURE })
    ended.push(key)
  }
  if (ended.length > 0) beat.work = { ended }
}

const atCommit = (beat: LedgerBeat<Toy>): void => {
  for (const key of beat.work?.ended ?? []) {
    const { key: target } = addressOf(key)
    beat.send({ signal: "/signals/rung", target, payload: Document.encode(newest(beat.stage, key)) })
    beat.diagnose(Diagnostic.of("rv/quarantine", { note: `alarm ${key} ended`, origin: { kind: "runtime", name: "toy" }, subject: target }))
  }
}

const see = ({ armed, timers }: State, key: string, alarm: Alarm | undefined) => {
  const isArmed = alarm?.state === "armed"
  if (isArmed) armed.add(key)
  else armed.delete(key)
  return timers.see(addressOf(key).key, isArmed ? [alarm.due] : [])
}

const expiry: ExpiryRule = {
  kind: "toy",
  order: 4,
  folders: [FOLDER],
  ended: ({ address, after, before }) => {
    const isOver = (alarm: Alarm | undefined) => alarm !== undefined && alarm.state !== "armed"
    return isOver(read(after)) && !isOver(read(before)) ? nameBelow(FOLDER, address.key) : undefined
  },
  find: (key, { since }, { stage }) => (newest(stage, key)?.since ?? Infinity) <= since ? whole(addressOf(key).key) : whole()
}

/** The ledger of alarms, with its live half. */
export const make = (world: World): Ledger<Toy> => ({
  name: "toy",
  folders: [FOLDER],
  refusals: [AlarmAbsent, AlarmRefused],
  commands: {
    arm: {
      runsWhileHalted: false,
      execute: (draft, { beats, key }, beat) => {
        // The refusal reverts it.
        if (beats < 1) beat.send({ signal: "/signals/rung", target: addressOf(key).key, payload: undefined })
        return arm(draft, key, beats)
      }
    },
    cancel: { runsWhileHalted: true, execute: (draft, { key }) => cancel(draft, key) }
  },
  open: ({ documents, store }) => {
    const state: State = { timers: new CellTimers(), armed: new Set(), arrived: [] }
    for (const key of below(store, FOLDER)) see(state, Address.name(key), read(documents.read(key)))
    return state
  },
  timers: ({ timers }) => timers.all(),
  input,
  atCapture,
  transaction: (draft, _caller, _beat) => ({
    arm: (key, beats) => void draft.guarded(() => arm(draft, key, beats)),
    ask: (key) => draft.guarded(() => draft.operate([], { ledger: "toy", launch: { key }, shows: [] }))
  }),
  merge: (launches, { run }, { stage }) => {
    for (const { key } of launches) {
      const alarm = newest(stage, key)
      if (alarm !== undefined) put(stage, key, { alarm: { ...alarm, asked: alarm.asked + 1 }, writer: run })
    }
  },
  atCommit,
  committed: (beat) => {
    const fresh: Array<string> = []
    for (const [place, { before, after }] of beat.stage.documents) {
      const key = nameBelow(FOLDER, place)
      if (key === undefined) continue
      if (before === undefined && read(after)?.state === "armed") fresh.push(key)
      beat.reschedule(see(beat.state, key, read(after)))
    }
    return fresh.length === 0 ? undefined : fresh
  },
  expiry,
  live: (state, { wake }) => {
    world.answer = (key, answer) => {
      state.arrived.push([key, answer])
      wake()
    }
    return {
      get isQuiet() {
        return state.armed.size === 0 && state.arrived.length === 0
      },
      resume: () => void world.events.push(`resume ${[...state.armed].sort().join()}`),
      flushed: (keys) => void world.heard.push(...keys),
      stop: () => void world.events.push("stop")
    }
  }
})

/** A kernel with these ledgers after the one of operations. */
export const kernel = (...ledgers: ReadonlyArray<Ledger>) =>
  Kernel.layer(ledgers.map((ledger) => ({ name: ofLedger(ledger.name) ?? ledger.name, ledger: () => ledger })))

/**
 * Control input: what the outside does to a space without a signal.
 *
 * It is captured by a beat like everything else, and written in the capture
 * transaction, before any run of the beat. (Architecture, section 1.1.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import * as Name from "../../cell/Name.ts"
import type { InvalidValue } from "../../cell/Value.ts"
import * as Bindings from "../../registry/Bindings.ts"
import type { InvalidNode } from "../../scheduler/Definition.ts"
import type { BindingChange } from "../../stage/Launch.ts"
import type { Write } from "../../stage/Write.ts"
import type { FlowAsk, FlowRefused, OperationAsk, OperationRefused, RendezvousAsk, RendezvousRefused, Spawned } from "./Ask.ts"
import type { SentSince } from "./Dossiers.ts"
import type * as Foreign from "./Foreign.ts"
import type { Regime, Verb } from "./Regime.ts"
import { size } from "./Signal.ts"
import type { CellLocked, DeadAbsent, SpaceStopped } from "./SpaceError.ts"
import { ControlRefused, WriteRefused } from "./SpaceError.ts"

/** What is answered to whoever asked: the beat that did it, once that is durable, or why it was not done. */
export type Answer = (answer: number | InvalidValue | OperationRefused | RendezvousRefused | FlowRefused | Address.InvalidAddress | InvalidNode | WriteRefused | CellLocked | ControlRefused | DeadAbsent | SpaceStopped) => void

/**
 * One piece of control input.
 *
 * @category models
 * @since 0.1.0
 */
export type Control =
  | Setting
  | { readonly kind: "integrate"; readonly notice: Foreign.Notice; readonly answer: Answer }
  | { readonly kind: "bind"; readonly change: BindingChange; readonly answer: Answer }
  | Redelivery
  | Operation
  | PieceControl
  | Steered
  | Cutover
  | Locking
  | Appointed
  | Flowed

/** What is asked of the space as a whole. */
export interface Steered {
  readonly kind: "steer"
  readonly verb: Verb
  /** For a rollback: the beat to go back to. */
  readonly to: number | undefined
  /** The operation that was begun, or why none was: that is in the ledger as well. */
  oid: string | undefined
  refused: ControlRefused | undefined
  readonly answer: Answer
}

/** The end of a rollback's plan: the documents as they were, or why that cannot be told any more. */
export interface Cutover {
  readonly kind: "cutover"
  readonly writes: ReadonlyArray<readonly [key: string, document: Document | undefined]>
  readonly sent: SentSince
  readonly lost: string | undefined
  readonly answer: Answer
}

/** A cell that is locked or unlocked from outside. */
export interface Locking {
  readonly kind: "lock"
  readonly cell: string
  readonly on: boolean
  readonly answer: Answer
}

/** A piece that is started or stopped. */
export interface PieceControl {
  readonly kind: "piece"
  readonly ask:
    | { readonly verb: "start"; readonly module: string; readonly inputs: Document }
    | { readonly verb: "stop"; readonly name: string }
  /** Its name, once it was started. */
  name: string | undefined
  readonly answer: Answer
}

/** A cell that is written. */
export interface Setting {
  readonly kind: "set"
  readonly write: Write & { readonly kind: "set" }
  /** Who watches under the same group does not hear of it. */
  readonly group: string | undefined
  readonly answer: Answer
}

/** What is asked of an operation. */
export interface Operation {
  readonly kind: "op"
  readonly ask: OperationAsk
  /** The operation that it was done to, once it was. */
  oid: string | undefined
  readonly answer: Answer
}

/** What is asked of a rendezvous. */
export interface Appointed {
  readonly kind: "rv"
  readonly ask: RendezvousAsk
  /** What was spawned or claimed, once it was. */
  spawned: Spawned | undefined
  readonly answer: Answer
}

/** What is asked of a flow. */
export interface Flowed {
  readonly kind: "flow"
  readonly ask: FlowAsk
  /** The instance that it was done to, once it was. */
  inst: string | undefined
  readonly answer: Answer
}

/** A dead letter that is sent again: it is deleted, and its handling runs anew. */
export interface Redelivery {
  readonly kind: "redeliver"
  readonly id: string
  readonly enzyme: string
  /** The end of the letter. */
  readonly write: Write & { readonly kind: "set" }
  readonly answer: Answer
}

/**
 * A change of the bindings of a cell.
 *
 * @throws InvalidAddress, WriteRefused
 * @category constructors
 * @since 0.1.0
 */
export const binding = (change: BindingChange): ((answer: Answer) => Control) => {
  const { cell, enzyme } = change
  const names = Name.split(cell)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: cell, reason: names })
  // The list lies in a document of its own, whose address has to be one, too.
  Address.parse(Bindings.address(cell).text)
  const unnamable = Name.refusal(enzyme)
  if (unnamable !== undefined) throw new WriteRefused({ address: cell, reason: `"${enzyme}" names no enzyme: ${unnamable}` })
  return (answer) => ({ kind: "bind", change, answer })
}

/** The start or the stop of a piece. */
export const piece = (ask: PieceControl["ask"]) => (answer: Answer): PieceControl => ({ kind: "piece", ask, name: undefined, answer })

/** What is answered of something that was done: where the space could not, why, once that is durable. */
export const answerOf = (control: Control): Answer => {
  if (control.kind !== "steer") return control.answer
  const { answer, refused } = control
  return refused === undefined ? answer : (beat) => answer(typeof beat === "number" ? refused : beat)
}

/** What of rendezvous and flows goes on with beats that only a space that runs has. */
const goesOn: ReadonlySet<string> = new Set(["rv spawn", "rv release", "rv resched", "rv kill", "flow start", "flow resume"])

/**
 * Why a space does not do it as it stands, where it was shut down: what goes on with beats would wait for a restart, and
 * what a beat does as soon as it captures it is done.
 *
 * @category getters
 * @since 0.1.0
 */
export const refusal = (control: Control, { halted }: Pick<Regime, "halted">): ControlRefused | undefined => {
  const verb = halted ? goingOn(control) : undefined
  return verb === undefined ? undefined : new ControlRefused({ verb, reason: "it was shut down, and does nothing until it is restarted" })
}

const goingOn = (control: Control): string | undefined => {
  if (control.kind === "redeliver") return control.kind
  if (control.kind !== "rv" && control.kind !== "flow") return undefined
  const verb = `${control.kind} ${control.ask.verb}`
  return goesOn.has(verb) ? verb : undefined
}

/**
 * What control input costs while it waits, in characters.
 *
 * @category getters
 * @since 0.1.0
 */
export const sizeOf = (control: Control): number => {
  switch (control.kind) {
    case "op":
    case "rv":
    case "flow":
      return JSON.stringify({ ...control.ask, value: undefined }).length + (control.ask.value?.text.length ?? 0)
    case "bind":
      return size({ signal: control.change.cell, target: control.change.enzyme, payload: undefined })
    case "lock":
    case "steer":
    case "cutover":
      return size({ signal: control.kind, target: undefined, payload: undefined })
    case "piece":
      return control.ask.verb === "start"
        ? size({ signal: undefined, target: control.ask.module, payload: control.ask.inputs })
        : size({ signal: undefined, target: control.ask.name, payload: undefined })
    case "integrate":
      return control.notice.writes.reduce((sum, write) => sum + sizeOfWrite(write), 0)
    default:
      return sizeOfWrite(control.write)
  }
}

const sizeOfWrite = ({ address, document }: Setting["write"]): number => size({ signal: undefined, target: address.text, payload: document })

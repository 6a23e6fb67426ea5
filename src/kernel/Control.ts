/**
 * Control input: what the outside does to a space without a signal.
 *
 * It is captured by a beat like everything else, and written in the capture
 * transaction, before any run of the beat. (Architecture, section 1.1.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Link from "../cell/Link.ts"
import * as Name from "../cell/Name.ts"
import { InvalidValue } from "../cell/Value.ts"
import * as Bindings from "../registry/Bindings.ts"
import type { BindingChange } from "../stage/Launch.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Write } from "../stage/Write.ts"
import * as Foreign from "./Foreign.ts"
import * as Meeting from "./Meeting.ts"
import * as Operating from "./Operating.ts"
import type { DeadAbsent, SpaceStopped } from "./SpaceError.ts"
import { WriteRefused } from "./SpaceError.ts"

/** What is answered to whoever asked: the beat that did it, once that is durable, or why it was not done. */
export type Answer = (answer: number | InvalidValue | Operating.Refused | Meeting.Refused | WriteRefused | DeadAbsent | SpaceStopped) => void

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
  | Appointed

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
  readonly ask: Operating.Ask
  /** The operation that it was done to, once it was. */
  oid: string | undefined
  readonly answer: Answer
}

/** What is asked of a rendezvous. */
export interface Appointed {
  readonly kind: "rv"
  readonly ask: Meeting.Ask
  /** What was spawned or claimed, once it was. */
  spawned: Meeting.Spawned | undefined
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

/**
 * Writes one cell from outside into the capture transaction; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const write = (draft: Draft, { group, write: { address, document } }: Pick<Setting, "group" | "write">, steps: Foreign.Steps): InvalidValue | WriteRefused | undefined => {
  try {
    const { key } = draft.settle(address, document === undefined || Link.is(document.plain))
    const before = draft.visible(key)
    draft.put(address, document)
    Foreign.note(steps, key, { before, after: draft.visible(key), group })
    return undefined
  } catch (error) {
    return error instanceof InvalidValue ? error : new WriteRefused({ address: address.text, reason: (error as Error).message })
  }
}

/**
 * Does what is asked of an operation in the capture transaction; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const operate = (draft: Draft, control: Operation, around: Parameters<typeof Operating.perform>[2]): Operating.Refused | undefined => {
  const done = Operating.perform(draft, control.ask, around)
  if (typeof done !== "string") return done
  control.oid = done
  return undefined
}

/**
 * Does what is asked of a rendezvous in the capture transaction; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const meet = (draft: Draft, control: Appointed, around: Parameters<typeof Meeting.perform>[2]): Meeting.Refused | undefined => {
  const done = Meeting.perform(draft, control.ask, around)
  if (Meeting.isRefusal(done)) return done
  control.spawned = done
  return undefined
}

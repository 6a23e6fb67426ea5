/**
 * Controlling: what control input does in the capture transaction.
 *
 * @module
 */
import { InvalidValue } from "../../cell/Value.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Draft } from "../../stage/Draft.ts"
import * as Savepoint from "../../stage/Savepoint.ts"
import * as Way from "../../stage/Way.ts"
import type { FlowRefused, OperationRefused, RendezvousRefused } from "../model/Ask.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import * as Control from "../model/Control.ts"
import type { Appointed, Flowed, Operation, Setting } from "../model/Control.ts"
import * as Flowing from "./Flowing.ts"
import * as Foreign from "../model/Foreign.ts"
import * as Meeting from "./Meeting.ts"
import * as Operating from "./Operating.ts"
import { lockOver, type Regime } from "../model/Regime.ts"
import { CellLocked, ControlRefused, WriteRefused } from "../model/SpaceError.ts"

/**
 * Does one piece of control input, all of it or nothing; answers why not, where it cannot.
 *
 * What goes wrong with it is its own, unless it is the store: what fits a document by itself need not fit the one
 * that it becomes part of, and a beat that fails of it would fail of it again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const whole = <Refused>(control: Control.Control, { draft, work }: { readonly draft: Draft; readonly work: BeatWork }, act: () => Refused | undefined): Refused | InvalidValue | ControlRefused | undefined => {
  const { asked, diagnostics, regime } = work
  const told = diagnostics.length
  const savepoint = Savepoint.make(draft)
  // The space may have been shut down since it was asked for.
  const refused = Control.refusal(control, regime) ?? attempt(control, act)
  if (refused === undefined) savepoint.keep()
  else {
    savepoint.restore()
    work.regime = regime
    work.asked = asked
    diagnostics.length = told
  }
  return refused
}

const attempt = <Refused>(control: Control.Control, act: () => Refused | undefined): Refused | InvalidValue | ControlRefused | undefined => {
  try {
    return act()
  } catch (error) {
    if (error instanceof PersistenceError) throw error
    if (error instanceof InvalidValue) return error
    return new ControlRefused({ verb: control.kind === "steer" ? control.verb : control.kind, reason: (error as Error).message })
  }
}

/**
 * Writes one cell from outside into the capture transaction; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const write = (
  draft: Draft,
  { group, write: { address, document } }: Pick<Setting, "group" | "write">,
  { regime, steps }: { readonly regime: Regime; readonly steps: Foreign.Steps }
): InvalidValue | WriteRefused | CellLocked | undefined => {
  try {
    const { id, key } = draft.settle(address, Way.ofDocument(document))
    const lock = lockOver(regime, id)
    if (lock !== undefined) return new CellLocked({ address: address.text, lock })
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
export const operate = (draft: Draft, control: Operation, around: Parameters<typeof Operating.perform>[2]): OperationRefused | undefined => {
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
export const meet = (draft: Draft, control: Appointed, around: Parameters<typeof Meeting.perform>[2]): RendezvousRefused | undefined => {
  const done = Meeting.perform(draft, control.ask, around)
  if (Meeting.isRefusal(done)) return done
  control.spawned = done
  return undefined
}

/**
 * Does what is asked of a flow in the capture transaction; answers why not, where it cannot.
 *
 * @category combinators
 * @since 0.1.0
 */
export const flow = (draft: Draft, control: Flowed, around: Parameters<typeof Flowing.perform>[2]): FlowRefused | undefined => {
  const done = Flowing.perform(draft, control.ask, around)
  if (typeof done !== "string") return done
  control.inst = done
  return undefined
}

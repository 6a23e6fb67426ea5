/**
 * Expected errors, as opposed to defects.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import { InvalidAddress } from "../../cell/Address.ts"
import type { LinkLoop } from "../../cell/Link.ts"
import { CellMistyped } from "../../cell/Type.ts"
import { InvalidValue } from "../../cell/Value.ts"
import type { CellLocked, RefusalClass, Refusals } from "../../ledger/LedgerError.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import { InvalidNode } from "../../scheduler/definition/Definition.ts"
import { InvalidSignal } from "../../stage/OutgoingSignal.ts"
import { SliceAbsent } from "../../ledger/SliceTable.ts"
import {
  type CellChanged, ControlRefused, DeadAbsent, type IdAmbiguous, IdReused, InboxFull, type SpaceHeld, SpaceStopped,
  WriteRefused
} from "../model/SpaceError.ts"

/** The errors of a signal from outside, of control input, and of a read. */
export type SignalError = InvalidSignal | InvalidAddress | InvalidValue | IdReused | InboxFull | SpaceStopped | PersistenceError
export type ControlError =
  | InvalidAddress | InvalidValue | CellMistyped | InvalidNode | InvalidSignal
  | InboxFull | WriteRefused | CellChanged | CellLocked | ControlRefused | DeadAbsent | SpaceHeld
  | SpaceStopped
  | SliceAbsent | Refusals[keyof Refusals]
export type ReadError = InvalidAddress | IdAmbiguous | LinkLoop | PersistenceError | SpaceStopped

/**
 * Passes errors of these classes on, and throws any other error as a defect.
 */
export const expect = <E>(...types: ReadonlyArray<abstract new(...args: never) => E>) => (error: unknown): E => {
  if (types.some((type) => error instanceof type)) return error as E
  throw error
}

/** The errors of a signal from outside. */
export const asRefusal = expect<SignalError>(
  InvalidSignal, InvalidAddress, InvalidValue, IdReused, InboxFull, SpaceStopped, PersistenceError
)

/** The errors of control input, the refusals of ledgers included. */
export const asControlError = (ledgers: ReadonlyArray<RefusalClass>): (error: unknown) => ControlError => {
  const known = ledgers as ReadonlyArray<abstract new(...args: never) => ControlError>
  return expect<ControlError>(
    InvalidAddress, InvalidValue, CellMistyped, WriteRefused, ControlRefused, DeadAbsent, InvalidNode, SliceAbsent, ...known
  )
}

/** The callbacks of a read: its result, or its failure. */
export interface ReadCallbacks<A> {
  readonly seen: (found: A) => void
  readonly fail: (failure: Effect.Effect<never, ReadError>) => void
}

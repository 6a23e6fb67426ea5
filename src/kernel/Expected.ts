/**
 * Expected failures, told from defects.
 *
 * @module
 */
import { InvalidAddress } from "../cell/Address.ts"
import { InvalidValue } from "../cell/Value.ts"
import * as FlowError from "../flow/FlowError.ts"
import * as OperationError from "../operation/OperationError.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import * as RendezvousError from "../rendezvous/RendezvousError.ts"
import { InvalidNode } from "../scheduler/Definition.ts"
import { InvalidSignal } from "../stage/Emission.ts"
import type { ControlError, SignalError } from "./Space.ts"
import { CellLocked, ControlRefused, DeadAbsent, IdReused, InboxFull, SpaceStopped, WriteRefused } from "./SpaceError.ts"

/**
 * Passes errors of these classes on, and throws any other again: that one is a defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const expected = <E>(...types: ReadonlyArray<abstract new(...args: never) => E>) => (error: unknown): E => {
  if (types.some((type) => error instanceof type)) return error as E
  throw error
}

const { AwaitUnheard, InvalidOperation, OperationAbsent, OperationClosed, WatchersFull } = OperationError

/** What a signal from outside may meet. */
export const asRefusal = expected<SignalError>(InvalidSignal, InvalidAddress, InvalidValue, IdReused, InboxFull, SpaceStopped, PersistenceError)

/** What control input may meet. */
export const asControlError = expected<ControlError>(
  InvalidAddress, InvalidValue, WriteRefused, CellLocked, ControlRefused, DeadAbsent, InvalidSignal, InvalidOperation, OperationAbsent, OperationClosed, AwaitUnheard, WatchersFull,
  InvalidNode, ...RendezvousError.refusals, ...FlowError.refusals
)

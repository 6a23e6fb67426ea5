/**
 * The storage of bindings, with the checks that runs and callers share.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import type { BindingChange } from "./Launch.ts"
import { TransactionRefused } from "./TransactionRefused.ts"

/** The folder of the lists of bindings of all cells. */
export const FOLDER = "/sys/bind"

/**
 * Returns the document with a cell's list of bindings. A cell is refused if the address of its list would exceed a
 * limit.
 *
 * @throws InvalidAddress
 */
export const address = (cell: string): Address.Address => {
  const names = Name.split(cell)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: cell, reason: names })
  return Address.parse(`${FOLDER}${cell}`)
}

/** The maximum number of bindings and withdrawals of one run. */
const MAX_CHANGES = 10_000

/**
 * Adds a change to the changes of its run.
 *
 * @throws InvalidAddress, TransactionRefused
 */
export const add = (changes: Array<BindingChange>, change: BindingChange): void => {
  address(change.cell)
  const unnamable = Name.refusal(change.enzyme)
  if (unnamable !== undefined) throw new TransactionRefused({ reason: `what it binds names no enzyme: ${unnamable}` })
  if (changes.length >= MAX_CHANGES) throw new TransactionRefused({ reason: `one run makes at most ${MAX_CHANGES} bindings` })
  changes.push(change)
}

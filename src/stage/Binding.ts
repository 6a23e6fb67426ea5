/**
 * Where bindings are kept, checked in one place for runs and for callers.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import type { BindingChange } from "./Launch.ts"
import { TransactionRefused } from "./TransactionRefused.ts"

/** Under this cell lie the lists of all cells. */
export const FOLDER = "/sys/bind"

/**
 * The document that keeps a cell's list of bindings. A cell so long or so deep that its list would have no address is refused like what is no cell.
 *
 * @throws InvalidAddress
 * @category getters
 * @since 0.1.0
 */
export const address = (cell: string): Address.Address => {
  const names = Name.split(cell)
  if (typeof names === "string") throw new Address.InvalidAddress({ text: cell, reason: names })
  return Address.parse(`${FOLDER}${cell}`)
}

/** Most bindings and withdrawals of one run. */
const MAX_CHANGES = 10_000

/**
 * Puts a change with the others of its run.
 *
 * @throws InvalidAddress, TransactionRefused
 * @category combinators
 * @since 0.1.0
 */
export const add = (changes: Array<BindingChange>, change: BindingChange): void => {
  address(change.cell)
  const unnamable = Name.refusal(change.enzyme)
  if (unnamable !== undefined) throw new TransactionRefused({ reason: `what it binds names no enzyme: ${unnamable}` })
  if (changes.length >= MAX_CHANGES) throw new TransactionRefused({ reason: `one run makes at most ${MAX_CHANGES} bindings` })
  changes.push(change)
}

/**
 * Where bindings are kept, checked in one place for runs and for callers.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"

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

/**
 * Why what is to be bound at a cell names no enzyme. A cell at which nothing can be bound is refused.
 *
 * @throws InvalidAddress
 */
export const refusal = (cell: string, enzyme: string): string | undefined => {
  address(cell)
  const unnamable = Name.refusal(enzyme)
  return unnamable === undefined ? undefined : `"${enzyme}" names no enzyme: ${unnamable}`
}

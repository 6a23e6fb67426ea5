/**
 * Cells as values: addresses that remember where they lead.
 *
 * A text such as `/data/total` is looked up at each use; a cell that is made once
 * and kept, beside the code that reads it, is looked up once per space. Both
 * mean the same. (Architecture, section 3.)
 *
 * @module
 */
import * as Address from "./Address.ts"

/**
 * An address that was taken apart once.
 *
 * @category models
 * @since 0.1.0
 */
export class Cell {
  readonly address: Address.Address
  /** The graph that it was looked up in last, and what it found there. Only that graph reads or writes them. */
  home: object | undefined = undefined
  found: object | undefined = undefined

  constructor(address: Address.Address) {
    this.address = address
  }

  toString(): string {
    return this.address.text
  }
}

/**
 * The cell at an address.
 *
 * @throws InvalidAddress
 * @example A cell that a computation reads again and again
 * ```ts
 * import { Cell, Computation } from "systole"
 *
 * const price = Cell.make("/data/price")
 * export default Computation.make({
 *   name: "gross",
 *   output: "/data/gross",
 *   run: (tx) => Number(tx.get(price)) * 1.19
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (address: string): Cell => new Cell(Address.parse(address))

/** The address that a text or a cell stands for. */
export const addressOf = (place: string | Cell): Address.Address => typeof place === "string" ? Address.parse(place) : place.address

/**
 * Cells as values: parsed addresses that cache their location in the graph.
 *
 * A text such as `/data/total` is looked up at each use. A `Cell` that a module creates once and keeps is looked up
 * once per space. Reads and writes accept both with the same meaning.
 *
 * @module
 */
import * as Address from "./Address.ts"

/**
 * A parsed address with a cached location.
 *
 * @category models
 * @since 0.1.0
 */
export class Cell {
  readonly address: Address.Address
  /** The graph of the last look-up, and the location found there. Only that graph reads or writes the two fields. */
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
 * Creates the cell of an address, such as `/data/price` or `/data/order#/total`.
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

/**
 * Returns the address of a text or a cell.
 * @throws InvalidAddress
 */
export const addressOf = (place: string | Cell): Address.Address => typeof place === "string" ? Address.parse(place) : place.address

/**
 * Handles a delivery: the signal `/signals/goods/receive` with the target `/data/products/<item>`.
 *
 * @module
 */
import { Enzyme } from "systole"
import { itemOf, Products, Receive } from "../cells.ts"

export default Enzyme.make({
  name: "receive_goods",
  query: Receive,
  bind: [Products],
  target: "required",
  writes: [Products],
  run: (tx, { payload: { count, price }, target }) => {
    const cell = Products.at({ item: itemOf(target) })
    const product = { price, received: (tx.get(cell)?.received ?? 0) + count }
    tx.set(cell, product)
    return product
  }
})

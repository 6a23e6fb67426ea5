/**
 * Handles an order: the signal `/signals/order/place` with the target `/data/products/<item>`.
 *
 * It reads `/data/stock`, which is derived from all orders and always up to date. Events with the same signal and target
 * share a lane, so two orders for one item never see the same stock.
 *
 * @module
 */
import { Cell, Enzyme } from "systole"
import { itemOf, Orders, Place, Products, Stock } from "../cells.ts"

export default Enzyme.make({
  name: "place_order",
  query: Place,
  bind: [Products],
  target: "required",
  writes: [Orders],
  run: (tx, { id, payload: { count }, target }) => {
    const item = itemOf(target)
    const product = tx.get(Products.at({ item }))
    const left = tx.get(Cell.into(Stock, item)) ?? 0
    if (product === undefined || left < count) return { placed: false, left }
    tx.set(Orders.at({ id }), { item, count, price: product.price })
    return { placed: true, left: left - count }
  }
})

/**
 * Handles an order: the signal `/signals/order/place` with the target `/data/products/<item>`.
 *
 * It reads `/data/stock`, which is derived from all orders and always up to date. Events with the same signal and target
 * share a lane, so two orders for one item never see the same stock.
 *
 * @module
 */
import { Enzyme } from "systole"
import { itemOf, type Order, type Product, Wanted } from "../cells.ts"

export default Enzyme.make({
  name: "place_order",
  query: "/signals/order/place",
  bind: ["/data/products"],
  target: "required",
  payload: Wanted,
  writes: ["/data/orders/*"],
  run: (tx, { id, payload: { count }, target }) => {
    const item = itemOf(target)
    const product = tx.get(target) as Product | undefined
    const left = (tx.get(`/data/stock#/${item}`) ?? 0) as number
    if (product === undefined || left < count) return { placed: false, left }
    const order: Order = { item, count, price: product.price }
    tx.set(`/data/orders/${id}`, order)
    return { placed: true, left: left - count }
  }
})

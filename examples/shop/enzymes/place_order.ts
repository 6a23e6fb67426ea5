/**
 * Somebody orders: `/signals/order/place` for `/data/products/<item>`.
 *
 * It reads `/data/stock`, which is derived from all orders, and finds it up to
 * date, whatever happened a beat ago. Events of one signal and target share a lane,
 * so no two orders for an item are ever handled over the same stock.
 *
 * @module
 */
import { Enzyme } from "systole"
import { itemOf, type Order, type Product, Wanted } from "../cells.ts"

export default Enzyme.make({
  name: "place_order",
  query: "/signals/order/place",
  bind: ["/data/products"],
  payload: Wanted,
  writes: ["/data/orders/*"],
  run: (tx, { id, payload: { count }, target }) => {
    const item = itemOf(target)
    const product = tx.get(target!) as Product | undefined
    const left = (tx.get(`/data/stock#/${item}`) ?? 0) as number
    if (product === undefined || left < count) return { placed: false, left }
    const order: Order = { item, count, price: product.price }
    tx.set(`/data/orders/${id}`, order)
    return { placed: true, left: left - count }
  }
})

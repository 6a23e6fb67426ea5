/**
 * Handles a delivery: the signal `/signals/goods/receive` with the target `/data/products/<item>`.
 *
 * @module
 */
import { Enzyme } from "systole"
import { Goods, type Product } from "../cells.ts"

export default Enzyme.make({
  name: "receive_goods",
  query: "/signals/goods/receive",
  bind: ["/data/products"],
  target: "required",
  payload: Goods,
  writes: ["/data/products/*"],
  run: (tx, { payload: { count, price }, target }) => {
    const before = tx.get(target) as Product | undefined
    const product: Product = { price, received: (before?.received ?? 0) + count }
    tx.set(target, product)
    return product
  }
})

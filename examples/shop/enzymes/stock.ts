/**
 * Derives the remaining count of each item: received minus ordered.
 *
 * No enzyme writes `/data/stock`. It is computed on demand after a change of a product or an order.
 *
 * @module
 */
import { Computation } from "systole"
import { below, type Order, type Product, type Stock } from "../cells.ts"

export default Computation.make({
  name: "stock",
  output: "/data/stock",
  run: (tx): Stock => {
    const left: Record<string, number> = {}
    for (const [item, { received }] of below<Product>(tx, "/data/products")) left[item] = received
    for (const [, { count, item }] of below<Order>(tx, "/data/orders")) left[item] = (left[item] ?? 0) - count
    return left
  }
})

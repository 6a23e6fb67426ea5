/**
 * What is left of each item: all that was received, less all that was ordered.
 *
 * Nobody writes `/data/stock`. It follows from products and orders, and is
 * computed when somebody looks at it and one of them changed.
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

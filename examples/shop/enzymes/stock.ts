/**
 * Derives the remaining count of each item: received minus ordered.
 *
 * No enzyme writes `/data/stock`. It is computed on demand after a change of a product or an order.
 *
 * @module
 */
import { Computation } from "systole"
import { Orders, Products, Stock } from "../cells.ts"

export default Computation.make({
  name: "stock",
  output: Stock,
  run: (tx) => {
    const left: Record<string, number> = {}
    for (const [{ item }, { received }] of tx.entries(Products)) left[item] = received
    for (const [, { count, item }] of tx.entries(Orders)) left[item] = (left[item] ?? 0) - count
    return left
  }
})

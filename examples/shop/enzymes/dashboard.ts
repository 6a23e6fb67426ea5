/**
 * Derives the dashboard: the takings, and the remaining count of each item.
 *
 * @module
 */
import { Computation } from "systole"
import { Dashboard, Orders, Products, Stock } from "../cells.ts"

export default Computation.make({
  name: "dashboard",
  output: Dashboard,
  run: (tx) => {
    const orders = tx.entries(Orders)
    const stock = tx.get(Stock) ?? {}
    return {
      orders: orders.length,
      takings: orders.reduce((sum, [, { count, price }]) => sum + count * price, 0),
      items: tx.entries(Products).map(([{ item }, { price }]) => ({ item, price, left: stock[item] ?? 0 }))
    }
  }
})

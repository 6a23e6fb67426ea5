/**
 * Derives the dashboard: the takings, and the remaining count of each item.
 *
 * @module
 */
import { Computation } from "systole"
import { below, type Dashboard, type Order, type Product, type Stock } from "../cells.ts"

export default Computation.make({
  name: "dashboard",
  output: "/data/dashboard",
  run: (tx): Dashboard => {
    const orders = below<Order>(tx, "/data/orders")
    const stock = tx.get("/data/stock") as Stock
    return {
      orders: orders.length,
      takings: orders.reduce((sum, [, { count, price }]) => sum + count * price, 0),
      items: below<Product>(tx, "/data/products").map(([item, { price }]) => ({ item, price, left: stock[item] ?? 0 }))
    }
  }
})

/**
 * The cells and signals of the shop: stored documents, and documents derived from them. The enzymes use them, and the page.
 *
 * @module
 */
import { Cell, Schema, Signal } from "systole/cells"

const Price = Schema.Natural

/** The stored cells of the products, by item. `received` is the total count received so far. */
export const Products = Cell.family("/data/products/:item", Schema.Struct({ price: Price, received: Schema.Natural }))

/** The stored cells of the orders, by the id of their signal. */
export const Orders = Cell.family("/data/orders/:id", Schema.Struct({ item: Schema.String, count: Schema.Natural, price: Price }))

/** The derived cell of the remaining count of each item. */
export const Stock = Cell.of("/data/stock", Schema.Record(Schema.String, Schema.Number))

const Row = Schema.Struct({ item: Schema.String, price: Price, left: Schema.Number })

/** The derived cell of the dashboard. */
export const Dashboard = Cell.of(
  "/data/dashboard",
  Schema.Struct({ orders: Schema.Natural, takings: Schema.Natural, items: Schema.Array(Row) })
)

/** The signal of a delivery. Its target is the product. */
export const Receive = Signal.make("/signals/goods/receive", Schema.Struct({ price: Price, count: Schema.Natural }))

const Count = Schema.Natural.pipe(Schema.check(Schema.isGreaterThan(0)))

/** The signal of an order. Its target is the product. */
export const Place = Signal.make("/signals/order/place", Schema.Struct({ count: Count }))

/** The item of a signal: the last segment of its target. */
export const itemOf = (target: string): string => target.slice(target.lastIndexOf("/") + 1)

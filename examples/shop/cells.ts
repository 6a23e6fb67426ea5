/**
 * The cells of the shop: stored documents, and documents derived from them.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Cell } from "systole"

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

export const Goods = Schema.Struct({ price: Price, count: Schema.Natural })
export const Wanted = Schema.Struct({ count: Schema.Natural.pipe(Schema.check(Schema.isGreaterThan(0))) })

/** The item of a signal: the last segment of its target. */
export const itemOf = (target: string): string => target.slice(target.lastIndexOf("/") + 1)

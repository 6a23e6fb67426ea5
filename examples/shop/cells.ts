/**
 * What the shop keeps, and what it derives from that.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Transaction } from "systole"

/** Kept: `/data/products/<item>`, with all that was ever received of it. */
export type Product = {
  readonly price: number
  readonly received: number
}

/** Kept: `/data/orders/<id>`. */
export type Order = {
  readonly item: string
  readonly count: number
  readonly price: number
}

/** Derived: `/data/stock`, what is left of each item. */
export type Stock = { readonly [item: string]: number }

/** Derived: `/data/dashboard`. */
export type Dashboard = {
  readonly orders: number
  readonly takings: number
  readonly items: ReadonlyArray<{ readonly item: string; readonly price: number; readonly left: number }>
}

export const Goods = Schema.Struct({ price: Schema.Natural, count: Schema.Natural })
export const Wanted = Schema.Struct({ count: Schema.Natural.pipe(Schema.check(Schema.isGreaterThan(0))) })

/** All documents directly below a cell, with their names. */
export const below = <Kept>(tx: Transaction, id: string): ReadonlyArray<readonly [name: string, kept: Kept]> =>
  tx.list(id).map((name) => [name, tx.get(`${id}/${name}`) as Kept])

/** The last segment of a target: the item that a signal is about. */
export const itemOf = (target: string | undefined): string => target?.split("/").at(-1) ?? ""

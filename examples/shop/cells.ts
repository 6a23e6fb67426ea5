/**
 * The cells of the shop: stored documents, and documents derived from them.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Transaction } from "systole"

/** The stored cell `/data/products/<item>`. `received` is the total count received so far. */
export type Product = {
  readonly price: number
  readonly received: number
}

/** The stored cell `/data/orders/<id>`. */
export type Order = {
  readonly item: string
  readonly count: number
  readonly price: number
}

/** The derived cell `/data/stock`: the remaining count of each item. */
export type Stock = { readonly [item: string]: number }

/** The derived cell `/data/dashboard`. */
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

/** The item of a signal: the last segment of its target. */
export const itemOf = (target: string | undefined): string => target?.split("/").at(-1) ?? ""

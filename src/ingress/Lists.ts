/**
 * The lists of a runtime: the routes that concern no space and tell its modules. A server and the Worker in front of objects
 * answer them alike.
 *
 * @module
 */
import { MAX_ROWS } from "../kernel/view/PageTurns.ts"
import type { Registration } from "../kernel/space/Kernel.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import * as Body from "./Body.ts"
import * as PageQuery from "./PageQuery.ts"

/** A list: the field of its rows in the answer, and its rows, made of the enzymes of the runtime. */
export interface List {
  readonly field: string
  readonly rows: (enzymes: ReadonlyArray<Registration>) => ReadonlyArray<object>
}

/** Lists by their paths. */
export type Lists = Readonly<Record<string, List>>

/** The descriptor of an enzyme as JSON, without its functions. */
const describe = (enzyme: Enzyme): object =>
  ({ ...enzyme, _tag: undefined, writes: enzyme.writes ?? null, payload: enzyme.payload !== undefined })

const own: Lists = {
  "/v1/enzymes": {
    field: "enzymes",
    rows: (enzymes) => enzymes.map(({ enzyme, hash }) => ({ ...describe(enzyme), hash: hash ?? null }))
  }
}

/**
 * The lists of a runtime with some slices.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (slices: ReadonlyArray<{ readonly lists?: Lists }>): Lists =>
  Object.assign({}, own, ...slices.map(({ lists }) => lists))

/** The sizes of a page: without `?limit=`, and at most. */
const sizes = { listed: MAX_ROWS, max: MAX_ROWS }

/**
 * The requested page of a list. Its cursor is a number of rows.
 *
 * @throws RequestRefused
 * @category getters
 * @since 0.1.0
 */
export const page = (
  { field, rows }: List,
  enzymes: ReadonlyArray<Registration>,
  { after = "0", limit }: { readonly after?: string; readonly limit?: string }
): object => {
  const from = Body.count(after)
  const end = from + PageQuery.limit(limit, sizes)
  const all = rows(enzymes)
  return { [field]: all.slice(from, end), next: end < all.length && end > from ? end : null }
}

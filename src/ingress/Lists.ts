/**
 * The lists of a runtime: the routes that concern no space and tell its modules. A server and the Worker in front of objects
 * answer them alike.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Endpoint } from "../contract/Endpoint.ts"
import * as Spaces from "../contract/Spaces.ts"
import type { Registration } from "../kernel/space/Kernel.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import type { RouteTable } from "./RouteTable.ts"

/** A list: its endpoint, the field of its rows in the answer, and its rows, made of the enzymes of the runtime. */
export interface List {
  readonly endpoint: Endpoint
  readonly field: string
  readonly rows: (enzymes: ReadonlyArray<Registration>) => ReadonlyArray<object>
}

/** The descriptor of an enzyme as JSON, without its functions. */
const describe = (enzyme: Enzyme): object =>
  ({ ...enzyme, _tag: undefined, writes: enzyme.writes ?? null, payload: enzyme.payload !== undefined, declares: pathsOf(enzyme) })

/** The paths of the types that an enzyme declares; absent if there are none. */
const pathsOf = ({ declares }: Enzyme): ReadonlyArray<string> | undefined =>
  declares.length === 0 ? undefined : declares.flatMap(({ declared }) => declared?.template.path ?? [])

const own: List = {
  endpoint: Spaces.enzymes,
  field: "enzymes",
  rows: (enzymes) => enzymes.map(({ enzyme, hash }) => ({ ...describe(enzyme), hash: hash ?? null }))
}

/** The query of a list. Its cursor is a number of rows. */
interface Query {
  readonly after?: number
  readonly limit: number
}

/**
 * Adds the lists of a runtime with some slices to a table.
 *
 * @category constructors
 * @since 0.1.0
 */
export const routes = (
  table: RouteTable,
  slices: ReadonlyArray<{ readonly lists?: ReadonlyArray<List> }>,
  enzymes: Effect.Effect<ReadonlyArray<Registration>, unknown>
): void => {
  for (const { endpoint, field, rows } of [own, ...slices.flatMap(({ lists = [] }) => lists)]) {
    table.serve(endpoint, ({ query }) => Effect.map(enzymes, (all) => page(field, rows(all), query as unknown as Query)))
  }
}

const page = (field: string, all: ReadonlyArray<object>, { after = 0, limit }: Query): object => {
  const end = after + limit
  return { [field]: all.slice(after, end), next: end < all.length && limit > 0 ? end : undefined }
}

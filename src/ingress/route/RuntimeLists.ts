/**
 * The lists of a runtime: the routes that concern no space and tell its modules. A server and the Worker in front of objects
 * answer them alike.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Endpoint } from "../../contract/Endpoint.ts"
import * as Spaces from "../../contract/Spaces.ts"
import type { Registration } from "../../kernel/space/Kernel.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { RouteTable } from "./RouteTable.ts"

/** A list: its endpoint, the field of its rows in the answer, the enzymes of the runtime that it tells, and the row of each. */
export interface RuntimeList {
  readonly endpoint: Endpoint
  readonly field: string
  readonly has: (enzyme: Enzyme) => boolean
  readonly row: (registration: Registration) => object
}

/** The descriptor of an enzyme as JSON, without its functions. */
const describe = (enzyme: Enzyme): object =>
  ({ ...enzyme, _tag: undefined, writes: enzyme.writes ?? null, payload: enzyme.payload !== undefined, declares: pathsOf(enzyme) })

/** The paths of the types that an enzyme declares; absent if there are none. */
const pathsOf = ({ declares }: Enzyme): ReadonlyArray<string> | undefined =>
  declares.length === 0 ? undefined : declares.flatMap(({ declared }) => declared?.template.path ?? [])

const own: RuntimeList = {
  endpoint: Spaces.enzymes,
  field: "enzymes",
  has: () => true,
  row: ({ enzyme, hash }) => ({ ...describe(enzyme), hash: hash ?? null })
}

/** The query of a list. Its cursor is a number of rows. */
interface Query {
  readonly after?: number
  readonly limit: number
}

/**
 * Adds the lists of a runtime with some slices to a table.
 */
export const routes = (
  table: RouteTable,
  slices: ReadonlyArray<{ readonly lists?: ReadonlyArray<RuntimeList> }>,
  enzymes: Effect.Effect<ReadonlyArray<Registration>, unknown>
): void => {
  for (const list of [own, ...slices.flatMap(({ lists = [] }) => lists)]) {
    table.serve(list.endpoint, ({ query }) => Effect.map(enzymes, (all) => page(list, all, query as unknown as Query)))
  }
}

/** A page of a list. It makes no rows but its own. */
const page = ({ field, has, row }: RuntimeList, enzymes: ReadonlyArray<Registration>, { after = 0, limit }: Query): object => {
  const all = enzymes.filter(({ enzyme }) => has(enzyme))
  const end = after + limit
  return { [field]: all.slice(after, end).map(row), next: end < all.length && limit > 0 ? end : undefined }
}

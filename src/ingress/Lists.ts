/**
 * The lists of a runtime: the routes that concern no space and tell its modules. A server and the Worker in front of objects
 * answer them alike.
 *
 * @module
 */
import type { Registration } from "../kernel/space/Kernel.ts"
import type { Enzyme } from "../registry/Enzyme.ts"

/** The answer of a list, made of the enzymes of the runtime. */
export type List = (enzymes: ReadonlyArray<Registration>) => object

/** Lists by their paths. */
export type Lists = Readonly<Record<string, List>>

/** The descriptor of an enzyme as JSON, without its functions. */
const describe = (enzyme: Enzyme): object =>
  ({ ...enzyme, _tag: undefined, writes: enzyme.writes ?? null, payload: enzyme.payload !== undefined })

const own: Lists = {
  "/v1/enzymes": (enzymes) => ({ enzymes: enzymes.map(({ enzyme, hash }) => ({ ...describe(enzyme), hash: hash ?? null })) })
}

/**
 * The lists of a runtime with some features.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (features: ReadonlyArray<{ readonly lists?: Lists }>): Lists =>
  Object.assign({}, own, ...features.map(({ lists }) => lists))

/**
 * Links: values that stand for another address.
 *
 * A read that meets a link goes on at the address it names, over at most
 * {@link MAX_HOPS} links; a write resolves links before its envelope is
 * checked. (Architecture, section 3; seed 002, D3.)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Address from "./Address.ts"
import * as Value from "./Value.ts"

/** Most links that one read or write follows. */
export const MAX_HOPS = 32

/** The one key of a link's stored form. */
const KEY = "$link"

/**
 * A value that stands for the cell at an address.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  readonly [KEY]: string
}

/**
 * A chain of links does not end.
 *
 * @category errors
 * @since 0.1.0
 */
export class LinkLoop extends Schema.TaggedError<LinkLoop>()("LinkLoop", { address: Schema.String }) {
  readonly code = "link/loop"
  override get message() {
    return `The links that start at ${this.address} do not end after ${MAX_HOPS} hops. Point one of them at a value`
  }
}

/**
 * A link to the cell at `address`.
 *
 * @throws InvalidAddress
 * @example A cell that stands for another
 * ```ts
 * import { Enzyme, Link } from "systole"
 *
 * export default Enzyme.make({
 *   name: "newest",
 *   query: "/signals/publish/:issue",
 *   run: (tx, event) => tx.set("/data/newest", Link.make(`/data/issues/${event.params["issue"]}`))
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (address: string): Link => Object.freeze({ [KEY]: Address.parse(address).text })

/**
 * Whether a value is a link.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (value: unknown): value is Link => {
  if (typeof value !== "object" || value === null || typeof (value as Link)[KEY] !== "string") return false
  for (const key in value) if (key !== KEY) return false
  return isAddress((value as Link)[KEY])
}

/** A text that is no address makes no link: the object that holds it is a value like any other. */
const isAddress = (text: string): boolean => {
  try {
    return Address.parse(text) !== undefined
  } catch {
    return false
  }
}

/**
 * The address a link stands for.
 *
 * @throws InvalidAddress
 * @category getters
 * @since 0.1.0
 */
export const target = (link: Link): Address.Address => Address.parse(link[KEY])

/** The first link that a path meets in a value, and how deep it lies; `undefined` where there is none. */
export const along = (value: Value.Value, path: Address.Path): { readonly link: Link; readonly depth: number } | undefined => {
  let here = value
  for (let depth = 0; ; depth++) {
    if (is(here)) return { link: here, depth }
    if (depth === path.length || !Value.isContainer(here)) return undefined
    here = Value.step(here, path[depth]!)
  }
}

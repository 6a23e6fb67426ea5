/**
 * Links: values that refer to another address.
 *
 * A read that meets a link continues at the linked address, over at most {@link MAX_HOPS} links. A write resolves links
 * before its envelope is checked [S2 §1].
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Address from "./Address.ts"
import * as Value from "./Value.ts"

/** The maximum number of links that one read or write follows. */
export const MAX_HOPS = 32

/** The only key of a link's stored form. */
const KEY = "$link"

/**
 * A value that refers to the cell at an address.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  readonly [KEY]: string
}

/**
 * A read or write followed more than {@link MAX_HOPS} links.
 *
 * @category errors
 * @since 0.1.0
 */
export class LinkLoop extends Data.TaggedError("LinkLoop")<{ readonly address: string }> {
  readonly code = "link/loop"
  override get message() {
    return `The links that start at ${this.address} do not end after ${MAX_HOPS} hops. Point one of them at a value`
  }
}

/**
 * Creates a link to the cell at `address`.
 *
 * @throws InvalidAddress
 * @example A cell that refers to another
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
 * Tests whether a value is a link.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (value: unknown): value is Link => {
  if (typeof value !== "object" || value === null || typeof (value as Link)[KEY] !== "string") return false
  for (const key in value) if (key !== KEY) return false
  return isAddress((value as Link)[KEY])
}

/** Tests whether a text is an address. An object with another text is an ordinary value, not a link. */
const isAddress = (text: string): boolean => {
  try {
    return Address.parse(text) !== undefined
  } catch {
    return false
  }
}

/**
 * Returns the address that a link refers to.
 *
 * @throws InvalidAddress
 * @category getters
 * @since 0.1.0
 */
export const target = (link: Link): Address.Address => Address.parse(link[KEY])

/** Returns the first link along a path in a value, and its depth; `undefined` if there is none. */
export const along = (value: Value.Value, path: Address.Path): { readonly link: Link; readonly depth: number } | undefined => {
  let here = value
  let depth = 0
  for (const key of path) {
    if (is(here)) return { link: here, depth }
    if (!Value.isContainer(here)) return undefined
    here = Value.step(here, key)
    depth++
  }
  return is(here) ? { link: here, depth } : undefined
}

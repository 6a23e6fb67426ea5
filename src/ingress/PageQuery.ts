/**
 * The query of a list: the size of its page.
 *
 * @module
 */
import * as Body from "./Body.ts"

/** The maximum size of a page, unless a list sets another one. */
export const MAX_LISTED = 100

/** The size of a page without `?limit=`, unless a list sets another one. */
export const LISTED = 20

/**
 * The size of the requested page: `?limit=`, capped at `max`.
 *
 * @throws RequestRefused
 * @category constructors
 * @since 0.1.0
 */
export const limit = (text: string | undefined, { listed = LISTED, max = MAX_LISTED } = {}): number =>
  Math.min(text === undefined ? listed : Body.count(text), max)

/**
 * The options that both kinds of buckets have.
 *
 * @module
 */
import * as Fields from "../channel/Fields.ts"

/** The most bytes of one content, by default and at all: 1 GiB and 32 GiB. */
const MAX_BYTES = 1_073_741_824
const MOST_BYTES = 34_359_738_368

/** The most bytes of one content. */
export const maxBytes = Fields.or(Fields.count(1, MOST_BYTES), MAX_BYTES)

/** The most objects of a page. */
export const PAGE = 1000

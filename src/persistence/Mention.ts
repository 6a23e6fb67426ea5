/**
 * Mentions: which content a stored text holds on to.
 *
 * Content is kept as long as its address, `/cas/<digest>`, stands in a document,
 * in a signal that waits, or in a journal row that was written since the content
 * came and is kept; and it is kept for a
 * while after it came, in which whoever brought it can say where it belongs. All
 * else is collected. What a text names is noted when the text is written, so
 * that whether content is held is one look, and nothing is scanned for it.
 * (Architecture, section 3.)
 *
 * @module
 */

const ADDRESS = "/cas/"
const every = /\/cas\/([0-9a-f]{64})(?![0-9a-f])/g

const none: ReadonlyArray<string> = []

/**
 * The digests whose addresses stand in a text, each once.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (text: string): ReadonlyArray<string> =>
  text.includes(ADDRESS) ? [...new Set(Array.from(text.matchAll(every), ([, hash]) => hash!))] : none

/**
 * Names a signal that waits among those that hold content, beside documents, which go by their keys.
 *
 * @category constructors
 * @since 0.1.0
 */
export const waiting = (seq: number): string => `#${seq}`

/** How content is collected after a group. */
export interface Collection {
  /** The clock of the group. */
  readonly clock: number
  /** How long content is kept in any case, and from one look at it to the next. */
  readonly millis: number
  /** The newest journal row that is not kept any more. */
  readonly anchor: number
  /** Most contents that are looked at. */
  readonly limit: number
}

/** Parts of content that go at once; what is left goes after the next group. */
export const MOST_PARTS = 64

/**
 * Content references: the `/cas/<digest>` addresses in a stored text.
 *
 * Content is kept while a document, a queued signal or a retained journal row refers to it. A journal row counts only
 * if it was written after the content arrived. New content is also kept for a grace period, in which its sender can
 * store a reference. All other content is collected.
 *
 * References are recorded when a text is written. Whether content is in use is therefore one look-up, without a scan.
 *
 * @module
 */

const ADDRESS = "/cas/"
const every = /\/cas\/[0-9a-f]{64}(?![0-9a-f])/g

const none: ReadonlyArray<string> = []

/**
 * Returns the digests that a text refers to, without duplicates.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (text: string): ReadonlyArray<string> =>
  text.includes(ADDRESS) ? [...new Set(Array.from(text.match(every) ?? none, (address) => address.slice(ADDRESS.length)))] : none

/**
 * Returns the holder name of a queued signal. Documents are holders by their keys.
 *
 * @category constructors
 * @since 0.1.0
 */
export const waiting = (seq: number): string => `#${seq}`

/** The parameters of a collection after a group. */
export interface Collection {
  /** The clock of the group. */
  readonly clock: number
  /** The grace period of new content and the interval between two checks, in milliseconds. */
  readonly millis: number
  /** The newest pruned journal row. */
  readonly anchor: number
  /** The maximum number of contents to check. */
  readonly limit: number
}

/** The maximum number of content parts deleted at once; the rest is deleted after the next group. */
export const MOST_PARTS = 64

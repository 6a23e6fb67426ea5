/**
 * Content: bytes that are addressed by their digest, as runs name them.
 *
 * @module
 */

/** Where content lies. */
export const FOLDER = "/cas/"

/**
 * The digest of the content that an id names; `undefined` for a document's.
 *
 * @category getters
 * @since 0.1.0
 */
export const hashOf = (id: string): string | undefined =>
  id.charCodeAt(1) === 99 && id.startsWith(FOLDER) ? id.slice(FOLDER.length) : undefined

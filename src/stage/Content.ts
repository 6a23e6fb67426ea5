/**
 * Content: bytes addressed by their digest.
 *
 * @module
 */

/** The folder of content. */
export const FOLDER = "/cas/"

/**
 * Returns the digest in the id of content; `undefined` for the id of a document.
 */
export const hashOf = (id: string): string | undefined =>
  id.charCodeAt(1) === 99 && id.startsWith(FOLDER) ? id.slice(FOLDER.length) : undefined

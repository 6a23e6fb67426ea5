/**
 * Reads that need no credential, as a configuration names them: the cells at and below one, such as
 * `GET /v1/spaces/shop/cells/data/menu/**`, or a page, such as `GET /menu`.
 *
 * @module
 */

/** Cells of a space: the one with an id, and all below it. */
export interface PublicCells {
  readonly space: string
  readonly cell: string
}

/** The read that a text names. */
export type PublicRead = PublicCells | { readonly page: string }

/** The name of those who read without a credential. No reader of a configuration has it. */
export const READER = "@public"

/** The most texts of a configuration. */
export const MAX_PUBLIC = 100

/** The requests of an address without an accepted credential, unless the configuration tells their rate. */
export const RATE = { requests: 600, seconds: 60 } as const

const CELLS = /^GET \/v1\/spaces\/([a-z0-9][a-z0-9-]{0,62})\/cells((?:\/[^/\s*%?#]{1,200}){1,50})\/\*\*$/

const PAGE = /^GET (\/(?!v1(?:\/|$))[A-Za-z0-9_/.-]{0,200})$/

/**
 * The read of a text; `undefined` for a text that names none. A read never changes anything, so its method is `GET`.
 */
export const read = (text: string): PublicRead | undefined => {
  const [, space, cell] = CELLS.exec(text) ?? []
  if (space !== undefined && cell !== undefined) return { space, cell }
  const [, page] = PAGE.exec(text) ?? []
  return page === undefined ? undefined : { page }
}

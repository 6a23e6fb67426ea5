/**
 * The cell in the path of a request.
 *
 * @module
 */
import { InvalidAddress } from "../../cell/Address.ts"
import { cellOf } from "../../contract/Paths.ts"

/**
 * The id of the cell at the end of a path, which is percent-decoded once; `undefined` for a path without one.
 *
 * @throws InvalidAddress
 */
export const idIn = (pathname: string): string | undefined => {
  const named = cellOf(pathname)
  if (named === undefined || "id" in named) return named?.id
  throw new InvalidAddress({ text: named.path, reason: named.reason })
}

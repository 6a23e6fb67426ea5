/**
 * The cell in the path of a request.
 *
 * @module
 */
import { InvalidAddress } from "../cell/Address.ts"

/**
 * The id of the cell at the end of a path, which is percent-decoded once; `undefined` for a path without one.
 *
 * @throws InvalidAddress
 */
export const idIn = (pathname: string): string | undefined => {
  const [, text] = /^\/v1\/spaces\/[^/]+\/(?:cells|locks)(\/.*)$/.exec(pathname) ?? []
  return text === undefined ? undefined : decoded(text)
}

const decoded = (path: string): string => {
  if (/%2f/i.test(path)) throw new InvalidAddress({ text: path, reason: "a name holds an encoded slash" })
  try {
    return decodeURIComponent(path)
  } catch {
    throw new InvalidAddress({ text: path, reason: "its percent-encoding is not UTF-8" })
  }
}

/**
 * The same for a URL; `undefined` also for a malformed one.
 */
export const cellIn = (url: string): string | undefined => {
  try {
    return idIn(new URL(url).pathname)
  } catch {
    return undefined
  }
}

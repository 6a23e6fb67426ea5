/**
 * Header fields of requests: their syntax, and the names that the connection sets.
 *
 * @module
 */

/** The most characters of the names and values of a request. */
export const MAX_CHARS = 16_384

const token = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/i
const line = /^[\t\x20-\x7e\x80-\xff]*$/

const reserved: ReadonlySet<string> = new Set([
  "connection", "content-length", "expect", "host", "idempotency-key", "keep-alive", "proxy-connection", "te", "trailer",
  "transfer-encoding", "upgrade"
])

/** Tests whether a text is a token, such as the name of a header or a method. */
export const isToken = (text: string): boolean => token.test(text)

/** Tests whether a text is one line of Latin-1. */
export const isLine = (text: string): boolean => line.test(text)

/** Tests whether the channel or the connection sets the header of a name. */
export const isReserved = (name: string): boolean => reserved.has(name.toLowerCase())

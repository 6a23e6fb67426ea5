/**
 * Names: the segments of every path.
 *
 * A name is `[domain:]tag`, in Unicode normal form C, compared by code unit. A stored name contains no character with a
 * meaning in queries or in the text form of addresses. A path can therefore be put into a log line, a URL or a JSON
 * text unescaped.
 *
 * @module
 */

/** The maximum length of a name, in characters. */
export const MAX_NAME = 255

/** The maximum number of names in a path. */
export const MAX_NAMES = 64

// Control characters, white space, and characters with a meaning in addresses, queries, URLs and JSON strings.
// eslint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff/*?#%\\"<>]/

/**
 * Returns the reason why `name` is not a valid name, or `undefined` if it is valid.
 */
export const refusal = (name: string): string | undefined => {
  if (name === "") return "a name between slashes is empty"
  if (name.length > MAX_NAME) return `a name has ${name.length} characters and the limit is ${MAX_NAME}`
  if (name === "." || name === "..") return `the name "${name}" would be relative`
  const character = forbidden.exec(name)
  if (character !== null) return `the name holds the character ${JSON.stringify(character[0])}`
  if (name.startsWith(":") || name.endsWith(":")) return `the name "${name}" has an empty domain or tag`
  if (!name.isWellFormed()) return "the name holds half of a surrogate pair"
  if (name.normalize("NFC") !== name) return `the name "${name}" is not in Unicode normal form C`
  return undefined
}

/**
 * Splits a path such as `/signals/image` into names; returns the reason as a string if the path is invalid.
 */
export const split = (path: string, refuse: (name: string) => string | undefined = refusal): ReadonlyArray<string> | string => {
  if (!path.startsWith("/")) return "a path starts with a slash"
  if (path === "/") return "a path needs at least one name after the slash"
  const names = path.slice(1).split("/")
  if (names.length > MAX_NAMES) return `a path has ${names.length} names and the limit is ${MAX_NAMES}`
  for (const name of names) {
    const reason = refuse(name)
    if (reason !== undefined) return reason
  }
  return names
}

/**
 * Names: the segments of which every path in the runtime is made.
 *
 * A name is `[domain:]tag`, in Unicode normal form C, compared by code unit.
 * A name that is stored holds none of the characters that queries and the text
 * form of addresses give a meaning to, so a path can be put into a log line, a
 * URL or a JSON text as it stands.
 *
 * @module
 */

/** Most characters of one name. */
export const MAX_NAME = 255

/** Most names in one path. */
export const MAX_NAMES = 64

// Control characters, white space, and what addresses, queries, URLs and JSON strings give a meaning to.
// eslint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff/*?#%\\"<>]/

/**
 * Why `name` cannot name anything, or `undefined` when it can.
 *
 * @category guards
 * @since 0.1.0
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
 * The names of a path such as `/signals/image`, or why it is none.
 *
 * @category constructors
 * @since 0.1.0
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

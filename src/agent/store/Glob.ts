/**
 * Patterns over the names of files: `*` is any text, `?` is one character.
 *
 * @module
 */

/**
 * Tests whether a name matches a pattern as a whole. The cost is at most the product of both lengths, for any pattern.
 */
export const matches = (pattern: string, name: string): boolean => {
  let [at, here] = [0, 0]
  /** The place behind the last `*`, and the place in the name up to which it reaches. */
  let [star, reach] = [-1, 0]
  while (here < name.length) {
    if (pattern[at] === "*") {
      star = ++at
      reach = here
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[here])) {
      at++
      here++
    } else {
      if (star < 0) return false
      at = star
      here = ++reach
    }
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}

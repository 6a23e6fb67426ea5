/**
 * The text of the key of a node, in a variable or a file of this host.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { ReadSecret } from "../../loader/NodeKey.ts"

/** The most bytes of a file with a key. */
const MAX_BYTES = 1024

/**
 * Reads from the variables of the process, and from files of a project.
 */
export const reader = (root: string): ReadSecret => (place) => {
  if ("env" in place) return process.env[place.env] ?? ""
  const bytes = readFileSync(resolve(root, place.file))
  return bytes.length > MAX_BYTES ? "" : bytes.toString("utf8")
}

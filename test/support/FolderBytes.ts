/**
 * The bytes of folders, in which a test looks for secrets.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

/** The bytes of all files below a folder, a character each. */
export const bytesBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "latin1"))
    .join("")

/**
 * The docstrings of the entries of a table in the sources, which are the texts of the reference.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"

const entry = /^ {2}\/\*\*([\s\S]*?)\*\/\n {2}(\w+):/gm

/** The first paragraph of a docstring, on one line. */
const paragraph = (text: string): string => text.replaceAll(/^ *\* ?/gm, "").trim().split(/\n\n|\n@/)[0]!.replaceAll(/\s+/g, " ")

/**
 * The docstrings of the entries of a constant, by their names. An entry stands on lines of its own, two spaces deep, and so does its
 * docstring. Fails for a file without such a constant.
 */
export const of = (file: string, constant: string): ReadonlyMap<string, string> => {
  const text = readFileSync(join(root, file), "utf8")
  const begin = text.indexOf(`export const ${constant} = {`)
  if (begin < 0) throw new Error(`${file} has no table ${constant}`)
  const table = text.slice(begin, text.indexOf("\n}", begin))
  return new Map([...table.matchAll(entry)].map(([, doc = "", name = ""]) => [name, paragraph(doc)]))
}

/**
 * The docstrings of the entries of a table in the sources, which are the texts of the reference.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"

const entry = /^ {2}\/\*\*([\s\S]*?)\*\/\n {2}(?:readonly )?(\w+)\??:/gm

/** The first paragraph of a docstring, on one line. */
const paragraph = (text: string): string => text.replaceAll(/^ *\* ?/gm, "").trim().split(/\n\n|\n@/)[0]!.replaceAll(/\s+/g, " ")

/** A docstring: its first paragraph, and its tag `@default`, if it has one. */
interface Docstring {
  readonly means: string
  readonly value: string | undefined
}

/**
 * The docstrings of the entries of a constant or an interface, by their names. An entry stands on lines of its own, two spaces deep,
 * and so does its docstring. Fails for a file without that head.
 */
export const of = (file: string, head: string): ReadonlyMap<string, Docstring> => {
  const text = readFileSync(join(root, file), "utf8")
  const begin = text.indexOf(`export ${head}`)
  if (begin < 0) throw new Error(`${file} has no ${head}`)
  const table = text.slice(begin, text.indexOf("\n}", begin))
  return new Map([...table.matchAll(entry)].map(([, doc = "", name = ""]) => {
    const value = /@default (.+)/.exec(doc)?.[1]
    return [name, { means: paragraph(doc), value }]
  }))
}

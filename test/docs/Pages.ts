/**
 * The README pages of the repository, and their parts.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "../scripts/Host.ts"

/** A page. */
export interface Page {
  /** Its path from the root, such as `src/README.md`. */
  readonly path: string
  readonly text: string
}

/** A fenced block of a page: its language, the name behind that, and its lines. */
export interface Block {
  readonly language: string
  readonly name: string
  readonly text: string
}

const apart = new Set(["node_modules", "dist"])

const below = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return apart.has(entry.name) || entry.name.startsWith(".") ? [] : below(path)
    return entry.name === "README.md" ? [path] : []
  })

/** The page at a path from the root. */
export const read = (path: string): Page => ({ path, text: readFileSync(join(root, path), "utf8") })

/** Every page named `README.md`. */
export const all = (): ReadonlyArray<Page> => [...below(".")].sort().map(read)

/** The folder of a page, from the root. */
export const folderOf = ({ path }: Page): string => dirname(path)

/** The fenced blocks of a text, in order. */
export const blocksOf = (text: string): ReadonlyArray<Block> =>
  [...text.matchAll(/^```(\w*)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language = "", name = "", text = ""]) => ({ language, name, text }))

/** A text without its fenced and indented blocks. */
export const prose = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/^ {4,}.*$/gm, "")

/** The sections of a text, each with its title: a heading of the given depth up to the next one of it. */
export const sections = (text: string, depth = 2): ReadonlyArray<readonly [title: string, text: string]> =>
  text.split(new RegExp(`^${"#".repeat(depth)} (?=\\S)`, "m")).slice(1).map((section) => {
    const end = section.indexOf("\n")
    return [section.slice(0, end), section.slice(end + 1)] as const
  })

/** The anchor of a heading, as GitHub makes it. */
export const anchor = (title: string): string => title.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-")

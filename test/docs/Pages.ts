/**
 * The pages of the repository, and their parts.
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

/** The names of pages. */
const names = new Set([
  "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "DECISIONS.md", "GLOSSARY.md", "JOURNEY.md", "LABELS.md", "RECOVERY.md", "RULES.md",
  "SECURITY.md", "TELEMETRY.md", "WHERE.md"
])

const below = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return apart.has(entry.name) || (entry.name.startsWith(".") && entry.name !== ".github") ? [] : below(path)
    return names.has(entry.name) ? [path] : []
  })

/** The page at a path from the root. */
export const read = (path: string): Page => ({ path, text: readFileSync(join(root, path), "utf8") })

/** Every page. */
export const all = (): ReadonlyArray<Page> => [...below(".")].sort().map(read)

/** The folder of a page, from the root. */
export const folderOf = ({ path }: Page): string => dirname(path)

/** The fenced blocks of a text, in order. */
export const blocksOf = (text: string): ReadonlyArray<Block> =>
  [...text.matchAll(/^```(\w*)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language = "", name = "", text = ""]) => ({ language, name, text }))

/** A text without its fenced and indented blocks. */
export const prose = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/^ {4,}.*$/gm, "")

/** The sections of a text, each with its title: a heading of the given depth, outside of fenced blocks, up to the next one of it. */
export const sections = (text: string, depth = 2): ReadonlyArray<readonly [title: string, text: string]> => {
  const fenced = [...text.matchAll(/^```[\s\S]*?^```$/gm)].map(({ 0: { length }, index }) => [index, index + length] as const)
  const isProse = (at: number): boolean => !fenced.some(([start, end]) => at > start && at < end)
  const starts = [...text.matchAll(new RegExp(`^${"#".repeat(depth)} (?=\\S)`, "gm"))].map(({ index }) => index).filter(isProse)
  return starts.map((start, i) => {
    const section = text.slice(start + depth + 1, starts[i + 1])
    const end = section.indexOf("\n")
    return [section.slice(0, end), section.slice(end + 1)] as const
  })
}

/** The anchor of a heading, as GitHub makes it. */
export const anchor = (title: string): string => title.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-")

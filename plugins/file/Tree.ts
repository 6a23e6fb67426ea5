/**
 * The entries of folders below a root: lists and globs with a limit.
 *
 * @module
 */
import type { Dirent, Stats } from "node:fs"
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { Channel } from "systole"
import { type Jail, ifPresent } from "../channel/Jail.ts"
import type { OpenFolder } from "../channel/OpenFolder.ts"
import * as Temporary from "./Temporary.ts"

/** The kind of an entry. */
export type Kind = "file" | "folder" | "link" | "other"

/** The kind of an entry of a folder. */
export const kindOf = (entry: Dirent | Stats): Kind => {
  if (entry.isFile()) return "file"
  if (entry.isDirectory()) return "folder"
  return entry.isSymbolicLink() ? "link" : "other"
}

/** An entry of a folder. */
export interface Entry {
  readonly name: string
  readonly kind: Kind
}

/** A folder of a walk, and the entries of any folder. */
interface Folder {
  readonly path: string
  readonly real: string
  readonly entries: (path: string, real: string) => Promise<ReadonlyArray<Entry>>
}

const byName = (a: Entry, b: Entry): number => a.name < b.name ? -1 : 1

/** The entries that one request looks at, up to a limit. */
export class Tree {
  private readonly jail: Jail
  private readonly limit: number
  private readonly signal: AbortSignal
  private seen = 0

  constructor(jail: Jail, limit: number, signal: AbortSignal) {
    this.jail = jail
    this.limit = limit
    this.signal = signal
  }

  /**
   * The entries of a folder in the order of their code units. Files of unfinished writes are left out. `opened` is called
   * before the first entry is read.
   */
  async entries(path: string, real: string, opened: () => void = () => {}): Promise<ReadonlyArray<Entry>> {
    const found = await this.jail.within(path, real, (folder) => {
      opened()
      return this.all(folder)
    })
    return found.sort(byName)
  }

  private async all(folder: OpenFolder): Promise<Array<Entry>> {
    const found: Array<Entry> = []
    for await (const entry of await folder.entries()) {
      this.signal.throwIfAborted()
      if (Temporary.is(entry.name)) continue
      if (++this.seen > this.limit) {
        const reason = `more than ${this.limit} entries would be read; give a narrower path, or raise the option maxEntries`
        throw Channel.fail("file/entries", reason, { errno: -7 })
      }
      found.push({ name: entry.name, kind: kindOf(entry) })
    }
    return found
  }

  /** The paths of the files that a pattern matches, in the order of their code units. Links are not followed. */
  async glob(root: string, pattern: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    const found = new Set<string>()
    const visited = new Set<string>()
    const folders = new Map<string, Promise<ReadonlyArray<Entry>>>()
    /** The entries of a folder, which is read once: several segments may look at it. */
    const entries = (path: string, real: string): Promise<ReadonlyArray<Entry>> => {
      const known = folders.get(path) ?? this.entries(path, real)
      folders.set(path, known)
      return known
    }
    const visit = async (path: string, at: number): Promise<void> => {
      const segment = pattern[at]
      // Two ways to the same place, as over **/**, are one.
      if (segment === undefined || visited.has(`${at}:${path}`)) return
      visited.add(`${at}:${path}`)
      const isLast = at === pattern.length - 1
      if (segment === "**" && !isLast) await visit(path, at + 1)
      for (const { kind, name } of await this.matching({ path, real: join(root, path), entries }, segment)) {
        const below = path === "" ? name : `${path}/${name}`
        if (kind === "file" && isLast) found.add(below)
        if (kind === "folder" && (segment === "**" || !isLast)) await visit(below, segment === "**" ? at : at + 1)
      }
    }
    await visit("", 0)
    return [...found].sort()
  }

  private async matching({ entries, path, real }: Folder, segment: string): Promise<ReadonlyArray<Entry>> {
    if (!/[*?]/.test(segment)) {
      const entry = await ifPresent(this.jail.within(path, real, (folder) => lstat(folder.at(segment))))
      return entry === undefined ? [] : [{ name: segment, kind: kindOf(entry) }]
    }
    const matches = matcher(segment)
    return (await entries(path, real)).filter(({ name }) => matches(name))
  }
}

/** Tests names against a segment: `*` and `?` match no leading dot. */
const matcher = (segment: string): (name: string) => boolean => {
  const parts = segment.replaceAll(/\*+/g, "*").split("*").map((part) => [...part])
  const isHidden = segment.startsWith(".")
  return (name) => (isHidden || !name.startsWith(".")) && matchesParts([...name], parts)
}

const matchesAt = (name: ReadonlyArray<string>, part: ReadonlyArray<string>, at: number): boolean =>
  at >= 0 && at + part.length <= name.length && part.every((each, i) => each === "?" || each === name[at + i])

/** Tests a name against parts with any text between them, in time proportional to the product of their lengths. */
const matchesParts = (name: ReadonlyArray<string>, parts: ReadonlyArray<ReadonlyArray<string>>): boolean => {
  const [first = [], ...rest] = parts
  const last = rest.pop()
  if (!matchesAt(name, first, 0)) return false
  if (last === undefined) return first.length === name.length
  let at = first.length
  for (const part of rest) {
    while (at < name.length && !matchesAt(name, part, at)) at++
    if (!matchesAt(name, part, at)) return false
    at += part.length
  }
  return name.length - last.length >= at && matchesAt(name, last, name.length - last.length)
}

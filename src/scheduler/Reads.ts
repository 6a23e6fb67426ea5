/**
 * Reads: what a node read, as a list for others.
 *
 * The list is in the order of its addresses, and leaves out what lies in
 * another place of it: who hears of all changes of a value hears of those of its
 * parts. (Semantics, section 7.3, "compacted".)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Depth, Edge, Node } from "./Node.ts"

/** One place that was read. */
export interface Read {
  readonly key: string
  readonly path: Address.Path
  readonly depth: Depth
  /** The newest change of it that was a reason to run, by number. */
  readonly cause: number
}

/** What a node read in its newest run. */
export const of = (node: Node): ReadonlyArray<Read> => {
  const reads: Array<Read> = []
  for (let edge: Edge | undefined = node.reads; edge !== undefined; edge = edge.nextRead) {
    const { depth = "deep", path = [] } = edge.location.extra ?? {}
    reads.push({ key: edge.location.key, path, depth, cause: edge.cause })
  }
  return compacted(reads)
}

/** The same reads in order, without those that lie in another one. */
export const compacted = (reads: ReadonlyArray<Read>): ReadonlyArray<Read> => {
  const kept: Array<Read> = []
  let above: number | undefined
  for (const read of [...reads].sort(compare)) {
    const whole = above === undefined ? undefined : kept[above]!
    if (whole !== undefined && lies(read, whole)) {
      if (read.cause > whole.cause) kept[above!] = { ...whole, cause: read.cause }
      continue
    }
    if (read.depth === "deep") above = kept.length
    kept.push(read)
  }
  return kept
}

/** How a read is written down. */
export const textOf = ({ depth, key, path }: Read): string => {
  const { text } = Address.into(Address.ofKey(key), path)
  return depth === "children" ? `${text}/*` : text
}

/** By document, then by place, what is above first; at one place, the deep read first. */
const compare = (a: Read, b: Read): number => order(a.key, b.key) || comparePaths(a.path, b.path) || depths[a.depth] - depths[b.depth]

const depths = { deep: 0, shallow: 1, children: 2 } as const

const order = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

const comparePaths = (a: Address.Path, b: Address.Path): number => {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const found = order(a[i]!, b[i]!)
    if (found !== 0) return found
  }
  return a.length - b.length
}

/** Whether a value that was read holds all of another place. The names below a cell are in no value. */
const lies = (read: Read, whole: Read): boolean =>
  read.depth !== "children" && read.key === whole.key && whole.path.every((key, i) => key === read.path[i])

/**
 * The reads of a node, as an ordered list.
 *
 * The list is sorted by address, and omits reads covered by another one. A deep read
 * covers the parts of its value.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import { textOf as shown } from "./Locations.ts"
import type { Depth, Edge, Node } from "./Node.ts"

/** A read of one place. */
export interface Read {
  readonly key: string
  readonly path: Address.Path
  readonly depth: Depth
  /** The clock of its newest change that caused a run. */
  readonly cause: number
  readonly isPassive: boolean
}

/** The reads of a node's newest run, or the first of them. */
export const of = (node: Node, most = Number.POSITIVE_INFINITY): ReadonlyArray<Read> => {
  const reads: Array<Read> = []
  for (let edge: Edge | undefined = node.reads; edge !== undefined && reads.length < most; edge = edge.nextRead) {
    const { depth = "deep", path = [] } = edge.location.extra ?? {}
    reads.push({ key: edge.location.key, path, depth, cause: edge.cause, isPassive: edge.isPassive })
  }
  return compact(reads)
}

/** Sorted reads, without covered ones. */
export const compact = (reads: ReadonlyArray<Read>): ReadonlyArray<Read> => {
  const kept: Array<Read> = []
  let whole: { readonly at: number; read: Read } | undefined
  for (const read of [...reads].sort(compare)) {
    if (whole !== undefined && lies(read, whole.read)) {
      const { cause, isPassive } = whole.read
      kept[whole.at] = whole.read = { ...whole.read, cause: Math.max(read.cause, cause), isPassive: isPassive && read.isPassive }
      continue
    }
    if (read.depth === "deep") whole = { at: kept.length, read }
    kept.push(read)
  }
  return kept
}

/** The text of a read. */
export const textOf = ({ depth, key, path }: Read): string => {
  const { text } = Address.into(Address.ofKey(key), path)
  return depth === "children" ? `${text}/*` : text
}

/** By document, then by path, parents first. At one path, the deep read comes first. */
const compare = (a: Read, b: Read): number => order(a.key, b.key) || comparePaths(a.path, b.path) || depths[a.depth] - depths[b.depth]

const depths = { deep: 0, shallow: 1, children: 2 } as const

const order = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

const comparePaths = (a: Address.Path, b: Address.Path): number => {
  for (const [i, name] of a.entries()) {
    const other = b[i]
    if (other === undefined) break
    const found = order(name, other)
    if (found !== 0) return found
  }
  return a.length - b.length
}

/** Whether a deep read covers another one. Values contain no names of cells below. */
const lies = (read: Read, whole: Read): boolean =>
  read.depth !== "children" && read.key === whole.key && whole.path.every((key, i) => key === read.path[i])

/** The addresses that caused a node's next run, or the run in progress, among at most so many reads. */
export const causesOf = (node: Node, most = Number.POSITIVE_INFINITY): ReadonlyArray<string> => {
  const found = new Set<string>()
  let left = most
  for (let edge = node.reads; edge !== undefined && left > 0; edge = edge.nextRead, left--) {
    if (edge.cause > (node.run?.since ?? Number.POSITIVE_INFINITY)) found.add(shown(edge.location))
  }
  return [...found]
}

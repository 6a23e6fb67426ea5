/**
 * Lines of the journal that tell of runs of nodes.
 *
 * @module
 */
import type { Standpoint } from "../../scheduler/Standpoint.ts"

/** One run of a node in a beat. */
export interface NodeLine {
  readonly name: string
  /** The place in the agenda of the handling that asked for it, `PASS`, or `FIRST`; of a run aside for a node, below that. */
  readonly at: number
  /** The nodes that started it, outermost first, with `/` between; `undefined` for a node of a module. */
  readonly parent: string | undefined
  /** Of one that was started, where its creators were not at rest: the beat of the run that made it what it is, `UNENDED` for one under way. */
  readonly made: number | undefined
  /** From where it looked, where it only brought back what its run of an earlier process had started. */
  readonly recalled?: Standpoint | undefined
  readonly error: { readonly tag: string; readonly code: string; readonly message: string } | undefined
}

/**
 * One run of a node: its name, the place in the agenda of the handling that asked for it, -1 in the pass and less in its further rounds and before all handlings, the nodes
 * that started it, with the beat that made it what it is where they were not at rest, or 0, and how it failed.
 */
export type NodeRunLine = readonly [name: string, at: number, parent?: string | readonly [parent: string, made: number] | 0, tag?: string, code?: string]

/** A run as it stands in an entry. */
export const textOf = ({ at, error, made, name, parent }: NodeLine): string => {
  const head = `["${name}",${at}`
  const above = parent === undefined ? 0 : made === undefined ? `"${parent}"` : `["${parent}",${made}]`
  if (error !== undefined) return `${head},${above},"${error.tag}","${error.code}"]`
  return parent === undefined ? `${head}]` : `${head},${above}]`
}

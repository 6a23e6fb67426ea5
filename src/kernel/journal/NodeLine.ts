/**
 * Journal lines of node runs.
 *
 * @module
 */
import type { Standpoint } from "../../scheduler/definition/Standpoint.ts"
import { presentOf } from "./PathItem.ts"

/** One run of a node in a beat. */
export interface NodeLine {
  readonly name: string
  /** The agenda place of the handling that demanded it, `PASS`, or `FIRST`; for an isolated run for a node, below that. */
  readonly at: number
  /** The nodes that started it, outermost first, separated by `/`; `undefined` for a node of a module. */
  readonly parent: string | undefined
  /**
   * For a started node with creators that were not settled: the beat of the run that created its present form, `UNENDED`
   * for one in progress.
   */
  readonly made: number | undefined
  /** The state at which it ran, if it only restored the children of its run in an earlier process. */
  readonly recalled?: Standpoint | undefined
  readonly error: { readonly tag: string; readonly code: string; readonly message: string } | undefined
}

/**
 * One run of a node: its name, and the agenda place of the handling that demanded it. The place is -1 in the pass, and
 * less in its further rounds and before all handlings. Then follow the nodes that started it, with the beat that created
 * its present form if they were not settled, or 0; and its failure.
 */
export type NodeRunLine =
  readonly [name: string, at: number, parent?: string | readonly [parent: string, made: number] | 0, tag?: string, code?: string]

/** The line of a run, as JSON text. */
export const write = ({ at, error, made, name, parent }: NodeLine): string => {
  const head = `["${name}",${at}`
  const above = parent === undefined ? 0 : made === undefined ? `"${parent}"` : `["${parent}",${made}]`
  if (error !== undefined) return `${head},${above},"${error.tag}","${error.code}"]`
  return parent === undefined ? `${head}]` : `${head},${above}]`
}

/** The run of a line. Its error has no message. */
export const read = ([name, at, above = 0, tag, code]: NodeRunLine): NodeLine => {
  const [parent, made] = typeof above === "object" ? above : [presentOf(above), undefined]
  return { name, at, parent, made, error: tag === undefined || code === undefined ? undefined : { tag, code, message: "" } }
}

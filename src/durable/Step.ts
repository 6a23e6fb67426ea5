/**
 * Steps: the log of a durable run, one document for each segment.
 *
 * A step holds the results with which its segment began and the calls that the segment made, with their results. The
 * body is remade from the steps alone.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { Settled } from "./Handle.ts"
import type { Pair } from "./Pairs.ts"

/** The most segments of one run. */
export const MAX_STEPS = 10_000

/** The most characters of the step log of one run. */
export const MAX_SIZE = 8 * 1_048_576

/** One call: its name, its object, its result, and the address that a read reached over links. */
export type Call = readonly [name: string, at: string, value?: Value, reached?: string]

/** A value that the run left at an address which it had read. */
export type Left = readonly [address: string, value?: Value]

/** One step of the log. */
export interface Step {
  readonly beat: number
  readonly now: number
  /** The number of the attempt with which the body began; in the first step only. */
  readonly attempt?: number
  /** The address of the module with which the body began, if it has one; in the first step only. */
  readonly code?: string
  /** The signals that the run hears from its begin on, if its enzyme declares any; in the first step only. */
  readonly hears?: ReadonlyArray<Pair>
  /** How often the run was started anew, if it was; in the first step only. */
  readonly anew?: number
  readonly settled: ReadonlyArray<Settled>
  readonly calls: ReadonlyArray<Call>
  readonly left?: ReadonlyArray<Left>
  /** The characters of all earlier steps. */
  readonly size: number
}

/** The document of a step. */
export const encode = (step: Step): Document.Document => Document.encode(step)

/** The step of a document; `undefined` for no document. */
export const decode = (document: Document.Document | undefined): Step | undefined =>
  document === undefined ? undefined : Document.read(document, []) as unknown as Step

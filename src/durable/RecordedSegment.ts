/**
 * Recorded segments, which a body repeats over the step log.
 *
 * @module
 */
import type { Step } from "./Step.ts"

/** Returns content by its digest; `undefined` if it is not kept. */
export type ContentSource = (hash: string) => Uint8Array | undefined

/** A recorded segment, and the number of its calls that the body has repeated. */
export interface RecordedSegment {
  readonly step: Step
  readonly contentOf: ContentSource
  next: number
}

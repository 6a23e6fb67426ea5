/**
 * Charters: what sets one run apart from the others of its beat.
 *
 * @module
 */
import type { Label } from "../cell/Label.ts"
import type { Envelope } from "./Envelope.ts"
import type { Labels, Surface } from "./Labels.ts"
import type { Ledgers } from "./Launch.ts"
import type { Startable } from "./Transaction.ts"

/** What a run makes of pieces: cells of its draft, which live and die with it. */
export interface Pieces<Draft> {
  readonly start: (draft: Draft, node: Startable | string, inputs: unknown) => string
  readonly stop: (draft: Draft, piece: string) => void
}

/** What sets one run apart. */
export interface Charter<Draft> {
  /** The run's place in the agenda. */
  readonly run: number
  readonly envelope: Envelope
  readonly serializable: boolean
  /** The labels of the space, where it has any, and what the run is told by beside what it reads. */
  readonly labels?: Pick<Labels, "of" | "at" | "above"> | undefined
  readonly label?: Label | undefined
  /** Of a node: all that it ever writes, which bounds what it may know. */
  readonly surface?: Surface | undefined
  /** Makes the run's face of the runtime's ledgers, where it uses them. */
  readonly ledgers?: ((draft: Draft) => Ledgers) | undefined
  readonly pieces?: Pieces<Draft> | undefined
}

/**
 * The parameters of one run, as opposed to the state that all runs of its beat share.
 *
 * @module
 */
import type { Label } from "../cell/Label.ts"
import type { Envelope } from "./Envelope.ts"
import type { Labels, Surface } from "./Labels.ts"
import type { Ledgers } from "./Launch.ts"
import type { Startable } from "./Transaction.ts"

/** The pieces that a run starts or stops: cells of its draft, merged or dropped with it. */
export interface Pieces<Draft> {
  readonly start: (draft: Draft, node: Startable | string, inputs: unknown) => string
  readonly stop: (draft: Draft, piece: string) => void
}

/** The parameters of one run. */
export interface Charter<Draft> {
  /** The run's position in the agenda. */
  readonly run: number
  readonly envelope: Envelope
  readonly serializable: boolean
  /** The labels of the space, if it has any, and the run's initial label. */
  readonly labels?: Pick<Labels, "of" | "at" | "above"> | undefined
  readonly label?: Label | undefined
  /** The write surface of a node, which bounds the label of its reads. */
  readonly surface?: Surface | undefined
  /** Creates the run's interface to the runtime's ledgers, on first use. */
  readonly ledgers?: ((draft: Draft) => Ledgers) | undefined
  readonly pieces?: Pieces<Draft> | undefined
}

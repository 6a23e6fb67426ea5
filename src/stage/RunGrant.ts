/**
 * The parameters of one run, as opposed to the state that all runs of its beat share.
 *
 * @module
 */
import type { Label } from "../cell/Label.ts"
import type { Envelope } from "./Envelope.ts"
import type { Labels, Surface } from "./Labels.ts"
import type { Startable } from "./Transaction.ts"

/** The pieces that a run starts or stops: cells of its draft, merged or dropped with it. */
export interface Pieces<Draft> {
  readonly start: (draft: Draft, node: Startable | string, inputs: unknown) => string
  readonly stop: (draft: Draft, piece: string) => void
}

/** The run, as a ledger sees it. */
export interface Caller {
  /** The name of its enzyme. */
  readonly name: string
}

/** Creates the interfaces of the runtime's ledgers for runs. */
export interface Faces<Draft> {
  /** @throws NotProvided, where there is no ledger of this name. */
  face(ledger: string, draft: Draft, caller: Caller): unknown
}

/** The parameters of one run. */
export interface RunGrant<Draft> {
  /** The run's position in the agenda. */
  readonly run: number
  readonly envelope: Envelope
  readonly serializable: boolean
  /** The labels of the space, if it has any, and the run's initial label. */
  readonly labels?: Pick<Labels, "of" | "at" | "above"> | undefined
  readonly label?: Label | undefined
  /** The write surface of a node, which bounds the label of its reads. */
  readonly surface?: Surface | undefined
  /** Creates the run's interfaces to the runtime's ledgers, on first use; and the run, as they see it. */
  readonly ledgers?: Faces<Draft> | undefined
  readonly caller?: Caller | undefined
  readonly pieces?: Pieces<Draft> | undefined
}

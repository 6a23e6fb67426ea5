/**
 * Nodes: the reactive modules, as their authors define them.
 *
 * A computation derives one cell from others; a materializer writes into an
 * envelope; an effect watches, and delivers what it saw once that is durable.
 * (Seed 002, section 4; architecture, section 6.)
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import type { Transaction } from "../stage/Transaction.ts"

/** What the definitions of all nodes share. */
interface NodeDefinition {
  readonly name: string
  /** Addresses that order the first run and are loaded before it. */
  readonly reads?: ReadonlyArray<string>
  /** Milliseconds of quiet before a run. */
  readonly debounce?: number
  /** Milliseconds from one run to the next. */
  readonly throttle?: number
}

/** Derives one cell. Running it again on the same reads has to produce the same value. */
export interface Computation<Result extends Value = Value> extends NodeDefinition {
  readonly _tag: "Computation"
  readonly output: string
  /** Further cells that it writes, all known in advance. */
  readonly writes?: ReadonlyArray<string>
  readonly run: (tx: Transaction) => Result
}

/** Reads in the beat, delivers after it is durable. */
export interface Effect<Seen extends Value = Value> extends NodeDefinition {
  readonly _tag: "Effect"
  readonly read: (tx: Transaction) => Seen
  readonly deliver: (value: Seen, at: { readonly beat: number; readonly key: string }) => void | Promise<void>
  /** Deliver right after the pass, before the beat is durable. */
  readonly speculative?: boolean
}

/** Writes cells that it chooses itself, inside its envelope. */
export interface Materializer extends NodeDefinition {
  readonly _tag: "Materializer"
  readonly writes: ReadonlyArray<string>
  readonly run: (tx: Transaction) => void
}

/**
 * Derivation: how a beat brings derived cells up to date.
 *
 * A live space has a scheduler that decides what runs; a replay runs what the
 * journal says that ran. Both answer the same lines. (Architecture, section 6.)
 *
 * @module
 */
import type { ObservationRow } from "../persistence/Persistence.ts"
import * as Address from "../cell/Address.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import type { Definition } from "../scheduler/Definition.ts"
import type { Value } from "../cell/Value.ts"
import type { BeatWork } from "./BeatWork.ts"
import type { Outcome } from "./Flight.ts"

/** In `NodeLine.at`: the run was part of the pass, after the merge. Each further round of it is one less. */
export const PASS = -1

/** Rounds of a beat in which failures of nodes are told, and what reads that is derived. */
export const MAX_ROUNDS = 8

/** One run of a node in a beat. */
export interface NodeLine {
  readonly name: string
  /** The place in the agenda of the handling that asked for it, or {@link PASS}. */
  readonly at: number
  /** The nodes that started it, outermost first, with `/` between; `undefined` for a node of a module. */
  readonly parent: string | undefined
  readonly error: { readonly tag: string; readonly code: string; readonly message: string } | undefined
}

/** What an effect saw, to be told when it is durable. */
export interface Delivery {
  readonly definition: Definition
  readonly value: Value
  readonly beat: number
}

/**
 * The part of a beat that derives.
 *
 * @category services
 * @since 0.1.0
 */
export interface Derivation {
  /** Every run of the beat, in the order in which they ended. */
  readonly lines: ReadonlyArray<NodeLine>
  /** The nodes that did not come to rest for the first time in a row, by name. */
  readonly restless: ReadonlyArray<string>
  /** The beat begins: its capture is merged. */
  readonly begin: (work: BeatWork) => void
  /** A handling is about to run. */
  readonly before: (run: number) => void
  /** What becomes of the handling that ran where it read what a gate holds back; `undefined` for one that did not. */
  readonly parked: () => Outcome | undefined
  /** All is merged: derived cells become consistent with it, and join the stage. */
  readonly settle: (work: BeatWork) => void
  /** What is to be kept of the nodes that ran or that changes reached. */
  readonly observations: () => ReadonlyArray<ObservationRow>
  /** The beat is in the store. Answers what is to be delivered when it is durable. */
  readonly committed: () => ReadonlyArray<Delivery>
  /** The beat leaves no trace. */
  readonly abort: () => void
}

/** The number by which the journal names a run of a node as a writer: behind all runs of the agenda. */
export const writerOf = (work: BeatWork, line: number): number => work.runs.length + line

/** The code of the outcome of a handling that waits for a gate. */
export const GATED = "node/gated"

/** What a line says of a run that failed. */
export const errorOf = (outcome: Outcome | undefined): NodeLine["error"] =>
  outcome === undefined || !("code" in outcome) ? undefined : { tag: outcome.tag, code: outcome.code, message: outcome.message }

/** The fact that a node failed. */
export const failure = (name: string, output: string | undefined, code: string): Diagnostic.Diagnostic => Diagnostic.of("node/failed", {
  code,
  note: `${name} failed, and what it derives stays as it was`,
  origin: { kind: "node", name },
  subject: output === undefined ? undefined : Address.ofKey(output)
})

/** The fact that nodes do not come to rest, told once per episode. */
export const restlessness = (names: ReadonlyArray<string>, output: string | undefined): Diagnostic.Diagnostic => Diagnostic.of("node/non-settling", {
  note: `${names.length} nodes do not come to rest and are put off: ${names.slice(0, 10).join(", ")}`,
  origin: { kind: "node", name: names[0]! },
  subject: output === undefined ? undefined : Address.ofKey(output)
})

/**
 * Derivation: how a beat brings derived cells up to date.
 *
 * A live space has a scheduler that decides what runs; a replay runs what the
 * journal says that ran. Both answer the same lines. (Architecture, section 6.)
 *
 * @module
 */
import type { ObservationRow } from "../../persistence/Persistence.ts"
import * as Address from "../../cell/Address.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Definition } from "../../scheduler/Definition.ts"
import { RUNNING, UNSETTLED } from "../../scheduler/Flag.ts"
import { type Node, UNENDED } from "../../scheduler/Node.ts"
import { STANDPOINT } from "../../scheduler/Persistence.ts"
import type { Value } from "../../cell/Value.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import type { Handling, Outcome } from "../model/Flight.ts"
import type { NamedNode } from "../model/Journal.ts"
import type { NodeLine } from "../model/NodeLine.ts"

/** In `NodeLine.at`: the run was part of the pass, after the merge. Each further round of it is one less. */
export const PASS = -1

/** Rounds of a beat in which failures of nodes are told, and what reads that is derived. */
export const MAX_ROUNDS = 8

/** In `NodeLine.at`: the run was before all handlings, so that what it starts is there again. */
export const FIRST = PASS - MAX_ROUNDS

/** Whether a run was part of the pass. */
export const isInPass = (at: number): boolean => at < 0 && at > FIRST

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
export interface DerivationPort {
  /** Every run of the beat, in the order in which they ended. */
  readonly lines: ReadonlyArray<NodeLine>
  /** The nodes that did not come to rest for the first time in a row. */
  readonly restless: ReadonlyArray<NamedNode>
  /** The nodes that were not taken in. */
  readonly refused: ReadonlyArray<NamedNode>
  /** The node module of this name, as this beat has it. */
  readonly module: (name: string) => Definition | undefined
  /** The beat begins: its capture is merged. */
  readonly begin: (work: BeatWork) => void
  /** The runs of nodes aside for handlings that were told something confidential, which see alone what those made. */
  readonly secluded: ReadonlyArray<NodeLine>
  /** A handling is about to run. */
  readonly before: (handling: Handling) => void
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

/** How a run is called that failed with `Retry` for the last time. */
const SPENT = { tag: "RetriesSpent", code: "node/exhausted" } as const

/** What a line says of a run that failed; `isLast` where it is not tried again, whatever it asks for. */
export const errorOf = (outcome: Outcome | undefined, isLast: boolean): NodeLine["error"] => {
  if (outcome === undefined || !("code" in outcome)) return undefined
  const { code, kind, message, tag } = outcome
  return kind === "retry" && isLast ? { ...SPENT, message } : { tag, code, message }
}

/** Whether the failure of a line is told: one that is tried again is not. */
export const isTold = ({ error }: Pick<NodeLine, "error">): boolean => error !== undefined && error.tag !== "Retry"

/** Whether a recorded failure was the last of its row. */
export const wasLast = (tag: string | undefined): boolean => tag === SPENT.tag

/** The fact that a node failed. */
export const failure = (name: string, output: string | undefined, { code, ...raised }: Diagnostic.Raised & { readonly code: string }): Diagnostic.Diagnostic => Diagnostic.of("node/failed", {
  code,
  raised,
  note: `${name} failed, and derives nothing new`,
  origin: { kind: "node", name },
  subject: output === undefined ? undefined : Address.ofKey(output)
})

/** The fact that a node was not taken in. */
export const refusal = ([name, output]: NamedNode): Diagnostic.Diagnostic => Diagnostic.of("node/refused", {
  note: `${name} does not run: another node ${output === undefined ? "has its name" : `writes ${output}`}. It is taken in when that one is gone`,
  origin: { kind: "node", name },
  subject: output === undefined ? undefined : Address.ofKey(output)
})

/** The fact that a second run of a node did not make what the first one did. It is told outside of all beats, so that to check changes none. */
export const instability = (name: string, address: string | undefined): Diagnostic.Diagnostic => Diagnostic.of("node/unstable", {
  note: `${name} ${address === undefined ? "starts other nodes" : `makes something else of ${address}`} when it runs twice on the same values`,
  origin: { kind: "node", name },
  subject: address === undefined ? undefined : Address.parse(address)
})

/** The fact that a node could not take the standpoint of its run before. It is told outside of all beats. */
export const freshness = (name: string): Diagnostic.Diagnostic => Diagnostic.of("node/afresh", {
  note: `${name} runs afresh after the restart, and so does what it starts: what its newest run peeked at takes more than ${STANDPOINT} characters. Have it read that, or less of it`,
  origin: { kind: "node", name },
  subject: undefined
})

/** The fact that passes take much of the host's time. It differs from host to host, so it is no part of a beat. */
export const busyness = ({ spent, window }: { readonly spent: number; readonly window: number }): Diagnostic.Diagnostic => Diagnostic.of("node/busy", {
  note: `nodes ran for ${Math.round(spent)} of the last ${Math.round(window)} ms`,
  origin: { kind: "runtime", name: "scheduler" },
  subject: undefined
})

/** The nodes that started a node, outermost first. */
export const lineage = ({ parent }: Node): string | undefined => {
  if (parent === undefined) return undefined
  const above = lineage(parent)
  return above === undefined ? parent.definition.name : `${above}/${parent.definition.name}`
}

/**
 * The beat in which a run of its creator made a node what it is; `UNENDED` where that run is under way. Nothing of one whose creators are at
 * rest: another run of those would make it the same.
 */
export const madeIn = ({ definition: { name }, parent }: Node): number | undefined => {
  if (parent === undefined || isAtRest(parent)) return undefined
  const { flags, run } = parent
  if ((flags & RUNNING) === 0) return run!.children?.get(name)
  return run!.children?.has(name) === true ? UNENDED : run!.abandoned?.get(name)
}

/** Whether the newest runs of a node and its creators were well, read what is there still, and looked at nothing else. */
const isAtRest = ({ flags, parent, run }: Node): boolean =>
  (flags & (UNSETTLED | RUNNING)) === 0 && run?.error === undefined && run?.standpoint === undefined && (parent === undefined || isAtRest(parent))

/** The fact that nodes do not come to rest, told once per episode. */
export const restlessness = (nodes: ReadonlyArray<NamedNode>): Diagnostic.Diagnostic => {
  const [name, output] = nodes[0]!
  return Diagnostic.of("node/non-settling", {
    note: `${nodes.length} nodes do not come to rest and are put off: ${nodes.slice(0, 10).map(([name]) => name).join(", ")}`,
    origin: { kind: "node", name },
    subject: output === undefined ? undefined : Address.ofKey(output)
  })
}

/**
 * The derivation port: how a beat brings derived cells up to date.
 *
 * A live space has a scheduler that decides which nodes run. A replay runs the nodes
 * that the journal names. Both return the same lines.
 *
 * @module
 */
import type { ObservationRow } from "../../persistence/Persistence.ts"
import * as Address from "../../cell/Address.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Definition } from "../../scheduler/definition/Definition.ts"
import { RUNNING, UNSETTLED } from "../../scheduler/graph/Flag.ts"
import { type Node, UNENDED } from "../../scheduler/graph/Node.ts"
import { STANDPOINT } from "../../scheduler/run/Persistence.ts"
import type { Value } from "../../cell/Value.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { BeatStart } from "../model/BeatStart.ts"
import * as Failure from "../model/Failure.ts"
import type { Handling, Outcome } from "../model/InFlight.ts"
import type { Steps } from "../model/ExternalChange.ts"
import type { NamedNode } from "../journal/Journal.ts"
import type { NodeLine } from "../journal/NodeLine.ts"

/** In `NodeLine.at`: the run was part of the pass, after the merge. Each further round is one less. */
export const PASS = -1

/** Rounds of a beat, each of which reports failed nodes and derives the readers of those reports. */
export const MAX_ROUNDS = 8

/** In `NodeLine.at`: the run preceded all handlings, to start its children again. */
export const FIRST = PASS - MAX_ROUNDS

/** In `NodeLine.at` of an isolated run: it was for the run of a node, by the place of that among the runs of the beat. */
export const isolatedOf = (line: number): number => FIRST - 1 - line

/** Whether a run was part of the pass. */
export const isInPass = (at: number): boolean => at < 0 && at > FIRST

/** The value of an effect, for delivery once it is durable. */
export interface Delivery {
  readonly definition: Definition
  readonly value: Value
  readonly beat: number
}

/** A beat, as the part of it that derives needs it. */
export interface DerivedBeat {
  readonly stage: Stage
  readonly moment: BeatClock
  readonly begun: Pick<BeatStart, "content" | "spent">
  readonly labels: Labels | undefined
  /** The documents that a rollback took back, and the writes from outside under groups. */
  readonly commands: { readonly takenBack: ReadonlyArray<string>; readonly steps: Steps }
  readonly runs: ReadonlyArray<Handling>
}

/** Takes diagnostics, each of which becomes a cell of the beat. */
export interface FactSink {
  diagnose(fact: Diagnostic.Diagnostic): void
}

/**
 * The derivation of one beat.
 */
export interface DerivationPort {
  /** Whether the settle may run nodes. */
  readonly hasNodes: boolean
  /** Every run of the beat, in the order of completion. */
  readonly lines: ReadonlyArray<NodeLine>
  /** The nodes that became restless in this beat. */
  readonly restless: ReadonlyArray<NamedNode>
  /** The nodes that could not be added. */
  readonly refused: ReadonlyArray<NamedNode>
  /** The node module of this name, as of this beat. */
  readonly module: (name: string) => Definition | undefined
  /** The beat begins: its capture is merged. */
  readonly begin: (work: DerivedBeat) => void
  /** The isolated runs of nodes, whose results only one handling with a confidential label sees. */
  readonly isolated: ReadonlyArray<NodeLine>
  /** A handling is about to run. */
  readonly before: (handling: Handling) => void
  /** The outcome of a handling that read behind a closed gate; `undefined` for any other. */
  readonly parked: () => Outcome | undefined
  /** All drafts are merged: derived cells become consistent with them, and are staged. */
  readonly settle: (work: DerivedBeat, facts: FactSink) => void
  /** Changed observations of nodes that ran or were invalidated. */
  readonly observations: () => ReadonlyArray<ObservationRow>
  /** The beat is in the store. Returns the deliveries to make when it is durable. */
  readonly committed: () => ReadonlyArray<Delivery>
  /** The beat is aborted and leaves no trace. */
  readonly abort: () => void
}

/** The writer number of a node's run in the journal. It follows all runs of the agenda. */
export const writerOf = (work: Pick<DerivedBeat, "runs">, line: number): number => work.runs.length + line

/** The code of the outcome of a handling that waits for a gate. */
export const GATED = "node/gated"

/** The outcome of a handling that waits for a gate until then. */
export const waitForGate = (until: number): Outcome => {
  const message = "What the run reads is derived by a node whose gate is closed. It runs when the gate opens"
  return { kind: "retry", tag: "Gated", code: GATED, message, until }
}

/** The error of a run whose last attempt failed with `Retry`. */
const SPENT = { tag: "RetriesSpent", code: "node/exhausted" } as const

/** The error of a line. With `isLast` there is no further attempt, even after `Retry`. */
export const errorOf = (error: unknown, isLast: boolean): NonNullable<NodeLine["error"]> => {
  const { code, kind, message, tag } = Failure.failure(error)
  return kind === "retry" && isLast ? { ...SPENT, message } : { tag, code, message }
}

/** Whether a line's failure is reported. A failure with a further attempt is not. */
export const isTold = ({ error }: Pick<NodeLine, "error">): boolean => error !== undefined && error.tag !== "Retry"

/** Whether a recorded failure was that of the last attempt. */
export const wasLast = (tag: string | undefined): boolean => tag === SPENT.tag

/** Diagnostic: a node failed. */
export const failure = (
  name: string,
  output: string | undefined,
  { code, ...raised }: Diagnostic.LoggedError & { readonly code: string }
): Diagnostic.Diagnostic =>
  Diagnostic.of("node/failed", {
    code,
    raised,
    note: `${name} failed, and derives nothing new`,
    origin: { kind: "node", name },
    subject: output === undefined ? undefined : Address.ofKey(output)
  })

/** Diagnostic: a node could not be added. */
export const refusal = ([name, output]: NamedNode): Diagnostic.Diagnostic => {
  const why = output === undefined ? "has its name" : `writes ${output}`
  return Diagnostic.of("node/refused", {
    note: `${name} does not run: another node ${why}. It is taken in when that one is gone`,
    origin: { kind: "node", name },
    subject: output === undefined ? undefined : Address.ofKey(output)
  })
}

/** Diagnostic: two runs of a node on the same values differ. Reported outside of beats, so that the check changes none. */
export const instability = (name: string, address: string | undefined): Diagnostic.Diagnostic => {
  const differs = address === undefined ? "starts other nodes" : `makes something else of ${address}`
  return Diagnostic.of("node/unstable", {
    note: `${name} ${differs} when it runs twice on the same values`,
    origin: { kind: "node", name },
    subject: address === undefined ? undefined : Address.parse(address)
  })
}

/** Diagnostic: a node could not take the standpoint of its previous run. Reported outside of beats. */
export const freshness = (name: string): Diagnostic.Diagnostic => {
  const why = `what its newest run peeked at takes more than ${STANDPOINT} characters`
  return Diagnostic.of("node/afresh", {
    note: `${name} runs afresh after the restart, and so does what it starts: ${why}. Have it read that, or less of it`,
    origin: { kind: "node", name },
    subject: undefined
  })
}

/** Diagnostic: passes take much of the host's time. It depends on the host, so it is not part of a beat. */
export const busyness = ({ spent, window }: { readonly spent: number; readonly window: number }): Diagnostic.Diagnostic =>
  Diagnostic.of("node/busy", {
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
 * The beat of the creator's run that defined a node; `UNENDED` if that run is in progress. Returns `undefined` if all creators are
 * at rest, since another run would define the same.
 */
export const madeIn = ({ definition: { name }, parent }: Node): number | undefined => {
  if (parent === undefined || isAtRest(parent)) return undefined
  const { flags, run } = parent
  if ((flags & RUNNING) === 0) return run?.children?.get(name)
  return run?.children?.has(name) === true ? UNENDED : run?.abandoned?.get(name)
}

/** Whether the newest runs of a node and its creators succeeded, are up to date, and peeked at no place. */
const isAtRest = (node: Node): boolean => {
  const { flags, parent, run } = node
  if ((flags & (UNSETTLED | RUNNING)) !== 0 || run?.error !== undefined || run?.standpoint !== undefined || isBarred(node)) return false
  return parent === undefined || isAtRest(parent)
}

/** Whether the newest run of a node read places that it may not demand, so that the values may be in that run alone. */
const isBarred = ({ reads }: Node): boolean => {
  for (let edge = reads; edge !== undefined; edge = edge.nextRead) if (edge.isPassive) return true
  return false
}

/** The line of an isolated run. */
export const lineOf = (node: Node, at: number): NodeLine => ({
  name: node.definition.name,
  at,
  parent: lineage(node),
  made: madeIn(node),
  error: undefined
})

/** Diagnostic: nodes do not settle. Reported once per episode. */
export const restlessness = (nodes: ReadonlyArray<NamedNode>): Diagnostic.Diagnostic => {
  const [name, output] = nodes[0]!
  return Diagnostic.of("node/non-settling", {
    note: `${nodes.length} nodes do not come to rest and are put off: ${nodes.slice(0, 10).map(([name]) => name).join(", ")}`,
    origin: { kind: "node", name },
    subject: output === undefined ? undefined : Address.ofKey(output)
  })
}

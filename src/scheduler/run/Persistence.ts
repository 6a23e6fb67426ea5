/**
 * Observations: the persistent state of nodes.
 *
 * An observation holds the reads of a node's newest run, their status and the gate. A
 * node registered with its observation runs no sooner than one that stayed alive. A node
 * with another definition, or without an observation, starts without state. [S2 §9]
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Definition } from "../definition/Definition.ts"
import type { Environment } from "./Environment.ts"
import * as Flag from "../graph/Flag.ts"
import type { Gates } from "../graph/Gates.ts"
import type { Graph } from "../graph/Graph.ts"
import { codeOf, tagOf } from "../../registry/Outcome.ts"
import { LabelBelow } from "../../stage/Labels.ts"
import type { Depth, Edge, Node } from "../graph/Node.ts"
import * as Reads from "../graph/Reads.ts"
import * as Standpoints from "../definition/Standpoint.ts"
import type { Standpoint } from "../definition/Standpoint.ts"
import { make as makeRun } from "./Runner.ts"
import type { Queue } from "../graph/Queue.ts"

const { INVALID, KEPT, NEVER_RAN, UNSETTLED } = Flag

/** A read of one place. */
export type ObservedRead = readonly [address: string, depth: Depth]

/** The failure of a run. */
export interface NodeFailure {
  readonly tag: string
  readonly code: string
  readonly message: string
}

/** Most characters of a stored standpoint, and of a stored error message. */
export const STANDPOINT = 4096
const MESSAGE = 2000

/**
 * The stored state of one node.
 */
export interface Observation {
  readonly v: 2
  readonly name: string
  /** The node's version: kind, output, writes, the digest of its module and a piece's inputs. A different one starts without state. */
  readonly fingerprint: string
  readonly status: "clean" | "invalid"
  /** It waits for its first run since this gate was set. */
  readonly isNew?: true
  /** The failure of its newest run, if it failed. */
  readonly failed?: NodeFailure
  /** The standpoint of a node that started others; `null` if it is too large. */
  readonly standpoint?: Standpoint | null
  /** The group whose changes it ignores. */
  readonly group?: string
  /** The nodes that its newest run started. A node with children always runs when it resumes, to start them again. */
  readonly children: ReadonlyArray<string>
  readonly reads: ReadonlyArray<ObservedRead>
  /** The reads that made it invalid, as indexes into the list. */
  readonly causes: ReadonlyArray<number>
  /** The reads that carry no demand, where there are any, by their places in the list; and the digest of the nodes that write those. */
  readonly passive?: ReadonlyArray<number>
  readonly writers?: string
  readonly throttledUntil: number
  readonly debouncedUntil: number
  readonly backoffUntil: number
  readonly streak: number
  readonly attempts: number
  /** Number of measured runs, and their total time in milliseconds. */
  readonly measured: number
  readonly spent: number
}

/** The parts of the scheduler that resuming needs, and the digest of the node's module. */
interface Dependencies {
  readonly graph: Graph
  readonly gates: Gates
  readonly queue: Queue
  readonly environment: Environment
  readonly hash: string | undefined
}

/** The version of a node. `hash` is the digest of its module. */
export const fingerprint = ({ _tag, given = "", output, writes }: Definition, hash: string | undefined): string =>
  [_tag, output ?? "", ...writes, hash ?? "", given].join(" ")

/** The documents that the node of an observation writes, as its version names them; none of an effect or a materializer. */
export const outputsOf = ({ fingerprint }: Pick<Observation, "fingerprint">): ReadonlyArray<string> => {
  const [kind, ...keys] = fingerprint.split(" ")
  if (kind !== "Computation") return []
  const end = keys.findIndex((key) => !key.startsWith("/"))
  return end < 0 ? keys : keys.slice(0, end)
}

/** Whether only the reads of a node need storing, so that later runs change its observation only with them. */
const isPlain = ({ flags, gate, run }: Node): boolean =>
  (flags & UNSETTLED) === 0 && gate === undefined && run !== undefined && run.children === undefined && run.error === undefined

/** Whether the stored observation of a node is current. */
export const isKept = (node: Node): boolean => (node.flags & KEPT) !== 0 && isPlain(node)

/** Marks the observation of a node as stored, or as not stored. */
export const keep = (node: Node, isDone: boolean): void => {
  node.flags = isDone && isPlain(node) ? node.flags | KEPT : node.flags & ~KEPT
}

/** The observation of a node; `undefined` without a completed run, unless a debounce delays the first one. */
export const observe = (node: Node, hash: string | undefined): Observation | undefined => {
  const { definition: { changeGroup }, flags, gate, run } = node
  if (run === undefined || (flags & NEVER_RAN) !== 0) return isDelayed(node) ? delayed(node, hash) : undefined
  const found = Reads.of(node)
  const reads = found.map(({ depth, key, path }): ObservedRead => [Address.into(Address.ofKey(key), path).text, depth])
  const causes = found.flatMap(({ cause }, i) => cause > run.since ? [i] : [])
  const passive = found.flatMap(({ isPassive }, i) => isPassive ? [i] : [])
  return {
    v: 2,
    name: node.definition.name,
    fingerprint: fingerprint(node.definition, hash),
    // Other rules may permit a read that these refused.
    status: (flags & INVALID) === 0 && !(run.error instanceof LabelBelow) ? "clean" : "invalid",
    ...(run.error !== undefined && { failed: failedBy(run.error) }),
    ...(run.standpoint !== undefined && { standpoint: Standpoints.isLarge(run.standpoint, STANDPOINT) ? null : run.standpoint }),
    ...(changeGroup !== undefined && { group: changeGroup }),
    children: [...run.children?.keys() ?? []],
    reads,
    causes,
    ...(passive.length > 0 && { passive }),
    throttledUntil: gate?.throttledUntil ?? 0,
    debouncedUntil: gate?.debouncedUntil ?? 0,
    backoffUntil: gate?.backoffUntil ?? 0,
    streak: gate?.streak ?? 0,
    attempts: gate?.attempts ?? 0,
    measured: gate?.measured ?? 0,
    spent: gate?.spent ?? 0
  }
}

const failedBy = (error: unknown): NodeFailure =>
  ({ tag: tagOf(error), code: codeOf(error), message: (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE) })

/** The restored error of a run of an earlier process. */
const errorOf = ({ code, message, tag }: NodeFailure): Error => Object.assign(new Error(message), { _tag: tag, code })

/** Whether a debounce delays the first run of a node. */
export const isDelayed = ({ flags, gate, run }: Node): boolean =>
  (flags & NEVER_RAN) !== 0 && run?.children === undefined && gate !== undefined && gate.debouncedUntil > 0

/** An observation without a gate. */
const plain = ({ definition }: Pick<Node, "definition">, hash: string | undefined): Observation => ({
  v: 2,
  name: definition.name,
  fingerprint: fingerprint(definition, hash),
  status: "clean",
  children: [],
  reads: [],
  causes: [],
  throttledUntil: 0,
  debouncedUntil: 0,
  backoffUntil: 0,
  streak: 0,
  attempts: 0,
  measured: 0,
  spent: 0
})

const delayed = (node: Node, hash: string | undefined): Observation =>
  ({ ...plain(node, hash), status: "invalid", isNew: true, debouncedUntil: node.gate?.debouncedUntil ?? 0 })

/** The observation of a node that has read one place. */
export const observationOf = (definition: Definition, address: Address.Address): Observation =>
  ({ ...plain({ definition }, undefined), reads: [[address.text, "deep"]] })

/**
 * Gives a new node its observation, without reading or running. Returns whether it fits. A node with children gets its gate, and
 * is to run.
 */
export const resume = (node: Node, kept: Observation, deps: Dependencies): boolean => {
  const { gates, graph, hash, queue } = deps
  if (kept.v !== 2 || (node.flags & NEVER_RAN) === 0) return false
  const creator = kept.children.length > 0 ? makeRun(node, deps.environment, kept.children) : undefined
  if (kept.fingerprint !== fingerprint(node.definition, hash)) return false
  if (kept.passive !== undefined && graph.demandPolicy === undefined) return false
  const { labels } = graph
  const isAbove = ([text, depth]: ObservedRead) => labels?.above(node.definition, labels.at(placeOf(text, depth), depth)) !== undefined
  if (labels !== undefined && looks(kept).some(isAbove)) return false
  const isGated = kept.throttledUntil + kept.debouncedUntil + kept.backoffUntil + kept.measured > 0
  if (isGated) gates.restore(node, kept)
  if (kept.isNew === true) return true
  if (creator !== undefined) {
    if (kept.status === "clean") creator.recalled = kept.standpoint ?? undefined
    return true
  }
  const run = makeRun(node, deps.environment)
  const error = kept.failed === undefined ? undefined : errorOf(kept.failed)
  run.restore({ children: undefined, error, since: graph.clock, standpoint: undefined })
  const isInvalid = kept.status === "invalid"
  node.flags = (node.flags & ~UNSETTLED) | (isInvalid ? INVALID : 0)
  let after: Edge | undefined
  kept.reads.forEach(([text, depth], i) => {
    const isPassive = kept.passive?.includes(i) === true
    after = graph.link(node, graph.locations.at(placeOf(text, depth), depth), { after, before: undefined, isPassive })
    if (kept.causes.includes(i)) after.cause = graph.clock + 1
  })
  if (isInvalid) graph.clock++
  if (isInvalid && node.isLive) queue.push(node)
  return true
}

/** The places that a node read or peeked at. */
const looks = ({ reads, standpoint }: Observation): ReadonlyArray<ObservedRead> =>
  [...reads, ...standpoint?.peeks.map(([place]) => [place, "deep"] as const) ?? []]

const placeOf = (text: string, depth: Depth): Address.Address => depth === "children" ? Address.ofKey(text) : Address.parse(text)

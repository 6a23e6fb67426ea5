/**
 * The records of the graph: nodes, locations and edges.
 *
 * All scheduler state of a node is in its record. There is one location for each place
 * that is read or written, so comparing places compares pointers. The edges of a node,
 * in the order of its reads, are both its read set and the log of its last run. [S2
 * §4.1]
 *
 * @module
 */
import type { Path } from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import type { Definition, Delivery } from "../definition/Definition.ts"
import * as Flag from "./Flag.ts"
import type { Standpoint } from "../definition/Standpoint.ts"

const { ROOT } = Flag

/**
 * The time gate of one node. Times are in milliseconds since 1970; 0 means open.
 */
export interface Gate {
  debounce: number
  throttle: number
  debouncedUntil: number
  throttledUntil: number
  backoffUntil: number
  /** Successive passes in which the node was restless, and the number of such episodes. */
  streak: number
  episodes: number
  /** Successive attempts that ended in a transient failure. */
  attempts: number
  /** Number of measured runs, and their total time. */
  measured: number
  spent: number
}

/** Names of started nodes, each with the beat of the run that defined it, or `UNENDED`. */
export type StartedNodes = ReadonlyMap<string, number>

/** In place of a beat: that run is in progress, or ended in another process. */
export const UNENDED = -1

/** Called when runs take and leave the thread. */
export interface Watcher {
  /** A run begins. Returns the argument of `leave` that identifies the interrupted run. */
  readonly enter: (run: NodeRun) => string
  readonly leave: (run: NodeRun, outer: string) => void
}

/**
 * The state of one node between its runs.
 */
export interface NodeRun {
  readonly node: Node
  /** The function of its definition. */
  body: Definition["run"]
  /** The clock at the begin of the newest completed run. Later changes are causes of the next one. */
  since: number
  /** The pass of its last run, the number of runs in that pass, and the total. */
  pass: number
  passRuns: number
  readonly runs: number
  /** The last value of an effect, and whether its delivery is pending. */
  readonly seen: Value
  isSeen: boolean
  /** The effect's `deliver`, and the argument of its last call with the beat. One object serves all deliveries of a beat. */
  deliver: Definition["deliver"]
  delivery: Delivery | undefined
  deliveredIn: number
  /** The error of the newest run, and its causes if runs are explained. */
  readonly error: unknown
  causes: ReadonlyArray<string>
  /** Keys of the documents that the newest run changed, if runs are observed. */
  readonly changed: ReadonlyArray<string>
  /** The nodes that the newest run started. */
  children: StartedNodes | undefined
  /** The standpoint of a run that started nodes and looked at untracked values. */
  standpoint: Standpoint | undefined
  /** The standpoint that the current run adopts, if it only restores the children of an earlier run. */
  recalled: Standpoint | undefined
  /** The children of the previous run, while a run is in progress. */
  readonly abandoned: StartedNodes | undefined
  /** Whether it read a place that it may not demand, while it is under way. */
  readonly isBarred: boolean
  /** Whether the newest run is torn: an early read had changed by its end, so the run was discarded. */
  isTorn: boolean
  /** Whether the current run has read along an edge. Only then does a change there affect it. */
  readonly hasRead: (edge: Edge) => boolean
  /** Discards the current run: its node was removed, or another node will write a value that it read. */
  readonly leave: () => void
  /** Restores the state before aborted runs. */
  readonly restore: (before: Pick<NodeRun, "children" | "error" | "since" | "standpoint">) => void
}

/**
 * A unit of scheduling.
 */
export class Node {
  // The fields that every run touches come first, so that they share cache lines.
  flags: number
  /** The state of its runs; made for the first one. */
  run: NodeRun | undefined = undefined
  /** Its read set, in the order of its reads. */
  reads: Edge | undefined = undefined
  /** The document that a computation derives. */
  output: Location | undefined = undefined
  /** Number of edges from its outputs to live readers. */
  liveRefs = 0
  /** One above its highest writer, ignoring edges that close a cycle. */
  level = 0
  /** The order of the first registration of its name. Lower ordinals run earlier. */
  readonly ordinal: number
  nextQueued: Node | undefined = undefined
  /** The clock at which it and its upstream closure were up to date. */
  checked = -1
  definition: Definition
  parent: Node | undefined = undefined
  gate: Gate | undefined = undefined

  constructor(definition: Definition, ordinal: number, flags: number) {
    this.definition = definition
    this.ordinal = ordinal
    this.flags = flags
  }

  /** Adopts another definition. */
  define(definition: Definition): void {
    this.definition = definition
    if (this.run === undefined) return
    this.run.body = definition.run
    this.run.deliver = definition.deliver
  }

  /** Whether there is demand for it. */
  get isLive(): boolean {
    return this.liveRefs > 0 || (this.flags & ROOT) !== 0
  }
}

/** The extent of a read: a whole value, its keys, or the names below a cell. */
export type Depth = "deep" | "shallow" | "children"

/**
 * One place: a document, or a part of one.
 */
export class Location {
  value: Value = undefined
  flags = 0
  /** The number of the last run that read it. A second read within a run adds no edge. */
  mark = 0
  firstReader: Edge | undefined = undefined
  /** The age of its last change, as `Locations` counts. */
  touched = -1
  extra: Extra | undefined = undefined
  readonly key: string
  lastReader: Edge | undefined = undefined
  /** The single node whose output this document is. */
  writer: Node | undefined = undefined

  constructor(key: string) {
    this.key = key
  }
}

/** Fields that few locations need. */
export class Extra {
  /** The document in its stored form, if it exists. */
  document: Document | undefined = undefined
  /** The locations of parts of this document. */
  parts: Array<Part> | undefined = undefined
  /** Of a part: its document, and its path. */
  root: Location | undefined = undefined
  path: Path | undefined = undefined
  depth: Depth = "deep"
  /** Materializers that may write here. Valid while `coveredAt` is the age of the index. */
  covering: ReadonlyArray<Node> | undefined = undefined
  coveredAt = -1
  /** Of a list of names: the writers of its documents. Valid while `belowAt` is the graph's count of writers. */
  below: ReadonlyArray<Node> = []
  belowAt = -1
}

export const extraOf = (location: Location): Extra => location.extra ??= new Extra()

/** The location of a part, with its document and path. */
export interface Part extends Location {
  extra: Extra & { root: Location; path: Path }
}

/** Makes a location a part. */
export const place: (location: Location, extra: Part["extra"]) => asserts location is Part = (location, extra) => {
  location.extra = extra
}

/** Whether a location is a part of a document. */
export const isPart = (location: Location): location is Part => location.extra?.root !== undefined

/** The document of a location. */
export const rootOf = (location: Location): Location => location.extra?.root ?? location

/**
 * A read of one place by one node.
 */
export class Edge {
  readonly reader: Node
  readonly location: Location
  nextRead: Edge | undefined
  nextReader: Edge | undefined = undefined
  /** The clock of its newest change that caused a run. */
  cause = -1
  previousReader: Edge | undefined = undefined
  /** Whether it closes a cycle, and so does not raise its reader above the writer. */
  back = false
  /** Whether it tells the reader of changes and carries no demand, since that would tell others of the reader. */
  isPassive: boolean

  constructor(reader: Node, location: Location, { isPassive, next }: { readonly next: Edge | undefined; readonly isPassive: boolean }) {
    this.reader = reader
    this.location = location
    this.nextRead = next
    this.isPassive = isPassive
  }
}

/**
 * The records of the graph: nodes, the locations that they read and write, and
 * the edges between them.
 *
 * All that the scheduler knows of a node stands in its record. A location is
 * made once for each place that is read or written, so that two reads of the
 * same place compare one pointer; the edges of a node, in the order of its reads,
 * are its read set and the log of its last run at once. (Seed 002, section 4.1.)
 *
 * @module
 */
import type { Path } from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { Definition, Delivery } from "./Definition.ts"
import * as Flag from "./Flag.ts"
import type { Standpoint } from "./Standpoint.ts"

const { ROOT } = Flag

/**
 * The gate of one node. Moments are in milliseconds since 1970; 0 holds nothing back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Gate {
  debounce: number
  throttle: number
  debouncedUntil: number
  throttledUntil: number
  backoffUntil: number
  /** Passes in a row in which the node did not come to rest, and how often such a row began. */
  streak: number
  episodes: number
  /** Attempts in a row that failed in a way that may pass. */
  attempts: number
  /** Runs that were measured, and how long they took together. */
  measured: number
  spent: number
}

/** Names of nodes that a run started, each with the beat of the run that says what it is, or `UNENDED`. */
export type Started = ReadonlyMap<string, number>

/** In place of a beat: that run has not ended, or ended in another process. */
export const UNENDED = -1

/** Told while a run has the thread. */
export interface Watcher {
  /** A run begins; answers what `leave` is to be given for the run that it interrupts. */
  readonly enter: (run: NodeRun) => string
  readonly leave: (run: NodeRun, outer: string) => void
}

/**
 * What the runs of one node keep from one to the next.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeRun {
  readonly node: Node
  /** What its definition runs, at hand. */
  body: Definition["run"]
  /** The change before which the newest completed run began: newer ones are reasons to run again. */
  since: number
  /** The pass in which it ran last, how often in it, and how often in all. */
  pass: number
  passRuns: number
  readonly runs: number
  /** What an effect saw last, and whether that is still to be told. */
  readonly seen: Value
  isSeen: boolean
  /** Who is told of it, at hand; and how that was done last, in which beat: one object serves all that is told in one. */
  deliver: Definition["deliver"]
  delivery: Delivery | undefined
  deliveredIn: number
  /** Why the newest run failed, where it did; and what changed before it, where that is asked for. */
  readonly error: unknown
  causes: ReadonlyArray<string>
  /** The documents of which the newest run made something else, by key; kept where runs are told. */
  readonly changed: ReadonlyArray<string>
  /** The nodes that the newest run started. */
  children: Started | undefined
  /** Where it started nodes and looked at what no change tells of: from where it did. */
  standpoint: Standpoint | undefined
  /** Whose standpoint the run under way takes, where it only brings back what that one started. */
  recalled: Standpoint | undefined
  /** The nodes of the run before, while the newest one is under way. */
  readonly abandoned: Started | undefined
  /** Whether the newest run is torn: what it read first was not there any more when it ended, so it left nothing. */
  isTorn: boolean
  /** Runs the node once. Answers false where it has to begin again, because what it reads stands too deep or the run is torn. */
  readonly perform: () => boolean
  /** Whether the run that is under way has read along an edge: only then does a change there concern it. */
  readonly hasRead: (edge: Edge) => boolean
  /** The run that is under way comes to nothing: its node went, or what it read is to be made by somebody else. */
  readonly leave: () => void
  /** Stands as it did before runs that are taken back. */
  readonly restore: (before: Pick<NodeRun, "children" | "error" | "since" | "standpoint">) => void
}

/**
 * One unit of scheduling.
 *
 * @category models
 * @since 0.1.0
 */
export class Node {
  // What every run touches stands together, and first: it takes fewer of the processor's cache lines.
  flags: number
  /** What its runs keep; made for the first one. */
  run: NodeRun | undefined = undefined
  /** Its read set, in the order of its reads. */
  reads: Edge | undefined = undefined
  /** The document that a computation derives. */
  output: Location | undefined = undefined
  /** How many edges lead from its outputs to live readers. */
  liveRefs = 0
  /** One above the highest writer that it reads, edges that close a cycle aside. */
  level = 0
  /** When its name was registered first: smaller runs earlier. */
  readonly ordinal: number
  nextQueued: Node | undefined = undefined
  /** The change up to which it and all above it were found up to date. */
  checked = -1
  definition: Definition
  parent: Node | undefined = undefined
  gate: Gate | undefined = undefined

  constructor(definition: Definition, ordinal: number, flags: number) {
    this.definition = definition
    this.ordinal = ordinal
    this.flags = flags
  }

  /** Goes on under another definition. */
  define(definition: Definition): void {
    this.definition = definition
    if (this.run === undefined) return
    this.run.body = definition.run
    this.run.deliver = definition.deliver
  }

  /** Whether demand reaches it. */
  get isLive(): boolean {
    return this.liveRefs > 0 || (this.flags & ROOT) !== 0
  }
}

/** What of a document is read. */
export type Depth = "deep" | "shallow" | "children"

/**
 * One place: a document, or a part of one that is read by itself.
 *
 * @category models
 * @since 0.1.0
 */
export class Location {
  value: Value = undefined
  flags = 0
  /** The run that read it last, by number: a second read in a run costs no edge. */
  mark = 0
  firstReader: Edge | undefined = undefined
  /** When it was changed last, as the locations count. */
  touched = -1
  extra: Extra | undefined = undefined
  readonly key: string
  lastReader: Edge | undefined = undefined
  /** The one node whose output this document is. */
  writer: Node | undefined = undefined

  constructor(key: string) {
    this.key = key
  }
}

/** What few locations need. */
export class Extra {
  /** The document as it is stored, where it was given or made. */
  document: Document | undefined = undefined
  /** Parts of this document that are read by themselves. */
  parts: Array<Location> | undefined = undefined
  /** Of a part: the document that it belongs to, and where. */
  root: Location | undefined = undefined
  path: Path | undefined = undefined
  depth: Depth = "deep"
  /** Materializers that may write here, while `coveredAt` is the graph's count of them. */
  covering: ReadonlyArray<Node> | undefined = undefined
  coveredAt = -1
  /** Of a list of names: the writers of documents in it, while `belowAt` is the graph's count of writers. */
  below: ReadonlyArray<Node> = []
  belowAt = -1
}

export const extraOf = (location: Location): Extra => location.extra ??= new Extra()

/** The document that a location is, or is a part of. */
export const rootOf = (location: Location): Location => location.extra?.root ?? location

/**
 * One place that a node reads.
 *
 * @category models
 * @since 0.1.0
 */
export class Edge {
  readonly reader: Node
  readonly location: Location
  nextRead: Edge | undefined
  nextReader: Edge | undefined = undefined
  /** The change that was the newest reason to run again, by number. */
  cause = -1
  previousReader: Edge | undefined = undefined
  /** Whether it closes a cycle, and so does not raise its reader above the writer. */
  back = false

  constructor(reader: Node, location: Location, nextRead: Edge | undefined) {
    this.reader = reader
    this.location = location
    this.nextRead = nextRead
  }
}

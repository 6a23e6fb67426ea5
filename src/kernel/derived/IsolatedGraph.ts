/**
 * Isolated graph: a graph of its own, without debounce and throttle, for one reader.
 *
 * It copies the writers of each place on demand, computes them anew, and leaves
 * the graph of the space unchanged.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import type { BaseState, Locations } from "../../scheduler/graph/Locations.ts"
import { type Depth, type Location, type Node, type NodeRun, rootOf } from "../../scheduler/graph/Node.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import { WriteSet } from "../../stage/write/WriteSet.ts"
import type { EarlierChange, Depth as Logged, Origins, Place } from "../../stage/write/ReadLog.ts"

/** An open gate. */
const fresh = { throttledUntil: 0, debouncedUntil: 0, backoffUntil: 0, streak: 0, measured: 0, spent: 0 }

/** The dependencies of one isolated graph. */
export interface Dependencies {
  readonly shared: SpaceScheduler
  readonly schedulers: Scheduler["Service"]
  readonly base: BaseState
  readonly moment: BeatClock | undefined
  /** Attempts in a row that failed in a way that may pass, by node: one that keeps failing fails in the end. */
  readonly attempts: Map<string, number>
  /** Whether a node is computed here; of any other, the graph of the space shows the output. */
  readonly takes: (node: Node) => boolean
}

/**
 * The graph of one reader: it copies nodes of the shared graph on demand.
 */
export class IsolatedGraph {
  /** The documents that its nodes wrote. */
  readonly made = new WriteSet()
  /** The runs, in the order in which they ended: nodes of this graph. */
  readonly ran: Array<Node> = []
  private readonly deps: Dependencies
  private readonly scheduler: SpaceScheduler
  private readonly taking = new Set<Node>()

  constructor(deps: Dependencies) {
    this.deps = deps
    const { base, moment, schedulers, shared } = deps
    const scheduler = schedulers.make(base)
    this.scheduler = scheduler
    const { writerIndex, locations } = scheduler.graph
    scheduler.graph.labels = shared.graph.labels
    scheduler.module = shared.module
    scheduler.open(moment?.clock ?? 0, moment)
    scheduler.observe((run) => this.note(run))
    const { created } = locations
    locations.created = (location) => {
      created?.(location)
      this.meet(location)
    }
    if (!shared.graph.writerIndex.isEmpty && writerIndex.isEmpty) {
      for (const node of shared.registry.values()) if (node.definition._tag === "Materializer" && deps.takes(node)) this.take(node)
    }
  }

  /** The documents as its nodes see them. */
  get locations(): Locations {
    return this.scheduler.graph.locations
  }

  /** Brings a place up to date. Answers when to try again where that failed in a way that may pass. */
  read(address: Address.Address, depth: Depth): number | undefined {
    const { attempts } = this.deps
    this.locations.at(address, depth)
    const until = this.scheduler.demands.read(address, depth)
    for (const { definition: { name }, gate } of this.ran) {
      if (gate === undefined || gate.attempts === 0) attempts.delete(name)
      else attempts.set(name, gate.attempts)
    }
    return until
  }

  origins(read: Address.Address, depth: Logged): Origins | undefined {
    return this.scheduler.ancestry().origins(read, depth)
  }

  covers(place: Place, changes: ReadonlyArray<EarlierChange>): boolean {
    return this.scheduler.ancestry().covers(place, changes)
  }

  /** Adds the writers of a place that is about to be read. */
  private meet(location: Location): void {
    const { locations } = this.deps.shared.graph
    if (location.extra?.depth === "children") {
      for (const root of locations.below(location.key)) if (root.writer !== undefined) this.locations.root(root.key)
    } else if (rootOf(location) === location) {
      const writer = locations.known(location.key)?.writer
      if (writer === undefined) return
      if (this.deps.takes(writer)) this.take(writer)
    }
  }

  private take(node: Node): Node {
    const { gates, registry } = this.scheduler
    const { definition, parent } = node
    const known = registry.get(definition.name)
    if (known !== undefined || this.taking.has(node)) return known ?? node
    this.taking.add(node)
    const above = parent === undefined ? undefined : this.take(parent)
    const taken = registry.register({ ...definition, debounce: 0, throttle: 0, autoDebounce: false }, above)
    const attempts = this.deps.attempts.get(definition.name)
    if (attempts !== undefined) gates.restore(taken, { ...fresh, attempts })
    return taken
  }

  private note({ changed, node }: NodeRun): void {
    for (const key of changed) this.made.set(key, this.locations.document(this.locations.root(key)))
    this.ran.push(node)
  }
}

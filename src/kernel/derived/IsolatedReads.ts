/**
 * Isolated reads: derived cells for handlings with a confidential label.
 *
 * Demand for a derived cell is observable through its gate: in the time of its next run,
 * and in its delay for other readers. A handling with a confidential label therefore
 * gets unsettled cells from a graph of its own. That graph has no debounce and no
 * throttle, and only the handling sees its results. The graph of the space stays
 * unchanged.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import type { Ancestry } from "../../scheduler/Ancestry.ts"
import type { BaseState } from "../../scheduler/Locations.ts"
import { type Location, type Node, type NodeRun, rootOf } from "../../scheduler/Node.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import { Own } from "../../stage/Own.ts"
import type { Depth, Lineage, Origins } from "../../stage/ReadLog.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import * as Derivation from "./DerivationPort.ts"
import type { NodeLine } from "../model/NodeLine.ts"

const none: ReadonlyArray<NodeLine> = []

/** The dependencies of one beat's handlings. */
interface Dependencies {
  readonly shared: SpaceScheduler
  readonly schedulers: Scheduler["Service"]
  readonly base: BaseState
  readonly work: BeatWork
}

/**
 * The isolated handlings of one space, by their number in the agenda.
 *
 * @category models
 * @since 0.1.0
 */
export class IsolatedReads implements Lineage {
  /** The isolated runs, in the order of completion. */
  lines: ReadonlyArray<NodeLine> = none
  private readonly graphs = new Map<number, IsolatedGraph>()
  private readonly attempts = new Map<string, number>()
  private deps: Dependencies | undefined
  private ancestry: Ancestry | undefined

  begin(deps: Dependencies): void {
    this.deps = deps
    this.ancestry = deps.shared.ancestry()
    this.end()
  }

  /** The beat is over, committed or aborted. */
  end(): void {
    this.lines = none
    this.graphs.clear()
  }

  /** Brings a place up to date for one handling. Returns the time of the next attempt after a transient failure. */
  read(run: number, { address, depth }: { readonly address: Address.Address; readonly depth: Depth }): number | undefined {
    const { shared, work } = this.deps!
    if (shared.demands.isSettled(address, depth)) return undefined
    let aside = this.graphs.get(run)
    if (aside === undefined) {
      aside = new IsolatedGraph(this.deps!, this.attempts)
      this.graphs.set(run, aside)
      work.stage.aside = aside.made
    }
    const before = aside.ran.length
    const until = aside.read(address, depth)
    const ran = aside.ran.slice(before)
    if (ran.length > 0) this.lines = [...this.lines, ...ran.map((node) => lineOf(shared.registry.get(node.definition.name) ?? node, run))]
    return until
  }

  /** The origins of a place, as the asking handling read it. */
  origins(read: Address.Address, depth: Depth, run: number): Origins | undefined {
    return this.graphs.get(run)?.origins(read, depth) ?? this.ancestry?.origins(read, depth)
  }
}

/** The graph of one handling. It copies nodes of the shared graph on demand. */
class IsolatedGraph {
  /** Documents that nodes of this graph made. */
  readonly made = new Own()
  readonly ran: Array<Node> = []
  private readonly shared: SpaceScheduler
  private readonly scheduler: SpaceScheduler
  /** Successive attempts that ended in a transient failure, by node, so that the last of them is final. */
  private readonly attempts: Map<string, number>
  private readonly taking = new Set<Node>()

  constructor({ base, schedulers, shared, work }: Dependencies, attempts: Map<string, number>) {
    this.shared = shared
    this.attempts = attempts
    const scheduler = schedulers.make(base)
    this.scheduler = scheduler
    const { writerIndex, locations } = scheduler.graph
    scheduler.graph.labels = shared.graph.labels
    scheduler.module = shared.module
    scheduler.open(work.moment.now, work.moment)
    scheduler.observe((run) => this.note(run))
    const { created } = locations
    locations.created = (location) => {
      created?.(location)
      this.meet(location)
    }
    if (!shared.graph.writerIndex.isEmpty && writerIndex.isEmpty) {
      for (const node of shared.registry.values()) if (node.definition._tag === "Materializer") this.take(node)
    }
  }

  read(address: Address.Address, depth: Depth): number | undefined {
    this.scheduler.graph.locations.at(address, depth)
    const until = this.scheduler.demands.read(address, depth)
    for (const { definition: { name }, gate } of this.ran) {
      if (gate === undefined || gate.attempts === 0) this.attempts.delete(name)
      else this.attempts.set(name, gate.attempts)
    }
    return until
  }

  origins(read: Address.Address, depth: Depth): Origins | undefined {
    return this.scheduler.ancestry().origins(read, depth)
  }

  /** Adds the writers of a place that is about to be read. */
  private meet(location: Location): void {
    const { locations } = this.shared.graph
    if (location.extra?.depth === "children") {
      for (const root of locations.below(location.key)) if (root.writer !== undefined) this.scheduler.graph.locations.root(root.key)
    } else if (rootOf(location) === location) {
      const writer = locations.known(location.key)?.writer
      if (writer !== undefined) this.take(writer)
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
    const attempts = this.attempts.get(definition.name)
    if (attempts !== undefined) gates.restore(taken, { attempts, throttledUntil: 0, debouncedUntil: 0, backoffUntil: 0, streak: 0, measured: 0, spent: 0 })
    return taken
  }

  private note({ changed, node }: NodeRun): void {
    const { locations } = this.scheduler.graph
    for (const key of changed) this.made.set(key, locations.document(locations.root(key)))
    this.ran.push(node)
  }
}

const lineOf = (node: Node, at: number): NodeLine => ({
  name: node.definition.name,
  at,
  parent: Derivation.lineage(node),
  made: Derivation.madeIn(node),
  error: undefined
})

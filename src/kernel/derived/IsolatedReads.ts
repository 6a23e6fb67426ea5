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
import type { Ancestry } from "../../scheduler/graph/Ancestry.ts"
import type { BaseState } from "../../scheduler/graph/Locations.ts"
import type { Node, NodeRun } from "../../scheduler/graph/Node.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { EarlierChange, Depth, Lineage, Origins, Place } from "../../stage/write/ReadLog.ts"
import type { DerivedBeat } from "./DerivationPort.ts"
import type { NodeLine } from "../journal/NodeLine.ts"
import { IsolatedGraph } from "./IsolatedGraph.ts"
import * as Derivation from "./DerivationPort.ts"
import { LabelledDemand } from "./LabelledDemand.ts"

const none: ReadonlyArray<NodeLine> = []

/** The dependencies of one beat's handlings. */
interface Dependencies {
  readonly shared: SpaceScheduler
  readonly schedulers: Scheduler["Service"]
  readonly base: BaseState
  readonly work: DerivedBeat
}

/**
 * The isolated handlings of one space, by their number in the agenda.
 */
export class IsolatedReads implements Lineage {
  /** The isolated runs, in the order of completion. */
  lines: ReadonlyArray<NodeLine> = none
  private graphs = new Map<number, IsolatedGraph>()
  private readonly attempts = new Map<string, number>()
  private deps: Dependencies | undefined
  private ancestry: Ancestry | undefined
  private nodes: LabelledDemand | undefined

  /** A beat begins, by its labels: before any node runs in it. */
  begin(deps: Dependencies): void {
    const { base, schedulers, shared, work } = deps
    this.deps = deps
    this.ancestry = shared.ancestry()
    this.nodes ??= new LabelledDemand({ shared, schedulers, base })
    this.nodes.moment = work.moment
    shared.label(work.labels, this.nodes)
    this.end()
  }

  /** The beat is over, committed or aborted. */
  end(): void {
    this.lines = none
    if (this.graphs.size > 0) this.graphs = new Map()
    this.nodes?.end()
  }

  /** A node ran: records its isolated runs, unless the journal has no line of it. */
  ended({ node }: NodeRun, line: number | undefined): void {
    const guard = this.nodes?.release(node)
    if (guard === undefined || guard.ran.length === 0 || line === undefined) return
    this.note(guard.policy.shared, guard.ran, Derivation.isolatedOf(line))
  }

  /** Brings a place up to date for one handling. Returns the time of the next attempt after a transient failure. */
  read(run: number, { address, depth }: { readonly address: Address.Address; readonly depth: Depth }): number | undefined {
    const { base, schedulers, shared, work } = this.deps!
    if (shared.demands.isSettled(address, depth)) return undefined
    let graph = this.graphs.get(run)
    if (graph === undefined) {
      const { attempts } = this
      graph = new IsolatedGraph({ shared, schedulers, base, moment: work.moment, attempts, takes: () => true })
      this.graphs.set(run, graph)
      work.stage.isolated = graph.made
    }
    const before = graph.ran.length
    const until = graph.read(address, depth)
    const ran = graph.ran.slice(before)
    if (ran.length > 0) this.note(shared, ran, run)
    return until
  }

  private note({ registry }: SpaceScheduler, ran: ReadonlyArray<Node>, at: number): void {
    this.lines = [...this.lines, ...ran.map((node) => Derivation.lineOf(registry.get(node.definition.name) ?? node, at))]
  }

  /** The origins of a place, as the asking handling read it. */
  origins(read: Address.Address, depth: Depth, run: number): Origins | undefined {
    return this.graphs.get(run)?.origins(read, depth) ?? this.ancestry?.origins(read, depth)
  }

  get writers(): number {
    return this.ancestry?.writers ?? 0
  }

  isDerived(place: Place): boolean {
    return this.ancestry?.isDerived(place) === true
  }

  noticed(changes: ReadonlyArray<EarlierChange>, run: number): ReadonlyArray<EarlierChange> {
    return this.graphs.has(run) ? changes : this.ancestry?.noticed(changes) ?? []
  }

  covers(place: Place, changes: ReadonlyArray<EarlierChange>, run: number): boolean {
    return this.graphs.get(run)?.covers(place, changes) === true || this.ancestry?.covers(place, changes) === true
  }
}

/**
 * The scheduler of one space: derived cells that are consistent with their inputs at every read.
 *
 * It composes its parts and has no state of its own. The caller supplies clock and
 * changes. A beat is one caller; a program with a graph in memory is another. [S2 §12,
 * §13]
 *
 * @module
 */
import type * as Address from "../cell/Address.ts"
import { addressOf, type Place } from "../cell/Cell.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import type * as Values from "../cell/Value.ts"
import { isTagged } from "../registry/Outcome.ts"
import { FOLDER } from "../stage/Content.ts"
import type { Labels } from "../stage/Labels.ts"
import type { BeatClock } from "../stage/BeatClock.ts"
import { Ancestry } from "./graph/Ancestry.ts"
import { type Definition, InvalidNode } from "./definition/Definition.ts"
import { Demand } from "./run/Demand.ts"
import type { DemandPolicy } from "./graph/DemandPolicy.ts"
import { ActiveRun, type Environment } from "./run/Environment.ts"
import * as Flag from "./graph/Flag.ts"
import { type Budgets, defaultBudgets } from "./definition/Budgets.ts"
import { Gates } from "./graph/Gates.ts"
import { Graph } from "./graph/Graph.ts"
import * as Introspection from "./view/Introspection.ts"
import { Invalidation } from "./graph/Invalidation.ts"
import { adopt, clear, type BaseState } from "./graph/Locations.ts"
import type { Node, NodeRun, StartedNodes } from "./graph/Node.ts"
import * as PassiveEdges from "./run/PassiveEdges.ts"
import * as Persistence from "./run/Persistence.ts"
import * as Piece from "./definition/Piece.ts"
import type { Observation } from "./run/Persistence.ts"
import { Queue } from "./graph/Queue.ts"
import { Registry } from "./graph/Registry.ts"
import { UndoLog } from "./run/UndoLog.ts"
import { Resumption } from "./run/Resumption.ts"
import { Settle, type SettleResult } from "./run/Settle.ts"

const { LOADED, NEVER_RAN, UNSETTLED } = Flag

/** The outcome of a node's run. */
export interface Finished {
  readonly node: Node
  readonly error: unknown
}

/** The empty base state of a graph in memory. */
const memory: BaseState = { read: () => undefined, children: () => [], content: () => undefined, holds: false }

/** A change of a document, with the group of its writer. */
export interface DocumentChange {
  readonly before: Document | undefined
  readonly after: Document | undefined
  readonly group?: string | undefined
}

const nobody: ReadonlyArray<Node> = []

const zero: BeatClock = { beat: 0, semantics: 0, clock: 0, date: 0, tempo: 0, seed: "0".repeat(32), hash: () => "" }

/**
 * One graph of nodes. A space gets its own from the service `Scheduler`.
 *
 * @example A graph in memory
 * ```ts
 * import { Computation, SpaceScheduler } from "systole"
 *
 * const scheduler = new SpaceScheduler()
 * scheduler.register(Computation.make({ name: "double", output: "/double", run: (tx) => Number(tx.get("/one")) * 2 }))
 * scheduler.set("/one", 21)
 * if (scheduler.pull("/double") !== 42) throw new Error("stale")
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export class SpaceScheduler {
  readonly graph: Graph
  readonly registry: Registry
  readonly gates: Gates
  readonly invalidation: Invalidation
  readonly settling: Settle
  readonly demands: Demand
  readonly resumption: Resumption
  readonly undo: UndoLog
  private readonly environment: Environment
  /** Looks up the observation of a node that a run starts. */
  kept: ((node: Node) => { readonly observation: Observation | undefined; readonly hash: string | undefined }) | undefined
  /** Finds the modules that runs start by name. */
  module: ((name: string) => Definition | undefined) | undefined
  /** Effects with pending deliveries, in the order of their runs; their number, and the number of delivered ones. */
  private readonly seen: Array<NodeRun> = []
  private seers = 0
  private told = 0
  private failures: Array<Finished> = []

  /** Graphs that may run within each other's runs share `active`. */
  constructor(base: BaseState = memory, budgets: Budgets = defaultBudgets, active: ActiveRun = new ActiveRun()) {
    const queue = new Queue()
    this.graph = new Graph(base, queue)
    const { graph } = this
    this.gates = new Gates({ graph, queue, budgets })
    const { gates } = this
    this.invalidation = new Invalidation({ graph, gates, queue })
    this.registry = new Registry({ graph, gates, queue, invalidation: this.invalidation })
    this.environment = {
      graph,
      invalidation: this.invalidation,
      queue,
      active,
      ensure: (node) => this.settling.ensure(node),
      assume: (node) => this.settling.assume(node),
      start: (parent, node, inputs) => this.create(parent, this.startable(node, inputs)),
      saw: (run) => this.saw(run),
      finished: (run, children) => this.finish(run, children),
      left: (node) => this.registry.dissolve(node),
      moment: zero
    }
    this.settling = new Settle({ graph, gates, queue, environment: this.environment })
    const { invalidation, registry, settling } = this
    this.demands = new Demand(graph, settling)
    this.resumption = new Resumption({ graph, gates, queue, environment: this.environment, invalidation, settling })
    this.undo = new UndoLog({ graph, gates, queue, invalidation, registry, resumption: this.resumption })
  }

  /**
   * Registers a node. Reads no place and runs no code.
   *
   * @throws InvalidNode
   */
  register(definition: Definition): Node {
    return this.resume(definition, undefined)
  }

  /**
   * Registers a node with its observation from an earlier process, if that fits. Reads no place and runs no code.
   *
   * @throws InvalidNode
   */
  resume(definition: Definition, kept: Observation | undefined, hash?: string): Node {
    const node = this.registry.register(definition)
    this.resumption.resume(node, kept, hash)
    PassiveEdges.admit(this, node)
    return node
  }

  /** Sets the labels, and the policy of demand by them. */
  label(labels: Labels | undefined, policy: DemandPolicy): void {
    const { graph } = this
    const before = graph.labels
    if (before === labels) return
    graph.labels = labels
    graph.demandPolicy = labels === undefined ? undefined : policy
    // What runs may demand is looked at anew.
    graph.writers++
    if (before === undefined || labels?.isSame(before) !== true) PassiveEdges.renew(this, this.registry.values())
  }

  /** The observation of a node, for `resume`; `undefined` if it never ran. */
  observation(name: string, hash?: string): Observation | undefined {
    const node = this.registry.get(name)
    return node === undefined ? undefined : Persistence.observe(node, hash)
  }

  /** Removes the node of this name. Returns whether there was one. */
  remove(name: string): boolean {
    const node = this.registry.get(name)
    if (node !== undefined) this.registry.remove(node)
    return node !== undefined
  }

  /** Writes a cell from outside. Readers whose values differ become invalid. */
  set(place: Place, value: unknown, options?: { readonly group?: string }): void {
    const { locations } = this.graph
    const root = typeof place !== "string" && place.home === locations && place.address.path.length === 0
      ? locations.fresh(place)
      : locations.root(addressOf(place).key)
    const { path } = addressOf(place)
    if (path.length === 0 && options === undefined) {
      if (!this.invalidation.counted(root, value, undefined)) this.invalidation.derived(root, value, undefined)
      return
    }
    const document = path.length === 0
      ? value === undefined ? undefined : Codec.encode(value)
      : Codec.write(locations.document(root), path, value)
    this.invalidation.replaced(root, document, { group: options?.group })
  }

  /** Applies a change of the base state, by a beat, a handling or another writer. A document without readers costs one lookup. */
  change(key: string, { after, before, group }: DocumentChange): void {
    const { locations } = this.graph
    let root = locations.known(key)
    if (root === undefined) {
      if (locations.listings === 0 || (before === undefined) === (after === undefined)) return
      root = locations.root(key)
    }
    if ((root.flags & LOADED) === 0) adopt(root, before)
    // A derived document belongs to its node, which derives it again.
    if (this.invalidation.replaced(root, after, { group }) && root.writer !== undefined) this.invalidation.lost(root.writer)
  }

  /** Content became available. */
  appear(hash: string): void {
    const root = this.graph.locations.known(FOLDER + hash)
    if (root !== undefined) this.invalidation.appeared(root)
  }

  /** A document was reverted. Its writers have to run again. */
  lose(address: Address.Address): void {
    const { graph: { locations }, invalidation } = this
    const writer = locations.known(address.key)?.writer
    if (writer !== undefined) invalidation.lost(writer)
    if (this.graph.writerIndex.has(address)) for (const node of this.graph.writerIndex.of(locations.at(address))) invalidation.lost(node)
  }

  /** Reports each run as it ends, with the documents that it wrote beside its output. Earlier observers come first. */
  observe(told: (run: NodeRun, keys: ReadonlyArray<string>) => void): void {
    const { told: before } = this.graph
    this.graph.told = before === undefined ? told : (run, keys) => {
      before(run, keys)
      told(run, keys)
    }
  }

  /** The moment of the newest beat that was opened. */
  get moment(): BeatClock {
    return this.environment.moment
  }

  get isRunnable(): boolean {
    return this.settling.isRunnable
  }

  /** Runs all due nodes, and delivers to effects. `now` is in milliseconds since 1970. */
  settle(now = this.gates.now): SettleResult {
    this.open(now)
    this.resumption.revive()
    const settled = this.settling.settle()
    this.graph.locations.settled()
    if (this.seers > 0) this.deliver()
    return settled
  }

  /** Advances the clock, and opens the gates that are due. */
  open(now: number, moment?: BeatClock): void {
    if (now !== this.gates.now) {
      this.graph.clock++
      this.gates.open(now)
    }
    if (moment !== undefined) this.environment.moment = moment
  }

  /**
   * The value of a cell with up-to-date sources. A value behind a closed gate stays as it was.
   *
   * @throws InvalidAddress, LinkLoop
   */
  pull(place: Place): Values.Value {
    return this.demands.pull(addressOf(place))
  }

  /** The sources of places, valid until the next run. */
  ancestry(): Ancestry {
    return new Ancestry(this.graph)
  }

  /** The nodes that ran or became invalid since the newest committed beat. */
  get changed(): ReadonlyArray<Node> {
    return [...this.undo.ran, ...this.invalidation.marked ?? nobody]
  }

  /** The earliest opening of a gate that delays a demanded run. */
  get nextDue(): number | undefined {
    return this.gates.nextDue
  }

  /** The effects with new values since the last call, in order, each once with its last value. */
  takeSeen(): ReadonlyArray<Node> {
    if (this.seers === 0) return nobody
    const seen = this.seen.slice(this.told, this.seers)
    this.forget()
    for (const { node: { run } } of seen) if (run !== undefined) run.isSeen = false
    return seen.map(({ node }) => node)
  }

  /** The runs that failed since the last call. */
  takeFailures(): ReadonlyArray<Finished> {
    const { failures } = this
    if (failures.length > 0) this.failures = []
    return failures
  }

  snapshot(): ReadonlyArray<Introspection.NodeView> {
    return Introspection.snapshot(this.registry, this.graph)
  }

  /** All nodes and their reads. Changes no state. */
  view(): Introspection.GraphView {
    return Introspection.graphOf(this.registry, this.graph)
  }

  /** Some nodes and their reads. Changes no state. */
  page(request: Introspection.GraphRequest): Introspection.GraphPage {
    return Introspection.page(this.registry, this.graph, request)
  }

  /** Delivers values to effects. A nested settle continues at the current position. */
  private deliver(): void {
    const { beat } = this.environment.moment
    const { seen } = this
    while (this.told < this.seers) {
      const run = seen[this.told++]?.node.run
      if (run === undefined) continue
      const { deliver } = run
      run.isSeen = false
      if (run.deliveredIn !== beat || run.delivery === undefined) {
        run.delivery = { beat, key: run.node.definition.name }
        run.deliveredIn = beat
      }
      void deliver?.(run.seen, run.delivery)
    }
    this.forget()
  }

  /** All deliveries are made. */
  private forget(): void {
    clear(this.seen, this.seers)
    this.seers = this.told = 0
  }

  /** A node's run starts a node, or finds it from an earlier run. */
  private create(parent: Node, definition: Definition): Definition {
    const known = this.registry.get(definition.name)
    const above = this.graph.labels?.starting(parent.definition, definition)
    if (above !== undefined) throw above
    const node = this.registry.register(definition, parent)
    if ((node.flags & UNSETTLED) !== 0) this.settling.started++
    if (known === undefined && this.resumption.isAfresh(parent)) this.registry.unclaimed?.(definition.name)
    const kept = known === undefined ? this.kept?.(node) : undefined
    const isBack = known !== node && this.resumption.resume(node, kept?.observation, kept?.hash)
    if (known !== node) PassiveEdges.admit(this, node)
    if ((node.flags & NEVER_RAN) === 0 || known === node || node.isLive || !parent.isLive) return definition
    this.settling.provide(node)
    if (!isBack) this.gates.disturb(node)
    if (Persistence.isDelayed(node)) this.invalidation.marked?.push(node)
    this.graph.activate(node)
    return definition
  }

  /**
   * The node of a start: the given definition, or a piece of the named module.
   *
   * @throws InvalidNode
   */
  startable(node: Definition | string, inputs: unknown): Definition {
    if (typeof node !== "string") return node
    const name = node
    const module = this.module?.(name)
    if (module === undefined) {
      throw new InvalidNode({ name, reason: "no node module of this name is registered; register one, or start another" })
    }
    if (module.inputs === undefined) {
      throw new InvalidNode({ name, reason: "a definition is started by a node as it is, and by its name only where it declares inputs" })
    }
    return Piece.make(module, inputs, this.environment.moment.hash)
  }

  /** Queues the delivery of an effect's value. */
  private saw(run: NodeRun): void {
    if (run.deliver === undefined || this.resumption.isSilent) return
    run.isSeen = true
    this.seen[this.seers++] = run
  }

  /** A run has ended: queues its delivery, and removes children that it did not start again. Returns whether there is another attempt. */
  private finish(run: NodeRun, before: StartedNodes | undefined): boolean {
    const { children, error, node } = run
    if (error === undefined) {
      if (!run.isSeen) this.saw(run)
      if (before !== undefined) this.abandon(node, before, children)
      return false
    }
    // The children of a failed run are discarded with its other results.
    if (children !== undefined) this.abandon(node, children, before)
    run.children = before === undefined ? undefined : new Map([...before].map(([name, beat]) => [name, children?.get(name) ?? beat]))
    const isRetried = this.gates.retry(node, isTagged(error, "Retry"))
    if (!isRetried && !this.resumption.takes(node)) this.failures.push({ node, error })
    return isRetried
  }

  /** Removes the children of a node, except those in `kept`. */
  private abandon(parent: Node, started: StartedNodes, kept: StartedNodes | undefined): void {
    for (const name of started.keys()) {
      if (kept?.has(name) !== true) this.registry.disown(parent, name)
    }
  }
}

/**
 * The settle: a pass runs invalid, demanded nodes until none is left.
 *
 * All sources of a run are up to date when it reads them. Writers have lower levels and
 * ran before; any other source is brought up to date first, as a nested run. A restless
 * node backs off, and is never forced. [S2 §7]
 *
 * @module
 */
import type { Environment } from "./Environment.ts"
import * as Flag from "../graph/Flag.ts"
import type { Gates } from "../graph/Gates.ts"
import { eligibleAt } from "../graph/Gates.ts"
import type { Graph } from "../graph/Graph.ts"
import { causesOf } from "../graph/Reads.ts"
import { Levels } from "../graph/Levels.ts"
import type { Edge, Node, NodeRun } from "../graph/Node.ts"
import type { Queue } from "../graph/Queue.ts"
import type { Run } from "./Run.ts"
import * as Runner from "./Runner.ts"

const { BOUND, GATED, MATERIALIZER, NEVER_RAN, PROVISIONAL, QUEUED, REMOVED, ROOT, RUNNING, UNSETTLED, WALKED } = Flag
// A function of another module is looked up at each call, like a flag.
const { breakOff, perform, runOf } = Runner

/** A node on the path of a walk, with the progress through its writers. */
interface Step {
  readonly node: Node
  writers: ReadonlyArray<Node>
  next: number
}

/** Number of runs of an effect, and their total time in milliseconds of the host. */
export interface RunMeasure {
  runs: number
  spent: number
}

/** The outcome of a pass. */
export interface SettleResult {
  /** Restless nodes, by ordinal. */
  readonly restless: ReadonlyArray<Node>
  /** Number of runs. */
  readonly runs: number
}

/**
 * Runs passes over one graph.
 */
export class Settle {
  private readonly graph: Graph
  private readonly gates: Gates
  private readonly levels: Levels
  private readonly queue: Queue
  private readonly environment: Environment
  /** Most runs of a node in one pass. */
  private readonly budget: number
  /** Counts passes. */
  private pass = 0
  private runs = 0
  /** Counts nodes that walks could not bring up to date, or did not look above. Their readers are not known to be up to date. */
  private held = 0
  /** Counts nodes visited by walks: the cost of reads beside the runs. */
  walked = 0
  /** Counts invalid nodes that runs started. */
  started = 0
  /** The host's timer in milliseconds, if runs of effects are measured. */
  timer: (() => number) | undefined
  private measured = new Map<Node, RunMeasure>()
  /** Nodes that are live through their creator, until they have run and the pass is over. */
  private provisional: Array<Node> = []

  constructor(deps: { readonly graph: Graph; readonly gates: Gates; readonly queue: Queue; readonly environment: Environment }) {
    this.graph = deps.graph
    this.levels = new Levels(deps.graph)
    this.gates = deps.gates
    this.queue = deps.queue
    this.environment = deps.environment
    this.budget = deps.gates.budgets.passRuns
  }

  /** Runs all invalid, demanded nodes with an open gate. */
  settle(): SettleResult {
    this.pass++
    this.runs = 0
    for (let node = this.queue.pop(); node !== undefined; node = this.queue.pop()) this.turn(node)
    this.expire()
    this.levels.settled()
    return { restless: this.gates.rest(), runs: this.runs }
  }

  /** Brings a node and its upstream closure up to date, demanded or not. Returns the opening of the gate that prevents it. */
  pull(node: Node): number | undefined {
    if (this.isFresh(node)) return undefined
    const isKnown = this.isChecked(node)
    const { started } = this
    // A closure that is too deep is reached in several walks, each from the levels met before.
    while (this.ensure(node)) continue
    if (this.graph.isCyclic || started !== this.started || (!this.graph.writerIndex.isEmpty && !isKnown)) this.calm(node)
    return this.heldUntil(node)
  }

  /**
   * Settles a closure after its walk. A walk visits a cycle once, and misses nodes started meanwhile. The stale rest runs until it
   * settles or backs off. If a gate delays a part of it, no node of the closure is known to be up to date.
   */
  private calm(node: Node): void {
    for (let ran = true; ran;) {
      ran = false
      let isLeft = false
      const closure = this.closure(node)
      for (const above of closure) {
        if ((above.flags & UNSETTLED) === 0 || (above.flags & REMOVED) !== 0) continue
        isLeft = true
        if (!this.gates.isOpen(above)) continue
        if (this.isSpent(above)) this.gates.backOff(above)
        else {
          ran = true
          while (this.ensure(above)) continue
        }
      }
      if (!ran && isLeft) for (const above of closure) above.checked = -1
    }
  }

  /** A node and its upstream closure. */
  private closure(start: Node): ReadonlySet<Node> {
    const seen = new Set<Node>([start])
    for (const node of seen) for (const writer of this.writersAbove(node)) seen.add(writer)
    this.walked += seen.size
    return seen
  }

  /** Whether a node and its upstream closure are known to be up to date, without a walk. */
  private isKnown(node: Node): boolean {
    return (node.checked === this.graph.clock && (node.flags & UNSETTLED) === 0) || this.isFresh(node)
  }

  /**
   * Whether a node is live, and its upstream closure has no run left or delayed. Demanded invalid nodes are in the queue or behind
   * a gate, so this needs no walk. With delayed nodes it needs one walk since the last change of edges.
   */
  private isFresh(node: Node): boolean {
    if ((node.flags & (UNSETTLED | RUNNING)) !== 0 || !node.isLive) return false
    const { gates, graph, queue } = this
    const isPlain = !graph.isCyclic && graph.writerIndex.isEmpty
    if (!(isPlain ? queue.isPast(node.level) : queue.isEmpty)) return false
    return (isPlain && node.checked >= graph.shape) || gates.nextDue === undefined
  }

  /** Whether a walk found a node and its upstream closure up to date since the last change. It misses cycles through materializers. */
  private isChecked({ checked, flags }: Node): boolean {
    const { gates, graph, queue } = this
    if (checked !== graph.clock || (flags & UNSETTLED) !== 0 || graph.isCyclic) return false
    return graph.writerIndex.isEmpty || (queue.isEmpty && gates.nextDue === undefined)
  }

  /** A run takes a live, clean writer for up to date that is new to it. A closed gate may delay a run above, which only a walk can tell. */
  readonly assume = (writer: Node): void => {
    if ((writer.checked < this.graph.shape || this.graph.isCyclic) && this.gates.nextDue !== undefined) this.held++
  }

  /** Begins the work of a beat. Earlier runs no longer count towards the budget. */
  begin(): void {
    this.pass++
  }

  /** Demands a node that a live one created, until it has run. */
  provide(node: Node): void {
    node.flags |= PROVISIONAL
    this.provisional.push(node)
  }

  /** The turn of a node. Since it was queued, it may have been removed, run or delayed. */
  private turn(node: Node): void {
    const { flags } = node
    if ((flags & UNSETTLED) === 0 || (node.liveRefs === 0 && (flags & ROOT) === 0)) return
    if ((flags & (BOUND | NEVER_RAN | REMOVED)) !== 0 && !this.mayRun(node)) return
    const { run } = node
    if (run !== undefined && run.pass === this.pass && run.passRuns >= this.budget) this.gates.backOff(node)
    // If it has to start over, its sources were queued below its new level.
    else if (!this.run(node)) this.queue.push(node)
  }

  /** Whether a node with further conditions is to run now. */
  private mayRun(node: Node): boolean {
    const { flags } = node
    if ((flags & REMOVED) !== 0) return false
    if (!this.gates.isOpen(node)) {
      this.gates.hold(node)
      return false
    }
    if (this.isParentFirst(node)) return false
    return this.isSpent(node) || (flags & NEVER_RAN) === 0 || node.definition.reads.length === 0 || this.prepared(node)
  }

  /** Brings the declared reads of a node up to date before its first run. */
  private prepared(node: Node): boolean {
    for (const text of node.definition.reads) {
      for (const writer of this.graph.writersOf(this.graph.locations.named(text))) {
        if (writer !== node && this.graph.demandPolicy?.bars(node, writer) !== true) this.pull(writer)
      }
    }
    return (node.flags & UNSETTLED) !== 0 && (node.flags & REMOVED) === 0
  }

  private isSpent(node: Node): boolean {
    const { run } = node
    return run !== undefined && run.pass === this.pass && run.passRuns >= this.budget
  }

  private run(node: Node): boolean {
    let run = runOf(node, this.environment)
    while (!this.once(run)) {
      // A run that broke its transaction has another record.
      run = runOf(node, this.environment)
      if (!run.isTorn) return false
      run.isTorn = false
      this.count(run)
      if (!this.isSpent(node)) continue
      // It backs off at its next turn.
      if (node.isLive) this.queue.push(node)
      return true
    }
    this.count(node.run ?? run)
    if (node.gate !== undefined) this.gates.ran(node)
    return true
  }

  private once(run: Run): boolean {
    const { graph } = this
    try {
      return graph.noted !== undefined || graph.explains ? this.attended(run) : perform(run)
    } catch (error) {
      breakOff(this.environment.active, run)
      throw error
    }
  }

  private count(run: NodeRun): void {
    this.runs++
    run.passRuns = run.pass === this.pass ? run.passRuns + 1 : 1
    run.pass = this.pass
  }

  /** Runs a node now, regardless of its gate. */
  force(node: Node): void {
    while (!this.run(node)) continue
  }

  /** Runs a node with explanations or observers. */
  private attended(run: Run): boolean {
    const { graph, timer } = this
    graph.noted?.runs(run)
    if (graph.explains) {
      run.causes = causesOf(run.node)
      graph.before?.(run)
    }
    const { watched } = graph
    const outer = watched?.enter(run)
    const isDone = timer !== undefined && run.node.definition.autoDebounce ? this.timed(run, timer) : perform(run)
    if (outer !== undefined) watched?.leave(run, outer)
    return isDone
  }

  /** Runs an effect with the host's timer. The caller decides when the time takes effect. */
  private timed(run: Run, timer: () => number): boolean {
    const began = timer()
    if (!perform(run)) return false
    const measured = this.measured.get(run.node)
    const spent = Math.max(0, timer() - began)
    if (measured === undefined) this.measured.set(run.node, { runs: 1, spent })
    else {
      measured.runs++
      measured.spent += spent
    }
    return true
  }

  /** The run times since the last call. */
  takeMeasured(): ReadonlyMap<Node, RunMeasure> {
    const { measured } = this
    if (measured.size > 0) this.measured = new Map()
    return measured
  }

  /** Lets an invalid parent run before its child, which it may remove; unless the parent reads the child's output. */
  private isParentFirst(node: Node): boolean {
    const { parent } = node
    if (parent === undefined || (parent.flags & QUEUED) === 0 || parent.level < node.level) return false
    if (this.levels.dependsOn(parent, node)) return false
    this.graph.lift(node, parent.level + 1)
    this.queue.push(node)
    return true
  }

  /**
   * Brings a node and its upstream closure up to date. Returns true if the nesting is too deep: the reader has to start over.
   *
   * The walk has a stack of its own, so long chains do not use the engine's.
   */
  readonly ensure = (start: Node): boolean => {
    if (this.isKnown(start)) return false
    const steps: Array<Step> = []
    this.enter(start, steps)
    let isAgain = false
    const { held } = this
    for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
      const writer = isAgain ? undefined : step.writers[step.next++]
      if (writer !== undefined) {
        this.enter(writer, steps)
        continue
      }
      steps.pop()
      const { node } = step
      node.flags &= ~WALKED
      // An upstream run may have removed it.
      if (isAgain || (node.flags & REMOVED) !== 0) continue
      if ((node.flags & UNSETTLED) !== 0 && this.gates.isOpen(node) && !this.isSpent(node)) isAgain = !this.run(node)
      if ((node.flags & UNSETTLED) !== 0) this.held++
      if (!isAgain && this.held === held) node.checked = this.graph.clock
    }
    return isAgain
  }

  private enter(node: Node, steps: Array<Step>): void {
    const { flags } = node
    if ((flags & (WALKED | RUNNING | REMOVED)) !== 0) return
    if (this.isKnown(node)) return
    node.flags |= WALKED
    this.walked++
    steps.push({ node, writers: this.writersAbove(node), next: 0 })
  }

  /** The writers of a node's reads, or of its declared reads before the first run. */
  private writersAbove(node: Node): ReadonlyArray<Node> {
    const found: Array<Node> = []
    for (let edge: Edge | undefined = node.reads; edge !== undefined; edge = edge.nextRead) {
      if (!edge.isPassive) this.addWriters(edge.location, found)
    }
    if (node.reads !== undefined) return found
    for (const text of node.definition.reads) this.addWriters(this.graph.locations.named(text), found)
    const { demandPolicy } = this.graph
    return demandPolicy === undefined ? found : found.filter((writer) => !demandPolicy.bars(node, writer))
  }

  private addWriters(location: Parameters<Graph["writersOf"]>[0], found: Array<Node>): void {
    for (const writer of this.graph.writersOf(location)) found.push(writer)
    for (const writer of this.graph.writerIndex.of(location)) found.push(writer)
  }

  /** The opening of the latest gate that keeps a node or its upstream closure from being up to date; `undefined` if all are settled. */
  heldUntil(start: Node): number | undefined {
    if (this.isFresh(start)) return undefined
    if (this.isChecked(start)) return undefined
    let until: number | undefined
    for (const node of this.closure(start)) {
      if ((node.flags & UNSETTLED) !== 0) until = Math.max(until ?? 0, eligibleAt(node))
    }
    return until
  }

  /** Whether a node and all above it are up to date, and no run of theirs is under way. To look changes nothing. */
  isAtRest(start: Node): boolean {
    if (this.isFresh(start)) return true
    for (const { flags } of this.closure(start)) if ((flags & (UNSETTLED | RUNNING)) !== 0) return false
    return true
  }

  /** The pass is over: created nodes that have run stay live only through their readers. */
  private expire(): void {
    if (this.provisional.length === 0) return
    const kept: Array<Node> = []
    for (const node of this.provisional) {
      if ((node.flags & REMOVED) !== 0) continue
      if ((node.run?.runs ?? 0) === 0) {
        kept.push(node)
        continue
      }
      node.flags &= ~PROVISIONAL
      this.graph.release(node)
    }
    this.provisional = kept
  }

  get isRunnable(): boolean {
    return !this.queue.isEmpty
  }

  /** Whether a node waits for its gate. */
  isWaiting(node: Node): boolean {
    return (node.flags & GATED) !== 0 && (node.flags & MATERIALIZER) === 0
  }
}

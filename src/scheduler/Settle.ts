/**
 * Settle: the pass that runs what is invalid and demanded, until nothing is.
 *
 * Whatever a run reads is up to date when it reads it: writers stand on lower
 * levels and ran before, and what does not stand below is brought up to date first,
 * as a run within the run. A node that does not come to rest is put off, never forced.
 * (Seed 002, section 7; architecture, section 6.)
 *
 * @module
 */
import type { Environment } from "./Environment.ts"
import * as Flag from "./Flag.ts"
import type { Gates } from "./Gates.ts"
import { eligibleAt, PASS_RUN_BUDGET } from "./Gates.ts"
import type { Graph } from "./Graph.ts"
import { causesOf } from "./Introspection.ts"
import { Levels } from "./Levels.ts"
import type { Edge, Node, NodeRun } from "./Node.ts"
import type { Queue } from "./Queue.ts"
import { breakOff } from "./ReadSet.ts"
import { Runner } from "./Runner.ts"

const { BOUND, GATED, MATERIALIZER, NEVER_RAN, PROVISIONAL, QUEUED, REMOVED, ROOT, RUNNING, UNSETTLED, WALKED } = Flag
const BUDGET = PASS_RUN_BUDGET

/** A node on the way of a walk, and how far its writers were walked. */
interface Step {
  readonly node: Node
  writers: ReadonlyArray<Node>
  next: number
}

/** How often an effect ran, and how long that took, in milliseconds of the host. */
export interface Measured {
  runs: number
  spent: number
}

/** What a pass left undone. */
export interface Settled {
  /** Nodes that did not come to rest, by ordinal. */
  readonly restless: ReadonlyArray<Node>
  /** How many runs it took. */
  readonly runs: number
}

/**
 * Runs passes over one graph.
 *
 * @category models
 * @since 0.1.0
 */
export class Settle {
  private readonly graph: Graph
  private readonly gates: Gates
  private readonly levels: Levels
  private readonly queue: Queue
  private readonly environment: Environment
  /** Counts passes. */
  private pass = 0
  private runs = 0
  /** Counts what walks could not bring up to date: what stands below is not either, though nothing else is to be done for it. */
  private held = 0
  /** Counts the nodes that walks went through, which is what reads cost beside the runs. */
  walked = 0
  /** Counts nodes that runs started and that have to run. */
  started = 0
  /** Milliseconds of the host, where runs of effects are to be measured. */
  timer: (() => number) | undefined
  private measured = new Map<Node, Measured>()
  /** Live because their creator was, until they have run and the pass is over. */
  private provisional: Array<Node> = []

  constructor(deps: { readonly graph: Graph; readonly gates: Gates; readonly queue: Queue; readonly environment: Environment }) {
    this.graph = deps.graph
    this.levels = new Levels(deps.graph)
    this.gates = deps.gates
    this.queue = deps.queue
    this.environment = deps.environment
  }

  /** Runs all that is invalid, demanded and not held back. */
  settle(): Settled {
    this.pass++
    this.runs = 0
    for (let node = this.queue.pop(); node !== undefined; node = this.queue.pop()) this.turn(node)
    this.expire()
    this.levels.settled()
    return { restless: this.gates.rest(), runs: this.runs }
  }

  /**
   * Brings a node and all above it up to date, demanded or not. Answers when its gate opens, where one holds it back.
   */
  pull(node: Node): number | undefined {
    if (this.isFresh(node)) return undefined
    const isKnown = node.checked === this.graph.clock && (node.flags & UNSETTLED) === 0
    const { started } = this
    // What stands too deep is reached from what was met, some levels further each time.
    while (this.ensure(node)) continue
    if (this.graph.isCyclic || started !== this.started || (!this.graph.writerIndex.isEmpty && !isKnown)) this.calm(node)
    return this.heldUntil(node)
  }

  /** A walk goes around a ring once, and past what is only started meanwhile, and may leave what is above stale: it is run until it is at rest, or put off like in a pass. */
  private calm(node: Node): void {
    for (let ran = true; ran;) {
      ran = false
      for (const above of this.closure(node)) {
        if ((above.flags & UNSETTLED) === 0 || (above.flags & REMOVED) !== 0 || !this.gates.isOpen(above)) continue
        if (this.isSpent(above)) this.gates.backOff(above)
        else {
          ran = true
          while (this.ensure(above)) continue
        }
      }
    }
  }

  /** A node and all above it. */
  private closure(start: Node): ReadonlySet<Node> {
    const seen = new Set<Node>([start])
    for (const node of seen) for (const writer of this.writersAbove(node)) seen.add(writer)
    this.walked += seen.size
    return seen
  }

  /** Whether a node and all above it are up to date, as far as a look at the node itself tells. */
  private isKnown(node: Node): boolean {
    return (node.checked === this.graph.clock && (node.flags & UNSETTLED) === 0) || this.isFresh(node)
  }

  /**
   * Whether a node is live, and nothing above it is left to run or held back. Of what is demanded, all that has to run stands in the queue
   * or waits for its gate, so this takes no walk; where gates wait, one since who reads whom changed.
   */
  private isFresh(node: Node): boolean {
    if ((node.flags & (UNSETTLED | RUNNING)) !== 0 || !node.isLive) return false
    const { gates, graph, queue } = this
    const isPlain = !graph.isCyclic && graph.writerIndex.isEmpty
    if (!(isPlain ? queue.isPast(node.level) : queue.isEmpty)) return false
    return (node.checked >= graph.shape && !graph.isCyclic) || gates.nextDue === undefined
  }

  /** Begins a beat's work: whatever ran before counts no more against the budget. */
  begin(): void {
    this.pass++
  }

  /** A node that a live one created is demanded until it has run. */
  provide(node: Node): void {
    node.flags |= PROVISIONAL
    this.provisional.push(node)
  }

  /** A node's turn: it may have been removed, run or put off since it was queued. */
  private turn(node: Node): void {
    const { flags } = node
    if ((flags & UNSETTLED) === 0 || (node.liveRefs === 0 && (flags & ROOT) === 0)) return
    if ((flags & (BOUND | NEVER_RAN | REMOVED)) !== 0 && !this.mayRun(node)) return
    const { run } = node
    if (run !== undefined && run.pass === this.pass && run.passRuns >= BUDGET) this.gates.backOff(node)
    // Where it has to begin again, what it waits for was queued, below its new level.
    else if (!this.run(node)) this.queue.push(node)
  }

  /** Whether a node that needs a closer look is to run now. */
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

  /** What a node that never ran is going to read is up to date before. */
  private prepared(node: Node): boolean {
    for (const text of node.definition.reads) {
      for (const writer of this.graph.writersOf(this.graph.locations.named(text))) {
        if (writer !== node) this.pull(writer)
      }
    }
    return (node.flags & UNSETTLED) !== 0 && (node.flags & REMOVED) === 0
  }

  private isSpent(node: Node): boolean {
    const { run } = node
    return run !== undefined && run.pass === this.pass && run.passRuns >= BUDGET
  }

  private run(node: Node): boolean {
    let run = node.run ??= new Runner(node, this.environment)
    while (!this.once(run)) {
      // Another one is in its place where an author froze it.
      run = node.run
      if (!run.isTorn) return false
      run.isTorn = false
      this.count(run)
      if (!this.isSpent(node)) continue
      // It is put off when its turn comes again.
      if (node.isLive) this.queue.push(node)
      return true
    }
    this.count(node.run)
    if (node.gate !== undefined) this.gates.ran(node)
    return true
  }

  private once(run: NodeRun): boolean {
    const { graph } = this
    try {
      return graph.noted !== undefined || graph.explains ? this.attended(run) : run.perform()
    } catch (error) {
      breakOff(run)
      throw error
    }
  }

  private count(run: NodeRun): void {
    this.runs++
    run.passRuns = run.pass === this.pass ? run.passRuns + 1 : 1
    run.pass = this.pass
  }

  /** Runs a node now, whatever its gate says. */
  force(node: Node): void {
    while (!this.run(node)) continue
  }

  /** A run of which somebody takes something down. */
  private attended(run: NodeRun): boolean {
    const { graph, timer } = this
    graph.noted?.runs(run)
    if (graph.explains) {
      run.causes = causesOf(run.node)
      graph.before?.(run)
    }
    const { watched } = graph
    const outer = watched?.enter(run)
    const isDone = timer !== undefined && run.node.definition.autoDebounce ? this.timed(run, timer) : run.perform()
    if (outer !== undefined) watched!.leave(run, outer)
    return isDone
  }

  /** Runs an effect by the clock of the host. What that shows counts when somebody hands it in. */
  private timed(run: NodeRun, timer: () => number): boolean {
    const began = timer()
    if (!run.perform()) return false
    const measured = this.measured.get(run.node)
    const spent = Math.max(0, timer() - began)
    if (measured === undefined) this.measured.set(run.node, { runs: 1, spent })
    else {
      measured.runs++
      measured.spent += spent
    }
    return true
  }

  /** What was measured since this was asked last. */
  takeMeasured(): ReadonlyMap<Node, Measured> {
    const { measured } = this
    if (measured.size > 0) this.measured = new Map()
    return measured
  }

  /** Lets a parent that has to run go before its child, which it may remove; unless it reads what the child derives. */
  private isParentFirst(node: Node): boolean {
    const { parent } = node
    if (parent === undefined || (parent.flags & QUEUED) === 0 || parent.level < node.level) return false
    if (this.dependsOn(parent, node)) return false
    this.graph.lift(node, parent.level + 1)
    this.queue.push(node)
    return true
  }

  /** Whether a node reads what another one derives, directly or through others and their creators. */
  private dependsOn(reader: Node, writer: Node): boolean {
    const seen = new Set<Node>([reader])
    for (const node of seen) {
      if (node === writer) return true
      // Where creators wait for one another's children, none of those is lifted above its own.
      if (node.parent !== undefined) seen.add(node.parent)
      if (node.level < writer.level) continue
      for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
        for (const above of this.graph.writersOf(edge.location)) seen.add(above)
      }
    }
    return false
  }

  /**
   * Brings a node and all above it up to date. Answers true where the nesting got too deep: whoever reads has to begin again.
   *
   * The walk keeps its own stack, so that long chains take no room on the host's.
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
      // What ran above may have let go of it.
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

  /** The writers of what a node read, or of what it says that it is going to read. */
  private writersAbove(node: Node): ReadonlyArray<Node> {
    const found: Array<Node> = []
    for (let edge: Edge | undefined = node.reads; edge !== undefined; edge = edge.nextRead) this.addWriters(edge.location, found)
    if (node.reads === undefined) for (const text of node.definition.reads) this.addWriters(this.graph.locations.named(text), found)
    return found
  }

  private addWriters(location: Parameters<Graph["writersOf"]>[0], found: Array<Node>): void {
    for (const writer of this.graph.writersOf(location)) found.push(writer)
    for (const writer of this.graph.writerIndex.of(location)) found.push(writer)
  }

  /** When the latest gate opens that keeps a node or one above it from being up to date; `undefined` where all of that is settled. */
  heldUntil(start: Node): number | undefined {
    if (this.isFresh(start)) return undefined
    if (!this.graph.isCyclic && start.checked === this.graph.clock && (start.flags & UNSETTLED) === 0) return undefined
    let until: number | undefined
    for (const node of this.closure(start)) {
      if ((node.flags & UNSETTLED) !== 0) until = Math.max(until ?? 0, eligibleAt(node))
    }
    return until
  }

  /** The pass is over: who was created in it and has run lives on only by its readers. */
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

  /** Whether anything is to be done now. */
  get isRunnable(): boolean {
    return !this.queue.isEmpty
  }

  /** Whether a node waits for its gate. */
  isWaiting(node: Node): boolean {
    return (node.flags & GATED) !== 0 && (node.flags & MATERIALIZER) === 0
  }
}

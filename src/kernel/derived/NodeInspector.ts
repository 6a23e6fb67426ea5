/**
 * Attention: what somebody looks at while nodes run.
 *
 * Runs are traced by kind, and whoever watches them is told before those of
 * chosen nodes. No run and no order depends on it. (Seed 002, P10.)
 *
 * @module
 */
import type { Graph } from "../../scheduler/Graph.ts"
import type { Node, NodeRun } from "../../scheduler/Node.ts"
import { Trace } from "../../scheduler/Trace.ts"
import { isInPass } from "./DerivationPort.ts"
import type { NamedNode } from "../model/Journal.ts"
import type { NodeLine } from "../model/NodeLine.ts"
import type { Watch } from "../watchdog/RunWatch.ts"

/** What a beat made of nodes. */
interface Ended {
  readonly beat: number
  readonly lines: ReadonlyArray<NodeLine>
  readonly invalid: Iterable<Node>
  readonly restless: ReadonlyArray<NamedNode>
}

/**
 * What is looked at in one space.
 *
 * @category models
 * @since 0.1.0
 */
export class NodeInspector {
  readonly trace = new Trace()
  /** Nodes before whose runs somebody asked to stop. */
  breakpoints: ReadonlySet<string> = new Set()
  /** The beat that runs. */
  beat = -1
  private readonly stop: Watch["stop"] | undefined
  /** Why each of the beat's runs happened, where that is taken down. */
  private causes: Array<ReadonlyArray<string>> = []

  constructor(stop: Watch["stop"] | undefined) {
    this.stop = stop
  }

  /** Whether somebody asked to be told of runs. */
  get isPaid(): boolean {
    return this.breakpoints.size > 0 || this.trace.active.length > 0
  }

  /** Has runs explained where somebody asks for that; otherwise nothing is added to them. */
  pay(graph: Graph): void {
    const isStopping = this.stop !== undefined && this.breakpoints.size > 0
    graph.explains = isStopping || this.trace.has("run")
    graph.before = isStopping ? (run) => this.pause(run) : undefined
  }

  private pause({ causes, node: { definition: { name } } }: NodeRun): void {
    if (this.breakpoints.has(name)) this.stop?.({ beat: this.beat, node: name, causes })
  }

  /** A run is over that has its line. */
  note({ causes }: NodeRun): void {
    if (this.trace.has("run")) this.causes.push(causes)
  }

  /** Takes down what a beat derived, now that it is in the store. */
  takeDown({ beat, invalid, lines, restless }: Ended): void {
    const { trace } = this
    if (trace.active.length === 0) return
    const marked = new Set(invalid)
    lines.forEach(({ at, error, name }, i) => trace.add("run", { beat, node: name, in: isInPass(at) ? "pass" : "gate", causes: this.causes[i] ?? [], error: error?.message }))
    for (const { definition: { name } } of marked) trace.add("invalid", { beat, node: name })
    if (lines.length > 0) trace.add("pass", { beat, runs: lines.length, invalid: marked.size, restless: restless.map(([name]) => name) })
  }

  /** The beat is over. */
  end(): void {
    this.causes = []
  }
}

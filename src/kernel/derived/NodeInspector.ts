/**
 * The node inspector: traces and breakpoints of nodes.
 *
 * It traces runs by kind, and calls the debugger before runs of nodes with a breakpoint.
 * No run and no order depends on it. [S2 §2 P10]
 *
 * @module
 */
import type { Graph } from "../../scheduler/graph/Graph.ts"
import type { Node, NodeRun } from "../../scheduler/graph/Node.ts"
import { type Kind, Trace } from "../../scheduler/view/Trace.ts"
import { isInPass } from "./DerivationPort.ts"
import type { NamedNode } from "../journal/Journal.ts"
import type { NodeLine } from "../journal/NodeLine.ts"
import type { RunWatch } from "../watchdog/RunWatch.ts"

/** The derivations of one beat. */
interface Ended {
  readonly beat: number
  readonly lines: ReadonlyArray<NodeLine>
  readonly invalid: Iterable<Node>
  readonly restless: ReadonlyArray<NamedNode>
}

/**
 * The traces and breakpoints of one space.
 */
export class NodeInspector {
  readonly trace = new Trace()
  /** Names of nodes with a breakpoint. */
  breakpoints: ReadonlySet<string> = new Set()
  /** The beat in progress. */
  beat = -1
  private readonly stop: RunWatch["stop"] | undefined
  private graph: Graph | undefined
  /** The causes of each run of the beat, if runs are traced. */
  private causes: Array<ReadonlyArray<string>> = []

  constructor(stop: RunWatch["stop"] | undefined) {
    this.stop = stop
  }

  /** Whether there are breakpoints or active traces. */
  get isPaid(): boolean {
    return this.breakpoints.size > 0 || this.trace.active.length > 0
  }

  /** Traces these kinds from now on. */
  follow(kinds: ReadonlyArray<Kind>): void {
    this.trace.set(kinds)
    this.explain()
  }

  /** Sets the breakpoints of nodes, in place of the previous ones. */
  breakAt(nodes: ReadonlyArray<string>): void {
    this.breakpoints = new Set(nodes)
    this.explain()
  }

  /** The space has a graph. */
  join(graph: Graph): void {
    this.graph = graph
    this.explain()
  }

  /** Has the graph explain its runs if a trace or breakpoint needs them. Otherwise runs have no extra cost. */
  private explain(): void {
    if (this.graph === undefined) return
    const isStopping = this.stop !== undefined && this.breakpoints.size > 0
    this.graph.explains = isStopping || this.trace.has("run")
    this.graph.before = isStopping ? (run) => this.pause(run) : undefined
  }

  private pause({ causes, node: { definition: { name } } }: NodeRun): void {
    if (this.breakpoints.has(name)) this.stop?.({ beat: this.beat, node: name, causes })
  }

  /** A run with a line has ended. */
  note({ causes }: NodeRun): void {
    if (this.trace.has("run")) this.causes.push(causes)
  }

  /** Traces the derivations of a beat, once it is in the store. */
  takeDown({ beat, invalid, lines, restless }: Ended): void {
    const { trace } = this
    if (trace.active.length === 0) return
    const marked = new Set(invalid)
    for (const [i, { at, error, name }] of lines.entries()) {
      trace.add("run", { beat, node: name, in: isInPass(at) ? "pass" : "gate", causes: this.causes[i] ?? [], error: error?.message })
    }
    for (const { definition: { name } } of marked) trace.add("invalid", { beat, node: name })
    if (lines.length > 0) trace.add("pass", { beat, runs: lines.length, invalid: marked.size, restless: restless.map(([name]) => name) })
  }

  /** The beat is over. */
  end(): void {
    this.causes = []
  }
}

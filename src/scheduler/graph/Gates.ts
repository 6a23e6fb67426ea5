/**
 * Time gates: when a node may run next.
 *
 * Debounce, throttle and backoff are three times of one gate, and the latest of them
 * counts. The beat supplies the clock. One wake serves the earliest gate that delays a
 * demanded run. [S2 §8]
 *
 * @module
 */
import { Heap } from "../../cell/Heap.ts"
import type { Budgets } from "../definition/Budgets.ts"
import * as Flag from "./Flag.ts"
import type { Graph } from "./Graph.ts"
import type { Gate, Node } from "./Node.ts"
import type { Queue } from "./Queue.ts"

const { BOUND, EFFECT, GATED, INVALID, MATERIALIZER, NEVER_RAN, PROVISIONAL, REMOVED, UNSETTLED } = Flag

/** Passes of a restless node that `idle` waits for. */
export const IDLE_HOLD = 3

/** An effect with this many runs of at least this mean duration gets this debounce. Durations are in milliseconds. */
const AUTO_RUNS = 3
const AUTO_MEAN = 50
const AUTO_DEBOUNCE = 100

/** A waiting node, and the time at which it was queued to run. */
interface Wait {
  readonly at: number
  readonly node: Node
}

/**
 * The time gates of one graph.
 */
export class Gates {
  /** The beat's clock. */
  now = 0
  readonly budgets: Budgets
  private readonly graph: Graph
  private readonly queue: Queue
  private readonly waits = new Heap<Wait>((a, b) => a.at - b.at || a.node.ordinal - b.node.ordinal)
  private readonly restless = new Set<Node>()

  constructor(parts: { readonly graph: Graph; readonly queue: Queue; readonly budgets: Budgets }) {
    this.graph = parts.graph
    this.queue = parts.queue
    this.budgets = parts.budgets
  }

  /** Sets a node's debounce and throttle, in milliseconds; 0 clears. A pending wait may end earlier, and never later. */
  set(node: Node, { debounce, throttle }: { readonly debounce?: number | undefined; readonly throttle?: number | undefined }): void {
    if (node.gate === undefined && !debounce && !throttle) return
    const gate = gateOf(node)
    if (debounce !== undefined) {
      gate.debouncedUntil = sooner(gate.debouncedUntil, debounce - gate.debounce, debounce)
      gate.debounce = debounce
    }
    if (throttle !== undefined) {
      gate.throttledUntil = sooner(gate.throttledUntil, throttle - gate.throttle, throttle)
      gate.throttle = throttle
    }
    if ((node.flags & GATED) !== 0) this.waits.push({ at: eligibleAt(node), node })
  }

  /** Restores the gate of a node from an earlier process. */
  restore(node: Node, kept: Omit<Gate, "debounce" | "throttle" | "episodes">): void {
    const { attempts, backoffUntil, debouncedUntil, measured, spent, streak, throttledUntil } = kept
    Object.assign(gateOf(node), { attempts, backoffUntil, debouncedUntil, streak, throttledUntil })
    if (streak > 0) this.restless.add(node)
    if (measured > 0) this.measure(node, { runs: measured, spent })
  }

  /** Restores the gate of a node from before an aborted run. */
  rewind(node: Node, before: Gate | undefined): void {
    if (node.gate === undefined) return
    node.gate = before
    node.flags &= ~GATED
    if ((before?.streak ?? 0) === 0) this.restless.delete(node)
  }

  /** A read value changed, or the first run is due: the debounce restarts. */
  disturb(node: Node): void {
    const { gate } = node
    if (gate === undefined || gate.debounce === 0) return
    // A computation's first run is not debounced, since it has no value yet; unless its demand is that of its creator.
    if ((node.flags & NEVER_RAN) !== 0 && (node.flags & (EFFECT | PROVISIONAL)) === 0) return
    gate.debouncedUntil = this.now + gate.debounce
  }

  isOpen(node: Node): boolean {
    return node.gate === undefined || eligibleAt(node) <= this.now
  }

  /** Queues a node until its gate opens. */
  hold(node: Node): void {
    if ((node.flags & GATED) !== 0) return
    this.graph.shape = this.graph.clock
    node.flags |= GATED
    this.waits.push({ at: eligibleAt(node), node })
  }

  /** Releases all nodes whose gates are open now. */
  open(now: number): void {
    this.now = now
    for (let wait = this.waits.peek(); wait !== undefined && wait.at <= now; wait = this.waits.peek()) {
      this.waits.pop()
      const { node } = wait
      if ((node.flags & GATED) === 0) continue
      const at = eligibleAt(node)
      if (at > now) {
        this.waits.push({ at, node })
        continue
      }
      node.flags &= ~GATED
      if (isWaiting(node)) this.queue.push(node)
    }
  }

  /** The earliest opening of a gate that delays a demanded run; `undefined` if there is none. */
  get nextDue(): number | undefined {
    for (let wait = this.waits.peek(); wait !== undefined; wait = this.waits.peek()) {
      const { at, node } = wait
      if ((node.flags & GATED) !== 0 && isWaiting(node) && eligibleAt(node) === at) return at
      this.waits.pop()
      if ((node.flags & GATED) === 0) continue
      if (isWaiting(node)) this.waits.push({ at: eligibleAt(node), node })
      // A later demand queues it again.
      else node.flags &= ~GATED
    }
    return undefined
  }

  /**
   * Whether a gate delays a run that `idle` waits for: of an effect or a materializer, or a demanded first run. `idle` waits for
   * the first passes of a restless node. `stays` excludes nodes that are leaving.
   */
  isAwaiting(stays: (node: Node) => boolean): boolean {
    return this.waits.some(({ node }) => (node.flags & GATED) !== 0 && isWaiting(node) && stays(node) && isAwaited(node))
  }

  /** A run has ended: the next one is throttled. */
  ran(node: Node): void {
    const { gate, run } = node
    if (gate === undefined) return
    if (run?.error === undefined) gate.attempts = 0
    gate.debouncedUntil = 0
    if (gate.throttle > 0) gate.throttledUntil = this.now + gate.throttle
  }

  /** A node has used up its runs of this pass and is still invalid: backs off, longer each time in a row. */
  backOff(node: Node): void {
    const gate = gateOf(node)
    // A node without demand for longer than the longest backoff starts a new row.
    if (gate.backoffUntil > 0 && this.now > gate.backoffUntil + this.budgets.backoffMax) gate.streak = 0
    gate.backoffUntil = this.backoff(gate.streak)
    if (gate.streak++ === 0) gate.episodes++
    this.restless.add(node)
    this.hold(node)
  }

  /** Whether the current attempt is the last. */
  isLastAttempt({ gate }: Node): boolean {
    return (gate?.attempts ?? 0) + 1 >= this.budgets.attempts
  }

  /** The end of a backoff that follows so many others. */
  private backoff(before: number): number {
    return this.now + Math.min(this.budgets.backoffBase * 2 ** before, this.budgets.backoffMax)
  }

  /** A run failed. After a transient failure it is retried, with a growing delay. Returns whether it is. */
  retry(node: Node, mayPass: boolean): boolean {
    if (!mayPass || this.isLastAttempt(node)) {
      if (node.gate !== undefined) node.gate.attempts = 0
      return false
    }
    const gate = gateOf(node)
    gate.backoffUntil = this.backoff(gate.attempts++)
    node.flags |= INVALID
    this.hold(node)
    return true
  }

  /** Schedules one more run of a node at a moment. */
  putOff(node: Node, until: number): void {
    gateOf(node).backoffUntil = until
    node.flags |= INVALID
    this.hold(node)
  }

  /** The pass is over: clears the backoff of settled nodes, and returns the restless ones. */
  rest(): ReadonlyArray<Node> {
    if (this.restless.size === 0) return none
    const left: Array<Node> = []
    for (const node of this.restless) {
      if ((node.flags & REMOVED) === 0 && (node.flags & UNSETTLED) !== 0) {
        left.push(node)
        continue
      }
      this.restless.delete(node)
      const { gate } = node
      if (gate === undefined) continue
      gate.backoffUntil = 0
      gate.streak = 0
    }
    return left
  }

  /** Records the run times of an effect, in milliseconds of the host. A slow effect gets a debounce. */
  measure(node: Node, { runs, spent }: { readonly runs: number; readonly spent: number }): void {
    if (!node.definition.autoDebounce || (node.gate?.debounce ?? 0) > 0) return
    const gate = gateOf(node)
    gate.measured += runs
    gate.spent += spent
    if (gate.measured >= AUTO_RUNS && gate.spent / gate.measured >= AUTO_MEAN) gate.debounce = AUTO_DEBOUNCE
  }
}

const none: ReadonlyArray<Node> = []

/** The end of a pending wait whose length changes by `difference` to `length`. It never moves later. */
const sooner = (until: number, difference: number, length: number): number =>
  until === 0 || length === 0 ? 0 : Math.min(until, until + difference)

/** Whether a node would run if its gate were open. */
const isWaiting = (node: Node): boolean => (node.flags & REMOVED) === 0 && (node.flags & UNSETTLED) !== 0 && node.isLive

/** Whether `idle` waits for a delayed node. */
const isAwaited = (node: Node): boolean => {
  const { flags, gate } = node
  if (gate !== undefined && heldBy(node) === "backoff") return Math.max(gate.streak, gate.attempts) < IDLE_HOLD
  return (flags & (EFFECT | MATERIALIZER | NEVER_RAN)) !== 0
}

/** The time at which a node's gate opens. */
export const eligibleAt = ({ gate }: Node): number =>
  gate === undefined ? 0 : Math.max(gate.debouncedUntil, gate.throttledUntil, gate.backoffUntil)

/** The kind of gate that delays a node longest; `undefined` without a gate. */
export const heldBy = (node: Node): "debounce" | "throttle" | "backoff" | undefined => {
  const at = eligibleAt(node)
  if (node.gate === undefined || at === 0) return undefined
  if (node.gate.backoffUntil === at) return "backoff"
  return node.gate.throttledUntil === at ? "throttle" : "debounce"
}

const gateOf = (node: Node): Gate => {
  node.flags |= BOUND
  return node.gate ??= {
    debounce: 0,
    throttle: 0,
    debouncedUntil: 0,
    throttledUntil: 0,
    backoffUntil: 0,
    streak: 0,
    episodes: 0,
    attempts: 0,
    measured: 0,
    spent: 0
  }
}

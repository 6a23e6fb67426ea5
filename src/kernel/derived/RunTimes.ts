/**
 * How long runs of effects take: measured by the host, captured as input of the
 * next beat, and only then of consequence. How long whole passes take is told
 * where it is too much, and is of no other consequence. (Architecture, section 6.)
 *
 * @module
 */
import type { Diagnostic } from "../../diagnostic/Diagnostic.ts"
import { Load } from "../../scheduler/Load.ts"
import type { Node } from "../../scheduler/Node.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { Measured } from "../../scheduler/Settle.ts"
import * as Derivation from "./DerivationPort.ts"
import type { Spent } from "../model/Journal.ts"

const noTime: ReadonlyArray<Spent> = []

/** The host's clock in milliseconds, and who is told of facts outside of beats. */
interface Dependencies {
  readonly timer: () => number
  readonly tell: (fact: Diagnostic) => void
}

/**
 * What the newest beat that was committed took.
 *
 * @category models
 * @since 0.1.0
 */
export class RunTimes {
  private measured: ReadonlyMap<Node, Measured> = new Map()
  /** Whether a beat took it in that is not committed yet. */
  private isCounted = false
  private readonly load = new Load()
  private readonly deps: Dependencies

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** Measures a pass. */
  pass(settle: () => void): void {
    const { tell, timer } = this.deps
    const began = timer()
    settle()
    const now = timer()
    const busy = this.load.add(now, Math.max(0, now - began))
    if (busy !== undefined) tell(Derivation.busyness(busy))
  }

  /** What the next beat captures: all that took a millisecond or more. */
  get spent(): ReadonlyArray<Spent> {
    if (this.measured.size === 0) return noTime
    return [...this.measured].flatMap(([{ definition: { name } }, { spent }]) => spent < 1 ? [] : [[name, Math.floor(spent)] as const])
  }

  /** The nodes whose gates this beat's capture may have moved. */
  get nodes(): Iterable<Node> {
    return this.measured.keys()
  }

  /** A beat captured what was measured: it counts once, though beats be aborted. */
  count(captured: ReadonlyArray<Spent>, { gates }: Scheduler): void {
    if (this.isCounted) return
    this.isCounted = true
    const millis = new Map(captured)
    for (const [node, { runs }] of this.measured) gates.measure(node, { runs, spent: millis.get(node.definition.name) ?? 0 })
  }

  committed({ settling }: Scheduler): void {
    this.measured = settling.takeMeasured()
    this.isCounted = false
  }

  /** What a beat took that leaves no trace is no matter. */
  abort({ settling }: Scheduler): void {
    settling.takeMeasured()
  }
}

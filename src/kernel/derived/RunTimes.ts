/**
 * Run times of effects, and the load of passes.
 *
 * The host measures runs of effects. The next beat captures these times as input, and
 * only then do they have consequences. Long passes are reported, and have no other
 * consequence.
 *
 * @module
 */
import type { Diagnostic } from "../../diagnostic/Diagnostic.ts"
import { Load } from "../../scheduler/view/Load.ts"
import type { Node } from "../../scheduler/graph/Node.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { RunMeasure } from "../../scheduler/run/Settle.ts"
import * as Derivation from "./DerivationPort.ts"
import type { EffectTime } from "../model/BeatStart.ts"

const noTime: ReadonlyArray<EffectTime> = []

/** The host's timer in milliseconds, and the reporter of facts outside of beats. */
interface Dependencies {
  readonly timer: () => number
  readonly tell: (fact: Diagnostic) => void
}

/**
 * The run times of the newest committed beat.
 */
export class RunTimes {
  private measured: ReadonlyMap<Node, RunMeasure> = new Map()
  /** Whether an uncommitted beat has counted the times. */
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

  /** The times for the next capture: those of a millisecond or more. */
  get spent(): ReadonlyArray<EffectTime> {
    if (this.measured.size === 0) return noTime
    return [...this.measured].flatMap(([{ definition: { name } }, { spent }]) => spent < 1 ? [] : [[name, Math.floor(spent)] as const])
  }

  /** The nodes whose gates this beat's capture may have changed. */
  get nodes(): Iterable<Node> {
    return this.measured.keys()
  }

  /** A beat captured the times. They count once, even if beats are aborted. */
  count(captured: ReadonlyArray<EffectTime>, { gates }: SpaceScheduler): void {
    if (this.isCounted) return
    this.isCounted = true
    const millis = new Map(captured)
    for (const [node, { runs }] of this.measured) gates.measure(node, { runs, spent: millis.get(node.definition.name) ?? 0 })
  }

  committed({ settling }: SpaceScheduler): void {
    this.measured = settling.takeMeasured()
    this.isCounted = false
  }

  /** Drops the times of an aborted beat. */
  abort({ settling }: SpaceScheduler): void {
    settling.takeMeasured()
  }
}

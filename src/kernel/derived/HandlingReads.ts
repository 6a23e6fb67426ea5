/**
 * The reads of derived cells by handlings.
 *
 * @module
 */
import type { NodeRun } from "../../scheduler/graph/Node.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { NodeLine } from "../journal/NodeLine.ts"
import type { Handling, Outcome } from "../model/InFlight.ts"
import * as Derivation from "./DerivationPort.ts"
import { IsolatedReads } from "./IsolatedReads.ts"
import type { StagedOutputs } from "./StagedOutputs.ts"

/**
 * The handlings of one space as readers of its graph, one after another.
 */
export class HandlingReads {
  private readonly schedulers: Scheduler["Service"]
  private readonly outputs: StagedOutputs
  /** The derived cells of handlings with a confidential label. */
  private readonly isolated = new IsolatedReads()
  private scheduler: SpaceScheduler | undefined
  private labels: Labels | undefined
  /** The handling in progress. */
  private handling: Handling | undefined
  /** The opening of the latest time gate among the reads of the current handling. */
  private heldUntil: number | undefined

  constructor(schedulers: Scheduler["Service"], outputs: StagedOutputs) {
    this.schedulers = schedulers
    this.outputs = outputs
  }

  /** A beat begins, by its labels: before any node runs in it. */
  begin(work: Derivation.DerivedBeat, scheduler: SpaceScheduler): void {
    this.scheduler = scheduler
    this.labels = work.labels
    if (work.labels === undefined && scheduler.graph.labels === undefined) return
    this.isolated.begin({ shared: scheduler, schedulers: this.schedulers, base: this.outputs.base, work })
  }

  /** Handlings read the graph from now on. */
  join({ stage }: Derivation.DerivedBeat, scheduler: SpaceScheduler): void {
    stage.join(this.gate, this.labels === undefined ? scheduler.ancestry() : this.isolated)
  }

  /** A handling is about to run. */
  before(handling: Handling): void {
    this.outputs.at = handling.run
    this.handling = handling
    this.heldUntil = undefined
    if (this.labels !== undefined && this.outputs.work !== undefined) this.outputs.work.stage.isolated = undefined
  }

  /** The outcome of a handling that read behind a closed gate. */
  parked(): Outcome | undefined {
    const { heldUntil } = this
    return heldUntil === undefined ? undefined : Derivation.waitForGate(heldUntil)
  }

  /** The isolated runs of the beat. */
  get lines(): ReadonlyArray<NodeLine> {
    return this.isolated.lines
  }

  /** A node ran, which the journal notes in this line, if at all. */
  ended(run: NodeRun, line: number | undefined): void {
    if (this.labels !== undefined) this.isolated.ended(run, line)
  }

  /** The beat is over, committed or aborted. */
  end(): void {
    this.isolated.end()
    this.handling = undefined
  }

  /**
   * Brings a place up to date before a handling reads it. There is one function for all beats: engines allocate a function stored
   * in a property as long-lived, with all objects that it references.
   */
  private readonly gate: Stage["derive"] = (address, depth) => {
    const { handling, labels, outputs, scheduler } = this
    const { at, work } = outputs
    if (scheduler === undefined || work === undefined) return
    const told = labels === undefined ? undefined : (handling?.draft ?? handling)?.label
    const isTold = told !== undefined && told.length > 0
    const until = isTold ? this.isolated.read(at, { address, depth }) : scheduler.demands.read(address, depth)
    if (until !== undefined) this.heldUntil = Math.min(this.heldUntil ?? until, until)
    outputs.flush(scheduler, work)
  }
}

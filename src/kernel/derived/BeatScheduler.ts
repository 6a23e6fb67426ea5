/**
 * The scheduler within the beat: derived cells of a live space.
 *
 * Before a handling reads a derived cell, the scheduler brings it up to date over the
 * state that the handling sees. After the merge, the pass makes all demanded cells
 * consistent, in the same batch. A space without nodes has no scheduler and no such
 * cost.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Diagnostic } from "../../diagnostic/Diagnostic.ts"
import type { ObservationRow } from "../../persistence/Persistence.ts"
import type { Definition } from "../../scheduler/definition/Definition.ts"
import type { Modules } from "../../scheduler/definition/Modules.ts"
import type { Node, NodeRun } from "../../scheduler/graph/Node.ts"
import type { GraphPage, GraphRequest } from "../../scheduler/view/Introspection.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { CommittedState } from "../../stage/BeatClock.ts"
import type { Handling, Outcome } from "../model/InFlight.ts"
import type { Step } from "../model/ExternalChange.ts"
import type { Delivery, DerivationPort, DerivedBeat, FactSink } from "./DerivationPort.ts"
import { NodeDiagnostics } from "./NodeDiagnostics.ts"
import { NodeInspector } from "./NodeInspector.ts"
import * as Derivation from "./DerivationPort.ts"
import { FIRST, MAX_ROUNDS, PASS } from "./DerivationPort.ts"
import type { NamedNode } from "../journal/Journal.ts"
import type { EffectTime } from "../model/BeatStart.ts"
import type { NodeLine } from "../journal/NodeLine.ts"
import { beatChanges } from "./StoredObservations.ts"
import { isWatch, isWatchNode, WatchNodes } from "./WatchNodes.ts"
import type * as Pieces from "./Pieces.ts"
import { ActiveNodes } from "./ActiveNodes.ts"
import { HandlingReads } from "./HandlingReads.ts"
import { StagedOutputs } from "./StagedOutputs.ts"
import type { RunWatch } from "../watchdog/RunWatch.ts"
import type { SpaceWatchdog } from "../watchdog/SpaceWatchdog.ts"
import { RunTimes } from "./RunTimes.ts"
import { type PendingPull, type PullRequest, PendingPulls } from "./PendingPulls.ts"

const nothing: ReadonlyArray<Delivery> = []
const noRows: ReadonlyArray<ObservationRow> = []

/** The dependencies of the derived cells of one space. */
export interface Dependencies {
  readonly committed: CommittedState
  /** Makes the graph of the space. */
  readonly schedulers: Scheduler["Service"]
  /** Most characters of documents in memory. */
  readonly limit: number
  readonly kept: ReadonlyArray<ObservationRow>
  readonly pieces: Pieces.All
  readonly hash: (bytes: Uint8Array) => string
  /** The host's timer in milliseconds, for run times. */
  readonly timer: () => number
  /** Reports facts outside of beats. */
  readonly tell: (fact: Diagnostic) => void
  /** Called before the runs of nodes with a breakpoint. */
  readonly stop: RunWatch["stop"] | undefined
  readonly watchdog: SpaceWatchdog | undefined
}

/**
 * The derived cells of one space.
 */
export class BeatScheduler implements DerivationPort {
  private readonly active: ActiveNodes
  private readonly deps: Dependencies
  private readonly committedState: CommittedState
  private scheduler: SpaceScheduler | undefined
  private readonly watchNodes = new WatchNodes()
  readonly inspector: NodeInspector
  private readonly outputs: StagedOutputs
  private readonly reads: HandlingReads
  private readonly runTimes: RunTimes
  private readonly diagnostics = new NodeDiagnostics()
  private readonly pulls = new PendingPulls()

  constructor(modules: Modules, deps: Dependencies) {
    this.active = new ActiveNodes(modules, deps, this.watchNodes)
    this.deps = deps
    this.runTimes = new RunTimes(deps)
    this.inspector = new NodeInspector(deps.stop)
    this.committedState = deps.committed
    this.outputs = new StagedOutputs(deps.committed)
    this.reads = new HandlingReads(deps.schedulers, this.outputs)
  }

  get hasNodes(): boolean {
    return this.scheduler !== undefined
  }

  /** Whether a beat would have derivations without further input. */
  isRunnable(now: number): boolean {
    if (this.pulls.isRunnable(now) || this.active.isRunnable(this.scheduler)) return true
    if (this.scheduler === undefined) return false
    const due = this.scheduler.nextDue
    return this.scheduler.isRunnable || (due !== undefined && due <= now)
  }

  /** Whether a closed gate delays a node that `idle` waits for. */
  get isAwaited(): boolean {
    return this.scheduler?.gates.isAwaiting(({ definition: { name } }) => !this.active.modules.isLeaving(name)) === true
  }

  /** The earliest opening of a gate that delays a demanded run or a pull, in milliseconds since 1970. */
  get nextDue(): number | undefined {
    const [demanded, pulled] = [this.scheduler?.nextDue, this.pulls.nextDue]
    return demanded === undefined || pulled === undefined ? demanded ?? pulled : Math.min(demanded, pulled)
  }

  /** Adds demand for a place from outside. Returns the call that ends it. */
  watch(address: Address.Address): () => void {
    const name = this.watchNodes.add(address, this.scheduler)
    return () => this.watchNodes.remove(name, this.scheduler)
  }

  /** Has beats bring a place up to date until it is settled. Returns `undefined` if it is settled and no beat is in progress. */
  want(wanted: PullRequest): PendingPull | undefined {
    const { isBehind } = this.active.modules
    const { scheduler } = this
    const isSettled = (): boolean =>
      this.outputs.work === undefined && scheduler?.demands.heldUntil(wanted.address, wanted.admits) === undefined
    if (!isBehind && (scheduler === undefined || isSettled())) return undefined
    return this.pulls.add(wanted)
  }

  begin(work: DerivedBeat): void {
    this.active.modules.begin()
    if (work.commands.takenBack.length > 0) this.active.kept.clear()
    if (this.scheduler === undefined && !this.active.modules.isBehind) return this.appear(work.begun.content)
    const scheduler = this.engine
    this.reads.begin(work, scheduler)
    this.outputs.begin(work)
    this.inspector.beat = work.moment.beat
    scheduler.open(work.moment.clock, work.moment)
    this.runTimes.count(work.begun.spent, scheduler)
    if (this.active.modules.isBehind) this.active.activate(scheduler)
    for (const [key, steps] of work.commands.steps) this.changeBy(scheduler, key, steps)
    for (const staged of work.stage.documents.values()) scheduler.change(staged.address.key, staged)
    for (const key of work.commands.takenBack) scheduler.lose(Address.ofKey(key))
    this.appear(work.begun.content)
    this.outputs.at = FIRST
    scheduler.resumption.revive()
    for (const { definition } of scheduler.resumption.takeAfresh()) this.deps.tell(Derivation.freshness(definition.name))
    this.outputs.flush(scheduler, work)
    this.reads.join(work, scheduler)
  }

  /** Applies changes made under groups step by step, so that each group sees only the steps of others. */
  private changeBy(scheduler: SpaceScheduler, key: string, steps: ReadonlyArray<Step>): void {
    let held = this.committedState.read(key)
    for (const step of steps) {
      scheduler.change(key, { before: held, after: step.before })
      scheduler.change(key, step)
      held = step.after
    }
  }

  /** The run times of effects in the newest committed beat. */
  get spent(): ReadonlyArray<EffectTime> {
    return this.runTimes.spent
  }

  get lines(): ReadonlyArray<NodeLine> {
    return this.outputs.lines
  }

  before(handling: Handling): void {
    this.reads.before(handling)
  }

  get isolated(): ReadonlyArray<NodeLine> {
    return this.reads.lines
  }

  parked(): Outcome | undefined {
    return this.reads.parked()
  }

  settle(work: DerivedBeat, facts: FactSink): void {
    const { scheduler } = this
    const { kept } = this.active
    this.active.take(work.stage.documents.values(), scheduler)
    this.appear([...work.stage.content.keys()].filter((hash) => this.committedState.blob(hash) === undefined))
    if (scheduler !== undefined) {
      work.stage.derive = undefined
      for (const refused of this.refused) facts.diagnose(Derivation.refusal(refused))
      this.runTimes.pass(() => this.pass(scheduler, work, facts))
    }
    if (kept.size > 0) kept.mark(work.stage.documents.values(), work.commands.steps)
  }

  /** Reports new content to the nodes that looked for it. */
  private appear(hashes: ReadonlyArray<string>): void {
    for (const hash of hashes) for (const each of [this.active.kept, this.scheduler]) each?.appear(hash)
  }

  private pass(scheduler: SpaceScheduler, work: DerivedBeat, facts: FactSink): void {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.outputs.at = PASS - round
      for (const staged of work.stage.documents.values()) scheduler.change(staged.address.key, staged)
      const { restless } = scheduler.settling.settle()
      this.pulls.demand(scheduler.demands)
      this.outputs.flush(scheduler, work)
      const failed = this.diagnostics.report(scheduler, facts)
      const tired = round === 0 && this.diagnostics.tire(restless, facts)
      if (!failed && !tired) break
    }
  }

  /** Some nodes and their reads; before the first beat, as it would find them. Changes no state. */
  page(request: GraphRequest): GraphPage {
    if (this.scheduler !== undefined) return this.scheduler.page(request)
    const separate = this.deps.schedulers.make(this.outputs.base)
    this.active.rehearse(separate)
    return separate.page(request)
  }

  /** The node with a failed run among those that derive a place, if there is one. */
  failed(address: Address.Address): Node | undefined {
    return this.scheduler?.demands.failed(address)
  }

  observations(): ReadonlyArray<ObservationRow> {
    const { scheduler } = this
    if (scheduler === undefined) return this.active.kept.isChanged ? [...this.active.kept.rows()] : noRows
    return this.active.rows(scheduler, [...scheduler.changed, ...this.runTimes.nodes])
  }

  committed(): ReadonlyArray<Delivery> {
    const { outputs: { work }, scheduler } = this
    this.active.modules.end()
    if (scheduler === undefined || work === undefined) return nothing
    const { beat } = work.moment
    const seen = scheduler.takeSeen()
    this.runTimes.committed(scheduler)
    this.diagnostics.committed()
    this.inspector.takeDown({ beat, lines: this.outputs.lines, invalid: scheduler.invalidation.marked ?? [], restless: this.restless })
    this.end(scheduler)
    this.active.committed()
    scheduler.undo.committed()
    scheduler.graph.locations.settled(this.deps.limit)
    if (this.pulls.size > 0) this.pulls.committed(scheduler.demands)
    if (seen.length === 0) return nothing
    return seen.flatMap(({ definition, run }) => isWatchNode(definition.name) ? [] : [{ definition, value: run?.seen, beat }])
  }

  abort(): void {
    const { scheduler } = this
    this.active.modules.end()
    if (scheduler === undefined) return
    const { changed } = scheduler
    this.end(scheduler)
    scheduler.takeSeen()
    scheduler.takeFailures()
    this.runTimes.abort(scheduler)
    scheduler.undo.revert((key) => this.committedState.read(key))
    this.active.abort(scheduler, changed)
  }

  private end(scheduler: SpaceScheduler): void {
    this.reads.end()
    this.outputs.end()
    this.diagnostics.end()
    this.inspector.end()
    scheduler.invalidation.marked = []
  }

  /** The nodes that became restless in this beat. */
  get restless(): ReadonlyArray<NamedNode> {
    return this.diagnostics.restless
  }

  /** The nodes refused in this beat. */
  get refused(): ReadonlyArray<NamedNode> {
    return this.active.refused
  }

  module(name: string): Definition | undefined {
    return this.active.modules.definition(name)
  }

  private get engine(): SpaceScheduler {
    if (this.scheduler !== undefined) return this.scheduler
    const scheduler = this.deps.schedulers.make(this.outputs.base, (name, address) => this.deps.tell(Derivation.instability(name, address)))
    scheduler.graph.watched = this.deps.watchdog?.watcher((node) => this.active.modules.hashOf(node))
    scheduler.invalidation.marked = []
    scheduler.graph.noted = scheduler.undo
    this.active.join(scheduler)
    this.active.kept.world = beatChanges(this.committedState, scheduler.graph.locations, () => this.outputs.work)
    scheduler.settling.timer = this.deps.timer
    this.inspector.join(scheduler.graph)
    scheduler.observe((run) => this.note(run, scheduler))
    this.watchNodes.join(scheduler)
    return this.scheduler = scheduler
  }

  private note(run: NodeRun, scheduler: SpaceScheduler): void {
    const { outputs } = this
    this.reads.ended(run, isWatch(run.node) ? undefined : outputs.lines.length)
    if (isWatch(run.node)) return
    this.inspector.note(run)
    outputs.note(run, scheduler)
  }
}

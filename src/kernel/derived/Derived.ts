/**
 * Derived cells of a live space: its scheduler within the beat.
 *
 * Before a handling reads what a node derives, that is brought up to date over
 * the state that the handling sees; after the merge the pass makes all that is
 * demanded consistent with it, in the same batch. A space without nodes has no
 * scheduler, and asks nothing. (Architecture, sections 1.1 and 6.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Document } from "../../cell/Document.ts"
import type { Diagnostic } from "../../diagnostic/Diagnostic.ts"
import type { ObservationRow } from "../../persistence/Persistence.ts"
import type { Definition } from "../../scheduler/Definition.ts"
import * as Idempotency from "../../scheduler/Idempotency.ts"
import type { Ground } from "../../scheduler/Locations.ts"
import type { Modules } from "../../scheduler/Modules.ts"
import type { Node, NodeRun } from "../../scheduler/Node.ts"
import type { GraphView } from "../../scheduler/Introspection.ts"
import { Scheduler } from "../../scheduler/Scheduler.ts"
import type { Kind } from "../../scheduler/Trace.ts"
import type { Committed } from "../../stage/Moment.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import { failure } from "../model/Failure.ts"
import type { Handling, Outcome } from "../model/Flight.ts"
import type { Step } from "../model/Foreign.ts"
import type { Delivery, Derivation } from "./Derivation.ts"
import { Attention } from "./Attention.ts"
import * as Derivations from "./Derivation.ts"
import { FIRST, isInPass, MAX_ROUNDS, PASS, writerOf } from "./Derivation.ts"
import type { NamedNode, Spent } from "../model/Journal.ts"
import type { NodeLine } from "../model/NodeLine.ts"
import { worldOf } from "./Kept.ts"
import { isOnlooker, Onlookers } from "./Onlookers.ts"
import type * as Pieces from "./Pieces.ts"
import { Roster } from "./Roster.ts"
import type { Watch } from "../watchdog/RunWatch.ts"
import { Secluded } from "./Secluded.ts"
import type { Sentry } from "../watchdog/Sentry.ts"
import { Timing } from "./Timing.ts"
import { type Want, type Wanted, Wants } from "./Wants.ts"

const noLines: ReadonlyArray<NodeLine> = []
const nothing: ReadonlyArray<Delivery> = []
const none: ReadonlyArray<Node> = []
const noRows: ReadonlyArray<ObservationRow> = []

const isWatch = ({ definition: { name } }: Node): boolean => isOnlooker(name)

/** What a space gives to what is derived in it. */
export interface Around {
  readonly committed: Committed
  /** Characters of documents that are kept in memory. */
  readonly limit: number
  readonly kept: ReadonlyArray<ObservationRow>
  readonly pieces: Pieces.All
  readonly hash: (bytes: Uint8Array) => string
  /** Milliseconds of the host, by which runs are measured. */
  readonly timer: () => number
  /** Told of what is no part of a beat. */
  readonly tell: (fact: Diagnostic) => void
  /** Whether each node runs twice, so that those are told of which make something else then. */
  readonly rechecks: boolean
  /** Told before the runs of nodes with a breakpoint. */
  readonly stop: Watch["stop"] | undefined
  readonly sentry: Sentry | undefined
}

/**
 * The derived cells of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Derived implements Derivation {
  private readonly roster: Roster
  private readonly around: Around
  private readonly committedState: Committed
  private scheduler: Scheduler | undefined
  private readonly onlookers = new Onlookers()
  private readonly seclusion = new Secluded()
  /** The handling under way. */
  private handling: Handling | undefined
  private stage: Stage | undefined
  private work: BeatWork | undefined
  private at = PASS
  /** When the gate opens that holds back what the handling under way read. */
  private heldUntil: number | undefined
  /** What runs changed since that joined the stage, and by which line. */
  private written = new Map<string, number>()
  lines: Array<NodeLine> = noLines as Array<NodeLine>
  readonly attention: Attention
  private labels: Labels | undefined
  restless: ReadonlyArray<NamedNode> = []
  private readonly timing: Timing
  /** The nodes that are not at rest, as this beat leaves them, and as the newest one that was committed left them, each with its episode. */
  private tiring: ReadonlyArray<Node> = none
  private check: ReturnType<typeof Idempotency.checker> | undefined
  private told: ReadonlyMap<Node, number> = new Map()
  private readonly wants = new Wants()

  constructor(modules: Modules, around: Around) {
    this.roster = new Roster(modules, around)
    this.around = around
    this.timing = new Timing(around)
    this.attention = new Attention(around.stop)
    this.committedState = around.committed
  }

  /** Whether a beat has something to derive that nothing else calls for. */
  isRunnable(now: number): boolean {
    if (this.wants.isRunnable(now) || this.roster.isRunnable) return true
    if (this.scheduler === undefined) return false
    const due = this.scheduler.nextDue
    return this.scheduler.isRunnable || (due !== undefined && due <= now)
  }

  /** Whether a gate holds back what somebody who waits for quiet waits for. */
  get isAwaited(): boolean {
    return this.scheduler?.gates.isAwaiting(({ definition: { name } }) => !this.roster.isLeaving(name)) === true
  }

  /** When the earliest gate opens that holds back a demanded run or a pull, in milliseconds since 1970. */
  get nextDue(): number | undefined {
    const [demanded, pulled] = [this.scheduler?.nextDue, this.wants.nextDue]
    return demanded === undefined || pulled === undefined ? demanded ?? pulled : Math.min(demanded, pulled)
  }

  /** Demand for a place from outside; answers how to end it. */
  watch(address: Address.Address): () => void {
    const name = this.onlookers.add(address, this.scheduler)
    return () => this.onlookers.remove(name, this.scheduler)
  }

  /** Has beats bring a place up to date until it is settled; `undefined` where it is, and no beat is under way that may change that. */
  want(wanted: Wanted): Want | undefined {
    const { isBehind } = this.roster
    if (!isBehind && (this.scheduler === undefined || (this.work === undefined && this.scheduler.demands.heldUntil(wanted.address, wanted.admits) === undefined))) return undefined
    return this.wants.add(wanted)
  }

  begin(work: BeatWork): void {
    this.labels = work.labels
    if (this.scheduler === undefined && !this.roster.isBehind) return this.appear(work.begun.content)
    const scheduler = this.engine
    scheduler.graph.labels = work.labels
    this.work = work
    this.stage = work.stage
    this.lines = []
    this.attention.beat = work.moment.beat
    scheduler.open(work.moment.now, work.moment)
    this.timing.count(work.begun.spent, scheduler)
    if (work.takenBack.length > 0) this.roster.kept.clear()
    if (this.roster.isBehind) this.roster.activate(scheduler)
    for (const [key, steps] of work.steps) this.changeBy(key, steps)
    for (const staged of work.stage.documents.values()) scheduler.change(staged.address.key, staged)
    for (const key of work.takenBack) scheduler.lose(Address.ofKey(key))
    this.appear(work.begun.content)
    this.at = FIRST
    scheduler.revival.revive()
    for (const { definition } of scheduler.revival.takeAfresh()) this.around.tell(Derivations.freshness(definition.name))
    if (this.written.size > 0) this.stageChanges()
    if (this.labels !== undefined) this.seclusion.begin({ official: scheduler, ground: this.ground, work })
    work.stage.join(this.gate, this.labels === undefined ? scheduler.ancestry() : this.seclusion)
  }

  /** What was written under groups is told step by step, so that each group hears of the others' alone. */
  private changeBy(key: string, steps: ReadonlyArray<Step>): void {
    let held = this.committedState.read(key)
    for (const step of steps) {
      this.scheduler!.change(key, { before: held, after: step.before })
      this.scheduler!.change(key, step)
      held = step.after
    }
  }

  /** How long runs of effects took in the newest beat that was committed. */
  get spent(): ReadonlyArray<Spent> {
    return this.timing.spent
  }

  before(handling: Handling): void {
    this.at = handling.run
    this.handling = handling
    this.heldUntil = undefined
    if (this.labels !== undefined && this.stage !== undefined) this.stage.aside = undefined
  }

  get secluded(): ReadonlyArray<NodeLine> {
    return this.seclusion.lines
  }

  parked(): Outcome | undefined {
    const { heldUntil } = this
    if (heldUntil === undefined) return undefined
    return { kind: "retry", tag: "Gated", code: Derivations.GATED, message: "What the run reads is derived by a node whose gate is closed. It runs when the gate opens", until: heldUntil }
  }

  settle(work: BeatWork): void {
    const { scheduler } = this
    const { kept } = this.roster
    this.roster.take(work.stage.documents.values(), scheduler)
    this.appear([...work.stage.content.keys()].filter((hash) => this.committedState.blob(hash) === undefined))
    if (scheduler !== undefined) {
      work.stage.derive = undefined
      for (const refused of this.refused) work.diagnose(Derivations.refusal(refused))
      this.timing.pass(() => this.pass(scheduler, work))
    }
    if (work.takenBack.length > 0) kept.clear()
    else if (kept.size > 0) kept.mark(work.stage.documents.values(), work.steps)
  }

  /** Content came to be there. */
  private appear(hashes: ReadonlyArray<string>): void {
    for (const hash of hashes) for (const each of [this.roster.kept, this.scheduler]) each?.appear(hash)
  }

  private pass(scheduler: Scheduler, work: BeatWork): void {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.at = PASS - round
      for (const staged of work.stage.documents.values()) scheduler.change(staged.address.key, staged)
      const { restless } = scheduler.settling.settle()
      this.wants.demand(scheduler.demands)
      this.stageChanges()
      const failed = this.report(work)
      const tired = round === 0 && this.tire(work, restless)
      if (!failed && !tired) break
    }
  }

  /** All nodes and who reads whom; before the first beat, as that is going to find them. To look changes nothing. */
  view(): GraphView {
    if (this.scheduler !== undefined) return this.scheduler.view()
    const aside = new Scheduler(this.ground)
    this.roster.rehearse(aside)
    return aside.view()
  }

  /** Takes down from now on what the scheduler does, by these kinds. */
  follow(kinds: ReadonlyArray<Kind>): void {
    this.attention.trace.set(kinds)
    if (this.scheduler !== undefined) this.attention.pay(this.scheduler.graph)
  }

  /** Has whoever watches runs told before those of these nodes, and of no others. */
  breakAt(nodes: ReadonlyArray<string>): void {
    this.attention.breakpoints = new Set(nodes)
    if (this.scheduler !== undefined) this.attention.pay(this.scheduler.graph)
  }

  observations(): ReadonlyArray<ObservationRow> {
    const { scheduler } = this
    if (scheduler === undefined) return this.roster.kept.isChanged ? [...this.roster.kept.rows()] : noRows
    const nodes = new Set([...scheduler.reversal.ran, ...scheduler.invalidation.marked ?? [], ...this.timing.nodes])
    return this.roster.rows(scheduler, [...nodes].filter(({ definition: { name } }) => !isOnlooker(name)))
  }

  committed(): ReadonlyArray<Delivery> {
    const { scheduler, stage } = this
    if (scheduler === undefined || stage === undefined) return nothing
    const { beat } = this.work!.moment
    const seen = scheduler.takeSeen()
    this.timing.committed(scheduler)
    if (this.tiring.length > 0 || this.told.size > 0) this.told = new Map(this.tiring.map((node) => [node, node.gate!.episodes]))
    this.attention.takeDown({ beat, lines: this.lines, invalid: scheduler.invalidation.marked ?? [], restless: this.restless })
    this.end()
    this.roster.committed()
    scheduler.reversal.committed()
    scheduler.graph.locations.settled(this.around.limit)
    if (this.wants.size > 0) this.wants.committed(scheduler.demands)
    if (seen.length === 0) return nothing
    return seen.flatMap(({ definition, run }) => isOnlooker(definition.name) ? [] : [{ definition, value: run!.seen, beat }])
  }

  abort(): void {
    const { scheduler } = this
    if (scheduler === undefined) return
    this.end()
    scheduler.takeSeen()
    scheduler.takeFailures()
    this.timing.abort(scheduler)
    scheduler.reversal.revert((key) => this.committedState.read(key))
    this.roster.abort(scheduler)
  }

  private end(): void {
    this.seclusion.end()
    this.handling = undefined
    this.work = undefined
    this.stage = undefined
    this.lines = noLines as Array<NodeLine>
    this.restless = []
    this.attention.end()
    this.scheduler!.invalidation.marked = []
    if (this.written.size > 0) this.written = new Map()
  }

  /** The nodes that were not taken in. */
  get refused(): ReadonlyArray<NamedNode> {
    return this.roster.refused
  }

  module(name: string): Definition | undefined {
    return this.roster.module(name)
  }

  private readonly ground: Ground = {
    read: (key) => this.read(key),
    content: (hash) => this.stage === undefined ? this.committedState.blob(hash) : this.stage.blob(hash),
    children: (scope, id) => this.stage === undefined ? this.committedState.children(scope, id) : this.stage.merged(scope, id),
    holds: true
  }

  private get engine(): Scheduler {
    if (this.scheduler !== undefined) return this.scheduler
    const scheduler = new Scheduler(this.ground)
    scheduler.graph.labels = this.labels
    scheduler.graph.watched = this.around.sentry?.watcher((node) => this.roster.hashOf(node))
    scheduler.invalidation.marked = []
    scheduler.graph.noted = scheduler.reversal
    scheduler.kept = (node) => ({ observation: this.roster.kept.take(node.definition.name), hash: this.roster.hashOf(node) })
    scheduler.module = (name) => this.roster.module(name)
    scheduler.registry.removed = ({ definition: { name } }) => {
      if (!isOnlooker(name)) this.roster.left(name)
    }
    this.roster.kept.world = worldOf(this.committedState, scheduler.graph.locations, () => this.work)
    scheduler.registry.unclaimed = (name) => this.roster.kept.drop(name)
    scheduler.settling.timer = this.around.timer
    if (this.around.rechecks) this.check = Idempotency.checker(scheduler, this.ground, (name, address) => this.around.tell(Derivations.instability(name, address)))
    this.attention.pay(scheduler.graph)
    scheduler.observe((run, keys) => this.note(run, keys))
    this.onlookers.join(scheduler)
    return this.scheduler = scheduler
  }

  /** What is committed, with what the beat has made of it so far. */
  private read(key: string): Document | undefined {
    const staged = this.stage?.documents.get(key)
    return staged === undefined ? this.committedState.read(key) : staged.after
  }

  /** A handling reads here: what is derived is brought up to date over what it sees. One function for all beats: an engine holds one that becomes a property for long-lived, and all that it refers to with it. */
  private readonly gate: Stage["derive"] = (address, depth) => {
    const { at, handling, labels } = this
    const told = labels === undefined ? undefined : (handling?.draft ?? handling)?.label
    const until = told !== undefined && told.length > 0 ? this.seclusion.read(at, { address, depth }) : this.scheduler!.demands.read(address, depth)
    if (until !== undefined) this.heldUntil = Math.min(this.heldUntil ?? until, until)
    if (this.written.size > 0) this.stageChanges()
  }

  private note(run: NodeRun, keys: ReadonlyArray<string>): void {
    const { error, node } = run
    const { name } = node.definition
    if (isWatch(node)) return
    for (const key of run.changed) this.written.set(key, this.lines.length)
    this.attention.note(run)
    if (error === undefined && run.recalled === undefined) this.check?.({ run, keys, moment: this.work!.moment })
    this.lines.push({ name, at: this.at, parent: Derivations.lineage(node), made: Derivations.madeIn(node), recalled: run.recalled, error: Derivations.errorOf(error === undefined ? undefined : failure(error), this.scheduler!.gates.isLastAttempt(node)) })
  }

  /** What nodes made of documents joins the beat: of handlings that read after it, and of the batch. */
  private stageChanges(): void {
    const { scheduler, work } = this
    const { locations } = scheduler!.graph
    for (const [key, line] of this.written) {
      const document = locations.document(locations.root(key))
      if (document?.text === this.read(key)?.text) continue
      const address = Address.ofKey(key)
      if (isInPass(this.at)) work!.stage.put(address, document, writerOf(work!, line))
      else work!.stage.gate(address, document, writerOf(work!, line))
    }
    if (this.written.size > 0) this.written = new Map()
  }

  /** Failures and nodes that do not come to rest become diagnostics; answers whether there were any. */
  private report(work: BeatWork): boolean {
    const failures = this.scheduler!.takeFailures().filter(({ node }) => !isWatch(node))
    for (const { error, node } of failures) {
      const { code, message } = Derivations.errorOf(failure(error), true)!
      work.diagnose(Derivations.failure(node.definition.name, node.output?.key, { code, message, thrown: error }))
    }
    return failures.length > 0
  }

  /** Nodes that do not come to rest, when that begins. */
  private tire(work: BeatWork, restless: ReadonlyArray<Node>): boolean {
    const fresh = restless.filter((node) => !isWatch(node) && node.gate!.streak === 1 && this.told.get(node) !== node.gate!.episodes).sort((a, b) => a.ordinal - b.ordinal)
    this.tiring = restless
    if (fresh.length === 0) return false
    this.restless = fresh.map(({ definition: { name }, output }) => output === undefined ? [name] : [name, output.key])
    work.diagnose(Derivations.restlessness(this.restless))
    return true
  }
}

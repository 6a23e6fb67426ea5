/**
 * Labelled demand: which demand of a node is barred from a writer's gate.
 *
 * The demand of a computation or a materializer follows from the label of its
 * output. The demand of an effect follows from the places that the run read
 * before. Demand is barred where the label of the writer's output does not hold
 * all of these atoms.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Label from "../../cell/Label.ts"
import type { BaseState } from "../../scheduler/graph/Locations.ts"
import type { Location, Node } from "../../scheduler/graph/Node.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { Elsewhere, Guard, DemandPolicy, Source } from "../../scheduler/graph/DemandPolicy.ts"
import { isSilent, type Labels } from "../../stage/Labels.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import { IsolatedGraph } from "./IsolatedGraph.ts"

const nothing: ReadonlyArray<Node> = []

/** The graph of a space, the service for further graphs, and the state below. */
interface Dependencies {
  readonly shared: SpaceScheduler
  readonly schedulers: Scheduler["Service"]
  readonly base: BaseState
}

/**
 * The policy of the nodes of one space.
 */
export class LabelledDemand implements DemandPolicy {
  readonly shared: SpaceScheduler
  private readonly schedulers: Scheduler["Service"]
  /** The moment of the beat under way. */
  moment: BeatClock | undefined
  /** State below the graph of the space. */
  private readonly below: BaseState
  private readonly guards = new Map<Node, NodeGuard>()
  /** Successive attempts of isolated runs that ended in a transient failure, by reader. */
  private readonly attempts = new WeakMap<Node, Map<string, number>>()

  constructor({ base, schedulers, shared }: Dependencies) {
    this.shared = shared
    this.schedulers = schedulers
    this.below = base
  }

  guard(node: Node): Guard | undefined {
    const labels = this.labels
    if (!isSilent(node.definition) && labels.level(node.definition).length === 0) return undefined
    const guard = new NodeGuard(node, this)
    this.guards.set(node, guard)
    return guard
  }

  bars(reader: Node, writer: Node): boolean {
    const { labels } = this
    if (!isSilent(reader.definition)) return !Label.isWithin(labels.level(reader.definition), labels.level(writer.definition))
    let told = this.presence(reader)
    for (let edge = reader.reads; edge !== undefined; edge = edge.nextRead) told = Label.join(told, this.labelOf(edge.location))
    return !Label.isWithin(told, labels.level(writer.definition))
  }

  /** The label of the fact that a silent node is there. */
  presence({ parent }: Node): Label.Label {
    return parent === undefined ? Label.none : isSilent(parent.definition) ? this.labels.top : this.labels.level(parent.definition)
  }

  labelOf(location: Location): Label.Label {
    return this.labels.at(Address.ofKey(location.key), location.extra?.depth ?? "deep")
  }

  /** A run is over: answers its guard. Where an isolated run is to be tried again, so is the node. */
  release(node: Node): NodeGuard | undefined {
    const guard = this.guards.get(node)
    if (guard === undefined) return undefined
    this.guards.delete(node)
    if (guard.until !== undefined) this.shared.gates.putOff(node, guard.until)
    return guard
  }

  /** The beat is over, however it ended. */
  end(): void {
    if (this.guards.size > 0) this.guards.clear()
  }

  /** A graph for one run, over the documents that the run sees. */
  isolate(node: Node, takes: (writer: Node) => boolean): IsolatedGraph {
    const { base, moment, schedulers, shared } = this
    let attempts = this.attempts.get(node)
    if (attempts === undefined) {
      attempts = new Map()
      this.attempts.set(node, attempts)
    }
    return new IsolatedGraph({ shared, schedulers, moment, base, attempts, takes })
  }

  get labels(): Labels {
    return this.shared.graph.labels!
  }

  /** The documents as the graph of the space shows them now. */
  private get base(): BaseState {
    const { below, shared: { graph: { locations } } } = this
    return {
      read: (key) => {
        const root = locations.known(key)
        return root === undefined ? below.read(key) : locations.document(root)
      },
      children: locations.children.bind(locations),
      content: below.content,
      holds: true
    }
  }
}

/**
 * The reads of one run.
 */
export class NodeGuard implements Guard {
  /** When the isolated runs are to be tried again. */
  until: number | undefined
  private readonly node: Node
  readonly policy: LabelledDemand
  /** The label from which its demand follows, so far. */
  private told: Label.Label
  /** Writers that the run demanded before, and may demand again. */
  private readonly demanded = new Set<Node>()
  private readonly known = new Map<Location, Elsewhere>()
  private isolated: IsolatedGraph | undefined
  /** How many of the isolated runs whose sources are registered. */
  private noted = 0

  constructor(node: Node, policy: LabelledDemand) {
    this.node = node
    this.policy = policy
    this.told = isSilent(node.definition) ? policy.presence(node) : policy.labels.level(node.definition)
  }

  /** The isolated runs. */
  get ran(): ReadonlyArray<Node> {
    return this.isolated?.ran ?? nothing
  }

  /** Whether it read a place that it may not demand. */
  get isBarred(): boolean {
    return this.known.size > 0
  }

  look(location: Location): Elsewhere | undefined {
    const known = this.known.get(location)
    if (known !== undefined) return { locations: known.locations, sources: [] }
    const { node, policy } = this
    const writers = this.writersOf(location)
    const isOpen = writers.every((writer) => this.mayDemand(writer))
    if (isSilent(node.definition)) this.told = Label.join(this.told, policy.labelOf(location))
    if (isOpen) {
      for (const writer of writers) this.demanded.add(writer)
      return undefined
    }
    const there = this.find(location, writers)
    this.known.set(location, there)
    return there
  }

  private find(location: Location, writers: ReadonlyArray<Node>): Elsewhere {
    const { graph, settling } = this.policy.shared
    if (this.isolated === undefined && writers.every((writer) => settling.isAtRest(writer))) {
      return { locations: graph.locations, sources: this.above(writers) }
    }
    this.isolated ??= this.policy.isolate(this.node, (writer) => this.takes(writer))
    const { depth = "deep", path = [] } = location.extra ?? {}
    const until = this.isolated.read(Address.into(Address.ofKey(location.key), path), depth)
    if (until !== undefined) this.until = Math.max(this.until ?? 0, until)
    const sources = this.isolated.ran.slice(this.noted).flatMap((node) => this.sourcesOf(node))
    this.noted = this.isolated.ran.length
    return { locations: this.isolated.locations, sources }
  }

  /** Whether a node runs isolated. One that the run may demand is brought up to date as for the run itself. */
  private takes(writer: Node): boolean {
    if (writer === this.node) return false
    if (!this.mayDemand(writer)) return true
    while (this.policy.shared.settling.ensure(writer)) continue
    return false
  }

  /** The places from which settled nodes derive. */
  private above(writers: ReadonlyArray<Node>): ReadonlyArray<Source> {
    const nodes = new Set(writers)
    const sources: Array<Source> = []
    for (const node of nodes) {
      if (node.parent !== undefined) nodes.add(node.parent)
      for (const source of this.sourcesOf(node)) {
        sources.push(source)
        for (const writer of this.writersOf(source.location)) if (!this.mayDemand(writer)) nodes.add(writer)
      }
    }
    return sources
  }

  /** The reads of a node, of the graph of the space or of the isolated one. */
  private sourcesOf({ reads }: Node): ReadonlyArray<Source> {
    const { locations } = this.policy.shared.graph
    const sources: Array<Source> = []
    for (let edge = reads; edge !== undefined; edge = edge.nextRead) {
      const { extra, key } = edge.location
      const location = locations.at(Address.into(Address.ofKey(key), extra?.path ?? []), extra?.depth)
      sources.push({ location, isPassive: !this.writersOf(location).every((writer) => this.mayDemand(writer)) })
    }
    return sources
  }

  private mayDemand(writer: Node): boolean {
    return writer === this.node || this.demanded.has(writer) || Label.isWithin(this.told, this.policy.labels.level(writer.definition))
  }

  /** The writers of a place. */
  private writersOf(location: Location): ReadonlyArray<Node> {
    const { graph } = this.policy.shared
    const writers = graph.writersOf(location)
    return graph.writerIndex.isEmpty ? writers : [...writers, ...graph.writerIndex.of(location)]
  }
}

/**
 * Active nodes: the nodes of a space, from modules and from pieces.
 *
 * A module without inputs has one node in each space; of a module with inputs, each
 * piece is a node. A cell has one writer: a second node that declares it is blocked
 * until the first is removed. A stored observation from an earlier process goes with its
 * node. [S2 §4.4]
 *
 * @module
 */
import type { ObservationRow } from "../../persistence/Persistence.ts"
import { type Definition, NodeTaken } from "../../scheduler/definition/Definition.ts"
import type { Modules, NodeModule } from "../../scheduler/definition/Modules.ts"
import { fingerprint, isKept, keep, type Observation, outputsOf } from "../../scheduler/run/Persistence.ts"
import type { Node } from "../../scheduler/graph/Node.ts"
import * as PassiveEdges from "../../scheduler/run/PassiveEdges.ts"
import * as Piece from "../../scheduler/definition/Piece.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"
import type { StagedDocument } from "../../stage/Stage.ts"
import { isChange } from "../journal/Journal.ts"
import type { NamedNode } from "../journal/Journal.ts"
import { StoredObservations } from "./StoredObservations.ts"
import * as Pieces from "./Pieces.ts"
import { isWatchNode, type WatchNodes } from "./WatchNodes.ts"
import { ActiveModules } from "./ActiveModules.ts"

/** The stored state of a space's nodes, and the hash of pieces. */
interface Dependencies {
  readonly kept: ReadonlyArray<ObservationRow>
  readonly pieces: Pieces.All
  readonly hash: (bytes: Uint8Array) => string
}

/** The work of the first beat after an opening, without further input. */
interface Opening {
  /** The position in the list of module changes. */
  readonly until: number
  /** Whether a node has to run by itself, or for one that does. */
  readonly isRunnable: boolean
  /** The documents that would be derived anew if they were watched. */
  readonly stale: ReadonlySet<string>
}

/** A node to add, with the digest of its module. */
interface Candidate {
  readonly definition: Definition
  readonly hash: string | undefined
}

/**
 * The nodes of one space.
 */
export class ActiveNodes {
  readonly kept: StoredObservations
  /** The nodes refused since the newest committed beat. */
  refused: Array<NamedNode> = []
  readonly modules: ActiveModules
  /** Started pieces, by module. */
  private readonly pieces: Pieces.All
  private readonly hash: (bytes: Uint8Array) => string
  /** Nodes whose name or output another node has. */
  private readonly blocked = new Map<string, Candidate>()
  /** Nodes removed since the newest committed beat. */
  private gone = new Set<string>()
  /** Nodes whose observations this beat stores. */
  private readonly observed: Array<Node> = []
  /** Nodes whose observations an aborted beat would have stored. */
  private unstored = new Set<Node>()
  /** Whether a blocked node may now be added. */
  private isFreed = false
  /** The work of the first beat without further input, by the position that this holds for. */
  private opening: Opening | undefined
  private readonly watchNodes: Pick<WatchNodes, "watches">

  constructor(modules: Modules, deps: Dependencies, watchNodes: Pick<WatchNodes, "watches">) {
    this.watchNodes = watchNodes
    this.modules = new ActiveModules(modules)
    this.kept = new StoredObservations(deps.kept)
    this.pieces = deps.pieces
    this.hash = deps.hash
  }

  /** Whether a pending module change adds a node that runs without further input; without a graph, in its first beat. */
  isRunnable(scheduler: SpaceScheduler | undefined): boolean {
    if (!this.modules.isBehind) return false
    if (scheduler !== undefined) return this.modules.added().some((module) => this.isAwake(module) || this.isDemanded(module, scheduler))
    const { isRunnable, stale } = this.first
    return isRunnable || this.watchNodes.watches(stale)
  }

  private get first(): Opening {
    const { newest } = this.modules
    if (this.opening?.until === newest) return this.opening
    const added = this.modules.added()
    const { isDemanded, keys } = this.kept.above(this.due(added))
    return this.opening = { until: newest, isRunnable: isDemanded || added.some((module) => this.isAwake(module)), stale: keys }
  }

  /** Whether a module has a node that runs by itself, and has to. */
  private isAwake(module: NodeModule): boolean {
    return module.definition._tag !== "Computation" && this.candidates(module).some((node) => !this.isAtRest(node))
  }

  /** Whether a live node reads an output of a module. */
  private isDemanded(module: NodeModule, { graph }: SpaceScheduler): boolean {
    return this.candidates(module).some(({ definition: { output, writes } }) =>
      output !== undefined && [output, ...writes].some((key) => {
        const root = graph.locations.known(key)
        return root !== undefined && [...graph.edgesTo(root)].some(({ reader }) => reader.isLive)
      }))
  }

  /** The outputs of computations that are new to the space, have other code now, or would run if they were demanded. */
  private *due(added: ReadonlyArray<NodeModule>): Iterable<string> {
    const { kept } = this
    const computations = added.filter(({ definition }) => definition._tag === "Computation")
    const byName = new Map(computations.map((module) => [module.definition.name, module]))
    for (const [name, observation] of kept.entries()) {
      const module = byName.get(Piece.moduleOf(name))
      if (module !== undefined) yield* this.stale(observation, observation.fingerprint.split(" ").includes(module.code?.hash ?? ""))
    }
    for (const { definition: { name, output, writes } } of computations.flatMap((module) => this.candidates(module))) {
      if (output !== undefined && kept.get(name) === undefined) yield* [output, ...writes]
    }
  }

  /** The outputs of a stored node with other code, or that is invalid, and of the nodes that its runs started. */
  private *stale(observation: Observation, isCurrent: boolean): Iterable<string> {
    // A node that the labels refused is invalid for good, in case that they change.
    const isInvalid = observation.status === "invalid" && observation.failed?.tag !== "LabelBelow"
    if (!isCurrent || isInvalid) yield* outputsOf(observation)
    for (const child of observation.children) {
      const below = this.kept.get(child)
      if (below !== undefined) yield* this.stale(below, isCurrent)
    }
  }

  /** Has a graph ask here for stored observations, modules and versions, and tell of the nodes that leave. */
  join(scheduler: SpaceScheduler): void {
    const { kept } = this
    this.opening = undefined
    scheduler.kept = (node) => ({ observation: kept.take(node.definition.name), hash: this.modules.hashOf(node) })
    scheduler.module = (name) => this.modules.definition(name)
    scheduler.registry.removed = ({ definition: { name } }) => {
      if (!isWatchNode(name)) this.left(name)
    }
    scheduler.registry.unclaimed = (name) => kept.drop(name)
    scheduler.resumption.refused = (name) => kept.outdate(name)
    scheduler.resumption.digest = (node) => this.writersOf(node, scheduler)
  }

  /** The digest of the nodes that write the reads of a node without demand, with their versions and the rules on labels. */
  private writersOf(node: Node, { graph }: SpaceScheduler): string {
    const versions = [...PassiveEdges.writersOf(node, graph)].map(
      (writer) => `${writer.definition.name} ${fingerprint(writer.definition, this.modules.hashOf(writer))}`
    )
    return this.hash(new TextEncoder().encode(JSON.stringify([graph.labels?.text, versions.sort()])))
  }

  /** Adds the nodes of the next beat to a separate scheduler. Nothing changes here. */
  rehearse(other: SpaceScheduler): void {
    for (const module of this.modules.all()) {
      for (const { definition, hash } of this.candidates(module)) taken(other, definition, { kept: this.kept.get(definition.name), hash })
    }
  }

  /** Called when a node is removed. */
  private left(name: string): void {
    this.gone.add(name)
    this.isFreed = true
  }

  /** Applies the module changes since the last beat. */
  activate(scheduler: SpaceScheduler): void {
    this.modules.apply({
      ended: (module) => {
        for (const { definition } of this.candidates(module)) this.release(definition.name, scheduler)
      },
      begun: (module) => {
        for (const candidate of this.candidates(module)) this.admit(candidate, scheduler)
      }
    })
  }

  /** Adds the pieces that a beat started, removes the stopped ones, and adds blocked nodes whose place is free. */
  take(changes: Iterable<StagedDocument>, scheduler: SpaceScheduler | undefined): void {
    for (const staged of changes) this.takeCell(staged, scheduler)
    if (!this.isFreed || scheduler === undefined) return
    this.isFreed = false
    for (const candidate of this.blocked.values()) this.admit(candidate, scheduler)
  }

  /** The changed observations of these nodes, of removed ones, and of those that an aborted beat left. Later rows replace earlier ones. */
  rows(scheduler: SpaceScheduler, nodes: Iterable<Node>): ReadonlyArray<ObservationRow> {
    const rows: Array<ObservationRow> = [...this.kept.rows()]
    const changed = new Set([...this.unstored, ...nodes])
    for (const name of this.gone) {
      const node = scheduler.registry.get(name)
      if (node === undefined) rows.push({ node: name, text: undefined })
      else changed.add(node)
    }
    for (const node of changed) {
      const { name } = node.definition
      if (scheduler.registry.get(name) !== node || isWatchNode(name) || isKept(node)) continue
      rows.push({ node: name, text: this.textOf(node, scheduler) })
      keep(node, true)
      this.observed.push(node)
    }
    return rows
  }

  /** The observation of a node as text; `undefined` if it never ran. */
  private textOf(node: Node, scheduler: SpaceScheduler): string | undefined {
    const observation = scheduler.observation(node.definition.name, this.modules.hashOf(node))
    if (observation?.passive === undefined) return observation === undefined ? undefined : JSON.stringify(observation)
    return JSON.stringify({ ...observation, writers: this.writersOf(node, scheduler) })
  }

  /** The beat is in the store. */
  committed(): void {
    if (this.gone.size > 0) this.gone = new Set()
    if (this.refused.length > 0) this.refused = []
    if (this.unstored.size > 0) this.unstored = new Set()
    this.kept.committed()
    this.observed.length = 0
  }

  /**
   * The beat is aborted: the observations of nodes removed with it are stored again. The next one stores what this one would have of
   * the given nodes: they are invalid by now, so the same change is no news to them.
   */
  abort(scheduler: SpaceScheduler, changed: Iterable<Node>): void {
    for (const node of this.observed.splice(0)) keep(node, false)
    for (const node of changed) this.unstored.add(node)
    this.kept.abort((name) => scheduler.registry.get(name) !== undefined)
  }

  /** A piece that stops while its module is absent does not return with the module. */
  private takeCell({ address, after, before }: StagedDocument, scheduler: SpaceScheduler | undefined): void {
    const found = Pieces.fromCell(address.key, after)
    if (found === undefined || !isChange(before, after)) return
    const { name, started } = found
    const module = this.modules.get(Piece.moduleOf(name))
    if (scheduler !== undefined) this.release(name, scheduler)
    Pieces.put(this.pieces, name, started)
    if (started === undefined || module === undefined || scheduler === undefined) return
    const definition = Pieces.nodeOf(name, started, { module: module.definition, hash: this.hash })
    if (definition !== undefined) this.admit({ definition, hash: module.code?.hash }, scheduler)
  }

  /** The nodes of a module in this space. */
  private candidates({ code, definition }: NodeModule): ReadonlyArray<Candidate> {
    const hash = code?.hash
    if (definition.piece === undefined) return [{ definition, hash }]
    return [...this.pieces.get(definition.name) ?? []].flatMap(([name, started]) => {
      const node = Pieces.nodeOf(name, started, { module: definition, hash: this.hash })
      return node === undefined ? [] : [{ definition: node, hash }]
    })
  }

  private admit(candidate: Candidate, scheduler: SpaceScheduler): void {
    const { definition, hash } = candidate
    const { name, output } = definition
    if (taken(scheduler, definition, { kept: this.kept.take(name), hash })) return void this.blocked.delete(name)
    this.kept.giveBack(name)
    if (!this.blocked.has(name)) this.refused.push(output === undefined ? [name] : [name, output])
    this.blocked.set(name, candidate)
  }

  private release(name: string, scheduler: SpaceScheduler): void {
    this.blocked.delete(name)
    scheduler.remove(name)
  }

  /** Whether a node resumes with its stored state and has no work. */
  private isAtRest({ definition, hash }: Candidate): boolean {
    const kept = this.kept.get(definition.name)
    return kept !== undefined && kept.status === "clean" && kept.children.length === 0 && kept.fingerprint === fingerprint(definition, hash)
  }
}

/** Adds a node to a scheduler. Returns whether its name and output are free. */
const taken = (
  scheduler: SpaceScheduler,
  definition: Definition,
  { hash, kept }: { readonly kept: Observation | undefined; readonly hash: string | undefined }
): boolean => {
  try {
    scheduler.resume(definition, kept, hash)
    return true
  } catch (error) {
    if (error instanceof NodeTaken) return false
    throw error
  }
}

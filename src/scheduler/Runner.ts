/**
 * The runner: one run of a node, in one transaction.
 *
 * The read set that is registered is walked along while the node runs: a read
 * that follows the last run's costs one comparison, and an unchanged read set
 * costs nothing to keep. What differs is linked where it is read, and what was not read
 * again is let go of when the run is over. (Seed 002, sections 7.3 and P6.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import { type Cell, addressOf } from "../cell/Cell.ts"
import * as Codec from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import type * as Value from "../cell/Value.ts"
import { Draft } from "../stage/Draft.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"
import { NotProvided } from "../stage/Launch.ts"
import type { Moment, Startable } from "../stage/Transaction.ts"
import { isView } from "../stage/View.ts"
import { type Definition, isPromise, NodeThrew } from "./Definition.ts"
import type { Graph } from "./Graph.ts"
import type { Invalidation } from "./Invalidation.ts"
import { keysOf, type Locations, textOf } from "./Locations.ts"
import { NodeTransaction } from "./NodeTransaction.ts"
import { COVERED, type Depth, DROPPED, type Edge, type Location, type Node, READY, rootOf, RUNNING, UNSETTLED } from "./Node.ts"

/** Most runs that stand one in another; beyond, the outer ones are begun again when the inner ones are done. */
export const MAX_NESTING = 200

/** What the runner asks of the rest of the scheduler. */
export interface Environment {
  readonly graph: Graph
  readonly invalidation: Invalidation
  /** Brings a node and all above it up to date; answers whether the reader has to begin again. */
  readonly ensure: (writer: Node) => boolean
  readonly start: (parent: Node, definition: Definition) => void
  /** A run is over that failed, saw something, or follows one that created `children`. */
  readonly finished: (run: NodeRun, children: ReadonlySet<string> | undefined) => void
  moment: Moment
}

/** The run that is under way. There is one at a time in the process, whichever graph it belongs to: those it stands in wait. */
const current: {
  simple: NodeRun | undefined
  /** The same instead, once it wrote beside its output: from then on no read is a simple one. */
  writing: NodeRun | undefined
  /** The edge that the run is expected to read next, and the one that it read last. */
  cursor: Edge | undefined
  last: Edge | undefined
  /** The run's own number. */
  number: number
  depth: number
} = { simple: undefined, writing: undefined, cursor: undefined, last: undefined, number: 0, depth: 0 }

let numbers = 0

/** Thrown through a run that has to begin again, when what it reads stands too deep. */
const AGAIN = Symbol("again")

/**
 * What the runs of one node keep from one to the next, and the transaction that they are given.
 *
 * @category models
 * @since 0.1.0
 */
export class NodeRun extends NodeTransaction {
  readonly node: Node
  /** The change before which the newest completed run began: newer ones are reasons to run again. */
  since = -1
  /** The pass in which it ran last, how often in it, and how often in all. */
  pass = -1
  passRuns = 0
  runs = 0
  /** Why the newest run failed, where it did; and what changed before it, where that is asked for. */
  error: unknown = undefined
  causes: ReadonlyArray<string> = nothing
  /** What an effect saw last. */
  seen: Value.Value = undefined
  /** Whether that is still to be told. */
  isSeen = false
  /** The names of the nodes that the newest run started. */
  children: Set<string> | undefined = undefined
  /** What the run wrote beside its output. */
  private draft: Draft | undefined = undefined
  /** While it waits for a run within: the edge it read last. */
  private last: Edge | undefined = undefined
  private refusal: unknown = undefined
  private readonly environment: Environment
  private readonly graph: Graph
  private readonly invalidation: Invalidation
  private readonly locations: Locations
  /** What the run before the one that is under way started. */
  private abandoned: Set<string> | undefined = undefined

  constructor(node: Node, environment: Environment) {
    super()
    this.node = node
    this.environment = environment
    this.graph = environment.graph
    this.invalidation = environment.invalidation
    this.locations = environment.graph.locations
  }

  override get beat(): number {
    return this.environment.moment.beat
  }

  override get now(): number {
    return this.environment.moment.now
  }

  override get(place: string | Cell): Value.Value {
    const { locations } = this
    const location = typeof place === "string" ? locations.named(place) : place.home === locations ? place.found as Location : locations.of(place)
    if (current.simple === this && (location.flags & READY) !== 0) {
      const edge = current.cursor
      if (edge !== undefined && edge.location === location) {
        current.cursor = edge.nextRead
        current.last = edge
        location.mark = current.number
        return location.value
      }
      if (location.mark === current.number) return location.value
    }
    this.alive()
    return this.read((location.flags & DROPPED) === 0 ? location : locations.at(addressOf(place)), 0)
  }

  override keys(place: string | Cell): ReadonlyArray<string> | undefined {
    return this.look(addressOf(place), "shallow") as ReadonlyArray<string> | undefined
  }

  override list(id: string): ReadonlyArray<string> {
    const address = id === "/" ? Address.make("/") : Address.parse(id)
    if (address.path.length > 0) throw this.refuse(new TransactionRefused({ reason: `list needs a cell and ${id} is a place inside one` }))
    return this.look(address, "children") as ReadonlyArray<string>
  }

  override start(definition: Startable | string): string {
    this.alive()
    if (typeof definition === "string") throw this.refuse(new NotProvided({ verb: `tx.start("${definition}")`, service: "node modules by name" }))
    try {
      this.environment.start(this.node, definition as Definition)
    } catch (error) {
      throw this.refuse(error)
    }
    this.children ??= new Set()
    this.children.add(definition.name)
    return definition.name
  }

  /** Whether the run that is under way has read along an edge: only then does a change there concern it. */
  hasRead(edge: Edge): boolean {
    const last = this.isCurrent ? current.last : this.last
    if (last === undefined) return false
    for (let read = this.node.reads; read !== undefined; read = read.nextRead) {
      if (read === edge) return true
      if (read === last) return false
    }
    return false
  }

  /** Runs the node once. Answers false where it has to begin again, because what it reads stands too deep. */
  perform(): boolean {
    if (current.simple !== undefined || current.writing !== undefined) return this.within(current.simple ?? current.writing!)
    const { clock } = this.graph
    const value = this.execute()
    current.simple = undefined
    current.writing = undefined
    return value !== AGAIN && this.conclude(value as Value.Value, clock)
  }

  /** Runs the node while another run waits. */
  private within(outer: NodeRun): boolean {
    const { cursor, last, number, simple, writing } = current
    const { clock } = this.graph
    outer.last = last
    current.depth++
    current.writing = undefined
    const value = this.execute()
    current.depth--
    current.simple = simple
    current.writing = writing
    current.cursor = cursor
    current.last = last
    current.number = number
    return value !== AGAIN && this.conclude(value as Value.Value, clock)
  }

  private execute(): Value.Value | typeof AGAIN {
    const { node } = this
    const { flags } = node
    node.flags = (flags & ~UNSETTLED) | RUNNING
    if (this.children !== undefined) {
      this.abandoned = this.children
      this.children = undefined
    }
    if (this.error !== undefined) this.error = undefined
    current.simple = this
    current.cursor = node.reads
    current.last = undefined
    current.number = ++numbers
    let value: Value.Value
    try {
      value = node.definition.run(this) as Value.Value
    } catch (error) {
      this.error = error instanceof Error ? error : new NodeThrew(error)
    }
    const isAgain = (this.refusal !== undefined || this.draft !== undefined) && this.refused()
    if (current.cursor !== undefined && !isAgain) this.forget()
    node.flags &= ~RUNNING
    if (!isAgain) return value
    this.draft = undefined
    this.children = this.abandoned
    node.flags |= flags & UNSETTLED
    return AGAIN
  }

  /** What the run made is published, when its read set is in place. */
  private conclude(value: Value.Value, clock: number): boolean {
    const { graph, node } = this
    this.since = clock
    this.runs++
    if (typeof value === "number" && node.output !== undefined && this.error === undefined && this.draft === undefined && graph.told === undefined && this.abandoned === undefined && Number.isFinite(value)) {
      this.invalidation.derived(node.output, value, node)
      return true
    }
    if (this.error === undefined) this.commit(value)
    if (graph.told !== undefined) graph.told(this, this.error === undefined ? this.draft?.own?.keys ?? nothing : nothing)
    if (this.draft !== undefined) this.draft = undefined
    if (node.output !== undefined && this.error === undefined && this.abandoned === undefined) return true
    const { abandoned } = this
    this.abandoned = undefined
    this.environment.finished(this, abandoned)
    return true
  }

  /** What was refused is the run's error, caught or not; answers whether the run has to begin again. */
  private refused(): boolean {
    const refusal = this.refusal ?? this.draft?.refusal
    this.refusal = undefined
    if (refusal === undefined || refusal === AGAIN) return refusal === AGAIN
    this.error = refusal
    return false
  }

  /** Publishes what the run made, when its read set is in place. */
  private commit(value: Value.Value): void {
    const { draft, invalidation, locations, node } = this
    try {
      if (node.output === undefined) this.seen = value
      else if (typeof value === "object" && isPromise(value)) {
        throw new TransactionRefused({ reason: `node "${node.definition.name}" returned a promise; a node reads and derives at once, and waits for nothing` })
      } else invalidation.derived(node.output, value, node)
    } catch (error) {
      this.error = error
      return
    }
    const own = draft?.own
    if (own === undefined) return
    for (let i = 0; i < own.keys.length; i++) invalidation.replaced(locations.root(own.keys[i]!), own.documents[i], { node })
  }

  /** Lets go of what the last run read and this one did not. */
  private forget(): void {
    const rest = current.cursor
    if (rest === undefined) return
    if (current.last === undefined) this.node.reads = undefined
    else current.last.nextRead = undefined
    for (let edge: Edge | undefined = rest; edge !== undefined; edge = edge.nextRead) this.environment.graph.unlink(edge)
  }

  private get isCurrent(): boolean {
    return current.simple === this || current.writing === this
  }

  /** The transaction is the node's for as long as its run. */
  private alive(): void {
    if (!this.isCurrent) throw over()
  }

  /** A read that is not the next of the last run, or not of a value that can be handed out as it stands. */
  private read(location: Location, hops: number): Value.Value {
    if (this.refusal === AGAIN) throw AGAIN
    const { locations } = this
    const root = rootOf(location)
    if (this.draft?.own?.has(root.key) === true) return this.readOwn(location)
    if (isView(root.key)) throw this.refuse(new TransactionRefused({ reason: `${root.key} is a view for the outside that runs cannot read` }))
    if ((location.flags & COVERED) !== 0) this.promote(location)
    if (location.mark !== current.number) this.register(location)
    if ((location.flags & READY) !== 0) return location.value
    const { depth, path } = location.extra ?? { depth: "deep", path: undefined }
    if (depth === "children") {
      locations.refresh(location)
      return location.value
    }
    const whole = locations.whole(root)
    const linked = Link.along(whole, path ?? [])
    if (linked === undefined) {
      if (location !== root) {
        locations.refresh(location)
        return location.value
      }
      return whole
    }
    if (depth === "shallow" && linked.depth === path!.length) return undefined
    if (hops >= Link.MAX_HOPS) throw this.refuse(new Link.LinkLoop({ address: textOf(location) }))
    // Where the path goes on behind the link, what was read here is the link.
    if (path !== undefined && linked.depth < path.length) this.register(locations.part(root, path.slice(0, linked.depth), "deep"))
    const target = Address.into(Link.target(linked.link), (path ?? []).slice(linked.depth))
    return this.read(locations.at(target, depth), hops + 1)
  }

  private look(address: Address.Address, depth: Depth): Value.Value {
    this.alive()
    return this.read(this.locations.at(address, depth), 0)
  }

  /** Puts a location at this place of the read set, where it does not stand there already. */
  private register(location: Location): void {
    if (location.mark === current.number) return
    const next = current.cursor
    if (next !== undefined && next.location === location) {
      current.cursor = next.nextRead
      current.last = next
    } else if (next?.nextRead !== undefined && next.nextRead.location === location) {
      const edge = next.nextRead
      next.nextRead = edge.nextRead
      edge.nextRead = next
      if (current.last === undefined) this.node.reads = edge
      else current.last.nextRead = edge
      current.last = edge
    } else this.reach(location)
    location.mark = current.number
  }

  /** A read of something new: whoever writes it is brought up to date first, and then the edge is there. */
  private reach(location: Location): void {
    const { ensure, graph } = this.environment
    let isAgain = false
    for (const writer of graph.writersOf(location)) {
      if (writer === this.node) continue
      if ((writer.flags & (UNSETTLED | RUNNING)) === 0 && writer.liveRefs > 0 && writer.level < this.node.level) continue
      isAgain = current.depth >= MAX_NESTING || ensure(writer) || isAgain
    }
    if (rootOf(location).writer !== this.node) {
      current.last = graph.link(this.node, location, { after: current.last, before: current.cursor })
    }
    if (isAgain) {
      this.refusal = AGAIN
      throw AGAIN
    }
  }

  /** Runs the materializers that may write what is about to be read and have to run. */
  private promote(location: Location): void {
    const { ensure, graph } = this.environment
    for (const writer of graph.covering(location)) {
      if (writer !== this.node && (writer.flags & RUNNING) === 0 && current.depth < MAX_NESTING) ensure(writer)
    }
  }

  /** A read of what the run itself wrote: it depends on nothing. */
  private readOwn(location: Location): Value.Value {
    const { depth, path } = location.extra ?? { depth: "deep", path: undefined }
    const inside = Codec.read(this.draft!.own!.get(location.key), path ?? [])
    return depth === "shallow" ? keysOf(inside) : inside
  }

  /** The draft of what the node writes beside its output; from now on reads look there first. */
  protected override writing(): Draft {
    this.alive()
    if (this.draft !== undefined) return this.draft
    const { environment: { moment }, locations } = this
    const view = {
      committed: { read: (key: string) => locations.document(locations.root(key)), children: locations.children.bind(locations), blob: () => undefined },
      visible: (key: string) => locations.document(locations.root(key)),
      children: locations.children.bind(locations)
    }
    const { envelope } = this.node.definition
    const draft = new Draft(view, moment, { run: 0, envelope, serializable: false })
    this.draft = draft
    current.simple = undefined
    current.writing = this
    return draft
  }

  /** A refusal outlives a catch. */
  protected override refuse(error: unknown): unknown {
    if (!this.isCurrent) return over()
    this.refusal ??= error
    return error
  }
}

const nothing: ReadonlyArray<string> = []

/** The transaction of a run that is over, or of one that waits. */
const over = () => new TransactionRefused({ reason: "the run is over" })

/**
 * The read set of a node, and what the node reads through it.
 *
 * The read set that is registered is walked along while the node runs: a read
 * that follows the last run's costs one comparison, and an unchanged read set
 * costs nothing to keep. What differs is linked where it is read, and what was not read
 * again is let go of when the run is over. (Seed 002, sections 7.3 and P6.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import { addressOf, Cell } from "../cell/Cell.ts"
import * as Codec from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import type * as Value from "../cell/Value.ts"
import { adjusted } from "../stage/Children.ts"
import { hashOf } from "../stage/Content.ts"
import type { Draft } from "../stage/Draft.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"
import { isView } from "../stage/View.ts"
import type { Definition, Delivery } from "./Definition.ts"
import type { Environment } from "./Environment.ts"
import * as Flag from "./Flag.ts"
import type { Graph } from "./Graph.ts"
import { type Locations, partOf, textOf } from "./Locations.ts"
import { NodeTransaction, over } from "./NodeTransaction.ts"
import { type Depth, type Edge, type Location, type Node, rootOf } from "./Node.ts"

const { COVERED, INVALID, READY, RUNNING, UNSETTLED } = Flag

/** Most runs that stand one in another; beyond, the outer ones are begun again when the inner ones are done. */
export const MAX_NESTING = 200

/** The run that is under way. There is one at a time in the process, whichever graph it belongs to: those it stands in wait. */
const current: {
  simple: ReadSet | undefined
  /** The same instead, once it wrote beside its output: from then on no read is a simple one. */
  writing: ReadSet | undefined
  /** The edge that the run is expected to read next: those before it in its read set were read. */
  cursor: Edge | undefined
  /** Some edge that it read, from which the last one is looked for. */
  behind: Edge | undefined
  /** The run's own number. */
  number: number
  depth: number
} = { simple: undefined, writing: undefined, cursor: undefined, behind: undefined, number: 0, depth: 0 }

let numbers = 0

/** A run that broke what is around it is under way no more, so that other graphs go on. */
export const breakOff = (run: unknown): void => {
  if (current.simple === run || current.writing === run) current.simple = current.writing = undefined
}

/** Thrown through a run that has to begin again, when what it reads stands too deep. */
const AGAIN = Symbol("again")

/**
 * What a node reads, from one run to the next, and the run that walks along it.
 *
 * @category models
 * @since 0.1.0
 */
export abstract class ReadSet extends NodeTransaction {
  // What every run touches stands together, and first: it takes fewer of the processor's cache lines.
  readonly node: Node
  body: Definition["run"]
  protected readonly environment: Environment
  /** Whether the newest run failed, was refused something, wrote beside its output or started nodes, or the one before it started some. */
  protected isSpecial = false
  since = -1
  pass = -1
  passRuns = 0
  runs = 0
  seen: Value.Value = undefined
  isSeen = false
  deliver: Definition["deliver"]
  delivery: Delivery | undefined = undefined
  deliveredIn = -1
  /** What the run wrote beside its output. */
  protected draft: Draft | undefined = undefined
  /** While it waits for a run within: the edge that it is expected to read next. */
  waiting: Edge | undefined = undefined
  protected refusal: unknown = undefined
  /** Whether what is read now is not to be a reason to run again. */
  private isPeeking = false

  /** Forgets what was special about the last run. */
  protected abstract begin(): void
  protected abstract fail(thrown: unknown): void
  /** As if it had not run. Answers false. */
  protected abstract rewind(flags: number, value: Value.Value): boolean
  /** As if it had not run, because what it read first is not what is there when it ends. Answers false. */
  protected abstract tear(flags: number, value: Value.Value): boolean
  /** Notes a place at which the run peeked; and whether one of them holds something else now. */
  protected abstract peeked(root: Location): void
  protected abstract get hasShifted(): boolean
  /** What the run made is published, when its read set is in place. Answers true. */
  protected abstract conclude(value: Value.Value, clock: number): boolean
  /** The run froze its transaction, and fails. Another object takes the place of this one. */
  protected abstract thaw(flags: number, clock: number): boolean

  constructor(node: Node, environment: Environment) {
    super()
    this.node = node
    this.body = node.definition.run
    this.deliver = node.definition.deliver
    this.environment = environment
  }

  protected get graph(): Graph {
    return this.environment.graph
  }

  protected get locations(): Locations {
    return this.environment.graph.locations
  }

  override get(place: string | Cell): Value.Value {
    if (current.simple === this) {
      const location = typeof place === "string" ? this.locations.named(place) : place.found as Location | undefined
      const edge = current.cursor
      // Edges lead to places of this graph, and no other run has this number: wherever the cell was looked up, it is this place.
      if (edge !== undefined && edge.location === location) {
        if ((location.flags & READY) !== 0) {
          current.cursor = edge.nextRead
          location.mark = current.number
          return location.value
        }
      } else if (location !== undefined && location.mark === current.number && (location.flags & READY) !== 0) return location.value
    }
    return this.read(place, "deep")
  }

  override peek(place: string | Cell): Value.Value {
    this.isPeeking = true
    try {
      return this.read(place, "deep")
    } finally {
      this.isPeeking = false
    }
  }

  override keys(place: string | Cell): ReadonlyArray<string> | undefined {
    return this.read(place, "shallow") as ReadonlyArray<string> | undefined
  }

  override list(id: string): ReadonlyArray<string> {
    const address = Address.ofKey(id)
    if (address.path.length > 0) throw this.refuse(new TransactionRefused({ reason: `list needs a cell and ${id} is a place inside one` }))
    return this.read(new Cell(address), "children") as ReadonlyArray<string>
  }

  /**
   * Runs the node once. Answers false where it has to begin again, because what it reads stands too deep or the run is torn.
   *
   * It is one function, however long: hosts that are to put its parts together have done so with what is rare by then.
   */
  perform(): boolean {
    const { environment: { graph: { clock } }, node } = this
    if (current.simple !== undefined || current.writing !== undefined) return this.within(current.simple ?? current.writing!)
    const { flags } = node
    node.flags = (flags & ~UNSETTLED) | RUNNING
    if (this.isSpecial) this.begin()
    current.simple = this
    current.cursor = node.reads
    current.behind = undefined
    current.number = ++numbers
    let value: Value.Value
    try {
      const { body } = this
      value = body(this) as Value.Value
      // The write fails where the run froze its transaction.
      this.isPeeking = false
    } catch (error) {
      if (Object.isFrozen(this)) return this.thaw(flags, clock)
      this.fail(error)
    }
    const isAgain = this.isSpecial && this.refused()
    if (current.cursor !== undefined && !isAgain) this.forget()
    node.flags &= ~RUNNING
    current.simple = undefined
    current.writing = undefined
    if (isAgain) return this.rewind(flags, value)
    const isTorn = (node.flags & INVALID) !== 0 || (this.isSpecial && this.hasShifted)
    return isTorn ? this.tear(flags, value) : this.conclude(value, clock)
  }

  /** Runs the node while another run waits. */
  private within(outer: ReadSet): boolean {
    const { behind, cursor, number, simple, writing } = current
    outer.waiting = cursor
    current.depth++
    current.simple = undefined
    current.writing = undefined
    try {
      return this.perform()
    } finally {
      current.depth--
      current.simple = simple
      current.writing = writing
      current.cursor = cursor
      current.behind = behind
      current.number = number
    }
  }

  /** What was refused is the run's error, caught or not; answers whether the run has to begin again. */
  protected refused(): boolean {
    const refusal = this.refusal ?? this.draft?.refusal
    this.refusal = undefined
    if (refusal === undefined || refusal === AGAIN) return refusal === AGAIN
    this.fail(refusal)
    return false
  }

  /** Whatever the run goes on to do is refused, and it begins again. */
  leave(): void {
    this.isSpecial = true
    this.refusal = AGAIN
  }

  /** From now on reads look first at what the run wrote. */
  protected drafted(draft: Draft): void {
    this.draft = draft
    this.isSpecial = true
    current.simple = undefined
    current.writing = this
  }

  /** Whether the run that is under way has read along an edge: only then does a change there concern it. */
  hasRead(edge: Edge): boolean {
    const next = this.isCurrent ? current.cursor : this.waiting
    for (let read = this.node.reads; read !== undefined && read !== next; read = read.nextRead) {
      if (read === edge) return true
    }
    return false
  }

  /** Lets go of what the last run read and this one did not: one edge after the other, since demand is counted anew between them. */
  protected forget(): void {
    for (let edge = current.cursor, last = this.lastRead(); edge !== undefined; edge = edge.nextRead) {
      if (last === undefined) this.node.reads = edge.nextRead
      else last.nextRead = edge.nextRead
      this.graph.unlink(edge)
    }
  }

  /** The edge that the run read last. */
  private lastRead(): Edge | undefined {
    let last = current.behind
    for (let next = last === undefined ? this.node.reads : last.nextRead; next !== current.cursor; next = next!.nextRead) last = next
    return current.behind = last
  }

  private get isCurrent(): boolean {
    return current.simple === this || current.writing === this
  }

  /** The transaction is the node's for as long as its run. */
  protected alive(): void {
    if (!this.isCurrent) throw over()
  }

  /**
   * A read that is not the next of the last run, or not of a value that can be handed out as it stands. It goes on where links lead.
   *
   * It is one function, however long: hosts would put its parts into `get`, and `get`, too large by then, into no node's run.
   */
  private read(place: string | Cell, depth: Depth): Value.Value {
    this.alive()
    this.goesOn()
    const { draft, locations } = this
    let location: Location
    if (depth !== "deep") location = locations.at(addressOf(place), depth)
    else if (typeof place === "string") location = locations.named(place)
    else location = place.home === locations ? locations.fresh(place) : locations.of(place)
    for (let hops = 0; ; hops++) {
      const root = rootOf(location)
      const path = location.extra?.path
      const isOwn = depth !== "children" && draft?.own?.has(root.key) === true
      if (!isOwn) {
        // Neither views nor content have scopes.
        const id = Address.idOf(root.key)
        if (hops === 0 && isView(id)) throw this.refuse(new TransactionRefused({ reason: `${id} is a view for the outside that runs cannot read` }))
        const hash = depth === "children" ? undefined : hashOf(id)
        if (hash !== undefined) {
          this.register(locations.root(id))
          return locations.content(hash, depth)
        }
        if ((location.flags & COVERED) !== 0) this.promote(location)
        if (location.mark !== current.number) this.register(location)
        if (depth === "children") return this.names(location)
        if ((location.flags & READY) !== 0) return location.value
      }
      // What the run itself wrote depends on nothing.
      const whole = isOwn ? Codec.read(draft!.own!.get(root.key), []) : locations.whole(root)
      const linked = Link.along(whole, path ?? [])
      if (linked === undefined) {
        if (location === root) return whole
        if (isOwn) return partOf(whole, path!, depth)
        locations.refresh(location)
        return location.value
      }
      if (hops >= Link.MAX_HOPS) throw this.refuse(new Link.LinkLoop({ address: textOf(location) }))
      // Where the path goes on behind the link, what was read here is the link.
      if (!isOwn && path !== undefined && linked.depth < path.length) this.register(locations.part(root, path.slice(0, linked.depth), "deep"))
      location = locations.at(Address.into(Link.target(linked.link), (path ?? []).slice(linked.depth)), depth)
    }
  }

  /** The names below a cell, with what the run itself made of them. */
  private names(location: Location): ReadonlyArray<string> {
    if ((location.flags & READY) === 0) this.locations.refresh(location)
    const names = location.value as ReadonlyArray<string>
    const own = this.draft?.own
    if (own === undefined) return names
    const { id, scope } = Address.ofKey(location.key)
    return Object.freeze(adjusted(names, { scope, id, own }))
  }

  /** Puts a location at this place of the read set, where it does not stand there already. */
  private register(location: Location): void {
    if (location.mark === current.number) return
    if (this.isPeeking) {
      if (this.isStale(location)) throw this.again()
      return this.peeked(rootOf(location))
    }
    const next = current.cursor
    if (next !== undefined && next.location === location) {
      current.cursor = next.nextRead
    } else if (next?.nextRead !== undefined && next.nextRead.location === location) {
      const edge = next.nextRead
      const last = this.lastRead()
      next.nextRead = edge.nextRead
      edge.nextRead = next
      if (last === undefined) this.node.reads = edge
      else last.nextRead = edge
      current.behind = edge
    } else this.reach(location)
    location.mark = current.number
  }

  /** A read of something new: whoever writes it is brought up to date first, and then the edge is there. */
  private reach(location: Location): void {
    const isAgain = this.isStale(location)
    if (rootOf(location).writer !== this.node) {
      current.behind = this.graph.link(this.node, location, { after: this.lastRead(), before: current.cursor })
    }
    if (isAgain) throw this.again()
  }

  /** Whether a place cannot be brought up to date within this run, because what it stands on is too deep. */
  private isStale(location: Location): boolean {
    const { ensure, graph, queue } = this.environment
    if (graph.labels !== undefined) this.confine(location)
    let isAgain = false
    for (const writer of graph.writersOf(location)) {
      if (writer === this.node) continue
      // What is live and at rest is up to date when nothing below it is left to run.
      if ((writer.flags & (UNSETTLED | RUNNING)) === 0 && writer.liveRefs > 0 && queue.isPast(writer.level)) continue
      isAgain = current.depth >= MAX_NESTING || ensure(writer) || isAgain
    }
    return isAgain
  }

  private again(): typeof AGAIN {
    this.leave()
    return AGAIN
  }

  /** A run that is to begin again does nothing more, though it caught that; nor does one that froze its transaction, which the write tells. */
  protected goesOn(): void {
    if (this.refusal === AGAIN) throw AGAIN
    this.waiting = undefined
  }

  /** Stops before what may not be known by those who see what the node writes. */
  private confine(location: Location): void {
    const labels = this.graph.labels!
    const above = labels.above(this.node.definition, labels.at(Address.ofKey(rootOf(location).key), location.extra?.depth ?? "deep"))
    if (above !== undefined) throw this.refuse(above)
  }

  /** Runs the materializers that may write what is about to be read and have to run. */
  private promote(location: Location): void {
    const { ensure, graph } = this.environment
    for (const writer of graph.writerIndex.of(location)) {
      if (writer !== this.node && (writer.flags & RUNNING) === 0 && current.depth < MAX_NESTING) ensure(writer)
    }
  }

  /** A refusal outlives a catch. */
  protected override refuse(error: unknown): unknown {
    if (!this.isCurrent) return over()
    this.isSpecial = true
    this.refusal ??= error
    return error
  }
}
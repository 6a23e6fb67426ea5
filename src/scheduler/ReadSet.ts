/**
 * The read set of a node, and its reads.
 *
 * A run follows the registered read set. A read that repeats the last run's order costs
 * one comparison, and an unchanged read set costs no update. A new read is linked at
 * once, and unrepeated ones are unlinked at the end of the run. [S2 §7.3, §2 P6]
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import { addressOf, Cell, type Place } from "../cell/Cell.ts"
import * as Codec from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import type * as Value from "../cell/Value.ts"
import { hashOf } from "../stage/Content.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Labels } from "../stage/Labels.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"
import { isView } from "../stage/View.ts"
import * as Flag from "./Flag.ts"
import { type Locations, partOf, textOf } from "./Locations.ts"
import type { DemandPolicy, Elsewhere, Guard, Source } from "./DemandPolicy.ts"
import { over, unreadable } from "./NodeTransaction.ts"
import { type Depth, type Edge, isPart, type Location, rootOf } from "./Node.ts"
import { RunState, UNLOOKED } from "./RunState.ts"

const { COVERED, INVALID, READY, RUNNING, UNSETTLED } = Flag

/** Most nested runs. Beyond that, outer runs start over after the inner ones. */
export const MAX_NESTING = 200

/** The run in progress. The process has one at a time, over all graphs; outer runs are suspended. */
const current: {
  simple: ReadSet | undefined
  /** The run in `writing` instead of `simple` after a write beside its output: its reads need the draft. */
  writing: ReadSet | undefined
  /** The expected next edge. All edges before it were read. */
  cursor: Edge | undefined
  /** An edge that was read, as a start for finding the last one. */
  behind: Edge | undefined
  number: number
  depth: number
} = { simple: undefined, writing: undefined, cursor: undefined, behind: undefined, number: 0, depth: 0 }

let numbers = 0

/** Ends a run that threw through the scheduler, so that other graphs can continue. */
export const breakOff = (run: unknown): void => {
  if (current.simple === run || current.writing === run) current.simple = current.writing = undefined
}

/** Thrown through a run that has to start over, because its sources are too deep. */
const AGAIN = Symbol("again")

/**
 * The reads of a node over its runs, and the run in progress.
 */
export abstract class ReadSet extends RunState {
  override get<A>(cell: Cell<A>): A | undefined
  override get(place: Place): Value.Value
  override get(place: Place): Value.Value {
    if (current.simple === this) {
      const location = typeof place === "string" ? this.locations.named(place) : place.found as Location | undefined
      const edge = current.cursor
      // Edges lead to places of this graph, and run numbers are unique. The place is right wherever the cell was looked up.
      if (edge !== undefined && edge.location === location) {
        if ((location.flags & READY) !== 0) {
          current.cursor = edge.nextRead
          location.mark = current.number
          return location.value
        }
      } else if (location !== undefined && location.mark === current.number && (location.flags & READY) !== 0) return location.value
    }
    return super.get(place)
  }

  protected override valueAt(place: Place): Value.Value { return this.read(place, "deep") }

  protected override glance(place: Place): Value.Value {
    this.isPeeking = true
    try {
      return this.read(place, "deep")
    } finally {
      this.isPeeking = false
    }
  }

  protected override keysAt(place: Place): ReadonlyArray<string> | undefined {
    return this.read(place, "shallow") as ReadonlyArray<string> | undefined
  }

  override listed(id: string): ReadonlyArray<string> {
    const address = Address.ofKey(id)
    if (address.path.length > 0) throw this.refuse(new TransactionRefused({ reason: `list needs a cell and ${id} is a place inside one` }))
    return this.read(new Cell(address), "children") as ReadonlyArray<string>
  }

  /**
   * Runs the node once. Returns false if it has to start over, because its sources are too deep or the run is torn.
   *
   * It is one function, however long: engines that inline its parts have spent their budget on the rare ones by then.
   */
  perform(): boolean {
    const { environment: { graph: { clock, demandPolicy } }, node } = this
    const outer = current.simple ?? current.writing
    if (outer !== undefined) return this.within(outer)
    const { flags } = node
    node.flags = (flags & ~UNSETTLED) | RUNNING
    if (this.isSpecial) this.begin()
    current.simple = this
    current.cursor = node.reads
    current.behind = undefined
    current.number = ++numbers
    if (demandPolicy !== undefined || this.guard !== undefined) this.watch(demandPolicy)
    let value: Value.Value
    try {
      const { body } = this
      value = body(this) as Value.Value
      // The write throws if the run froze its transaction.
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

  /** A run that may not demand all that it reads looks at each place first, unless it repeats reads that a guard looked at. */
  private watch(policy: DemandPolicy | undefined): void {
    this.unguard()
    if (policy === undefined) return
    const { writers } = this.graph
    this.isFollowing = this.looked === writers
    this.looked = writers
    if (!this.isFollowing) this.look(policy)
  }

  /** From here on the run looks at each place, and takes no short way. */
  private look(policy: DemandPolicy | undefined): Guard | undefined {
    this.guard = policy?.guard(this.node)
    if (this.guard === undefined) return undefined
    current.simple = undefined
    current.writing = this
    return this.guard
  }

  /** The run reads something else than the last one. What it may demand follows from all that it has read. */
  private diverge(): Guard | undefined {
    this.isFollowing = false
    const guard = this.look(this.graph.demandPolicy)
    for (let edge = this.node.reads; guard !== undefined && edge !== current.cursor; edge = edge!.nextRead) guard.look(edge!.location)
    return guard
  }

  /** Runs the node while another run is suspended. */
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

  /** Makes a refusal the run's error, even if it was caught. Returns whether the run has to start over. */
  protected refused(): boolean {
    const refusal = this.refusal ?? this.draft?.refusal
    this.refusal = undefined
    if (refusal === undefined || refusal === AGAIN) return refusal === AGAIN
    this.fail(refusal)
    return false
  }

  /** Discards the run: its further operations are refused, and it starts over. */
  leave(): void {
    this.isSpecial = true
    this.refusal = AGAIN
  }

  /** From now on reads consult the run's writes first. */
  protected drafted(draft: Draft): void {
    this.draft = draft
    this.isSpecial = true
    current.simple = undefined
    current.writing = this
  }

  /** Whether the current run has read along an edge. Only then does a change there affect it. */
  hasRead(edge: Edge): boolean {
    const next = this.isCurrent ? current.cursor : this.waiting
    for (let read = this.node.reads; read !== undefined && read !== next; read = read.nextRead) {
      if (read === edge) return true
    }
    return false
  }

  /** Unlinks unrepeated reads, one by one, since each changes the demand. */
  protected forget(): void {
    for (let edge = current.cursor, last = this.lastRead(); edge !== undefined; edge = edge.nextRead) {
      if (last === undefined) this.node.reads = edge.nextRead
      else last.nextRead = edge.nextRead
      this.graph.unlink(edge)
    }
  }

  /** The edge of the last read. */
  private lastRead(): Edge | undefined {
    let last = current.behind
    for (let next = last === undefined ? this.node.reads : last.nextRead; next !== current.cursor; next = next!.nextRead) last = next
    return current.behind = last
  }

  private get isCurrent(): boolean {
    return current.simple === this || current.writing === this
  }

  /** Throws unless the run is in progress. */
  protected alive(): void {
    if (!this.isCurrent) throw over()
  }

  /**
   * A read out of order, or of a value that cannot be returned as it is. It follows links.
   *
   * It is one function, however long: engines would inline its parts into `get`, and then `get` would be too large for inlining.
   */
  private read(place: Place, depth: Depth): Value.Value {
    this.alive()
    this.goesOn()
    const { draft, locations } = this
    const guard = this.isFollowing ? this.diverge() : this.guard
    let location: Location
    if (depth !== "deep") location = locations.at(addressOf(place), depth)
    else if (typeof place === "string") location = locations.named(place)
    else location = place.home === locations ? locations.fresh(place) : locations.of(place)
    for (let hops = 0; ; hops++) {
      const root = rootOf(location)
      const path = location.extra?.path
      const own = depth !== "children" && draft?.own?.has(root.key) === true ? draft.own : undefined
      const there = own !== undefined || guard === undefined ? undefined : this.elsewhere(location, { guard, hops })
      if (there !== undefined && depth === "children") return this.ownNames(location, namesBelow(there.locations, root.key))
      if (own === undefined && there === undefined) {
        // Views and content have no scopes.
        const id = Address.idOf(root.key)
        if (hops === 0 && isView(id)) throw this.refuse(unreadable(id))
        const hash = depth === "children" ? undefined : hashOf(id)
        if (hash !== undefined) {
          this.looked = UNLOOKED
          this.register(locations.root(id))
          return locations.content(hash, depth)
        }
        if ((location.flags & COVERED) !== 0) this.promote(location)
        if (location.mark !== current.number) this.register(location)
        if (depth === "children") return this.names(location)
        if ((location.flags & READY) !== 0) return location.value
      }
      // The run's own writes are no dependencies.
      const shown = there === undefined ? root : there.locations.root(root.key)
      const whole = own === undefined ? (there?.locations ?? locations).whole(shown) : Codec.read(own.get(root.key), [])
      const linked = Link.along(whole, path ?? [])
      if (linked === undefined) {
        if (!isPart(location)) return whole
        if (own !== undefined || there !== undefined) return partOf(whole, location.extra.path, depth)
        locations.refresh(location)
        return location.value
      }
      if (hops >= Link.MAX_HOPS) throw this.refuse(new Link.LinkLoop({ address: textOf(location) }))
      this.looked = UNLOOKED
      // If the path continues behind the link, the read is of the link.
      const isInside = path !== undefined && linked.depth < path.length
      if (own === undefined && there === undefined && isInside) this.register(locations.part(root, path.slice(0, linked.depth), "deep"))
      location = locations.at(Address.into(Link.target(linked.link), (path ?? []).slice(linked.depth)), depth)
    }
  }

  /** Where to read a place that the run may not demand, with all that it derives from in the read set. */
  private elsewhere(location: Location, { guard, hops }: { readonly guard: Guard; readonly hops: number }): Elsewhere | undefined {
    const id = Address.idOf(rootOf(location).key)
    if ((hops === 0 && isView(id)) || hashOf(id) !== undefined) return undefined
    const there = guard.look(location)
    if (there === undefined) return undefined
    if (this.graph.labels !== undefined) this.confine(location, this.graph.labels)
    this.register(location, { location, isPassive: true })
    for (const source of there.sources) this.register(source.location, source)
    return there
  }

  /** Adds a location at this position of the read set, unless it is there already. A source of another place is up to date already. */
  private register(location: Location, source?: Source): void {
    if (location.mark === current.number) return
    if (this.isPeeking) {
      if (source === undefined && this.isStale(location)) throw this.again()
      return this.peeked(rootOf(location))
    }
    const next = current.cursor
    if (next !== undefined && next.location === location) {
      current.cursor = next.nextRead
      this.turn(next, source)
    } else if (next?.nextRead !== undefined && next.nextRead.location === location) {
      const edge = next.nextRead
      const last = this.lastRead()
      next.nextRead = edge.nextRead
      edge.nextRead = next
      if (last === undefined) this.node.reads = edge
      else last.nextRead = edge
      current.behind = edge
      this.turn(edge, source)
    } else this.reach(location, source)
    location.mark = current.number
  }

  /** A new read: brings the writer up to date if the run demands it, then links the edge. */
  private reach(location: Location, source: Source | undefined): void {
    const isAgain = source === undefined && this.isStale(location)
    const isPassive = source?.isPassive === true
    if (rootOf(location).writer !== this.node) {
      current.behind = this.graph.link(this.node, location, { after: this.lastRead(), before: current.cursor, isPassive })
    }
    if (isAgain) throw this.again()
  }

  /** A read that is there already carries demand from now on, or none. */
  private turn(edge: Edge, source: Source | undefined): void {
    const isPassive = source?.isPassive === true
    if (edge.isPassive === isPassive) return
    this.graph.turn(edge, isPassive)
    if (source === undefined && this.isStale(edge.location)) throw this.again()
  }

  /** Whether a place cannot be brought up to date within this run, because its sources are too deep. */
  private isStale(location: Location): boolean {
    const { assume, ensure, graph, queue } = this.environment
    if (graph.labels !== undefined) this.confine(location, graph.labels)
    let isAgain = false
    for (const writer of graph.writersOf(location)) {
      if (writer === this.node) continue
      // A live, settled writer is up to date once no lower level is queued, as far as gates permit.
      if ((writer.flags & (UNSETTLED | RUNNING)) === 0 && writer.liveRefs > 0 && queue.isPast(writer.level)) assume(writer)
      else isAgain = current.depth >= MAX_NESTING || ensure(writer) || isAgain
    }
    return isAgain
  }

  private again(): typeof AGAIN {
    this.leave()
    return AGAIN
  }

  /** Throws in a run that has to start over, even if it caught the signal. The write throws if the run froze its transaction. */
  protected goesOn(): void {
    if (this.refusal === AGAIN) throw AGAIN
    this.waiting = undefined
  }

  /** Refuses a read whose label exceeds that of the node's writes. */
  private confine(location: Location, labels: Labels): void {
    const above = labels.above(this.node.definition, labels.at(Address.ofKey(rootOf(location).key), location.extra?.depth ?? "deep"))
    if (above !== undefined) throw this.refuse(above)
  }

  /** Runs the invalid materializers that may write the place. */
  private promote(location: Location): void {
    const { ensure, graph } = this.environment
    for (const writer of graph.writerIndex.of(location)) {
      if (writer !== this.node && (writer.flags & RUNNING) === 0 && current.depth < MAX_NESTING) ensure(writer)
    }
  }

  /** A refusal survives a `catch`. */
  protected override refuse(error: unknown): unknown {
    if (!this.isCurrent) return over()
    this.isSpecial = true
    this.refusal ??= error
    return error
  }
}

const namesBelow = (locations: Locations, key: string): ReadonlyArray<string> => {
  const { id, scope } = Address.ofKey(key)
  return locations.children(scope, id)
}

/**
 * The read set of a node, and the reads of its runs.
 *
 * A run follows the registered read set. A read that repeats the last run's order costs
 * one comparison, and an unchanged read set costs no update. A new read is linked at
 * once, and unrepeated ones are unlinked at the end of the run. [S2 §7.3, §2 P6]
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import { addressOf, Cell, type Place } from "../../cell/Cell.ts"
import * as Codec from "../../cell/Document.ts"
import * as Link from "../../cell/Link.ts"
import type * as Value from "../../cell/Value.ts"
import { adjust } from "../../stage/write/Children.ts"
import { hashOf } from "../../stage/Content.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Labels } from "../../stage/Labels.ts"
import { TransactionRefused } from "../../stage/TransactionRefused.ts"
import { isView } from "../../stage/View.ts"
import * as Flag from "../graph/Flag.ts"
import { type Locations, partOf, textOf } from "../graph/Locations.ts"
import type { DemandPolicy, Elsewhere, Guard, Source } from "../graph/DemandPolicy.ts"
import { type Depth, type Edge, isPart, type Location, type Node, rootOf } from "../graph/Node.ts"
import type { Environment, Progress } from "./Environment.ts"

const { COVERED, READY, RUNNING, UNSETTLED } = Flag

/** Most nested runs. Beyond that, outer runs start over after the inner ones. */
export const MAX_NESTING = 200

/** Phases of a run. Its transaction works in the first two. */
export const FAST = 1
/** Reads consult the run's own writes first, or a guard, so none takes the fast path. */
export const SLOW = 2
/** A nested run is in progress. */
export const SUSPENDED = 4
export const OVER = 8

/** In place of a count of writers: the next run looks at each place that it reads. */
export const UNLOOKED = -1

/** Refusal of a run that has to start over. */
export const AGAIN = Symbol("again")

/** The state of a run that its reads use. */
export interface ReadingRun extends Progress {
  readonly node: Node
  readonly environment: Environment
  /** Whether the run takes the general path at its end. */
  isSpecial: boolean
  /** Where the run reads a place that it may not demand. */
  guard: Guard | undefined
  /** The graph's count of writers when a guard looked at each read of the set, and let the run demand it; {@link UNLOOKED} otherwise. */
  looked: number
  /** Whether the run has only repeated reads of the last one that a guard looked at. */
  isFollowing: boolean
  /** Whether the current read is untracked. */
  isPeeking: boolean
  refusal: unknown
  /** The writes of the run beside its output. */
  readonly draft: Draft | undefined
  /** Peeked documents, each with the identity of its content. */
  peeks: Array<readonly [root: Location, held: unknown]> | undefined
}

/** The transaction of a run that is over or suspended was used. */
const over = (): TransactionRefused => new TransactionRefused({ reason: "the run is over" })

/** Throws unless the run is in progress, and goes on. */
export const alive = ({ phase, refusal }: ReadingRun): void => {
  if ((phase & (FAST | SLOW)) === 0) throw over()
  // A run that has to start over goes on no further, even if it caught the signal.
  if (refusal === AGAIN) throw AGAIN
}

/** Records a refusal, so that no `catch` hides it. Returns the error to throw. */
export const refuse = (run: ReadingRun, error: unknown): unknown => {
  if ((run.phase & (FAST | SLOW)) === 0) return over()
  run.isSpecial = true
  run.refusal ??= error
  return error
}

/** Discards the run: its further operations are refused, and it starts over. */
export const leave = (run: ReadingRun): void => {
  run.isSpecial = true
  run.refusal = AGAIN
}

/** The run is over, and its guard. */
export const unguard = (run: ReadingRun): void => {
  if (run.guard?.isBarred === true) run.looked = UNLOOKED
  run.guard = undefined
}

/** A run reads a view. */
export const unreadable = (id: string): TransactionRefused =>
  new TransactionRefused({ reason: `${id} is a view for the outside that runs cannot read` })

/**
 * A read out of order, or of a value that cannot be returned as it is. It follows links.
 *
 * It is one function, however long: engines would inline its parts into `get`, and then `get` would be too large for inlining.
 */
export const read = (run: ReadingRun, place: Place, how: Depth | "peek"): Value.Value => {
  alive(run)
  // The write throws if the run froze its transaction.
  run.isPeeking = how === "peek"
  const depth = how === "peek" ? "deep" : how
  const { draft, environment: { graph: { locations } } } = run
  const guard = run.isFollowing ? diverge(run) : run.guard
  let location: Location
  if (depth !== "deep") location = locations.at(addressOf(place), depth)
  else if (typeof place === "string") location = locations.named(place)
  else location = place.home === locations ? locations.fresh(place) : locations.of(place)
  for (let hops = 0; ; hops++) {
    const root = rootOf(location)
    const path = location.extra?.path
    const own = depth !== "children" && draft?.own?.has(root.key) === true ? draft.own : undefined
    const there = own !== undefined || guard === undefined ? undefined : elsewhere(run, location, { guard, hops })
    if (there !== undefined && depth === "children") return ownNames(run, location, namesBelow(there.locations, root.key))
    if (own === undefined && there === undefined) {
      // Views and content have no scopes.
      const id = Address.idOf(root.key)
      if (hops === 0 && isView(id)) throw refuse(run, unreadable(id))
      const hash = depth === "children" ? undefined : hashOf(id)
      if (hash !== undefined) {
        run.looked = UNLOOKED
        register(run, locations.root(id))
        return locations.content(hash, depth)
      }
      if ((location.flags & COVERED) !== 0) promote(run, location)
      if (location.mark !== run.number) register(run, location)
      if (depth === "children") return names(run, location)
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
    if (hops >= Link.MAX_HOPS) throw refuse(run, new Link.LinkLoop({ address: textOf(location) }))
    run.looked = UNLOOKED
    // If the path continues behind the link, the read is of the link.
    const isInside = path !== undefined && linked.depth < path.length
    if (own === undefined && there === undefined && isInside) register(run, locations.part(root, path.slice(0, linked.depth), "deep"))
    location = locations.at(Address.into(Link.target(linked.link), (path ?? []).slice(linked.depth)), depth)
  }
}

/**
 * The names of the documents directly below a cell.
 *
 * @throws TransactionRefused, InvalidAddress
 */
export const list = (run: ReadingRun, id: string): ReadonlyArray<string> => {
  const address = Address.ofKey(id)
  if (address.path.length > 0) throw refuse(run, new TransactionRefused({ reason: `list needs a cell and ${id} is a place inside one` }))
  return read(run, new Cell(address), "children") as ReadonlyArray<string>
}

/** Unlinks unrepeated reads, one by one, since each changes the demand. */
export const forget = (run: ReadingRun): void => {
  for (let edge = run.cursor, last = lastRead(run); edge !== undefined; edge = edge.nextRead) {
    if (last === undefined) run.node.reads = edge.nextRead
    else last.nextRead = edge.nextRead
    run.environment.graph.unlink(edge)
  }
  // Between two runs the record holds nothing that the graph has dropped.
  run.cursor = undefined
}

/** A run that may not demand all that it reads looks at each place first, unless it repeats reads that a guard looked at. */
export const watch = (run: ReadingRun, policy: DemandPolicy | undefined): void => {
  unguard(run)
  if (policy === undefined) return
  const { writers } = run.environment.graph
  run.isFollowing = run.looked === writers
  run.looked = writers
  if (!run.isFollowing) look(run, policy)
}

/** From here on the run looks at each place, and takes no short way. */
const look = (run: ReadingRun, policy: DemandPolicy | undefined): Guard | undefined => {
  run.guard = policy?.guard(run.node)
  if (run.guard !== undefined) run.phase = SLOW
  return run.guard
}

/** The run reads something else than the last one. What it may demand follows from all that it has read. */
const diverge = (run: ReadingRun): Guard | undefined => {
  run.isFollowing = false
  const guard = look(run, run.environment.graph.demandPolicy)
  for (let edge = run.node.reads; guard !== undefined && edge !== run.cursor; edge = edge!.nextRead) guard.look(edge!.location)
  return guard
}

/** A place on the way of a read along links, and the guard that looks at it. */
interface Hop {
  readonly guard: Guard
  readonly hops: number
}

/** Where to read a place that the run may not demand, with all that it derives from in the read set. */
const elsewhere = (run: ReadingRun, location: Location, { guard, hops }: Hop): Elsewhere | undefined => {
  const id = Address.idOf(rootOf(location).key)
  if ((hops === 0 && isView(id)) || hashOf(id) !== undefined) return undefined
  const there = guard.look(location)
  if (there === undefined) return undefined
  const { labels } = run.environment.graph
  if (labels !== undefined) confine(run, location, labels)
  register(run, location, { location, isPassive: true })
  for (const source of there.sources) register(run, source.location, source)
  return there
}

/** Adds a location at this position of the read set, unless it is there already. A source of another place is up to date already. */
const register = (run: ReadingRun, location: Location, source?: Source): void => {
  if (location.mark === run.number) return
  if (run.isPeeking) {
    if (source === undefined && isStale(run, location)) throw again(run)
    return peeked(run, rootOf(location))
  }
  const next = run.cursor
  if (next !== undefined && next.location === location) {
    run.cursor = next.nextRead
    turn(run, next, source)
  } else if (next?.nextRead !== undefined && next.nextRead.location === location) {
    const edge = next.nextRead
    const last = lastRead(run)
    next.nextRead = edge.nextRead
    edge.nextRead = next
    if (last === undefined) run.node.reads = edge
    else last.nextRead = edge
    run.behind = edge
    turn(run, edge, source)
  } else reach(run, location, source)
  location.mark = run.number
}

/** Records a peeked place. */
const peeked = (run: ReadingRun, root: Location): void => {
  run.isSpecial = true
  run.peeks ??= []
  run.peeks.push([root, run.environment.graph.locations.held(root)])
}

/** A new read: brings the writer up to date if the run demands it, then links the edge. */
const reach = (run: ReadingRun, location: Location, source: Source | undefined): void => {
  const isAgain = source === undefined && isStale(run, location)
  const isPassive = source?.isPassive === true
  const { environment: { graph }, node } = run
  if (rootOf(location).writer !== node) run.behind = graph.link(node, location, { after: lastRead(run), before: run.cursor, isPassive })
  if (isAgain) throw again(run)
}

/** A read that is there already carries demand from now on, or none. */
const turn = (run: ReadingRun, edge: Edge, source: Source | undefined): void => {
  const isPassive = source?.isPassive === true
  if (edge.isPassive === isPassive) return
  run.environment.graph.turn(edge, isPassive)
  if (source === undefined && isStale(run, edge.location)) throw again(run)
}

/** Whether a place cannot be brought up to date within this run, because its sources are too deep. */
const isStale = (run: ReadingRun, location: Location): boolean => {
  const { active, assume, ensure, graph, queue } = run.environment
  if (graph.labels !== undefined) confine(run, location, graph.labels)
  let isAgain = false
  for (const writer of graph.writersOf(location)) {
    if (writer === run.node) continue
    // A live, settled writer is up to date once no lower level is queued, as far as gates permit.
    if ((writer.flags & (UNSETTLED | RUNNING)) === 0 && writer.liveRefs > 0 && queue.isPast(writer.level)) assume(writer)
    else isAgain = active.depth >= MAX_NESTING || ensure(writer) || isAgain
  }
  return isAgain
}

/** Runs the invalid materializers that may write the place. */
const promote = ({ environment: { active, ensure, graph }, node }: ReadingRun, location: Location): void => {
  for (const writer of graph.writerIndex.of(location)) {
    if (writer !== node && (writer.flags & RUNNING) === 0 && active.depth < MAX_NESTING) ensure(writer)
  }
}

/** Refuses a read whose label exceeds that of the node's writes. */
const confine = (run: ReadingRun, location: Location, labels: Labels): void => {
  const above = labels.above(run.node.definition, labels.at(Address.ofKey(rootOf(location).key), location.extra?.depth ?? "deep"))
  if (above !== undefined) throw refuse(run, above)
}

const again = (run: ReadingRun): typeof AGAIN => {
  leave(run)
  return AGAIN
}

/** The edge of the last read. */
const lastRead = (run: ReadingRun): Edge | undefined => {
  let last = run.behind
  for (let next = last === undefined ? run.node.reads : last.nextRead; next !== run.cursor; next = next!.nextRead) last = next
  return run.behind = last
}

/** The names below a cell, with those that the run itself wrote. */
const names = (run: ReadingRun, location: Location): ReadonlyArray<string> => {
  if ((location.flags & READY) === 0 && isPart(location)) run.environment.graph.locations.refresh(location)
  return ownNames(run, location, location.value as ReadonlyArray<string>)
}

const ownNames = (run: ReadingRun, location: Location, found: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own = run.draft?.own
  if (own === undefined) return found
  const { id, scope } = Address.ofKey(location.key)
  return Object.freeze(adjust(found, { scope, id, own }))
}

const namesBelow = (locations: Locations, key: string): ReadonlyArray<string> => {
  const { id, scope } = Address.ofKey(key)
  return locations.children(scope, id)
}

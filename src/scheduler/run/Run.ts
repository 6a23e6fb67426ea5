/**
 * The runs of one node: the record of their state, which is the transaction of each of
 * them.
 *
 * One object is both, since each object that a run touches costs a cache line.
 * `Runner.ts` runs a node over it, and `ReadSet.ts` reads over it.
 *
 * @module
 */
import { addressOf, type Cell, type Place } from "../../cell/Cell.ts"
import type { Value } from "../../cell/Value.ts"
import { Draft } from "../../stage/Draft.ts"
import type { Startable } from "../../stage/Transaction.ts"
import type { Definition, Delivery } from "../definition/Definition.ts"
import type { Guard } from "../graph/DemandPolicy.ts"
import type { Environment } from "./Environment.ts"
import * as Flag from "../graph/Flag.ts"
import { type Edge, type Location, type Node, type NodeRun, UNENDED } from "../graph/Node.ts"
import { NodeTransaction } from "./NodeTransaction.ts"
import * as Reads from "./ReadSet.ts"
import * as Standpoints from "../definition/Standpoint.ts"
import type { Standpoint } from "../definition/Standpoint.ts"

const { READY } = Flag
const { alive, FAST, leave, list, OVER, read, refuse, UNLOOKED } = Reads

/**
 * The runs of one node, one after the other.
 */
export class Run extends NodeTransaction implements NodeRun, Reads.ReadingRun {
  // The fields that every run touches come first, so that they share cache lines.
  phase = OVER
  /** The expected next edge of the current run. All edges before it were read. */
  cursor: Edge | undefined = undefined
  /** The number of the current run. No other run of the process has it. */
  number = 0
  /** An edge that the current run read, as a start for finding the last one. */
  behind: Edge | undefined = undefined
  since = -1
  pass = -1
  passRuns = 0
  runs = 0
  readonly node: Node
  body: Definition["run"]
  readonly environment: Environment
  /** Whether the newest run failed, was refused, wrote beside its output or started nodes, or the previous one started some. */
  isSpecial = false
  guard: Guard | undefined = undefined
  seen: Value = undefined
  isSeen = false
  deliver: Definition["deliver"]
  delivery: Delivery | undefined = undefined
  deliveredIn = -1
  looked = UNLOOKED
  isFollowing = false
  isPeeking = false
  isTorn = false
  refusal: unknown = undefined
  draft: Draft | undefined = undefined
  error: unknown = undefined
  causes: ReadonlyArray<string> = nothing
  changed: ReadonlyArray<string> = nothing
  children: Map<string, number> | undefined = undefined
  abandoned: Map<string, number> | undefined = undefined
  standpoint: Standpoint | undefined = undefined
  recalled: Standpoint | undefined = undefined
  peeks: Array<readonly [root: Location, held: unknown]> | undefined = undefined
  /** Peeked values by place, and whether the run read its moment. */
  sights: Array<readonly [place: string, value: Value]> | undefined = undefined
  isDated = false

  /** `children` are those of a run in an earlier process. */
  constructor(node: Node, environment: Environment, children?: ReadonlyArray<string>) {
    super()
    this.node = node
    this.body = node.definition.run
    this.deliver = node.definition.deliver
    this.environment = environment
    if (children === undefined) return
    this.children = new Map(children.map((name) => [name, UNENDED]))
    this.isSpecial = true
  }

  get isBarred(): boolean {
    return this.guard?.isBarred === true
  }

  hasRead(edge: Edge): boolean {
    for (let read = this.node.reads; read !== undefined && read !== this.cursor; read = read.nextRead) {
      if (read === edge) return true
    }
    return false
  }

  leave(): void {
    leave(this)
  }

  restore(before: Pick<NodeRun, "children" | "error" | "since" | "standpoint">): void {
    Object.assign(this, before)
    // The next run clears both.
    this.isSpecial = true
  }

  override get<A>(cell: Cell<A>): A | undefined
  override get(place: Place): Value
  override get(place: Place): Value {
    if (this.phase === FAST) {
      const location = typeof place === "string" ? this.environment.graph.locations.named(place) : place.found as Location | undefined
      const edge = this.cursor
      // Edges lead to places of this graph, and run numbers are unique. The place is right wherever the cell was looked up.
      if (edge !== undefined && edge.location === location) {
        if ((location.flags & READY) !== 0) {
          this.cursor = edge.nextRead
          location.mark = this.number
          return location.value
        }
      } else if (location !== undefined && location.mark === this.number && (location.flags & READY) !== 0) return location.value
    }
    return super.get(place)
  }

  protected override valueAt(place: Place): Value {
    return read(this, place, "deep")
  }

  /** Records the value, since the children of the run may depend on it. */
  protected override glance(place: Place): Value {
    const { text } = addressOf(place)
    const seen = this.recalled && Standpoints.at(this.recalled, text)
    if (seen !== undefined) return seen.value
    const value = read(this, place, "peek")
    this.sights ??= []
    this.sights.push([text, value])
    return value
  }

  protected override keysAt(place: Place): ReadonlyArray<string> | undefined {
    return read(this, place, "shallow") as ReadonlyArray<string> | undefined
  }

  override listed(id: string): ReadonlyArray<string> {
    return list(this, id)
  }

  override get beat(): number {
    this.isDated = true
    return (this.recalled ?? this.environment.moment).beat
  }

  override get now(): number {
    this.isDated = true
    return this.recalled?.now ?? this.environment.moment.date
  }

  override start(node: Startable | string, inputs?: unknown): string {
    alive(this)
    this.isSpecial = true
    const { moment, start } = this.environment
    try {
      const { name } = start(this.node, node as Definition | string, inputs)
      this.children ??= new Map()
      this.children.set(name, moment.beat)
      return name
    } catch (error) {
      throw refuse(this, error)
    }
  }

  protected override writing(): Draft {
    return draftOf(this)
  }

  protected override refuse(error: unknown): unknown {
    return refuse(this, error)
  }
}

/** The draft of the writes beside the output. From now on reads consult it first. */
const draftOf = (run: Run): Draft => {
  alive(run)
  if (run.draft !== undefined) return run.draft
  const { environment: { graph: { labels, locations }, moment }, node: { definition } } = run
  const visible = (key: string) => locations.document(locations.root(key))
  const children = locations.children.bind(locations)
  const view = { committed: { read: visible, children, blob: (hash: string) => locations.content(hash) }, visible, children }
  run.draft = new Draft(view, moment, { run: 0, envelope: definition.envelope, serializable: false, labels, surface: definition })
  run.isSpecial = true
  run.phase = Reads.SLOW
  return run.draft
}

const nothing: ReadonlyArray<string> = []

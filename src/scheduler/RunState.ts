/**
 * The state that the runs of one node keep from one to the next.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type * as Value from "../cell/Value.ts"
import { adjusted } from "../stage/Children.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Definition, Delivery } from "./Definition.ts"
import type { Environment } from "./Environment.ts"
import * as Flag from "./Flag.ts"
import type { Graph } from "./Graph.ts"
import type { Locations } from "./Locations.ts"
import { type Edge, isPart, type Location, type Node } from "./Node.ts"
import { NodeTransaction } from "./NodeTransaction.ts"
import type { Guard } from "./DemandPolicy.ts"

const { READY } = Flag

/** In place of a count of writers: the next run looks at each place that it reads. */
export const UNLOOKED = -1

/**
 * The fields of a run, and the steps that are left to the runner.
 */
export abstract class RunState extends NodeTransaction {
  // The fields that every run touches come first, so that they share cache lines.
  readonly node: Node
  body: Definition["run"]
  protected readonly environment: Environment
  /** Whether the newest run failed, was refused, wrote beside its output or started nodes, or the previous one started some. */
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
  /** The writes of the run beside its output. */
  protected draft: Draft | undefined = undefined
  /** The expected next edge, while the run is suspended. */
  waiting: Edge | undefined = undefined
  protected refusal: unknown = undefined
  /** Where the run reads a place that it may not demand. */
  guard: Guard | undefined = undefined
  /** The graph's count of writers when a guard looked at each read of the set, and let the run demand it; {@link UNLOOKED} otherwise. */
  protected looked = UNLOOKED
  /** Whether the run has only repeated reads of the last one that a guard looked at. */
  protected isFollowing = false
  /** Whether the current read is untracked. */
  protected isPeeking = false

  /** Clears the special state of the last run. */
  protected abstract begin(): void
  protected abstract fail(thrown: unknown): void
  /** Discards the run. Returns false. */
  protected abstract rewind(flags: number, value: Value.Value): boolean
  /** Discards the run, because an early read has changed. Returns false. */
  protected abstract tear(flags: number, value: Value.Value): boolean
  /** Records a peeked place; and whether the value of one has changed. */
  protected abstract peeked(root: Location): void
  protected abstract get hasShifted(): boolean
  /** Publishes the result, after the read set is updated. Returns true. */
  protected abstract conclude(value: Value.Value, clock: number): boolean
  /** Fails the run because it froze its transaction. A new object replaces this one. */
  protected abstract thaw(flags: number, clock: number): boolean

  constructor(node: Node, environment: Environment) {
    super()
    this.node = node
    this.body = node.definition.run
    this.deliver = node.definition.deliver
    this.environment = environment
  }

  get isBarred(): boolean {
    return this.guard?.isBarred === true
  }

  /** The run is over, and its guard. */
  protected unguard(): void {
    if (this.isBarred) this.looked = UNLOOKED
    this.guard = undefined
  }

  /** The names below a cell, with those that the run itself wrote. */
  protected names(location: Location): ReadonlyArray<string> {
    if ((location.flags & READY) === 0 && isPart(location)) this.locations.refresh(location)
    return this.ownNames(location, location.value as ReadonlyArray<string>)
  }

  protected ownNames(location: Location, names: ReadonlyArray<string>): ReadonlyArray<string> {
    const own = this.draft?.own
    if (own === undefined) return names
    const { id, scope } = Address.ofKey(location.key)
    return Object.freeze(adjusted(names, { scope, id, own }))
  }

  protected get graph(): Graph {
    return this.environment.graph
  }

  protected get locations(): Locations {
    return this.environment.graph.locations
  }
}

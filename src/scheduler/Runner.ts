/**
 * The runner: one run of a node, in one transaction.
 *
 * A run that only reads and returns a number takes the fast path. A run that fails,
 * writes beside its output or starts nodes takes the general one. [S2 §7.3, §2 P6]
 *
 * @module
 */
import { addressOf, type Place } from "../cell/Cell.ts"
import type * as Value from "../cell/Value.ts"
import { Draft } from "../stage/Draft.ts"
import type { Startable } from "../stage/Transaction.ts"
import { answered, type Definition, ignore, raised } from "./Definition.ts"
import type { Environment } from "./Environment.ts"
import * as Flag from "./Flag.ts"
import { frozen } from "./NodeTransaction.ts"
import { type Location, type Node, type NodeRun, type Started, UNENDED } from "./Node.ts"
import { breakOff, ReadSet } from "./ReadSet.ts"
import { UNLOOKED } from "./RunState.ts"
import * as Standpoints from "./Standpoint.ts"
import type { Standpoint } from "./Standpoint.ts"

const { INVALID, REMOVED, RUNNING, UNSETTLED } = Flag

/**
 * Runs one node: its state between runs, and its transaction.
 */
export class Runner extends ReadSet implements NodeRun {
  error: unknown = undefined
  causes: ReadonlyArray<string> = nothing
  children: Map<string, number> | undefined = undefined
  changed: ReadonlyArray<string> = nothing
  abandoned: Map<string, number> | undefined = undefined
  isTorn = false
  /** Peeked documents, each with the identity of its content. */
  private peeks: Array<readonly [root: Location, held: unknown]> | undefined = undefined
  /** Peeked values by place, and whether the run read its moment. */
  private sights: Array<readonly [place: string, value: Value.Value]> | undefined = undefined
  private isDated = false
  standpoint: Standpoint | undefined = undefined
  recalled: Standpoint | undefined = undefined

  /** `children` are those of a run in an earlier process. */
  constructor(node: Node, environment: Environment, children?: ReadonlyArray<string>) {
    super(node, environment)
    if (children === undefined) return
    this.children = new Map(children.map((name) => [name, UNENDED]))
    this.isSpecial = true
  }

  override get beat(): number {
    this.isDated = true
    return (this.recalled ?? this.environment.moment).beat
  }

  override get now(): number {
    this.isDated = true
    return this.recalled?.now ?? this.environment.moment.date
  }

  protected override glance(place: Place): Value.Value {
    const { text } = addressOf(place)
    const seen = this.recalled && Standpoints.at(this.recalled, text)
    if (seen !== undefined) return seen.value
    const value = super.glance(place)
    this.sights ??= []
    this.sights.push([text, value])
    return value
  }

  override start(node: Startable | string, inputs?: unknown): string {
    this.alive()
    this.goesOn()
    try {
      const { name } = this.environment.start(this.node, node as Definition | string, inputs)
      this.isSpecial = true
      this.children ??= new Map()
      this.children.set(name, this.environment.moment.beat)
      return name
    } catch (error) {
      throw this.refuse(error)
    }
  }

  /** Discards the run. */
  protected override rewind(flags: number, value: unknown): boolean {
    ignore(value)
    const { abandoned, children, node } = this
    this.draft = undefined
    // Some of the reads are those of an earlier run.
    this.looked = UNLOOKED
    // Children that are not started again are removed.
    this.children = children === undefined ? abandoned : new Map([
      ...abandoned ?? noStarts, ...[...children.keys()].map((name) => [name, UNENDED] as const)
    ])
    node.flags |= flags & UNSETTLED
    if ((node.flags & REMOVED) !== 0) this.environment.left(node)
    return false
  }

  /**
   * A nested run changed a value that this run had read. A result of both values is right at no moment. A replay, which runs each
   * node at the end of its run, could not repeat it.
   */
  protected override tear(flags: number, value: unknown): boolean {
    this.isTorn = true
    this.error = undefined
    return this.rewind(flags | INVALID, value)
  }

  protected override peeked(root: Location): void {
    this.isSpecial = true
    this.peeks ??= []
    this.peeks.push([root, this.locations.held(root)])
  }

  protected override get hasShifted(): boolean {
    return this.peeks?.some(([root, held]) => this.locations.held(root) !== held) === true
  }

  protected override thaw(flags: number, clock: number): boolean {
    const { node } = this
    const run = Object.assign(new Runner(node, this.environment), this)
    node.run = run
    run.draft = undefined
    const isAgain = run.refused()
    run.fail(frozen())
    if (!isAgain) run.forget()
    node.flags &= ~RUNNING
    breakOff(this)
    if (isAgain) return run.rewind(flags, undefined)
    return (node.flags & INVALID) !== 0 ? run.tear(flags, undefined) : run.conclude(undefined, clock)
  }

  restore({ children, error, since, standpoint }: Pick<NodeRun, "children" | "error" | "since" | "standpoint">): void {
    Object.assign(this, { children, error, since, standpoint })
    // The next run clears both.
    this.isSpecial = true
  }

  /** Clears the special state of the last run. */
  protected override begin(): void {
    this.abandoned = this.children
    this.children = undefined
    this.error = undefined
    this.peeks = undefined
    this.sights = undefined
    this.isSpecial = this.abandoned !== undefined
  }

  protected override fail(thrown: unknown): void {
    this.error = raised(thrown)
    this.isSpecial = true
  }

  /** Publishes the result, after the read set is updated. */
  protected override conclude(value: Value.Value, clock: number): boolean {
    this.runs++
    // A promise is an object.
    if (this.isSpecial || this.graph.told !== undefined || typeof value === "object") return this.close(value, clock)
    const { output } = this.node
    if (output === undefined) {
      this.seen = value
      if (!this.isSeen) this.environment.saw(this)
    } else if (!this.environment.invalidation.counted(output, value, this.node)) return this.close(value, clock)
    this.since = clock
    return true
  }

  /** The general path, for any run and any value. */
  private close(value: Value.Value, clock: number): boolean {
    const { graph, since } = this
    this.since = clock
    if (this.error === undefined) this.standpoint = this.recalled ?? this.taken()
    const { node: { output } } = this
    ignore(value)
    this.changed = this.error === undefined ? this.commit(value) : nothing
    // The time of the last success depends on demand, which may be confidential.
    if (this.error !== undefined && graph.labels !== undefined && output !== undefined) {
      if (this.environment.invalidation.derived(output, undefined, this.node)) this.changed = [output.key]
    }
    if (graph.told !== undefined) graph.told(this, this.error === undefined ? this.draft?.own?.keys ?? nothing : nothing)
    this.unguard()
    this.draft = undefined
    this.recalled = undefined
    const { abandoned } = this
    if (output !== undefined && this.error === undefined && abandoned === undefined) return true
    this.abandoned = undefined
    if (this.environment.finished(this, abandoned)) this.since = since
    return true
  }

  /** The standpoint of a run that started nodes, if they may depend on it. */
  private taken(): Standpoint | undefined {
    const { isDated, sights = unseen } = this
    this.isDated = false
    if (this.children === undefined || (!isDated && sights.length === 0)) return undefined
    const { beat, date } = this.environment.moment
    return { beat, now: date, peeks: sights.map(([place, value]) => Standpoints.peeked(place, value)) }
  }

  /** Publishes the result, after the read set is updated. Returns the changed keys. */
  private commit(value: Value.Value): ReadonlyArray<string> {
    const { draft, environment: { invalidation }, locations, node } = this
    const changed: Array<string> = []
    try {
      const answer = answered(node.definition, value)
      if (node.output === undefined) this.seen = answer
      else if (invalidation.derived(node.output, answer, node)) changed.push(node.output.key)
    } catch (error) {
      this.fail(error)
      return nothing
    }
    const own = draft?.own
    if (own === undefined) return changed
    for (const [i, key] of own.keys.entries()) {
      if (invalidation.replaced(locations.root(key), own.documents[i], { node })) changed.push(key)
    }
    return changed
  }

  /** The draft of the writes beside the output. From now on reads consult it first. */
  protected override writing(): Draft {
    this.alive()
    if (this.draft !== undefined) return this.draft
    const { environment: { moment }, locations } = this
    const view = {
      committed: {
        read: (key: string) => locations.document(locations.root(key)),
        children: locations.children.bind(locations),
        blob: (hash: string) => locations.content(hash)
      },
      visible: (key: string) => locations.document(locations.root(key)),
      children: locations.children.bind(locations)
    }
    const { definition } = this.node
    const draft = new Draft(view, moment, {
      run: 0,
      envelope: definition.envelope,
      serializable: false,
      labels: this.graph.labels,
      surface: definition
    })
    this.drafted(draft)
    return draft
  }
}

const nothing: ReadonlyArray<string> = []
const unseen: ReadonlyArray<readonly [place: string, value: Value.Value]> = []
const noStarts: Started = new Map()

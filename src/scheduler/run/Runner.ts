/**
 * The runner: runs one node once, in one transaction.
 *
 * A run that only reads and returns a number takes the fast path. A run that fails,
 * writes beside its output or starts nodes takes the general one. [S2 §7.3, §2 P6]
 *
 * @module
 */
import type * as Value from "../../cell/Value.ts"
import { TransactionRefused } from "../../stage/TransactionRefused.ts"
import { checkAnswer, ignore, errorOf } from "../definition/Definition.ts"
import type { ActiveRun, Environment, Progress } from "./Environment.ts"
import * as Flag from "../graph/Flag.ts"
import type { Node, StartedNodes } from "../graph/Node.ts"
import { UNENDED } from "../graph/Node.ts"
import * as Reads from "./ReadSet.ts"
import { Run } from "./Run.ts"
import type { Standpoint } from "../definition/Standpoint.ts"
import * as Standpoints from "../definition/Standpoint.ts"

const { INVALID, REMOVED, RUNNING, UNSETTLED } = Flag
const { AGAIN, FAST, forget, OVER, SUSPENDED, unguard, UNLOOKED, watch } = Reads

/** Counts runs over all graphs of the process: cells remember a place of any graph, and a place its last run. */
let numbers = 0

/** A run froze a transaction or a field of it, which has to stay mutable. */
export const frozen = (): TransactionRefused =>
  new TransactionRefused({
    reason: "the run froze its transaction, which has to keep what the run reads; freeze what the run returns instead"
  })

/** Makes the runs of a node. `children` are those of a run in an earlier process. */
export const make = (node: Node, environment: Environment, children?: ReadonlyArray<string>): Run =>
  node.run = new Run(node, environment, children)

/** The runs of a node. All are made here. */
export const runOf = (node: Node, environment: Environment): Run => node.run as Run | undefined ?? make(node, environment)

/** Ends a run that threw through the scheduler, so that other graphs can continue. */
export const breakOff = (active: ActiveRun, run: Progress): void => {
  if (active.run === run) active.run = undefined
}

/**
 * Runs the node once. Returns false if it has to start over, because its sources are too deep or the run is torn.
 *
 * It is one function, however long: engines that inline its parts have spent their budget on the rare ones by then.
 */
export const perform = (run: Run): boolean => {
  const { environment: { active, graph: { clock, demandPolicy } }, node } = run
  if (active.run !== undefined) return within(run, active.run)
  const { flags } = node
  node.flags = (flags & ~UNSETTLED) | RUNNING
  active.run = run
  try {
    if (run.isSpecial) begin(run)
    run.phase = FAST
    run.cursor = node.reads
    run.behind = undefined
    run.number = ++numbers
    if (demandPolicy !== undefined || run.guard !== undefined) watch(run, demandPolicy)
    let value: Value.Value
    try {
      const { body } = run
      value = body(run) as Value.Value
      // The write throws if the run froze its transaction.
      run.phase = OVER
    } catch (error) {
      if (isBroken(run)) throw error
      fail(run, error)
      run.phase = OVER
    }
    const isAgain = run.isSpecial && refused(run)
    if (run.cursor !== undefined && !isAgain) forget(run)
    node.flags &= ~RUNNING
    active.run = undefined
    if (isAgain) return rewind(run, flags, value)
    const isTorn = (node.flags & INVALID) !== 0 || (run.isSpecial && hasShifted(run))
    return isTorn ? tear(run, flags, value) : conclude(run, value, clock)
  } catch (error) {
    if (!isBroken(run)) throw error
    return replace(run, error, { clock, flags })
  }
}

/** Runs the node while another run is suspended. */
const within = (run: Run, outer: Progress): boolean => {
  const { active } = run.environment
  const { behind, cursor, number, phase } = outer
  // This write may throw, so it comes first.
  outer.phase = SUSPENDED
  active.depth++
  active.run = undefined
  try {
    return perform(run)
  } finally {
    active.depth--
    active.run = outer
    try {
      outer.phase = phase
      // A node whose own run causes a pass may have run again in it.
      outer.cursor = cursor
      outer.behind = behind
      outer.number = number
    } catch {
      // The nested run froze the transaction of the outer one, which fails with its next read or at its end.
    }
  }
}

/** Whether the transaction of a node, which is its record, can no longer take the state of its runs. */
const isBroken = (run: Run): boolean =>
  !(run instanceof Run) || Object.values(Object.getOwnPropertyDescriptors(run)).some(({ writable }) => writable !== true)

/** Clears the special state of the last run. */
const begin = (run: Run): void => {
  run.abandoned = run.children
  run.children = undefined
  run.error = undefined
  run.peeks = undefined
  run.sights = undefined
  run.isSpecial = run.abandoned !== undefined
}

const fail = (run: Run, thrown: unknown): void => {
  run.error = errorOf(thrown)
  run.isSpecial = true
}

/** Fails a run whose record is broken. A sound copy replaces the record. It has all reads, since their order is lost. */
const replace = (broken: Run, thrown: unknown, { clock, flags }: { readonly clock: number; readonly flags: number }): boolean => {
  const { environment, node } = broken
  const run = Object.assign(make(node, environment), broken)
  run.phase = OVER
  run.draft = undefined
  run.cursor = undefined
  run.behind = undefined
  run.looked = UNLOOKED
  const isAgain = refused(run)
  fail(run, broken instanceof Run ? frozen() : thrown)
  node.flags &= ~RUNNING
  environment.active.run = undefined
  if (isAgain) return rewind(run, flags, undefined)
  return (node.flags & INVALID) !== 0 ? tear(run, flags, undefined) : conclude(run, undefined, clock)
}

/** Makes a refusal the run's error, even if it was caught. Returns whether the run has to start over. */
const refused = (run: Run): boolean => {
  const refusal = run.refusal ?? run.draft?.refusal
  run.refusal = undefined
  if (refusal === undefined || refusal === AGAIN) return refusal === AGAIN
  fail(run, refusal)
  return false
}

/** Discards the run. Returns false. */
const rewind = (run: Run, flags: number, value: unknown): boolean => {
  ignore(value)
  const { abandoned, children, node } = run
  run.draft = undefined
  // Some of the reads are those of an earlier run.
  run.looked = UNLOOKED
  // Children that are not started again are removed.
  run.children = children === undefined ? abandoned : new Map([
    ...abandoned ?? noStarts, ...[...children.keys()].map((name) => [name, UNENDED] as const)
  ])
  node.flags |= flags & UNSETTLED
  if ((node.flags & REMOVED) !== 0) run.environment.left(node)
  return false
}

/**
 * A nested run changed a value that this run had read. A result of both values is right at no moment. A replay, which runs each
 * node at the end of its run, could not repeat it. Returns false.
 */
const tear = (run: Run, flags: number, value: unknown): boolean => {
  run.isTorn = true
  run.error = undefined
  return rewind(run, flags | INVALID, value)
}

/** Whether the value of a peeked place has changed. */
const hasShifted = ({ environment: { graph: { locations } }, peeks }: Run): boolean =>
  peeks?.some(([root, held]) => locations.held(root) !== held) === true

/** Publishes the result, after the read set is updated. Returns true. */
const conclude = (run: Run, value: Value.Value, clock: number): boolean => {
  run.runs++
  const { environment } = run
  // A promise is an object.
  if (run.isSpecial || environment.graph.told !== undefined || typeof value === "object") return close(run, value, clock)
  const { node } = run
  if (node.output === undefined) {
    run.seen = value
    if (!run.isSeen) environment.saw(run)
  } else if (!environment.invalidation.counted(node.output, value, node)) return close(run, value, clock)
  run.since = clock
  return true
}

/** The general path, for any run and any value. */
const close = (run: Run, value: Value.Value, clock: number): boolean => {
  const { environment, node: { output }, since } = run
  const { graph } = environment
  run.since = clock
  if (run.error === undefined) run.standpoint = run.recalled ?? taken(run)
  ignore(value)
  run.changed = run.error === undefined ? commit(run, value) : nothing
  // The time of the last success depends on demand, which may be confidential.
  if (run.error !== undefined && graph.labels !== undefined && output !== undefined) {
    if (environment.invalidation.derived(output, undefined, run.node)) run.changed = [output.key]
  }
  if (graph.told !== undefined) graph.told(run, run.error === undefined ? run.draft?.own?.keys ?? nothing : nothing)
  unguard(run)
  run.draft = undefined
  run.recalled = undefined
  const { abandoned } = run
  if (output !== undefined && run.error === undefined && abandoned === undefined) return true
  run.abandoned = undefined
  if (environment.finished(run, abandoned)) run.since = since
  return true
}

/** The standpoint of a run that started nodes, if they may depend on it. */
const taken = (run: Run): Standpoint | undefined => {
  const { children, environment: { moment: { beat, date } }, isDated, sights = unseen } = run
  run.isDated = false
  if (children === undefined || (!isDated && sights.length === 0)) return undefined
  return { beat, now: date, peeks: sights.map(([place, value]) => Standpoints.peekedPlace(place, value)) }
}

/** Publishes the result, after the read set is updated. Returns the changed keys. */
const commit = (run: Run, value: Value.Value): ReadonlyArray<string> => {
  const { draft, environment: { graph: { locations }, invalidation }, node } = run
  const changed: Array<string> = []
  try {
    const answer = checkAnswer(node.definition, value)
    if (node.output === undefined) run.seen = answer
    else if (invalidation.derived(node.output, answer, node)) changed.push(node.output.key)
  } catch (error) {
    fail(run, error)
    return nothing
  }
  const own = draft?.own
  if (own === undefined) return changed
  for (const [i, key] of own.keys.entries()) {
    if (invalidation.replaced(locations.root(key), own.documents[i], { node })) changed.push(key)
  }
  return changed
}

const nothing: ReadonlyArray<string> = []
const unseen: ReadonlyArray<readonly [place: string, value: Value.Value]> = []
const noStarts: StartedNodes = new Map()

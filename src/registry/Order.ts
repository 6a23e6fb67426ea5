/**
 * The one lawful order of the enzymes that take an impulse.
 *
 * `before` and `after` come first, by Kahn's algorithm; among those that are
 * ready the priority decides: matches by signal and target before either alone,
 * the more specific query, the smaller name, the earlier activation.
 * (Seed 000, "Ordering"; semantics, section 2.3.)
 *
 * @module
 */
import { Heap } from "../cell/Heap.ts"

/** What the order needs to know of a candidate. */
export interface Candidate {
  readonly name: string
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  /** 2 for a match by signal and target, 1 for one of the two. All candidates of one impulse match it alike; the rank between them is part of the order all the same. */
  readonly strength: number
  readonly specificity: number
  /** When it was activated; smaller is earlier. */
  readonly order: number
}

/** The enzymes that a cycle of `before` and `after` keeps from running, by name. */
export interface Cycle {
  readonly cycle: ReadonlyArray<string>
}

/**
 * Which of two candidates goes first when both may: negative for the first.
 *
 * @category getters
 * @since 0.1.0
 */
export const priority = (a: Candidate, b: Candidate): number =>
  b.strength - a.strength ||
  b.specificity - a.specificity ||
  (a.name < b.name ? -1 : a.name > b.name ? 1 : a.order - b.order)

/**
 * The candidates in their order, or the names of those that wait for each other.
 *
 * Names that are no candidate's are ignored; where several share a name, the first by priority is meant.
 *
 * @category constructors
 * @since 0.1.0
 */
export const arrange = <C extends Candidate>(candidates: ReadonlyArray<C>): ReadonlyArray<C> | Cycle => {
  const sorted = candidates.toSorted(priority)
  if (sorted.every((candidate) => candidate.before.length + candidate.after.length === 0)) return sorted
  const { followers, waitsFor } = edges(sorted)
  const ready = new Heap<number>((a, b) => a - b)
  waitsFor.forEach((count, rank) => count === 0 && ready.push(rank))
  const arranged: Array<C> = []
  for (let rank = ready.pop(); rank !== undefined; rank = ready.pop()) {
    arranged.push(sorted[rank]!)
    for (const follower of followers[rank]!) if (--waitsFor[follower]! === 0) ready.push(follower)
  }
  if (arranged.length === sorted.length) return arranged
  return { cycle: sorted.filter((_, rank) => waitsFor[rank]! > 0).map((candidate) => candidate.name).sort() }
}

/** The graph of "runs before", over ranks; each edge once. */
const edges = (sorted: ReadonlyArray<Candidate>) => {
  const rankOf = new Map<string, number>()
  sorted.forEach((candidate, rank) => {
    if (!rankOf.has(candidate.name)) rankOf.set(candidate.name, rank)
  })
  const followers = sorted.map(() => new Set<number>())
  sorted.forEach((candidate, rank) => {
    for (const name of candidate.before) link(followers, rank, rankOf.get(name))
    for (const name of candidate.after) link(followers, rankOf.get(name), rank)
  })
  const waitsFor = sorted.map(() => 0)
  for (const set of followers) for (const follower of set) waitsFor[follower]!++
  return { followers, waitsFor }
}

const link = (followers: ReadonlyArray<Set<number>>, from: number | undefined, to: number | undefined): void => {
  if (from !== undefined && to !== undefined && from !== to) followers[from]!.add(to)
}

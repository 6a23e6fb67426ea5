/**
 * The order of the enzymes that handle one impulse.
 *
 * `before` and `after` apply first, by Kahn's algorithm. Ready enzymes are ordered by priority [S0 §Matching and
 * Determinism]: matches by signal and target before matches by one of them, then the more specific query, the smaller
 * name, and the earlier activation.
 *
 * @module
 */
import { Heap } from "../cell/Heap.ts"

/** The properties of a candidate that determine the order. */
export interface Candidate {
  readonly name: string
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  /** 2 for a match by signal and target, 1 for a match by one of them. All candidates of one impulse have the same strength. */
  readonly strength: number
  readonly specificity: number
  /** The number of the activation; smaller is earlier. */
  readonly order: number
}

/** The names of the enzymes in a cycle of `before` and `after`. */
export interface Cycle {
  readonly cycle: ReadonlyArray<string>
}

/**
 * Compares two ready candidates by priority; negative if the first one runs first.
 */
export const priority = (a: Candidate, b: Candidate): number =>
  b.strength - a.strength ||
  b.specificity - a.specificity ||
  (a.name < b.name ? -1 : a.name > b.name ? 1 : a.order - b.order)

/**
 * Returns the candidates in order, or the names in a cycle.
 *
 * Names without a candidate are ignored. A shared name refers to the first of its candidates by priority.
 */
export const arrange = <C extends Candidate>(candidates: ReadonlyArray<C>): ReadonlyArray<C> | Cycle => {
  const sorted = candidates.toSorted(priority)
  if (sorted.every((candidate) => candidate.before.length + candidate.after.length === 0)) return sorted
  const vertices = graphOf(sorted)
  const ready = new Heap<Vertex<C>>((a, b) => a.rank - b.rank)
  for (const vertex of vertices) if (vertex.waitsFor === 0) ready.push(vertex)
  const arranged: Array<C> = []
  for (let vertex = ready.pop(); vertex !== undefined; vertex = ready.pop()) {
    arranged.push(vertex.candidate)
    for (const follower of vertex.followers) if (--follower.waitsFor === 0) ready.push(follower)
  }
  if (arranged.length === sorted.length) return arranged
  return { cycle: vertices.filter(({ waitsFor }) => waitsFor > 0).map(({ candidate }) => candidate.name).sort() }
}

/** A candidate, the candidates that run after it, and the number of candidates that it still waits for. */
interface Vertex<C> {
  readonly candidate: C
  readonly rank: number
  readonly followers: Set<Vertex<C>>
  waitsFor: number
}

/** Builds the graph of "runs before"; each edge once. */
const graphOf = <C extends Candidate>(sorted: ReadonlyArray<C>): ReadonlyArray<Vertex<C>> => {
  const vertices = sorted.map((candidate, rank): Vertex<C> => ({ candidate, rank, followers: new Set(), waitsFor: 0 }))
  const byName = new Map<string, Vertex<C>>()
  for (const vertex of vertices) if (!byName.has(vertex.candidate.name)) byName.set(vertex.candidate.name, vertex)
  for (const vertex of vertices) {
    for (const name of vertex.candidate.before) link(vertex, byName.get(name))
    for (const name of vertex.candidate.after) link(byName.get(name), vertex)
  }
  return vertices
}

const link = <C>(from: Vertex<C> | undefined, to: Vertex<C> | undefined): void => {
  if (from === undefined || to === undefined || from === to || from.followers.has(to)) return
  from.followers.add(to)
  to.waitsFor++
}

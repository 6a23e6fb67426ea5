/**
 * The query trie: the index of enzymes by signal.
 *
 * A node is one segment of a query, so a look-up traverses the signal's path once for any number of queries [S0
 * §Matching and Determinism]. Partly literal segments such as `img*` are indexed by their literal prefix and suffix;
 * each node has few distinct lengths of these.
 *
 * @module
 */
import type { Segment } from "../cell/Pattern.ts"
import * as Pattern from "../cell/Pattern.ts"

/** The query of an entry. */
export interface Query {
  readonly pattern: Pattern.Pattern
  readonly mode: Pattern.Mode
}

/** Most nodes have at most one of these fields. Unused fields are `undefined`, so that a look-up touches little memory. */
interface Node<Q> {
  literals: Map<string, Node<Q>> | undefined
  /** Children by partly literal segments, by the lengths of prefix and suffix. */
  shapes: Map<string, Shape<Q>> | undefined
  one: Node<Q> | undefined
  many: Node<Q> | undefined
  /** Whether the node follows `**`, and therefore matches any further name. */
  readonly repeats: boolean
  /** Queries that end here. */
  exact: Array<Q> | undefined
  prefix: Array<Q> | undefined
}

/** Partly literal segments with the same lengths of prefix and suffix: by the hash of both, then by text. */
interface Shape<Q> {
  readonly begin: number
  readonly end: number
  readonly byEnds: Map<number, Map<string, Part<Q>>>
}

interface Part<Q> {
  readonly segment: Pattern.Part
  readonly node: Node<Q>
}

const makeNode = <Q>(repeats = false): Node<Q> => ({
  literals: undefined,
  shapes: undefined,
  one: undefined,
  many: undefined,
  repeats,
  exact: undefined,
  prefix: undefined
})

/**
 * A set of queries, indexed by signal.
 */
export class QueryTrie<Q extends Query> {
  private readonly root: Node<Q> = makeNode()

  add(query: Q): void {
    const node = query.pattern.segments.reduce(below<Q>, this.root)
    const queries = node[query.mode]
    if (queries === undefined) node[query.mode] = [query]
    else queries.push(query)
  }

  /** Removes a query, and the branches that only it used. */
  delete(query: Q): void {
    prune(this.root, query, 0)
  }

  /** Returns the queries that match a signal, given as its names; in no particular order. */
  match(names: ReadonlyArray<string>): Array<Q> {
    // A node behind `**` is reached at several depths, so its queries may repeat.
    const found = new Set<Q>()
    let front = [this.root]
    for (let depth = 0; front.length > 0; depth++) {
      spread(front)
      const name = depth < names.length ? names[depth] : undefined
      for (const { exact, prefix } of front) {
        if (prefix !== undefined) for (const query of prefix) found.add(query)
        if (name === undefined && exact !== undefined) for (const query of exact) found.add(query)
      }
      if (name === undefined) break
      front = advance(front, name)
    }
    return [...found]
  }
}

/** Adds the nodes behind `**`, which may match zero names. */
const spread = <Q>(front: Array<Node<Q>>): void => {
  for (const { many } of front) if (many !== undefined && !front.includes(many)) front.push(many)
}

/** Returns the nodes after one more name. Each node has one parent and repeats or not, so no node is returned twice. */
const advance = <Q>(front: ReadonlyArray<Node<Q>>, name: string): Array<Node<Q>> => {
  const next: Array<Node<Q>> = []
  for (const node of front) {
    if (node.repeats) next.push(node)
    const literal = node.literals?.get(name)
    if (literal !== undefined) next.push(literal)
    if (node.one !== undefined) next.push(node.one)
    if (node.shapes === undefined) continue
    for (const { begin, byEnds, end } of node.shapes.values()) {
      if (name.length >= begin + end) collect(byEnds.get(endsOf(name, begin, end)), name, next)
    }
  }
  return next
}

const collect = <Q>(parts: Map<string, Part<Q>> | undefined, name: string, next: Array<Node<Q>>): void => {
  if (parts === undefined) return
  for (const part of parts.values()) if (Pattern.accepts(part.segment, name)) next.push(part.node)
}

const below = <Q>(node: Node<Q>, segment: Segment): Node<Q> => {
  switch (segment.kind) {
    case "literal":
      return getOrAdd(node.literals ??= new Map(), segment.text, () => makeNode<Q>())
    case "one":
    case "capture":
      return node.one ??= makeNode()
    case "many":
      return node.many ??= makeNode(true)
    case "part": {
      const { begin, end, ends, shape } = placeOf(segment)
      const { byEnds } = getOrAdd<string, Shape<Q>>(node.shapes ??= new Map(), shape, () => ({ begin, end, byEnds: new Map() }))
      const parts = getOrAdd(byEnds, ends, () => new Map<string, Part<Q>>())
      return getOrAdd(parts, segment.text, () => ({ segment, node: makeNode<Q>() })).node
    }
  }
}

/** Returns the location of a partly literal segment. */
const placeOf = ({ prefix, suffix, text }: Pattern.Part) => {
  const { length: begin } = prefix
  const { length: end } = suffix
  return { begin, end, shape: `${begin} ${end}`, ends: endsOf(text, begin, end) }
}

/** Hashes a name's prefix and suffix (FNV-1a). The match itself detects collisions. */
const endsOf = (name: string, begin: number, end: number): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < begin; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  for (let i = name.length - end; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return hash
}

const getOrAdd = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  let value = map.get(key)
  if (value === undefined) map.set(key, value = make())
  return value
}

/** Removes the query below `node`. Returns whether the node is empty then. */
const prune = <Q extends Query>(node: Node<Q>, query: Q, depth: number): boolean => {
  const segment = query.pattern.segments[depth]
  const isOver = (child: Node<Q> | undefined): boolean => child !== undefined && prune(child, query, depth + 1)
  if (segment === undefined) {
    const queries = node[query.mode] ?? []
    const place = queries.indexOf(query)
    if (place >= 0) queries.splice(place, 1)
    if (queries.length === 0) node[query.mode] = undefined
  } else if (segment.kind === "part") prunePart(node, segment, isOver)
  else if (segment.kind === "literal") {
    const { literals } = node
    if (isOver(literals?.get(segment.text))) literals?.delete(segment.text)
    if (literals?.size === 0) node.literals = undefined
  } else {
    const way = segment.kind === "many" ? "many" : "one"
    if (isOver(node[way])) node[way] = undefined
  }
  return isEmpty(node)
}

const prunePart = <Q>(node: Node<Q>, segment: Pattern.Part, isOver: (child: Node<Q> | undefined) => boolean): void => {
  const { ends, shape } = placeOf(segment)
  const { shapes } = node
  const byEnds = shapes?.get(shape)?.byEnds
  const parts = byEnds?.get(ends)
  if (shapes === undefined || byEnds === undefined || parts === undefined || !isOver(parts.get(segment.text)?.node)) return
  parts.delete(segment.text)
  if (parts.size === 0) byEnds.delete(ends)
  if (byEnds.size === 0) shapes.delete(shape)
  if (shapes.size === 0) node.shapes = undefined
}

const isEmpty = <Q>({ exact, literals, many, one, prefix, shapes }: Node<Q>): boolean =>
  exact === undefined && prefix === undefined && literals === undefined && shapes === undefined && one === undefined && many === undefined

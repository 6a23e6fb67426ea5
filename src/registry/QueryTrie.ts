/**
 * The query trie: which enzymes take a signal.
 *
 * Queries are laid out segment by segment, so that a look-up walks the signal's
 * path once, whatever the number of queries. Partly literal segments such as
 * `img*` are found by their literal beginning and end, of which a node knows few
 * lengths. (Architecture, section 12; seed 000, "Matching".)
 *
 * @module
 */
import type { Segment } from "../cell/Pattern.ts"
import * as Pattern from "../cell/Pattern.ts"

/** What the trie keeps of an entry. */
export interface Query {
  readonly pattern: Pattern.Pattern
  readonly mode: Pattern.Mode
}

/** Most nodes have one of these at most, and a look-up is to touch little memory: what is not needed is not there. */
interface Node<Q> {
  literals: Map<string, Node<Q>> | undefined
  /** Children by partly literal segments, by the lengths of their two ends. */
  shapes: Map<string, Shape<Q>> | undefined
  one: Node<Q> | undefined
  many: Node<Q> | undefined
  /** Stands behind `**`, and so stays in the front at each further name. */
  readonly repeats: boolean
  /** Queries that end here. */
  exact: Array<Q> | undefined
  prefix: Array<Q> | undefined
}

/** Partly literal segments whose ends have these lengths: by the hash of the ends, and there by their text. */
interface Shape<Q> {
  readonly begin: number
  readonly end: number
  readonly byEnds: Map<number, Map<string, Part<Q>>>
}

interface Part<Q> {
  readonly segment: PartSegment
  readonly node: Node<Q>
}

type PartSegment = Segment & { readonly kind: "part" }

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
 * A set of queries that can be looked up by signal.
 *
 * @category models
 * @since 0.1.0
 */
export class QueryTrie<Q extends Query> {
  private readonly root: Node<Q> = makeNode()

  add(query: Q): void {
    const node = query.pattern.segments.reduce(below<Q>, this.root)
    const queries = node[query.mode]
    if (queries === undefined) node[query.mode] = [query]
    else queries.push(query)
  }

  /** Takes a query out, and with it the branches that led to nothing else. */
  delete(query: Q): void {
    prune(this.root, query, 0)
  }

  /** The queries that match a signal, given as its names; in no particular order. */
  match(names: ReadonlyArray<string>): Array<Q> {
    // What stands behind `**` is met at several depths, and so may be its queries.
    const found = new Set<Q>()
    let front = [this.root]
    for (let depth = 0; front.length > 0; depth++) {
      spread(front)
      const isEnd = depth === names.length
      for (const { exact, prefix } of front) {
        if (prefix !== undefined) for (const query of prefix) found.add(query)
        if (isEnd && exact !== undefined) for (const query of exact) found.add(query)
      }
      if (isEnd) break
      front = advance(front, names[depth]!)
    }
    return [...found]
  }
}

/** `**` may stand for nothing: whatever lies behind one is reached too. */
const spread = <Q>(front: Array<Node<Q>>): void => {
  for (const { many } of front) if (many !== undefined && !front.includes(many)) front.push(many)
}

/** The nodes that one more name leads to. Each has one parent and repeats or not, so none is reached twice. */
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

/** Where a partly literal segment is kept. */
const placeOf = ({ parts, text }: PartSegment) => {
  const begin = parts[0]!.length
  const end = parts.at(-1)!.length
  return { begin, end, shape: `${begin} ${end}`, ends: endsOf(text, begin, end) }
}

/** The hash of a name's ends (FNV-1a). Names that share it by accident are told apart where they are matched. */
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

/** Removes the query below `node`; answers whether the node is needed no more. */
const prune = <Q extends Query>(node: Node<Q>, query: Q, depth: number): boolean => {
  const segment = query.pattern.segments[depth]
  const isOver = (child: Node<Q> | undefined): boolean => child !== undefined && prune(child, query, depth + 1)
  if (segment === undefined) {
    const queries = node[query.mode]
    const place = queries?.indexOf(query) ?? -1
    if (place >= 0) queries!.splice(place, 1)
    if (queries?.length === 0) node[query.mode] = undefined
  } else if (segment.kind === "part") prunePart(node, segment, isOver)
  else if (segment.kind === "literal") {
    if (isOver(node.literals?.get(segment.text))) node.literals!.delete(segment.text)
    if (node.literals?.size === 0) node.literals = undefined
  } else {
    const way = segment.kind === "many" ? "many" : "one"
    if (isOver(node[way])) node[way] = undefined
  }
  return isEmpty(node)
}

const prunePart = <Q>(node: Node<Q>, segment: PartSegment, isOver: (child: Node<Q> | undefined) => boolean): void => {
  const { ends, shape } = placeOf(segment)
  const byEnds = node.shapes?.get(shape)?.byEnds
  const parts = byEnds?.get(ends)
  if (!isOver(parts?.get(segment.text)?.node)) return
  parts!.delete(segment.text)
  if (parts!.size === 0) byEnds!.delete(ends)
  if (byEnds!.size === 0) node.shapes!.delete(shape)
  if (node.shapes!.size === 0) node.shapes = undefined
}

const isEmpty = <Q>({ exact, literals, many, one, prefix, shapes }: Node<Q>): boolean =>
  exact === undefined && prefix === undefined && literals === undefined && shapes === undefined && one === undefined && many === undefined

/**
 * The query trie: which enzymes take a signal.
 *
 * Queries are laid out segment by segment, so that a look-up walks the signal's
 * path once, whatever the number of queries. Partly literal segments such as
 * `img*` are found by the lengths of their literal beginnings (or ends), of which
 * there are few. (Architecture, section 12; seed 000, "Matching".)
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

interface Node<Q> {
  readonly literals: Map<string, Node<Q>>
  readonly parts: Parts<Q>
  one: Node<Q> | undefined
  many: Node<Q> | undefined
  /** Stands behind `**`, and so stays in the front at each further name. */
  readonly repeats: boolean
  /** Queries that end here. */
  readonly exact: Set<Q>
  readonly prefix: Set<Q>
}

/** Children by partly literal segments: by their literal beginning, or where they begin with a star by their end. */
interface Parts<Q> {
  readonly begins: Map<number, Map<string, Map<string, Part<Q>>>>
  readonly ends: Map<number, Map<string, Map<string, Part<Q>>>>
}

interface Part<Q> {
  readonly segment: Segment
  readonly node: Node<Q>
}

const makeNode = <Q>(repeats = false): Node<Q> => ({
  literals: new Map(),
  parts: { begins: new Map(), ends: new Map() },
  one: undefined,
  many: undefined,
  repeats,
  exact: new Set(),
  prefix: new Set()
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
    ends(node, query).add(query)
  }

  /** Takes a query out, and with it the branches that led to nothing else. */
  delete(query: Q): void {
    prune(this.root, query, 0)
  }

  /** The queries that match a signal, given as its names; in no particular order. */
  match(names: ReadonlyArray<string>): Array<Q> {
    const found = new Set<Q>()
    let front = new Set([this.root])
    for (let depth = 0; front.size > 0; depth++) {
      spread(front)
      for (const node of front) {
        for (const query of node.prefix) found.add(query)
        if (depth === names.length) for (const query of node.exact) found.add(query)
      }
      if (depth === names.length) break
      front = advance(front, names[depth]!)
    }
    return [...found]
  }
}

/** `**` may stand for nothing: whatever lies behind one is reached too. */
const spread = <Q>(front: Set<Node<Q>>): void => {
  for (const node of front) if (node.many !== undefined) front.add(node.many)
}

const advance = <Q>(front: Set<Node<Q>>, name: string): Set<Node<Q>> => {
  const next = new Set<Node<Q>>()
  for (const node of front) {
    if (node.repeats) next.add(node)
    const literal = node.literals.get(name)
    if (literal !== undefined) next.add(literal)
    if (node.one !== undefined) next.add(node.one)
    for (const [length, byText] of node.parts.begins) collect(byText.get(name.slice(0, length)), name, next)
    for (const [length, byText] of node.parts.ends) collect(byText.get(name.slice(-length)), name, next)
  }
  return next
}

const collect = <Q>(parts: Map<string, Part<Q>> | undefined, name: string, next: Set<Node<Q>>): void => {
  if (parts === undefined) return
  for (const part of parts.values()) if (Pattern.accepts(part.segment, name)) next.add(part.node)
}

const ends = <Q extends Query>(node: Node<Q>, query: Q): Set<Q> => query.mode === "exact" ? node.exact : node.prefix

const below = <Q>(node: Node<Q>, segment: Segment): Node<Q> => {
  switch (segment.kind) {
    case "literal":
      return getOrAdd(node.literals, segment.text, () => makeNode<Q>())
    case "one":
    case "capture":
      return node.one ??= makeNode()
    case "many":
      return node.many ??= makeNode(true)
    case "part":
      return getOrAdd(shelf(node.parts, segment), segment.text, () => ({ segment, node: makeNode<Q>() })).node
  }
}

/** Where a partly literal segment is kept. */
const shelf = <Q>(parts: Parts<Q>, segment: Segment & { kind: "part" }): Map<string, Part<Q>> => {
  const begin = segment.text.slice(0, segment.text.indexOf("*"))
  const end = segment.text.slice(segment.text.lastIndexOf("*") + 1)
  const [index, literal] = begin !== "" || end === "" ? [parts.begins, begin] as const : [parts.ends, end] as const
  const byText = getOrAdd(index, literal.length, () => new Map<string, Map<string, Part<Q>>>())
  return getOrAdd(byText, literal, () => new Map<string, Part<Q>>())
}

const getOrAdd = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  let value = map.get(key)
  if (value === undefined) map.set(key, value = make())
  return value
}

/** Removes the query below `node`; answers whether the node is needed no more. */
const prune = <Q extends Query>(node: Node<Q>, query: Q, depth: number): boolean => {
  const segment = query.pattern.segments[depth]
  if (segment === undefined) ends(node, query).delete(query)
  else if (segment.kind === "part") {
    const parts = shelf(node.parts, segment)
    const part = parts.get(segment.text)
    if (part !== undefined && prune(part.node, query, depth + 1)) parts.delete(segment.text)
    tidy(node.parts)
  } else if (segment.kind === "literal") {
    const child = node.literals.get(segment.text)
    if (child !== undefined && prune(child, query, depth + 1)) node.literals.delete(segment.text)
  } else {
    const way = segment.kind === "many" ? "many" : "one"
    const child = node[way]
    if (child !== undefined && prune(child, query, depth + 1)) node[way] = undefined
  }
  return isEmpty(node)
}

const tidy = <Q>(parts: Parts<Q>): void => {
  for (const index of [parts.begins, parts.ends]) {
    for (const [length, byText] of index) {
      for (const [literal, shelf] of byText) if (shelf.size === 0) byText.delete(literal)
      if (byText.size === 0) index.delete(length)
    }
  }
}

const isEmpty = <Q>(node: Node<Q>): boolean =>
  node.exact.size + node.prefix.size + node.literals.size + node.parts.begins.size + node.parts.ends.size === 0 &&
  node.one === undefined && node.many === undefined

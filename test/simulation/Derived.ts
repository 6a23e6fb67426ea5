/**
 * The derived cells of simulated spaces, and their reference model: the same functions over plain values.
 *
 * @module
 */
import { Computation, Materializer, type NodeDefinition, Reaction, type Transaction, type Value } from "systole"
import { present } from "../support/Present.ts"

/** The cell with the name of its space. */
export const SELF = "/data/self"

/** Reads cells; `undefined` for none. */
type Read = (address: string) => Value

/** A node of the model. Its version is part of its value, so a node that was not swapped shows. */
interface Node {
  readonly name: string
  readonly of: (read: Read) => Value
  readonly kind?: "materializer"
  readonly gate?: { readonly debounce?: number; readonly throttle?: number }
}

/** The rules of a space with secrets. */
export const labels = {
  cells: Object.fromEntries([
    "/data/in/secret", "/data/log/value/2", "/data/log/field/2", "/data/log/keys/2", "/data/log/names/2", "/data/log/names/2/**",
    "/data/derived/high", "/data/derived/high-still", "/data/derived/high-late"
  ].map((pattern) => [pattern, ["secret"]])),
  declassify: {}
}

/** The version of each node; `undefined` for one that is absent. */
export type Versions = ReadonlyArray<number | undefined>

const lengthOf = (value: Value): number => Array.isArray(value) ? value.length : 0

/** Nodes over nodes; the sources of some depend on the values that they read. The last ones have gates, or read below one. */
const nodes: ReadonlyArray<Node> = [
  { name: "count-0", of: (read) => lengthOf(read("/data/log/value/0")) },
  { name: "count-1", of: (read) => lengthOf(read("/data/log/value/1")) },
  { name: "fields", of: (read) => lengthOf(read("/data/log/field/0#/marks")) },
  { name: "sum", of: (read) => [read("/data/derived/count-0") ?? null, read("/data/derived/count-1") ?? null] },
  { name: "choice", of: (read) => read(parity(read("/data/derived/count-0")) === 0 ? "/data/derived/fields" : "/data/in/0") ?? null },
  { name: "outside", of: (read) => [read("/data/in/0") ?? null, read("/data/in/1") ?? null] },
  { name: "linked", of: (read) => [lengthOf(read("/data/links/0")), read("/data/derived/outside") ?? null] },
  { name: "index", of: (read) => [read("/data/in/1") ?? null, read("/data/derived/count-1") ?? null], kind: "materializer" },
  { name: "indexed", of: (read) => [read("/data/derived/index") ?? null] },
  {
    name: "high",
    of: (read) => ["/data/in/secret", "/data/derived/sum", "/data/derived/indexed"].map((address) => read(address) ?? null)
  },
  // Nothing demands these: they run when they are read.
  { name: "still", of: (read) => [read("/data/in/1") ?? null] },
  {
    name: "high-still",
    of: (read) =>
      ["/data/in/secret", "/data/derived/still", "/data/derived/linked", "/data/derived/outside"].map((address) => read(address) ?? null)
  },
  { name: "late", of: (read) => [read("/data/derived/sum") ?? null, read("/data/in/1") ?? null], gate: { debounce: 50 } },
  { name: "rare", of: (read) => [read("/data/in/0") ?? null], gate: { throttle: 500 } },
  { name: "high-late", of: (read) => [read("/data/derived/high") ?? null, read("/data/derived/late") ?? null] },
  { name: "above", of: (read) => [read("/data/derived/late") ?? null, read("/data/derived/choice") ?? null] },
  { name: "fork", of: (read) => read(parity(read("/data/in/1")) === 0 ? "/data/derived/above" : "/data/derived/still") ?? null }
]

const parity = (value: Value): number => JSON.stringify(value ?? null).length % 2

/** The nodes that write patterns. A graph without any takes other ways. */
export const materializers: ReadonlyArray<number> = nodes.flatMap(({ kind }, i) => kind === "materializer" ? [i] : [])

/** The number of nodes that runs compare: those without a gate below. */
export const PROMPT = 12

const nodeOf = (node: number): Node => present(nodes[node])

export const nameOf = (node: number): string => nodeOf(node).name
export const addressOf = (node: number): string => `/data/derived/${nameOf(node)}`
export const named = (name: string): number => nodes.findIndex((node) => node.name === name)
export const all: ReadonlyArray<number> = nodes.map((_, i) => i)

/** The module of a node in a version. */
export const moduleOf = (node: number, version: number): NodeDefinition => {
  const { gate, kind, name, of } = nodeOf(node)
  const make = (tx: Transaction): Value => [version, of((address) => tx.get(address))]
  if (kind === "materializer") {
    return Materializer.make({ ...gate, name, writes: [addressOf(node)], run: (tx) => tx.set(addressOf(node), make(tx)) })
  }
  return Computation.make({ ...gate, name, output: addressOf(node), run: make })
}

/** A delivery: the node, its space, if that has its name, the value, and the beat. */
export interface Delivered {
  readonly node: number
  readonly space: string | undefined
  readonly value: Value
  readonly beat: number
}

/** Effects that demand nodes, and tell each delivery. */
export const effects = (deliver: (delivered: Delivered) => void): ReadonlyArray<NodeDefinition> =>
  ["sum", "indexed", "high", "above"].map((name) => {
    const node = named(name)
    return Reaction.make({
      name: `see-${name}`,
      read: (tx): readonly [Value, Value] => [tx.get(SELF) ?? null, tx.get(addressOf(node)) ?? null],
      deliver: ([space, value], { beat }) => deliver({ node, space: typeof space === "string" ? space : undefined, value, beat })
    })
  })

/** The value that a node has over these cells. That of an absent one stands as it is. */
export const expected = (read: Read, node: number, versions: Versions): Value => {
  const version = versions[node]
  if (version === undefined) return read(addressOf(node))
  return [version, nodeOf(node).of((address) => {
    const below = nodes.findIndex(({ name }) => address === `/data/derived/${name}`)
    return below < 0 ? read(address) : expected(read, below, versions)
  })]
}

/** The cells that no node makes, and that nodes read. */
const cellsBelow: ReadonlyArray<string> = [
  "/data/log/value/0", "/data/log/value/1", "/data/log/field/0#/marks", "/data/in/0", "/data/in/1", "/data/in/secret", "/data/links/0"
]

/** The addresses that the values of nodes depend on: the cells below all, and those of absent nodes, which stand as they are. */
export const sources = (versions: Versions): ReadonlyArray<string> =>
  [...cellsBelow, ...all.filter((node) => versions[node] === undefined).map(addressOf)]

/**
 * Compares a node with the cells, both as a run sees them. Returns the contradiction. The versions are all that there were, the
 * newest last, because a run that is made again reads what it read before.
 */
export const check = (tx: Transaction, node: number, versions: ReadonlyArray<Versions>): string | undefined => {
  const found = JSON.stringify(tx.get(addressOf(node)))
  // A run makes the same calls each time, whatever versions there are by then.
  const cells = new Map([...cellsBelow, ...all.slice(0, PROMPT).map(addressOf)].map((address) => [address, tx.get(address)]))
  const made = versions.map((each) => JSON.stringify(expected((address) => cells.get(address), node, each)))
  if (made.includes(found)) return undefined
  return `beat ${tx.beat}: a run read ${addressOf(node)} as ${found}, and its sources make ${made.at(-1)}`
}

/**
 * Random graphs of nodes, and the plainest account of what they derive:
 * everything is computed anew, from nothing but the sources, each time somebody asks.
 *
 * @module
 */
import type { NodeDefinition, SpaceScheduler, Transaction, Value } from "systole"
import { Address, Computation, Effect, Link, Materializer } from "systole"
import { Runner } from "../../src/scheduler/Runner.ts"

/** What a node reads and makes of it; the same function serves the engine and the account. */
export interface Reader {
  readonly get: (address: string) => Value
  readonly keys: (address: string) => ReadonlyArray<string> | undefined
  /** The names below a cell, without those of what the reader itself writes. */
  readonly list: (id: string) => ReadonlyArray<string>
}

/** One look of a node; a list is written down as the pattern of its names. */
export type Look = readonly [how: "get" | "keys" | "list", address: string, value: Value]

/** A node of the account. */
export interface Spec {
  readonly name: string
  readonly output: string | undefined
  readonly compute: (reader: Reader) => Value
  /** What it writes beside its output; of a materializer, all that it writes. */
  readonly sides: ReadonlyArray<{ readonly key: string; readonly compute: (reader: Reader) => Value }>
  /** Of a materializer: the cells that it may write. */
  readonly envelope: string | undefined
  /** The reads of its newest run in the engine, with what they gave. */
  log: ReadonlyArray<Look>
  runs: number
  /** Holds its runs back, in milliseconds. */
  readonly gate: { readonly debounce?: number; readonly throttle?: number }
  /** Nodes that it starts, and how many of them at the moment. */
  readonly children: ReadonlyArray<Spec>
  readonly count: (reader: Reader) => number
}

/** A world: sources, nodes over them, and what the account says of both. */
export class Model {
  readonly sources = new Map<string, Value>()
  readonly specs = new Map<string, Spec>()
  /** Nodes that were removed, and may come back. */
  readonly gone = new Map<string, Spec>()
  /** Told of each run before it begins: what it read last time, if it ran before. */
  onRun: (spec: Spec, tx: Transaction) => void = () => {}
  /** What it threw first: to whom runs a node, that is nothing but a failed run. */
  private broken: unknown
  /** The names of the nodes whose runs stand one in another now, outermost first. */
  readonly running: Array<string> = []

  /** What an address holds by the account: a source's value, or what is computed anew, with all that it takes. */
  value(address: string): Value {
    const isFirst = this.computed === undefined
    this.computed ??= new Map()
    try {
      return follow(address, (document) => this.document(document))
    } finally {
      if (isFirst) this.computed = undefined
    }
  }

  /** What was computed already for the question that is being answered. */
  private computed: Map<string, Value> | undefined

  private document(key: string): Value {
    if (this.computed!.has(key)) return this.computed!.get(key)
    const value = this.compute(key)
    this.computed!.set(key, value)
    return value
  }

  private compute(key: string): Value {
    for (const { compute, output, sides } of this.specs.values()) {
      if (output === key) return compute(this.reader)
      for (const side of sides) if (side.key === key) return side.compute(this.reader)
    }
    return this.sources.get(key)
  }

  readonly reader: Reader = readerOf((address) => this.value(address), (id) =>
    namesIn(id, [...this.places, ...this.sources.keys()].filter((key) => key.startsWith(`${id}/`) && this.document(key) !== undefined)))

  /** The folders in which nodes write, as places to look at. */
  get folders(): ReadonlyArray<string> {
    return [...new Set(this.places.filter((key) => /^\/[fm]\//.test(key)).map((key) => `${key.slice(0, key.lastIndexOf("/"))}/*`))]
  }

  /** All documents that nodes write. */
  get places(): ReadonlyArray<string> {
    return [...this.specs.values()].flatMap((spec) => outputsOf(spec))
  }

  private tell(spec: Spec, tx: Transaction): void {
    try {
      this.onRun(spec, tx)
    } catch (error) {
      this.broken ??= error
    }
  }

  /** Throws what was found to be wrong as nodes ran. */
  check(): void {
    if (this.broken !== undefined) throw this.broken
  }

  closures = false
  private readonly made = new Map<string, NodeDefinition>()

  /** The definition of a node that others start: always the same for the same reasons, because another one would make it run again. */
  private started(spec: Spec, count: number): NodeDefinition {
    const key = this.closures ? `${spec.name} ${count}` : spec.name
    const { compute } = spec
    const own = (reader: Reader): Value => number(compute(reader)) + 10 * count
    const definition = this.made.get(key) ?? this.define(this.closures ? { ...spec, compute: own } : spec)
    this.made.set(key, definition)
    return definition
  }

  /** Has a run start as many others as its node says. */
  private startAll(spec: Spec, reader: Reader, tx: Transaction): void {
    if (spec.children.length === 0) return
    const count = spec.count(reader)
    for (const child of spec.children.slice(0, count)) tx.start(this.started(child, count))
  }

  /** The definition that makes a spec a node of the engine, and keeps its log. */
  define(spec: Spec, options: { readonly reads?: ReadonlyArray<string>; readonly deliver?: (value: Value) => void } = {}): NodeDefinition {
    const run = (tx: Transaction): Value => {
      const isRunner = tx instanceof Runner
      const log: Array<Look> = []
      const note = <V extends Value>(how: Look[0], address: string, value: V): V => {
        log.push([how, address, value])
        return value
      }
      const reader: Reader = {
        get: (address) => note("get", address, tx.get(address)),
        keys: (address) => note("keys", address, tx.keys(address)),
        list: (id) => note("list", `${id}/*`, without(spec, id, tx.list(id)))
      }
      const perform = () => {
        this.startAll(spec, reader, tx)
        const value = spec.compute(reader)
        for (const side of spec.sides) {
          const beside = side.compute(reader)
          if (beside === undefined) tx.delete(side.key)
          else tx.set(side.key, beside)
        }
        return value
      }
      if (!isRunner) return perform()
      this.running.push(spec.name)
      this.tell(spec, tx)
      try {
        return perform()
      } finally {
        this.running.pop()
        spec.log = log
        spec.runs++
      }
    }
    const { deliver = () => {}, reads } = options
    if (spec.envelope !== undefined) return Materializer.make({ ...spec.gate, name: spec.name, reads, writes: [spec.envelope], run: (tx) => void run(tx) })
    return spec.output === undefined
      ? Effect.make({ ...spec.gate, name: spec.name, reads, read: run, deliver })
      : Computation.make({ ...spec.gate, name: spec.name, output: spec.output, writes: spec.sides.map(({ key }) => key), reads, run })
  }

  add(name: string, more: Pick<Spec, "output" | "compute"> & Partial<Pick<Spec, "gate" | "children" | "count" | "sides" | "envelope">>): Spec {
    const base: Spec = { name, log: [], runs: 0, gate: {}, children: [], count: () => 0, sides: [], envelope: undefined, ...more }
    const other = (reader: Reader): Reader => ({ ...reader, list: (id) => without(base, id, reader.list(id)) })
    const spec: Spec = {
      ...base,
      compute: (reader) => base.compute(other(reader)),
      sides: base.sides.map(({ compute, key }) => ({ key, compute: (reader) => compute(other(reader)) }))
    }
    this.specs.set(name, spec)
    return spec
  }

  /** A node goes: what it made stays as it is. */
  remove(spec: Spec, held: (key: string) => Value): void {
    this.specs.delete(spec.name)
    for (const key of outputsOf(spec)) this.sources.set(key, held(key))
    this.gone.set(spec.name, spec)
  }

  /** A node that had gone is there again. */
  restore(spec: Spec): void {
    this.gone.delete(spec.name)
    this.specs.set(spec.name, spec)
    for (const key of outputsOf(spec)) this.sources.delete(key)
  }

  /** The nodes that nobody else starts. */
  get roots(): ReadonlyArray<Spec> {
    const started = new Set([...this.specs.values()].flatMap(({ children }) => children))
    return [...this.specs.values()].filter((spec) => !started.has(spec))
  }
}

/** The documents that a node writes. */
export const outputsOf = ({ output, sides }: Pick<Spec, "output" | "sides">): ReadonlyArray<string> =>
  [...output === undefined ? [] : [output], ...sides.map(({ key }) => key)]

/** Names in a list, without those of what a node writes. */
export const without = (spec: Pick<Spec, "output" | "sides">, id: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own = outputsOf(spec)
  return names.filter((name) => !own.includes(`${id}/${name}`))
}

/** The names of documents directly below a cell, in order. */
const namesIn = (id: string, keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = keys.map((key) => key.slice(id.length + 1)).filter((name) => !name.includes("/"))
  return [...new Set(names)].toSorted()
}

const readerOf = (value: (address: string) => Value, list: Reader["list"]): Reader => ({
  get: value,
  list,
  keys: (address) => {
    const found = value(address)
    return typeof found === "object" && found !== null ? Object.keys(found) : undefined
  }
})

/** What an address holds where documents hold these, through links. */
const follow = (address: string, documents: (key: string) => Value, hops = 0): Value => {
  const [document = "", path = ""] = address.split("#")
  const keys = path.split("/").slice(1)
  let value = documents(document)
  for (let i = 0; ; i++) {
    if (Link.is(value)) {
      if (hops === Link.MAX_HOPS) throw new Error("links in a ring")
      return follow(Address.into(Link.target(value), keys.slice(i)).text, documents, hops + 1)
    }
    if (i === keys.length) return value
    value = (value as Record<string, Value> | undefined)?.[keys[i]!]
  }
}

/** What the engine holds at this moment, up to date or not. */
export const committed = ({ graph: { locations } }: SpaceScheduler): Reader => readerOf(
  (address) => follow(address, (key) => locations.whole(locations.root(key))),
  (id) => [...locations.children(Address.ofKey(id).scope, id)]
)

/** The reads of others' documents: of what it derives itself a node hears nothing, through links neither. */
export const foreign = ({ graph: { locations } }: SpaceScheduler, spec: Spec): Spec["log"] =>
  spec.log.filter(([how, address]) => {
    if (how === "list") return true
    let isOwn = false
    follow(address, (key) => {
      isOwn ||= outputsOf(spec).includes(key)
      return locations.whole(locations.root(key))
    })
    return !isOwn
  })

export const number = (value: Value): number =>
  typeof value === "number" ? value : typeof value === "object" && value !== null ? Object.values(value).reduce((sum: number, item) => sum + number(item as Value), 0) : 0

/** Whether a node that reads these would see something else now. */
export const differs = (reader: Reader, spec: Spec, log: Spec["log"]): boolean =>
  log.some(([how, address, value]) => {
    const id = address.slice(0, -2)
    const seen = how === "list" ? without(spec, id, reader.list(id)) : reader[how](address)
    return JSON.stringify(seen ?? null) !== JSON.stringify(value ?? null)
  })

/** Who is live, and how many reads of live nodes each node serves, found anew from the edges of a graph: what is demanded, and what a parent started that has not run yet. */
export const liveness = ({ edges, nodes }: ReturnType<SpaceScheduler["view"]>): ReadonlyMap<string, readonly [live: boolean, liveRefs: number]> => {
  const live = new Set(nodes.filter(({ kind, live, parent, runs }) => kind !== "computation" || (live && parent !== undefined && runs === 0)).map(({ name }) => name))
  for (const name of live) for (const { from, to } of edges) if (to === name) live.add(from)
  // Materializers are demanded by nobody, and writers only by what reads their outputs.
  return new Map(nodes.map(({ kind, name }) => [name, [live.has(name), kind === "materializer" ? 0 : edges.filter(({ from, to }) => from === name && live.has(to)).length]]))
}

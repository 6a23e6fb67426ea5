/**
 * The reference model of random graphs: it computes each value from the sources alone,
 * on every query.
 *
 * @module
 */
import type { NodeDefinition, SpaceScheduler, Transaction, Value } from "systole"
import { Address, Computation, Link, Materializer, Reaction } from "systole"
import { Run } from "../../src/scheduler/run/Run.ts"

/** The reads of a node and their use. One function serves both the scheduler and the model. */
export interface Reader {
  readonly get: (address: string) => Value
  readonly keys: (address: string) => ReadonlyArray<string> | undefined
  /** The names below a cell, except cells that the reader itself writes. */
  readonly list: (id: string) => ReadonlyArray<string>
}

/** One read of a node. A list is recorded as the pattern of its names. */
export type Look = readonly [how: "get" | "keys" | "list", address: string, value: Value]

/** A node of the model. */
export interface Spec {
  readonly name: string
  readonly output: string | undefined
  readonly compute: (reader: Reader) => Value
  /** The writes beside its output; of a materializer, all its writes. */
  readonly sides: ReadonlyArray<{ readonly key: string; readonly compute: (reader: Reader) => Value }>
  /** Of a materializer: the cells that it may write. */
  readonly envelope: string | undefined
  /** The reads of its newest run in the scheduler, with their results. */
  log: ReadonlyArray<Look>
  runs: number
  /** Its gate, in milliseconds. */
  readonly gate: { readonly debounce?: number; readonly throttle?: number }
  /** The nodes that it starts, and their current number. */
  readonly children: ReadonlyArray<Spec>
  readonly count: (reader: Reader) => number
}

/** The definition of a node of the model. */
type NewSpec = Pick<Spec, "output" | "compute"> & Partial<Pick<Spec, "gate" | "children" | "count" | "sides" | "envelope">>

/** The reference model: sources, nodes over them, and their expected values. */
export class Model {
  readonly sources = new Map<string, Value>()
  readonly specs = new Map<string, Spec>()
  /** Removed nodes, which may return. */
  readonly gone = new Map<string, Spec>()
  /** Called before each run with the reads of the previous one. */
  onRun: (spec: Spec, tx: Transaction) => void = () => {}
  /** The first failed assertion. The scheduler would treat it as a failed run. */
  private broken: unknown
  /** The names of the nodes in progress, outermost first. */
  readonly running: Array<string> = []

  /** The expected value of an address: of a source, or computed with all its sources. */
  value(address: string): Value {
    const isFirst = this.computed === undefined
    this.computed ??= new Map()
    try {
      return follow(address, (document) => this.document(document))
    } finally {
      if (isFirst) this.computed = undefined
    }
  }

  /** Values computed for the current query. */
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

  /** The folders in which nodes write, as places to read. */
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

  /** Throws the first failed assertion. */
  check(): void {
    if (this.broken !== undefined) throw this.broken
  }

  closures = false
  private readonly made = new Map<string, NodeDefinition>()

  /** The definition of a started node: the same for equal inputs, since a different function would run again. */
  private started(spec: Spec, count: number): NodeDefinition {
    const key = this.closures ? `${spec.name} ${count}` : spec.name
    const { compute } = spec
    const own = (reader: Reader): Value => number(compute(reader)) + 10 * count
    const definition = this.made.get(key) ?? this.define(this.closures ? { ...spec, compute: own } : spec)
    this.made.set(key, definition)
    return definition
  }

  /** Starts the children of a node. */
  private startAll(spec: Spec, reader: Reader, tx: Transaction): void {
    if (spec.children.length === 0) return
    const count = spec.count(reader)
    for (const child of spec.children.slice(0, count)) tx.start(this.started(child, count))
  }

  /** The definition of a node for the scheduler, with a log of its reads. */
  define(spec: Spec, options: { readonly reads?: ReadonlyArray<string>; readonly deliver?: (value: Value) => void } = {}): NodeDefinition {
    const run = (tx: Transaction): Value => {
      const isLive = tx instanceof Run
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
      if (!isLive) return perform()
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
    if (spec.envelope !== undefined) {
      return Materializer.make({ ...spec.gate, name: spec.name, reads, writes: [spec.envelope], run: (tx) => void run(tx) })
    }
    return spec.output === undefined
      ? Reaction.make({ ...spec.gate, name: spec.name, reads, read: run, deliver })
      : Computation.make({ ...spec.gate, name: spec.name, output: spec.output, writes: spec.sides.map(({ key }) => key), reads, run })
  }

  add(name: string, more: NewSpec): Spec {
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

  /** Removes a node. Its documents keep their values. */
  remove(spec: Spec, held: (key: string) => Value): void {
    this.specs.delete(spec.name)
    for (const key of outputsOf(spec)) this.sources.set(key, held(key))
    this.gone.set(spec.name, spec)
  }

  /** Adds a removed node again. */
  restore(spec: Spec): void {
    this.gone.delete(spec.name)
    this.specs.set(spec.name, spec)
    for (const key of outputsOf(spec)) this.sources.delete(key)
  }

  /** The nodes without a creator. */
  get roots(): ReadonlyArray<Spec> {
    const started = new Set([...this.specs.values()].flatMap(({ children }) => children))
    return [...this.specs.values()].filter((spec) => !started.has(spec))
  }
}

/** The documents that a node writes. */
export const outputsOf = ({ output, sides }: Pick<Spec, "output" | "sides">): ReadonlyArray<string> =>
  [...output === undefined ? [] : [output], ...sides.map(({ key }) => key)]

/** Names in a list, except those that a node itself writes. */
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

/** The value at an address over these documents, through links. */
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

/** The values in the scheduler at this moment, up to date or not. */
export const committed = ({ graph: { locations } }: SpaceScheduler): Reader => readerOf(
  (address) => follow(address, (key) => locations.whole(locations.root(key))),
  (id) => [...locations.children(Address.ofKey(id).scope, id)]
)

/** The reads of documents of others. A node is not invalidated by its own output, not even through links. */
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
  typeof value === "number" ? value : typeof value === "object" && value !== null ? Object.values(value).reduce(
    (sum: number, item) => sum + number(item as Value), 0
  ) : 0

/** Whether a node with these reads would read different values now. */
export const differs = (reader: Reader, spec: Spec, log: Spec["log"]): boolean =>
  log.some(([how, address, value]) => {
    const id = address.slice(0, -2)
    const seen = how === "list" ? without(spec, id, reader.list(id)) : reader[how](address)
    return JSON.stringify(seen ?? null) !== JSON.stringify(value ?? null)
  })

/** Liveness and demand counts, from the edges of a graph: readers of live nodes, and children that have not run yet. */
export const liveness = (
  { edges, nodes }: ReturnType<SpaceScheduler["view"]>
): ReadonlyMap<string, readonly [live: boolean, liveRefs: number]> => {
  const live = new Set(
    nodes.filter(
      ({ kind, live, parent, runs }) => kind !== "computation" || (live && parent !== undefined && runs === 0)
    ).map(({ name }) => name)
  )
  for (const name of live) for (const { from, to } of edges) if (to === name) live.add(from)
  // Materializers have no demand of their own, and writers only through readers of their outputs.
  return new Map(
    nodes.map(
      ({ kind, name }) =>
        [name, [live.has(name), kind === "materializer" ? 0 : edges.filter(({ from, to }) => from === name && live.has(to)).length]]
    )
  )
}

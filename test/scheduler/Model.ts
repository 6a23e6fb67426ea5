/**
 * Random graphs of nodes, and the plainest account of what they derive:
 * everything is computed anew, from nothing but the sources, each time somebody asks.
 *
 * @module
 */
import type { NodeDefinition, Scheduler, Transaction, Value } from "systole"
import { Address, Computation, Effect, Link, Materializer } from "systole"
import { Runner } from "../../src/scheduler/Runner.ts"
import * as Dice from "../support/Dice.ts"

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

/** What a random world may have beside nodes that read each other in one direction. */
export interface Features {
  /** Cells that hold links, which move. */
  readonly links?: boolean
  /** Nodes that read what is derived from what they derive. */
  readonly cycles?: boolean
  /** Nodes that fail for some of the values that they read. */
  readonly failures?: boolean
  /** Nodes with a debounce or a throttle. */
  readonly gates?: boolean
  /** Nodes that start others, more or less of them. */
  readonly children?: boolean
  /** What these derive follows from what their creator saw as well, of which the account knows nothing. */
  readonly closures?: boolean
  /** Computations that derive in folders and list folders, with cycles also the one in which they derive. */
  readonly folders?: boolean
  /** Nodes that write below a folder of their own. */
  readonly materializers?: boolean
  /** Computations that write beside their outputs. */
  readonly sides?: boolean
  /** Nodes that go, and come back. */
  readonly removals?: boolean
}

/** A world of its own kind for each seed. */
export const featuresOf = (seed: number): Required<Omit<Features, "closures">> => ({
  links: (seed & 1) > 0,
  cycles: (seed & 2) > 0,
  failures: (seed & 4) > 0,
  gates: (seed & 8) > 0,
  children: (seed & 16) > 0,
  folders: (seed & 32) > 0,
  materializers: (seed & 64) > 0,
  sides: (seed & 128) > 0,
  removals: (seed & 256) > 0
})

const mod = 1000

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
const without = (spec: Pick<Spec, "output" | "sides">, id: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
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
export const committed = ({ graph: { locations } }: Scheduler): Reader => readerOf(
  (address) => follow(address, (key) => locations.whole(locations.root(key))),
  (id) => [...locations.children(Address.ofKey(id).scope, id)]
)

/** The reads of others' documents: of what it derives itself a node hears nothing, through links neither. */
export const foreign = ({ graph: { locations } }: Scheduler, spec: Spec): Spec["log"] =>
  spec.log.filter(([how, address]) => {
    if (how === "list") return true
    let isOwn = false
    follow(address, (key) => {
      isOwn ||= outputsOf(spec).includes(key)
      return locations.whole(locations.root(key))
    })
    return !isOwn
  })

const number = (value: Value): number =>
  typeof value === "number" ? value : typeof value === "object" && value !== null ? Object.values(value).reduce((sum: number, item) => sum + number(item as Value), 0) : 0

/** A folder among the places that nodes look at: how many names it has, or what all its cells hold. */
const folder = ({ get, list }: Reader, id: string, isDeep: boolean): number => {
  const names = list(id)
  return isDeep ? names.reduce((sum, name) => sum + number(get(`${id}/${name}`)), 0) : names.length
}

/** One of the ways in which nodes of random graphs look at one of the places they may look at. */
const looks: ReadonlyArray<(reader: Reader, places: ReadonlyArray<string>, at: number) => number> = [
  ({ get }, places, at) => number(get(places[at % places.length]!)),
  // A branch that depends on a value.
  ({ get }, places, at) => number(get(places[number(get(places[at % places.length]!)) % 2 === 0 ? (at + 1) % places.length : (at + 2) % places.length]!)),
  ({ get }, places, at) => number(get(`${places[at % places.length]!}#/a`)),
  ({ get }, places, at) => number(get(`${places[at % places.length]!}#/b/c`)),
  ({ keys }, places, at) => keys(places[at % places.length]!)?.length ?? 0,
  // The same place twice.
  ({ get }, places, at) => number(get(places[at % places.length]!)) + number(get(places[at % places.length]!))
]

/** Values of sources: numbers, objects and holes in them. */
export const someValue = (roll: Dice.Dice): Value =>
  ([roll(3), roll(3), { a: roll(2) }, { a: roll(2), b: { c: roll(2) } }, { b: {} }, { b: roll(2) }, undefined] as const)[roll(7)]!

/** What a node of a random graph derives from what it may look at. Some make numbers, few of them, so that values often stay the same; some objects. */
const recipe = (roll: Dice.Dice, places: ReadonlyArray<string>): Spec["compute"] => {
  const parts = Array.from({ length: 1 + roll(3) }, () => ({ look: Dice.pick(roll, looks), at: roll(places.length) }))
  const [few, kind] = [2 + roll(5), roll(3)]
  return (reader) => {
    const cells = places.filter((place) => !place.endsWith("/*"))
    const sum = parts.reduce((sum, { at, look }) => {
      const place = places[at]!
      const seen = place.endsWith("/*") ? folder(reader, place.slice(0, -2), look === looks[0] || look === looks[1]) : look(reader, cells, cells.indexOf(place))
      return (sum * 7 + seen) % mod
    }, 0) % few
    return kind === 0 ? { a: sum, b: { c: sum % 2 } } : sum
  }
}

/** A world, what it may have, and the chance that makes it. */
export interface Making {
  readonly model: Model
  readonly roll: Dice.Dice
  readonly features: Features
}

/** Has some nodes fail for one of the values that they make. */
const failing = ({ features, roll }: Making, compute: Spec["compute"]): Spec["compute"] => {
  if (features.failures !== true || roll(3) > 0) return compute
  return (reader) => {
    const value = compute(reader)
    if (number(value) === 1) throw new Error("one is too many")
    return value
  }
}

const gate = ({ features, roll }: Making): Spec["gate"] =>
  features.gates !== true || roll(4) > 0 ? {} : roll(2) === 0 ? { debounce: 1 + roll(80) } : { throttle: 1 + roll(80) }

/** Links that are in the way: to sources, and where there may be cycles, to anything. */
const linked = (roll: Dice.Dice, model: Model, features: Features): Value => {
  const targets = [...[...model.sources.keys()].filter((source) => source.startsWith("/s/")), ...features.cycles === true ? [...model.specs.values()].flatMap(({ output }) => output ?? []) : []]
  return Link.make(Dice.pick(roll, targets)) as unknown as Value
}

/** How many computations derive in one folder. */
const FOLDER = 4

/** What a node writes beside its output, and sometimes takes away. */
const side = (roll: Dice.Dice, key: string, places: ReadonlyArray<string>): Spec["sides"][number] => {
  const compute = recipe(roll, places)
  return { key, compute: (reader) => {
    const value = compute(reader)
    return number(value) % 3 === 2 ? undefined : value
  } }
}

/** A node that writes some cells below a folder of its own; those after it may look at them. */
const materializer = (making: Making, i: number, places: Array<string>): void => {
  const { model, roll } = making
  const near = places.slice(-8)
  const fail = failing(making, (reader) => number(reader.get("/s/0")))
  const sides = Array.from({ length: 1 + roll(2) }, (_, n) => side(roll, `/m/${i}/${n}`, near))
  model.add(`m${i}`, { output: undefined, envelope: `/m/${i}/*`, compute: fail, sides })
  places.push(...sides.map(({ key }) => key), `/m/${i}/*`)
}

/** A random world of so many sources and computations; each may look at sources and at those before it. */
export const random = (roll: Dice.Dice, { computations, sources }: { readonly sources: number; readonly computations: number }, features: Features = {}): Model => {
  const model = new Model()
  model.closures = features.closures === true
  const making = { model, roll, features }
  const places: Array<string> = []
  for (let i = 0; i < sources; i++) {
    places.push(`/s/${i}`)
    model.sources.set(`/s/${i}`, roll(3))
  }
  for (let i = 0; features.links === true && i < 3; i++) {
    places.push(`/l/${i}`)
    model.sources.set(`/l/${i}`, linked(roll, model, features))
  }
  const output = (i: number) => features.folders === true ? `/f/${Math.floor(i / FOLDER)}/${i}` : `/c/${i}`
  const ahead = features.cycles !== true ? [] : [
    ...Array.from({ length: computations }, (_, i) => output(i)),
    ...features.folders === true ? Array.from({ length: Math.ceil(computations / FOLDER) }, (_, i) => `/f/${i}/*`) : []
  ]
  for (let i = 0; i < computations; i++) {
    const near = [...places.slice(-8 - roll(8)), ...ahead.length > 0 && roll(3) === 0 ? [Dice.pick(roll, ahead)] : []]
    const sides = features.sides === true && roll(3) === 0 ? [side(roll, `/w/${i}`, near)] : []
    model.add(`c${i}`, { output: output(i), compute: failing(making, recipe(roll, near)), gate: gate(making), sides })
    places.push(output(i), ...sides.map(({ key }) => key))
    if (features.folders === true && (i + 1) % FOLDER === 0) places.push(`/f/${Math.floor(i / FOLDER)}/*`)
    if (features.materializers === true && roll(4) === 0) materializer(making, i, places)
  }
  for (let i = 0; features.children === true && i < 2; i++) parent(making, i, places)
  return model
}

/** A node that starts up to three computations, as many as a source says. Where those follow from what it saw, it may have to wait and fail, too, and be one that nobody asks for. */
const parent = (making: Making, i: number, places: ReadonlyArray<string>): void => {
  const { features, model, roll } = making
  const source = `/s/${i}`
  const count = (reader: Reader): number => number(reader.get(source)) % 4
  const children = [0, 1, 2].map((n) => model.add(`k${i}-${n}`, { output: `/k/${i}/${n}`, compute: failing(making, recipe(roll, places.slice(-10))), gate: gate(making) }))
  if (features.closures !== true) model.add(`p${i}`, { output: undefined, compute: count, children, count })
  else model.add(`p${i}`, { output: roll(2) === 0 ? `/p/${i}` : undefined, compute: failing(making, count), children, count: (reader) => count(reader) + number(reader.get("/s/2")), gate: gate(making) })
}

/** An effect over some places of a world. */
export const watcher = (model: Model, roll: Dice.Dice, name: string): Spec => {
  const places = [...model.sources.keys(), ...model.places, ...model.folders]
  return model.add(name, { output: undefined, compute: recipe(roll, Dice.shuffled(roll, places).slice(0, 5)) })
}

/** Registers all nodes of a world, in random order, some with the reads that they declare. */
export const register = (model: Model, scheduler: Scheduler, roll: Dice.Dice): void => {
  for (const spec of Dice.shuffled(roll, model.roots)) scheduler.register(model.define(spec))
  for (const [address, value] of model.sources) scheduler.set(address, value)
}

/** Changes a source or a few; links go elsewhere. Answers what changed. */
export const changes = ({ features, model, roll }: Making): ReadonlyArray<readonly [source: string, value: Value]> =>
  Dice.shuffled(roll, [...model.sources.keys()]).slice(0, 1 + roll(3)).map((source) => {
    const value = source.startsWith("/l/") ? linked(roll, model, features) : someValue(roll)
    model.sources.set(source, value)
    return [source, value]
  })

/** A node goes, or one that went is there again. */
const comeOrGo = ({ features, model, roll }: Making, scheduler: Scheduler): void => {
  if (features.removals !== true || roll(3) > 0) return
  const [back] = Dice.shuffled(roll, [...model.gone.values()])
  if (back !== undefined && roll(2) === 0) {
    model.restore(back)
    scheduler.register(model.define(back))
    return
  }
  const { graph: { locations } } = scheduler
  const spec = Dice.pick(roll, model.roots.filter(({ children, name }) => children.length === 0 && !name.startsWith("e")))
  model.remove(spec, (key) => locations.whole(locations.root(key)))
  scheduler.remove(spec.name)
}

/** The same, in the engine as well; nodes come and go. */
export const change = (making: Making, scheduler: Scheduler): void => {
  comeOrGo(making, scheduler)
  for (const [source, value] of changes(making)) scheduler.set(source, value)
}

/** Whether a node that reads these would see something else now. */
export const differs = (reader: Reader, spec: Spec, log: Spec["log"]): boolean =>
  log.some(([how, address, value]) => {
    const id = address.slice(0, -2)
    const seen = how === "list" ? without(spec, id, reader.list(id)) : reader[how](address)
    return JSON.stringify(seen ?? null) !== JSON.stringify(value ?? null)
  })

/** Who is live, and how many reads of live nodes each node serves, found anew from the edges of a graph: what is demanded, and what a parent started that has not run yet. */
export const liveness = ({ edges, nodes }: ReturnType<Scheduler["view"]>): ReadonlyMap<string, readonly [live: boolean, liveRefs: number]> => {
  const live = new Set(nodes.filter(({ kind, live, parent, runs }) => kind !== "computation" || (live && parent !== undefined && runs === 0)).map(({ name }) => name))
  for (const name of live) for (const { from, to } of edges) if (to === name) live.add(from)
  // Materializers are demanded by nobody, and writers only by what reads their outputs.
  return new Map(nodes.map(({ kind, name }) => [name, [live.has(name), kind === "materializer" ? 0 : edges.filter(({ from, to }) => from === name && live.has(to)).length]]))
}

/** What decides whether who looked at a place hears of a change: how far its path leads, over which links, and what is there; of what was looked at for its keys, those. */
const sight = (scheduler: Scheduler, [how, address]: Spec["log"][number], hops = 0): string => {
  const { locations } = scheduler.graph
  const [document = "", path = ""] = address.split("#")
  const keys = path.split("/").slice(1)
  let value = locations.whole(locations.root(document))
  for (let i = 0; ; i++) {
    if (Link.is(value)) {
      const target = Address.into(Link.target(value), keys.slice(i)).text
      return hops === Link.MAX_HOPS ? "in a ring" : `by ${target}, ${sight(scheduler, [how, target, undefined], hops + 1)}`
    }
    if (i === keys.length) break
    if (typeof value !== "object" || value === null) return `leads ${i} far`
    value = (value as Record<string, Value>)[keys[i]!]
  }
  return JSON.stringify(how === "keys" && typeof value === "object" && value !== null ? Object.keys(value) : value ?? null)
}

/** The same of a list: the names, but for those of what the node itself writes. */
const listed = (scheduler: Scheduler, spec: Spec, [, address]: Look): string => {
  const id = address.slice(0, -2)
  return JSON.stringify(without(spec, id, committed(scheduler).list(id)))
}

/** Keeps, of all nodes, what they looked at in their newest runs and what changed of it since. */
export class Sights {
  private readonly model: Model
  private readonly scheduler: Scheduler
  private readonly looks = new Map<Spec, { readonly log: Spec["log"]; readonly seen: ReadonlyArray<string>; readonly changed: Set<number> }>()

  constructor(model: Model, scheduler: Scheduler) {
    this.model = model
    this.scheduler = scheduler
  }

  /** Is called whenever something may have changed, once at most for each place. */
  note(): void {
    for (const spec of this.model.specs.values()) {
      const seen = spec.log.map((look) => look[0] === "list" ? listed(this.scheduler, spec, look) : sight(this.scheduler, look))
      const known = this.looks.get(spec)
      if (known?.log !== spec.log) this.looks.set(spec, { log: spec.log, seen, changed: new Set() })
      else for (const [i, now] of seen.entries()) if (now !== known.seen[i]) known.changed.add(i)
    }
  }

  /** What changed of what a node looked at, as it is written down. */
  changes(spec: Spec): ReadonlyArray<string> {
    const { changed, log } = this.looks.get(spec)!
    return [...new Set([...changed].map((i) => log[i]![1]))]
  }
}

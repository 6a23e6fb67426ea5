/**
 * Random graphs: their nodes, reads and changes.
 *
 * @module
 */
import type { SpaceScheduler, Value } from "systole"
import { Link } from "systole"
import * as Random from "../support/Random.ts"
import { Model, number, type Reader, type Spec } from "./ReferenceModel.ts"

/** The features of a random graph, beside nodes that read each other in one direction. */
export interface Features {
  /** Cells with links, which change. */
  readonly links?: boolean
  /** Nodes that read values derived from their own outputs. */
  readonly cycles?: boolean
  /** Nodes that fail for some values. */
  readonly failures?: boolean
  /** Nodes with a debounce or a throttle. */
  readonly gates?: boolean
  /** Nodes that start a varying number of others. */
  readonly children?: boolean
  /** Children that also depend on values read by their creator, unknown to the model. */
  readonly closures?: boolean
  /** Computations that write and list folders; with cycles, also their own folder. */
  readonly folders?: boolean
  /** Nodes that write below their own folder. */
  readonly materializers?: boolean
  /** Computations that also write cells other than their outputs. */
  readonly sides?: boolean
  /** Nodes that are removed, and return. */
  readonly removals?: boolean
}

/** The features of a seed. */
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

/** A folder as a place to read: the number of its names, or the values of its cells. */
const folder = ({ get, list }: Reader, id: string, isDeep: boolean): number => {
  const names = list(id)
  return isDeep ? names.reduce((sum, name) => sum + number(get(`${id}/${name}`)), 0) : names.length
}

/** The ways in which nodes of random graphs read a place. */
const looks: ReadonlyArray<(reader: Reader, places: ReadonlyArray<string>, at: number) => number> = [
  ({ get }, places, at) => number(get(places[at % places.length]!)),
  // A branch on a value.
  ({ get }, places, at) =>
    number(get(places[number(get(places[at % places.length]!)) % 2 === 0 ? (at + 1) % places.length : (at + 2) % places.length]!)),
  ({ get }, places, at) => number(get(`${places[at % places.length]!}#/a`)),
  ({ get }, places, at) => number(get(`${places[at % places.length]!}#/b/c`)),
  ({ keys }, places, at) => keys(places[at % places.length]!)?.length ?? 0,
  // Two reads of the same place.
  ({ get }, places, at) => number(get(places[at % places.length]!)) + number(get(places[at % places.length]!))
]

/** Values of sources: numbers, objects, and objects with missing keys. */
export const someValue = (draw: Random.Random): Value =>
  ([draw(3), draw(3), { a: draw(2) }, { a: draw(2), b: { c: draw(2) } }, { b: {} }, { b: draw(2) }, undefined] as const)[draw(7)]!

/** The function of a random node. Some make numbers from a small range, so that values often stay equal; some make objects. */
const recipe = (draw: Random.Random, places: ReadonlyArray<string>): Spec["compute"] => {
  const parts = Array.from({ length: 1 + draw(3) }, () => ({ look: Random.pick(draw, looks), at: draw(places.length) }))
  const [few, kind] = [2 + draw(5), draw(3)]
  return (reader) => {
    const cells = places.filter((place) => !place.endsWith("/*"))
    const sum = parts.reduce((sum, { at, look }) => {
      const place = places[at]!
      const seen = place.endsWith("/*") ? folder(
        reader, place.slice(0, -2), look === looks[0] || look === looks[1]
      ) : look(reader, cells, cells.indexOf(place))
      return (sum * 7 + seen) % mod
    }, 0) % few
    return kind === 0 ? { a: sum, b: { c: sum % 2 } } : sum
  }
}

/** A graph under construction, with its features and its generator. */
export interface Making {
  readonly model: Model
  readonly draw: Random.Random
  readonly features: Features
}

/** Makes some nodes fail for one of their values. */
const failing = ({ features, draw }: Making, compute: Spec["compute"]): Spec["compute"] => {
  if (features.failures !== true || draw(3) > 0) return compute
  return (reader) => {
    const value = compute(reader)
    if (number(value) === 1) throw new Error("one is too many")
    return value
  }
}

const gate = ({ features, draw }: Making): Spec["gate"] =>
  features.gates !== true || draw(4) > 0 ? {} : draw(2) === 0 ? { debounce: 1 + draw(80) } : { throttle: 1 + draw(80) }

/** Links on the path of reads: to sources, or with cycles to any place. */
const linked = (draw: Random.Random, model: Model, features: Features): Value => {
  const targets = [
    ...[...model.sources.keys()].filter((source) => source.startsWith("/s/")),
    ...features.cycles === true ? [...model.specs.values()].flatMap(({ output }) => output ?? []) : []
  ]
  return Link.make(Random.pick(draw, targets)) as unknown as Value
}

/** Number of computations in one folder. */
const FOLDER = 4

/** A write of a node beside its output, which is sometimes deleted. */
const side = (draw: Random.Random, key: string, places: ReadonlyArray<string>): Spec["sides"][number] => {
  const compute = recipe(draw, places)
  return { key, compute: (reader) => {
    const value = compute(reader)
    return number(value) % 3 === 2 ? undefined : value
  } }
}

/** A node that writes cells below a folder of its own; later nodes may read them. */
const materializer = (making: Making, i: number, places: Array<string>): void => {
  const { model, draw } = making
  const near = places.slice(-8)
  const fail = failing(making, (reader) => number(reader.get("/s/0")))
  const sides = Array.from({ length: 1 + draw(2) }, (_, n) => side(draw, `/m/${i}/${n}`, near))
  model.add(`m${i}`, { output: undefined, envelope: `/m/${i}/*`, compute: fail, sides })
  places.push(...sides.map(({ key }) => key), `/m/${i}/*`)
}

/** A random graph with these numbers of sources and computations. Each computation may read sources and earlier ones. */
export const random = (
  draw: Random.Random,
  { computations, sources }: { readonly sources: number; readonly computations: number },
  features: Features = {}
): Model => {
  const model = new Model()
  model.closures = features.closures === true
  const making = { model, draw, features }
  const places: Array<string> = []
  for (let i = 0; i < sources; i++) {
    places.push(`/s/${i}`)
    model.sources.set(`/s/${i}`, draw(3))
  }
  for (let i = 0; features.links === true && i < 3; i++) {
    places.push(`/l/${i}`)
    model.sources.set(`/l/${i}`, linked(draw, model, features))
  }
  const output = (i: number) => features.folders === true ? `/f/${Math.floor(i / FOLDER)}/${i}` : `/c/${i}`
  const ahead = features.cycles !== true ? [] : [
    ...Array.from({ length: computations }, (_, i) => output(i)),
    ...features.folders === true ? Array.from({ length: Math.ceil(computations / FOLDER) }, (_, i) => `/f/${i}/*`) : []
  ]
  for (let i = 0; i < computations; i++) {
    const near = [...places.slice(-8 - draw(8)), ...ahead.length > 0 && draw(3) === 0 ? [Random.pick(draw, ahead)] : []]
    const sides = features.sides === true && draw(3) === 0 ? [side(draw, `/w/${i}`, near)] : []
    model.add(`c${i}`, { output: output(i), compute: failing(making, recipe(draw, near)), gate: gate(making), sides })
    places.push(output(i), ...sides.map(({ key }) => key))
    if (features.folders === true && (i + 1) % FOLDER === 0) places.push(`/f/${Math.floor(i / FOLDER)}/*`)
    if (features.materializers === true && draw(4) === 0) materializer(making, i, places)
  }
  for (let i = 0; features.children === true && i < 2; i++) parent(making, i, places)
  return model
}

/** A node that starts up to three computations, as many as a source says. With closures, it may also wait, fail, and have no demand. */
const parent = (making: Making, i: number, places: ReadonlyArray<string>): void => {
  const { features, model, draw } = making
  const source = `/s/${i}`
  const count = (reader: Reader): number => number(reader.get(source)) % 4
  const children = [0, 1, 2].map(
    (n) =>
      model.add(`k${i}-${n}`, { output: `/k/${i}/${n}`, compute: failing(making, recipe(draw, places.slice(-10))), gate: gate(making) })
  )
  if (features.closures !== true) model.add(`p${i}`, { output: undefined, compute: count, children, count })
  else model.add(`p${i}`, {
    output: draw(2) === 0 ? `/p/${i}` : undefined,
    compute: failing(making, count),
    children,
    count: (reader) => count(reader) + number(reader.get("/s/2")),
    gate: gate(making)
  })
}

/** An effect over some places of a graph. */
export const watcher = (model: Model, draw: Random.Random, name: string): Spec => {
  const places = [...model.sources.keys(), ...model.places, ...model.folders]
  return model.add(name, { output: undefined, compute: recipe(draw, Random.shuffled(draw, places).slice(0, 5)) })
}

/** A computation that comes late to a graph, over some of its places; no other node reads it. */
export const latecomer = (model: Model, draw: Random.Random, name: string): { readonly spec: Spec; readonly output: string } => {
  const places = [...model.sources.keys(), ...model.places, ...model.folders]
  const output = `/late/${name}`
  return { output, spec: model.add(name, { output, compute: recipe(draw, Random.shuffled(draw, places).slice(0, 4)) }) }
}

/** Registers all nodes of a graph in random order, some with declared reads. */
export const register = (model: Model, scheduler: SpaceScheduler, draw: Random.Random): void => {
  for (const spec of Random.shuffled(draw, model.roots)) scheduler.register(model.define(spec))
  for (const [address, value] of model.sources) scheduler.set(address, value)
}

/** Changes one or more sources and links. Returns the changed keys. */
export const changes = ({ features, model, draw }: Making): ReadonlyArray<readonly [source: string, value: Value]> =>
  Random.shuffled(draw, [...model.sources.keys()]).slice(0, 1 + draw(3)).map((source) => {
    const value = source.startsWith("/l/") ? linked(draw, model, features) : someValue(draw)
    model.sources.set(source, value)
    return [source, value]
  })

/** Removes a node, or returns a removed one. */
const comeOrGo = ({ features, model, draw }: Making, scheduler: SpaceScheduler): void => {
  if (features.removals !== true || draw(3) > 0) return
  const [back] = Random.shuffled(draw, [...model.gone.values()])
  if (back !== undefined && draw(2) === 0) {
    model.restore(back)
    scheduler.register(model.define(back))
    return
  }
  const { graph: { locations } } = scheduler
  const spec = Random.pick(draw, model.roots.filter(({ children, name }) => children.length === 0 && !name.startsWith("e")))
  model.remove(spec, (key) => locations.whole(locations.root(key)))
  scheduler.remove(spec.name)
}

/** The same in the scheduler, with removals and returns. */
export const change = (making: Making, scheduler: SpaceScheduler): void => {
  comeOrGo(making, scheduler)
  for (const [source, value] of changes(making)) scheduler.set(source, value)
}

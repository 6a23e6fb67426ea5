/**
 * Random worlds: which nodes there are, at what they look, and what changes.
 *
 * @module
 */
import type { SpaceScheduler, Value } from "systole"
import { Link } from "systole"
import * as Dice from "../support/Dice.ts"
import { Model, number, type Reader, type Spec } from "./Model.ts"

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
export const register = (model: Model, scheduler: SpaceScheduler, roll: Dice.Dice): void => {
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
const comeOrGo = ({ features, model, roll }: Making, scheduler: SpaceScheduler): void => {
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
export const change = (making: Making, scheduler: SpaceScheduler): void => {
  comeOrGo(making, scheduler)
  for (const [source, value] of changes(making)) scheduler.set(source, value)
}

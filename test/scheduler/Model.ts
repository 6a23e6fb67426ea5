/**
 * Random graphs of nodes, and the plainest account of what they derive:
 * everything is computed anew, from nothing but the sources, each time somebody asks.
 *
 * @module
 */
import type { NodeDefinition, Scheduler, Transaction, Value } from "systole"
import { Computation, Effect } from "systole"
import { Runner } from "../../src/scheduler/Runner.ts"
import * as Dice from "../support/Dice.ts"

/** What a node reads and makes of it; the same function serves the engine and the account. */
export interface Reader {
  readonly get: (address: string) => Value
  readonly keys: (address: string) => ReadonlyArray<string> | undefined
}

/** A node of the account. */
export interface Spec {
  readonly name: string
  readonly output: string | undefined
  readonly compute: (reader: Reader) => Value
  /** The reads of its newest run in the engine, with what they gave. */
  log: ReadonlyArray<readonly [how: "get" | "keys", address: string, value: Value]>
  runs: number
}

const mod = 1000

/** A world: sources, nodes over them, and what the account says of both. */
export class Model {
  readonly sources = new Map<string, Value>()
  readonly specs = new Map<string, Spec>()
  /** Told of each run before it begins: what it read last time, if it ran before. */
  onRun: (spec: Spec, tx: Transaction) => void = () => {}
  /** The names of the nodes whose runs stand one in another now, outermost first. */
  readonly running: Array<string> = []

  /** What an address holds by the account: a source's value, or what is computed anew, with all that it takes. */
  value(address: string): Value {
    const [document = "", path = ""] = address.split("#")
    const spec = [...this.specs.values()].find(({ output }) => output === document)
    let value: Value = spec === undefined ? this.sources.get(document) : spec.compute(this.reader)
    for (const key of path.split("/").slice(1)) value = (value as Record<string, Value> | undefined)?.[key]
    return value
  }

  readonly reader: Reader = {
    get: (address) => this.value(address),
    keys: (address) => {
      const value = this.value(address)
      return typeof value === "object" && value !== null ? Object.keys(value) : undefined
    }
  }

  /** The definition that makes a spec a node of the engine, and keeps its log. */
  define(spec: Spec, options: { readonly reads?: ReadonlyArray<string>; readonly deliver?: (value: Value) => void } = {}): NodeDefinition {
    const run = (tx: Transaction): Value => {
      if (!(tx instanceof Runner)) return spec.compute({ get: (address) => tx.get(address), keys: (address) => tx.keys(address) })
      this.running.push(spec.name)
      this.onRun(spec, tx)
      const log: Array<readonly ["get" | "keys", string, Value]> = []
      const value = spec.compute({
        get: (address) => {
          const value = tx.get(address)
          log.push(["get", address, value])
          return value
        },
        keys: (address) => {
          const value = tx.keys(address)
          log.push(["keys", address, value])
          return value
        }
      })
      this.running.pop()
      spec.log = log
      spec.runs++
      return value
    }
    const { deliver = () => {}, reads } = options
    return spec.output === undefined
      ? Effect.make({ name: spec.name, reads, read: run, deliver })
      : Computation.make({ name: spec.name, output: spec.output, reads, run })
  }

  add(name: string, output: string | undefined, compute: Spec["compute"]): Spec {
    const spec: Spec = { name, output, compute, log: [], runs: 0 }
    this.specs.set(name, spec)
    return spec
  }
}

const number = (value: Value): number =>
  typeof value === "number" ? value : typeof value === "object" && value !== null ? Object.values(value).reduce((sum: number, item) => sum + number(item as Value), 0) : 0

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
    const sum = parts.reduce((sum, { at, look }) => (sum * 7 + look(reader, places, at)) % mod, 0) % few
    return kind === 0 ? { a: sum, b: { c: sum % 2 } } : sum
  }
}

/** A random world of so many sources and computations; each may look at sources and at those before it. */
export const random = (roll: Dice.Dice, { computations, sources }: { readonly sources: number; readonly computations: number }): Model => {
  const model = new Model()
  const places: Array<string> = []
  for (let i = 0; i < sources; i++) {
    places.push(`/s/${i}`)
    model.sources.set(`/s/${i}`, roll(3))
  }
  for (let i = 0; i < computations; i++) {
    const near = places.slice(-8 - roll(8))
    model.add(`c${i}`, `/c/${i}`, recipe(roll, near))
    places.push(`/c/${i}`)
  }
  return model
}

/** An effect over some places of a world. */
export const watcher = (model: Model, roll: Dice.Dice, name: string): Spec => {
  const places = [...model.sources.keys(), ...[...model.specs.values()].flatMap(({ output }) => output ?? [])]
  return model.add(name, undefined, recipe(roll, Dice.shuffled(roll, places).slice(0, 5)))
}

/** Registers all nodes of a world, in random order, some with the reads that they declare. */
export const register = (model: Model, scheduler: Scheduler, roll: Dice.Dice): void => {
  for (const spec of Dice.shuffled(roll, [...model.specs.values()])) scheduler.register(model.define(spec))
  for (const [address, value] of model.sources) scheduler.set(address, value)
}

/** Changes a source or a few, in the world and in the engine. */
export const change = (model: Model, scheduler: Scheduler, roll: Dice.Dice): void => {
  for (const source of Dice.shuffled(roll, [...model.sources.keys()]).slice(0, 1 + roll(3))) {
    const value = someValue(roll)
    model.sources.set(source, value)
    scheduler.set(source, value)
  }
}

/** Whether a node that reads these would see something else now. */
export const differs = (model: Model, log: Spec["log"]): boolean =>
  log.some(([how, address, value]) => JSON.stringify(model.reader[how](address) ?? null) !== JSON.stringify(value ?? null))

/** The counts of live readers, counted anew from the edges that a snapshot shows. */
export const liveness = (nodes: ReturnType<Scheduler["snapshot"]>): ReadonlyMap<string, boolean> => {
  const live = new Set(nodes.filter(({ kind }) => kind !== "computation").map(({ name }) => name))
  for (const name of live) {
    const reads = nodes.find((node) => node.name === name)!.reads.map((read) => read.split("#")[0]!)
    for (const node of nodes) if (node.name !== name && node.outputs.some((output) => reads.includes(output))) live.add(node.name)
  }
  return new Map(nodes.map(({ name }) => [name, live.has(name)]))
}

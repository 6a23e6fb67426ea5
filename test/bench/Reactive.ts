/**
 * The interface of the contenders of the reactive bench: sources, computed values,
 * effects and batches.
 *
 * @module
 */
import * as alien from "alien-signals"
import * as preact from "@preact/signals-core"
import * as mobx from "mobx"
import type { Value } from "systole"
import { Cell, Computation, Reaction, SpaceScheduler } from "systole"
import { Labels } from "../../src/stage/Labels.ts"

/** Reads within a computed value or an effect. For Systole it is the transaction of the node. */
export interface Reader<Source> {
  readonly get: (source: Source) => unknown
}

/** A contender. Its nodes live as long as the contender. */
export interface Library<Source> {
  readonly source: (value: number) => Source
  readonly computed: (run: (reader: Reader<Source>) => unknown) => Source
  readonly effect: (run: (reader: Reader<Source>) => void) => void
  readonly write: (source: Source, value: number) => void
  /** Executes the writes of `run`, and has run all effects when it returns. */
  readonly batch: (run: () => void) => void
  /** The number of transactions according to the engine, one for each run, if it counts them. */
  readonly transactions?: () => number
}

type Signal = (() => unknown) & ((value: number) => void)

const makeAlien = (): Library<Signal> => {
  const reader = { get: (source: Signal) => source() }
  return {
    source: (value) => alien.signal<number>(value) as unknown as Signal,
    computed: (run) => alien.computed(() => run(reader)) as unknown as Signal,
    effect: (run) => void alien.effect(() => run(reader)),
    write: (source, value) => source(value),
    batch: (run) => {
      alien.startBatch()
      run()
      alien.endBatch()
    }
  }
}

const makePreact = (): Library<preact.Signal<unknown>> => {
  const reader = { get: (source: preact.Signal<unknown>) => source.value }
  return {
    source: (value) => preact.signal<unknown>(value),
    computed: (run) => preact.computed(() => run(reader)) as preact.Signal<unknown>,
    effect: (run) => void preact.effect(() => run(reader)),
    write: (source, value) => {
      source.value = value
    },
    batch: (run) => preact.batch(run)
  }
}

/** The part of solid-js in use. Its build for browsers is imported by file, because that for servers is not reactive. */
interface Solid {
  readonly createSignal: (value: unknown) => [get: () => unknown, set: (value: unknown) => void]
  readonly createMemo: (run: () => unknown) => () => unknown
  readonly createRoot: <A>(run: () => A) => A
  readonly createRenderEffect: (run: () => void) => void
  readonly batch: (run: () => void) => void
}

interface SolidSource {
  readonly get: () => unknown
  readonly set: ((value: unknown) => void) | undefined
}

const solidFile = new URL("../../node_modules/solid-js/dist/solid.js", import.meta.url).href

const makeSolid = async (): Promise<Library<SolidSource>> => {
  const solid = await import(solidFile) as Solid
  const reader = { get: (source: SolidSource) => source.get() }
  return {
    source: (value) => {
      const [get, set] = solid.createSignal(value)
      return { get, set }
    },
    computed: (run) => ({ get: solid.createRoot(() => solid.createMemo(() => run(reader))), set: undefined }),
    effect: (run) => solid.createRoot(() => solid.createRenderEffect(() => run(reader))),
    write: (source, value) => source.set!(value),
    batch: solid.batch
  }
}

interface Box {
  readonly get: () => unknown
}

const makeMobx = (): Library<Box> => {
  const reader = { get: (source: Box) => source.get() }
  return {
    source: (value) => mobx.observable.box(value, { deep: false }),
    computed: (run) => mobx.computed(() => run(reader)),
    effect: (run) => void mobx.autorun(() => run(reader)),
    write: (source, value) => (source as ReturnType<typeof mobx.observable.box>).set(value),
    batch: (run) => mobx.runInAction(run)
  }
}

const nothing = (): void => {}

/** The engine of Systole in memory, through the package's exports. Every node runs in its own transaction. */
const makeSystole = (): Library<Cell.Cell> => around(new SpaceScheduler(), (scheduler) => void scheduler.settle())

/**
 * The same with labels on each cell and the records that a beat makes of a pass: the nodes that ran,
 * and each changed document in its stored form. All other work of a beat is omitted.
 */
export const makeRecorded = (): Library<Cell.Cell> => {
  const scheduler = new SpaceScheduler()
  const { locations } = scheduler.graph
  const ran: Array<string> = []
  scheduler.graph.labels = new Labels({ cells: { "/s/**": ["bench"], "/c/**": ["bench"] }, declassify: {} })
  scheduler.invalidation.marked = []
  scheduler.observe(({ node }) => void ran.push(node.definition.name))
  let entry = ""
  return around(scheduler, () => {
    scheduler.settling.settle()
    entry = ran.join()
    for (let i = 0; i < locations.changes; i++) {
      const root = locations.changed[i]!
      entry += `${root.key} ${JSON.stringify(locations.before[i])} ${locations.document(root)?.text}`
    }
    if (entry.length === 0) throw new Error("nothing was taken down")
    ran.length = 0
    scheduler.invalidation.marked = []
    scheduler.takeSeen()
    locations.settled()
  })
}

const around = (scheduler: SpaceScheduler, settle: (scheduler: SpaceScheduler) => void): Library<Cell.Cell> => {
  let made = 0
  return {
    source: (value) => {
      const cell = Cell.make(`/s/${made++}`)
      scheduler.set(cell, value)
      return cell
    },
    computed: (run) => {
      const output = `/c/${made++}`
      scheduler.register(Computation.make({ name: `c${made}`, output, run: run as (tx: Reader<Cell.Cell>) => Value }))
      return Cell.make(output)
    },
    effect: (run) => {
      scheduler.register(Reaction.make({ name: `e${made++}`, read: run as unknown as (tx: Reader<Cell.Cell>) => Value, deliver: nothing }))
      settle(scheduler)
    },
    write: (source, value) => scheduler.set(source, value),
    batch: (run) => {
      run()
      settle(scheduler)
    },
    transactions: () => scheduler.snapshot().reduce((sum, { runs }) => sum + runs, 0)
  }
}

/** The contenders by name; `control` is the baseline once more. */
export const libraries: Readonly<Record<string, () => Library<any> | Promise<Library<any>>>> = {
  alien: makeAlien,
  control: makeAlien,
  systole: makeSystole,
  preact: makePreact,
  solid: makeSolid,
  mobx: makeMobx
}

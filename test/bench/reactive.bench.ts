/**
 * Compares the scheduler with signal libraries on the shapes of their own
 * benchmarks, and measures the cost of many unwatched nodes.
 *
 * All contenders run in one process and take turns. The sums, effects and computed
 * values of a shape must be equal for all of them, or there are no figures. Nodes of
 * Systole run in transactions, with causes, budgets and before-images. Journal and
 * labels are off in the first table. In the second they are on, in the scheduler
 * alone and in a space, where every batch is a beat.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Cell, Computation, Reaction, SpaceScheduler } from "systole"
import type { Bench, Case, Round } from "./Bench.ts"
import { quantile } from "./Bench.ts"
import * as Journaled from "./Journaled.ts"
import { libraries, makeRecorded } from "./Reactive.ts"
import type { Shape, shapes as Shapes } from "./ReactiveShapes.ts"

const names = Object.keys(libraries)

/** The contenders of the second table. */
const journaledNames = ["alien", "systole", "recorded", "journaled"]

/** The copy of the shapes of each contender. */
const copies = new Map(await Promise.all([...names, "recorded", "journaled"].map(async (name) =>
  [name, (await import(`./ReactiveShapes.ts?${name}`) as { readonly shapes: typeof Shapes }).shapes] as const
)))

/** The built shapes of each contender, by case. */
const built = new Map<string, Map<string, {
  readonly shape: Shape
  readonly transactions: (() => number) | undefined
  readonly verify: (() => Promise<void>) | undefined
}>>()

const elapsed = (work: () => void): number => {
  const began = performance.now()
  work()
  return performance.now() - began
}

/** The turn of one contender at a shape. Each table builds its own shapes, so that all contenders have run equally often. */
const round = (kase: string, name: string, table = ""): Round => async () => {
  const key = `${table}${kase}`
  const shapes = built.get(key) ?? new Map()
  built.set(key, shapes)
  let own = shapes.get(name)
  if (own === undefined) {
    const journaled = name === "journaled" ? await Journaled.make() : undefined
    const library = journaled ?? (name === "recorded" ? makeRecorded() : await libraries[name]!())
    own = { shape: copies.get(name)![kase]!.build(library), transactions: library.transactions, verify: journaled?.verify }
    shapes.set(name, own)
  }
  return elapsed(own.shape.run)
}

/** Rounds until the engine has compiled all that a shape runs: with fewer, a figure is mostly that of young code. */
const WARM = 25

/** mobx overflows the stack here. */
const isTooDeep = (kase: string, name: string): boolean => name === "mobx" && kase === "cellx 2500"

const shapeCases: ReadonlyArray<Case> = Object.entries(copies.get("alien")!).map(([kase, { group }]): Case => ({
  name: `${group}: ${kase}`,
  unit: "ms",
  baseline: "alien",
  contenders: Object.fromEntries(names.filter((name) => !isTooDeep(kase, name)).map((name) => [name, round(kase, name)])),
  rounds: 15,
  warm: WARM
}))

const JOURNALED = "journaled: "

const journaledCases: ReadonlyArray<Case> = Object.entries(copies.get("alien")!).map(([kase, { group }]): Case => ({
  name: `${JOURNALED}${group}: ${kase}`,
  table: [
    "Journal and labels on: recorded is the scheduler with all that the journal and labels ask of it;",
    "journaled is a space, where every batch is a beat, durable in memory"
  ].join(" "),
  unit: "ms",
  baseline: "alien",
  contenders: Object.fromEntries(journaledNames.map((name) => [name, round(kase, name, JOURNALED)])),
  rounds: 5,
  warm: 2
}))

/** Contenders with other counts of computed values: solid also runs unwatched ones. */
const isLoose = (name: string, kase: string): boolean =>
  name === "solid" || (["systole", "recorded", "journaled"].includes(name) && copies.get("alien")![kase]!.eager === true)

/** Throws if the results of a contender differ from the baseline. */
const compare = async (): Promise<void> => {
  for (const [key, shapes] of built) {
    const kase = key.replace(JOURNALED, "")
    const base = shapes.get("alien")!.shape
    for (const [name, { shape, verify }] of shapes) {
      await verify?.()
      if (shape.tally() !== base.tally()) throw new Error(`${kase}: ${name} came to ${shape.tally()}, and alien to ${base.tally()}`)
      if (shape.computed() !== base.computed() && !isLoose(name, kase)) {
        throw new Error(`${kase}: ${name} computed ${shape.computed()} values, and alien ${base.computed()}`)
      }
    }
  }
}

const nothing = (): void => {}

/** Computations over one source each, and a few of them watched. */
const dormant = (count: number, { every, readers }: { readonly every: number; readonly readers: number }) => {
  const scheduler = new SpaceScheduler()
  for (let i = 0; i < count; i++) {
    const source = `/s/${Math.floor(i / readers)}`
    scheduler.register(Computation.make({ name: `c${i}`, output: `/c/${i}`, run: (tx) => Number(tx.get(source) ?? 0) + i }))
    scheduler.pull(`/c/${i}`)
    if (every === 0 || i % every !== 0) continue
    scheduler.register(Reaction.make({ name: `e${i}`, read: (tx) => tx.get(`/c/${i}`), deliver: nothing }))
  }
  scheduler.settle()
  return scheduler
}

/** Collects garbage before memory is measured. */
const collect = (): void => {
  setFlagsFromString("--expose-gc")
  const gc = runInNewContext("gc") as () => void
  gc()
}

const million: ReadonlyArray<Case> = [{
  name: "1,000,000 dormant computations registered, with what the scheduler adds to their definitions",
  unit: "s",
  baseline: "systole",
  rounds: 1,
  warm: 0,
  contenders: {
    systole: () => {
      const definitions = Array.from({ length: 1_000_000 }, (_, i) => Computation.make({ name: `c${i}`, output: `/c/${i}`, run: () => 1 }))
      collect()
      const before = process.memoryUsage().heapUsed
      const scheduler = new SpaceScheduler()
      const time = elapsed(() => definitions.forEach((definition) => scheduler.register(definition)))
      collect()
      const bytes = (process.memoryUsage().heapUsed - before) / definitions.length
      const ran = [...scheduler.registry.values()].filter(({ run }) => run !== undefined).length
      process.stderr.write(`  ${bytes.toFixed(0)} bytes each; ${scheduler.registry.size} nodes ran ${ran} times\n`)
      return time / 1000
    }
  }
}]

const rare = (): Case => {
  let scheduler: SpaceScheduler | undefined
  let value = 0
  return {
    name: "10 cells changed under 100,000 computations, 1 % of them live",
    unit: "µs",
    baseline: "systole",
    rounds: 5,
    warm: 2,
    contenders: {
      systole: () => {
        scheduler ??= dormant(100_000, { every: 100, readers: 20 })
        const engine = scheduler
        return quantile(Array.from({ length: 200 }, () => {
          value++
          return 1000 * elapsed(() => {
            for (let i = 0; i < 10; i++) engine.set(`/s/${(value * 37 + i * 101) % 5000}`, value)
            engine.settle()
          })
        }), 0.5)
      }
    }
  }
}

const idle = (): Case => {
  const engines = new Map<number, { readonly scheduler: SpaceScheduler; readonly cell: Cell.Cell }>()
  let value = 0
  const change = (count: number): Round => () => {
    const { cell, scheduler } = engines.get(count) ?? { scheduler: dormant(count, { every: 0, readers: 20 }), cell: Cell.make("/watched") }
    if (!engines.has(count)) scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get(cell), deliver: nothing }))
    engines.set(count, { scheduler, cell })
    return 1000 * elapsed(() => {
      for (let i = 0; i < 1000; i++) {
        scheduler.set(cell, ++value)
        scheduler.settle()
      }
    })
  }
  return {
    name: "one change beside idle computations",
    unit: "ns",
    baseline: "1000 idle",
    rounds: 9,
    warm: 3,
    contenders: { "1000 idle": change(1000), "100000 idle": change(100_000), "1000000 idle": change(1_000_000) }
  }
}

/** One watched cell that depends on many others. */
const wide = (size: number) => {
  const scheduler = new SpaceScheduler()
  const above = Array.from({ length: size }, (_, i) => Cell.make(`/c/${i}`))
  above.forEach((cell, i) => scheduler.register(
    Computation.make({ name: `c${i}`, output: Cell.addressOf(cell).text, run: (tx) => Number(tx.get(`/s/${i % 100}`) ?? 0) })
  ))
  scheduler.register(
    Computation.make({ name: "total", output: "/total", run: (tx) => above.reduce((sum, cell) => sum + Number(tx.get(cell)), 0) })
  )
  scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/total"), deliver: nothing }))
  scheduler.settle()
  return scheduler
}

/** A read of a live, unchanged cell in a turn in which another cell changed. */
const flat = (): Case => {
  const engines = new Map<number, SpaceScheduler>()
  let value = 0
  const read = (size: number): Round => () => {
    const scheduler = engines.get(size) ?? wide(size)
    engines.set(size, scheduler)
    return 1_000_000 * elapsed(() => {
      for (let i = 0; i < 1000; i++) {
        scheduler.set("/elsewhere", ++value)
        scheduler.settle(value)
        scheduler.pull("/total")
      }
    }) / 1000
  }
  return {
    name: "a change and a read of a live cell, by how much that derives from",
    unit: "ns",
    baseline: "100",
    rounds: 9,
    warm: 3,
    contenders: { "100": read(100), "10000": read(10_000), "50000": read(50_000) }
  }
}

/** Ten layers in which each cell depends on four above. Each leaf is read after each write to one source. */
const leaves = (): Case => {
  const read = (isWatched: boolean): Round => {
    const width = 100
    const scheduler = new SpaceScheduler()
    for (let layer = 1; layer <= 10; layer++) {
      for (let i = 0; i < width; i++) {
        const above = [0, 1, 2, 3].map((k) => `/l${layer - 1}/${(i + k) % width}`)
        scheduler.register(Computation.make({
          name: `l${layer}-${i}`,
          output: `/l${layer}/${i}`,
          run: (tx) => above.reduce((sum, cell) => sum + Number(tx.get(cell) ?? 0), 0) % 1009
        }))
      }
    }
    const ends = Array.from({ length: width }, (_, i) => `/l10/${i}`)
    for (const end of isWatched ? ends : []) {
      scheduler.register(Reaction.make({ name: `watch-${end.slice(5)}`, read: (tx) => tx.get(end), deliver: nothing }))
    }
    let value = 0
    return () => 1000 * elapsed(() => {
      for (let i = 0; i < 20; i++) {
        scheduler.set(`/l0/${value % width}`, ++value)
        if (isWatched) scheduler.settle(value)
        for (const end of ends) scheduler.pull(end)
      }
    }) / 20
  }
  return {
    name: "read each leaf after each write: 100 leaves, 10 layers",
    unit: "µs",
    baseline: "watched",
    rounds: 9,
    warm: 3,
    contenders: { watched: read(true), dormant: read(false) }
  }
}

const TURNS = 50

/** The duration of a read in the order of the last run, and the heap that it uses, in bytes. */
const unchanged = (): ReadonlyArray<Case> => {
  const scheduler = new SpaceScheduler()
  const cells = Array.from({ length: 10_000 }, (_, i) => Cell.make(`/s/${i}`))
  const turn = Cell.make("/turn")
  scheduler.register(Reaction.make({
    name: "reader",
    read: (tx) => {
      let sum = Number(tx.get(turn) ?? 0)
      for (const cell of cells) sum += tx.get(cell) as number
      return sum
    },
    deliver: nothing
  }))
  cells.forEach((cell, i) => scheduler.set(cell, i))
  let value = 0
  const left: Array<number> = []
  const common = { baseline: "systole", rounds: 9, warm: 0 }
  return [{
    ...common,
    name: "a read of an unchanged read set",
    unit: "ns",
    warm: 20,
    contenders: {
      systole: () => {
        const reads = TURNS * cells.length
        const before = process.memoryUsage().heapUsed
        const millis = elapsed(() => {
          for (let i = 0; i < TURNS; i++) {
            scheduler.set(turn, ++value)
            scheduler.settle()
          }
        })
        // The figure includes a share of the settling; a collection in between can make it negative.
        left.push((process.memoryUsage().heapUsed - before) / reads)
        return millis * 1_000_000 / reads
      }
    }
  }, {
    ...common,
    name: "a read of an unchanged read set",
    unit: "bytes",
    contenders: {
      systole: () => {
        // The values of the measured rounds, newest first.
        const bytes = left.pop()!
        if (bytes > 0.5) throw new Error(`${bytes} bytes a read`)
        return bytes
      }
    }
  }]
}

/** A recovered space runs no node, however many are demanded. */
const resumed = (count: number): Case => {
  let persisted: ReturnType<typeof Journaled.persisted> | undefined
  return {
    name: `${count.toLocaleString("en")} persisted nodes resumed`,
    unit: "s",
    baseline: "systole",
    rounds: 3,
    warm: 1,
    contenders: {
      systole: async () => {
        const { resume } = await (persisted ??= Journaled.persisted(count))
        collect()
        const before = process.memoryUsage().heapUsed
        const { millis, nodes, runs, space } = await resume()
        collect()
        const bytes = (process.memoryUsage().heapUsed - before) / nodes
        if (runs > 0) throw new Error(`${runs} runs after the restart of space "${space.name}"`)
        process.stderr.write(`  ${bytes.toFixed(0)} bytes each; ${nodes} nodes ran ${runs} times\n`)
        return millis / 1000
      }
    }
  }
}

const bench: Bench = {
  cases: [...shapeCases, ...unchanged(), rare(), idle(), flat(), leaves(), ...million, resumed(100_000), ...journaledCases],
  note: "Ratios are of times: below 1 is faster than alien-signals. All came to the same sums, effects and computed values.",
  close: compare
}

export default bench

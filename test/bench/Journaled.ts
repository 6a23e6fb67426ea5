/**
 * The contender of the reactive bench within a space: every batch is a beat, with
 * a journal entry and labels on each cell, over a memory store.
 *
 * @module
 */
import { Effect as Fx, Layer, Scope } from "effect"
import type { NodeDefinition, Persistence, Space, Value } from "systole"
import { Cell, Computation, defaults, Kernel, KernelSettings, MemoryStore, Reaction, Reactor, Registry, Scheduler, Slices } from "systole"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as HashLayer from "../support/HashLayer.ts"
import type { Library, Reader } from "./Reactive.ts"

/** A library that can compare its counts to those of the space. */
export interface Journaled extends Library<Cell.Cell> {
  /** Throws unless the numbers of transactions and runs are equal, and each batch has an entry. */
  readonly verify: () => Promise<void>
}

/** The label of all cells of the bench. */
const labels = { cells: { "/s/**": ["bench"], "/c/**": ["bench"] }, declassify: {} }

const scope = Fx.runSync(Scope.make())

/** A memory store that outlives the kernels over it. */
const memory = (): Layer.Layer<Persistence> =>
  Layer.succeedContext(Fx.runSync(Layer.buildWithScope(Layer.fresh(MemoryStore.layer), scope)))

/** A kernel over a store, with beats by hand only. */
const kernelOver = (store: Layer.Layer<Persistence>) => {
  const pacemaker = HostPacemaker.layer((run) => void setImmediate(run))
  const limits = { ...defaults, captureSignals: 1_000_000, captureBytes: 256 * 1_048_576, residentBytes: 1024 * 1_048_576 }
  const settings = {
    tempo: 0,
    pace: "manual",
    ledgers: false,
    create: "on-demand",
    open: 1000,
    boot: false,
    retention: { journalBytes: 64 * 1_048_576 },
    labels,
    limits
  } as const
  const layer = Kernel.layer(Slices.all).pipe(Layer.provide(Layer.mergeAll(
    store,
    HashLayer.layer,
    pacemaker,
    Layer.fresh(Registry.layer),
    Scheduler.layer(), Reactor.none,
    Layer.succeed(KernelSettings, settings)
  )))
  return Fx.runPromise(Fx.map(Layer.buildWithScope(Layer.fresh(layer), scope), (context) => {
    const kernel = Fx.runSync(Fx.provideContext(Kernel, context))
    return { kernel, register: (node: NodeDefinition) => Fx.runSync(kernel.register(node)) }
  }))
}

const write = (space: Space, cell: Cell.Cell, value: number): void => void Fx.runFork(space.set(Cell.addressOf(cell).text, value))
const beat = (space: Space): number => Fx.runSync(space.step)
const nothing = (): void => {}

/** The contender. */
export const make = async (): Promise<Journaled> => {
  const { kernel, register } = await kernelOver(memory())
  const space = await Fx.runPromise(kernel.space("bench"))
  let made = 0
  let ran = 0
  let beats = 0
  const step = (): void => {
    beats++
    beat(space)
  }
  /** Counts each completed run. A run that must restart is aborted before its end. */
  const counted = (run: (reader: Reader<Cell.Cell>) => unknown) => (tx: Reader<Cell.Cell>) => {
    const value = run(tx) as Value
    ran++
    return value
  }
  return {
    source: (value) => {
      const cell = Cell.make(`/s/${made++}`)
      write(space, cell, value)
      return cell
    },
    computed: (run) => {
      const output = `/c/${made++}`
      register(Computation.make({ name: `c${made}`, output, run: counted(run) }))
      return Cell.make(output)
    },
    effect: (run) => {
      register(Reaction.make({ name: `e${made++}`, read: counted(run), deliver: nothing, noDebounce: true }))
      step()
    },
    write: (source, value) => write(space, source, value),
    batch: (run) => {
      run()
      step()
    },
    verify: async () => {
      const { nodes } = await Fx.runPromise(space.graph.view)
      const runs = nodes.reduce((sum, node) => sum + node.runs, 0)
      if (runs !== ran) throw new Error(`the space counted ${runs} transactions of nodes, and there were ${ran} runs`)
      const head = Fx.runSync(space.head)
      const entry = Fx.runSync(space.journal(head))
      if (head !== beats - 1 || entry?.text.includes("\"nodes\":[[") !== true) {
        throw new Error(`${beats} batches came to beat ${head}, or left no node in its entry`)
      }
      if (Fx.runSync(space.get("/sys/labels")) === undefined) throw new Error("the space has no labels")
    }
  }
}

/** The number of computations that each effect reads. */
const READS = 1000

/** The recovery of a space with persisted nodes, all demanded. */
export interface Resumed {
  readonly millis: number
  readonly nodes: number
  /** The number of runs after the restart, which must be 0. */
  readonly runs: number
}

/** Prepares a store with nodes that have all run, for another kernel to open. */
export const persisted = async (count: number) => {
  const store = memory()
  const definitions: ReadonlyArray<NodeDefinition> = [
    ...Array.from({ length: count }, (_, i) => Computation.make({
      name: `c${i}`,
      output: `/c/${i}`,
      run: (tx) => Number(tx.get(`/s/${Math.floor(i / 20)}`) ?? 0) + i
    })),
    ...Array.from({ length: Math.ceil(count / READS) }, (_, i) => Reaction.make({
      name: `e${i}`,
      read: (tx) => {
        let sum = 0
        for (let k = i * READS; k < Math.min(count, (i + 1) * READS); k++) sum += tx.get(`/c/${k}`) as number
        return sum
      },
      deliver: nothing,
      noDebounce: true
    }))
  ]
  const before = await kernelOver(store)
  for (const node of definitions) before.register(node)
  const first = await Fx.runPromise(before.kernel.space("bench"))
  beat(first)
  const { nodes } = await Fx.runPromise(first.graph.view)
  const unclean = nodes.find(({ status }) => status !== "clean")
  if (unclean !== undefined) throw new Error(`${unclean.name} is ${unclean.status} before the restart`)
  return {
    resume: async (): Promise<Resumed & { readonly space: Space }> => {
      const { kernel, register } = await kernelOver(store)
      const began = performance.now()
      for (const node of definitions) register(node)
      const space = await Fx.runPromise(kernel.space("bench"))
      beat(space)
      const millis = performance.now() - began
      const { nodes } = await Fx.runPromise(space.graph.view)
      const unclean = nodes.find(({ status }) => status !== "clean")
      if (unclean !== undefined) throw new Error(`${unclean.name} is ${unclean.status} after the restart`)
      return { space, millis, nodes: nodes.length, runs: nodes.reduce((sum, { runs }) => sum + runs, 0) }
    }
  }
}

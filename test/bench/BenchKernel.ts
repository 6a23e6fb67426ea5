/**
 * The kernel of the benchmarks: beats on demand, over a first-party store and real time.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import {
  type Batch, defaults, type Hash, Kernel, KernelSettings, type Pacemaker, Persistence, type Plugin, Reactor, Registry, Scheduler,
  type Settings, Slices, type PlacedStore
} from "systole"
import * as RunGuards from "../../src/main/guard/RunGuards.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as SystemPacemaker from "../support/SystemPacemaker.ts"

/** The settings of a kernel, unless a benchmark has others. */
const usual: Settings = {
  tempo: 100,
  pace: "demand",
  ledgers: true,
  create: "on-demand",
  open: 1000,
  boot: false,
  retention: {},
  limits: defaults
}

/** The hash and the pacemaker of the tests. */
const testHost = Layer.mergeAll(HashLayer.layer, SystemPacemaker.layer)

/** The parts of a kernel that a benchmark replaces. */
export interface Parts {
  readonly settings?: Partial<Settings>
  readonly reactor?: Layer.Layer<Reactor>
  readonly registry?: Layer.Layer<Registry>
  readonly host?: Layer.Layer<Hash | Pacemaker>
}

type Provider = NonNullable<Plugin.Plugin["provides"]["persistence"]>

/** The spaces of a plugin's store, in a folder. */
export const stored = ({ name, provides: { persistence } }: Plugin.Plugin, folder: string): ReturnType<Provider> => {
  if (persistence === undefined) throw new Error(`The plugin ${name} provides no persistence`)
  return persistence({ folder, options: {} })
}

/** A kernel over a store, with its hash and its pacemaker. */
export const layer = (
  persistence: ReturnType<Provider>,
  { host = testHost, reactor = Reactor.none, registry = Registry.layer, settings = {} }: Parts = {}
) =>
  Kernel.layer(Slices.all).pipe(
    Layer.provide(Layer.mergeAll(persistence, registry, Scheduler.layer(), reactor)),
    Layer.provideMerge(host),
    Layer.provide([Layer.succeed(KernelSettings, { ...usual, ...settings }), RunGuards.layer()])
  )

/** The appended beats of a store, and its flushes that follow an append. */
export interface Counts {
  beats: number
  flushes: number
}

/** Counts the beats and the flushes of a store. */
export const counted = (persistence: ReturnType<Provider>, counts: Counts): ReturnType<Provider> =>
  Layer.effect(Persistence, Effect.map(Persistence, (inner) => ({
    ...inner,
    open: (space, options) => Effect.map(inner.open(space, options), (store) => counting(store, counts))
  }))).pipe(Layer.provide(persistence))

const counting = (store: PlacedStore, counts: Counts): PlacedStore => {
  let pending = false
  return Object.assign(Object.create(store) as PlacedStore, {
    append: (batch: Batch) => {
      pending = true
      if (batch.entry !== undefined) counts.beats++
      store.append(batch)
    },
    flush: Effect.suspend(() => {
      if (pending) counts.flushes++
      pending = false
      return store.flush
    })
  })
}

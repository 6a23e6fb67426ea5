/**
 * Kernels for tests: a real one over the memory store, stepped by hand.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import type { Enzyme, Persistence, Settings, Space, Value } from "systole"
import { defaults, Kernel, KernelSettings, MemoryStore, Registry } from "systole"
import * as HashLayer from "./HashLayer.ts"
import * as TestPacemaker from "./TestPacemaker.ts"

/** Stepped by hand at tempo 0, unless the test says otherwise. */
export const settings: Settings = {
  tempo: 0,
  pace: "manual",
  ledgers: true,
  create: "on-demand",
  boot: false,
  retention: {},
  limits: defaults
}

/** A kernel over memory, or another persistence. What was flushed outlives the space's handles as long as the layer. */
export const layer = <E = never>(changed: Partial<Settings> = {}, persistence: Layer.Layer<Persistence, E> = MemoryStore.layer) =>
  Kernel.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(persistence, HashLayer.layer, TestPacemaker.layer, Registry.layer)),
    Layer.provideMerge(Layer.succeed(KernelSettings, { ...settings, ...changed }))
  )

/** A fresh space in which these enzymes are registered. */
export const space = Effect.fn("TestKernel.space")(function*(enzymes: ReadonlyArray<Enzyme.Enzyme>, name = "test") {
  const kernel = yield* Kernel
  for (const enzyme of enzymes) yield* kernel.register(enzyme)
  return yield* kernel.space(name)
})

/** The lines of one of a beat's ledgers. */
export const ledger = (space: Space, beat: number, part: "inbox" | "agenda" | "stage") =>
  Effect.map(space.get(`/rt/beat/${beat}/${part}`), (lines) => lines as unknown as ReadonlyArray<string> | undefined)

/** The texts of all diagnostics of a space. */
export const diagnostics = (space: Space) =>
  Effect.gen(function*() {
    const names = yield* space.list("/data/mailbox/diag/msgs")
    return yield* Effect.forEach(names, (name) => Effect.map(space.get(`/data/mailbox/diag/msgs/${name}`), (value) => value as unknown as { readonly [key: string]: Value }))
  })

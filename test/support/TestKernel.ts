/**
 * The real kernel over the memory store, stepped by the test.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { Enzyme, Pacemaker, Persistence, Settings, Space, Transaction, Value } from "systole"
import { CurrentReporter, defaults, Kernel, KernelSettings, MemoryStore, Registry, Reporter } from "systole"
import { RunWatch } from "../../src/kernel/watchdog/RunWatch.ts"
import { Runner } from "../../src/scheduler/Runner.ts"
import * as HashLayer from "./HashLayer.ts"
import * as TestPacemaker from "./TestPacemaker.ts"

/** The default settings: manual steps at tempo 0. */
export const settings: Settings = {
  tempo: 0,
  pace: "manual",
  ledgers: true,
  create: "on-demand",
  open: 1000,
  boot: false,
  retention: {},
  limits: defaults
}

/** The expected unstable nodes of a test, by name and address. */
export const Unstable = Context.Reference<ReadonlyArray<string>>("test/support/Unstable", { defaultValue: () => [] })

/** Runs each computation and materializer twice. The test fails if the unstable nodes differ from the expected ones. */
export const checked = Layer.effect(CurrentReporter, Effect.gen(function*() {
  const [expected, outer] = [yield* Unstable, yield* CurrentReporter]
  const found: Array<string> = []
  yield* Effect.addFinalizer(
    () => Effect.sync(() => assert.deepStrictEqual(found, expected, "nodes that make something else when they run twice"))
  )
  return new Reporter((told) => {
    if (told.topic === "node/unstable") found.push(
      `${told.origin.name} ` +
        `${told.subject === undefined ? "" : String(told.subject instanceof Object ? told.subject.text : told.subject)}`.trim()
    )
    outer.report(told)
  })
})).pipe(Layer.merge(
  Layer.effect(RunWatch, Effect.map(RunWatch, (given) => given ?? { enter: () => {}, leave: () => {}, rechecks: true, stop: () => {} }))
))

/** Whether a run is the first of a node, not the repetition that checks it. */
export const isOwn = (tx: Transaction): boolean => tx instanceof Runner

/** A kernel over the memory store or another one. Flushed data lives as long as the layer. */
export const layer = <E = never>(
  changed: Partial<Settings> = {},
  persistence: Layer.Layer<Persistence, E> = MemoryStore.layer,
  pacemaker: Layer.Layer<Pacemaker> = TestPacemaker.layer
) =>
  Kernel.layer.pipe(
    Layer.provide(checked),
    Layer.provideMerge(Layer.mergeAll(persistence, HashLayer.layer, pacemaker, Registry.layer)),
    Layer.provideMerge(Layer.succeed(KernelSettings, { ...settings, ...changed }))
  )

/** A new space with these enzymes registered. */
export const space = Effect.fn("TestKernel.space")(function*(enzymes: ReadonlyArray<Enzyme.Enzyme>, name = "test") {
  const kernel = yield* Kernel
  for (const enzyme of enzymes) yield* kernel.register(enzyme)
  return yield* kernel.space(name)
})

/** The lines of a ledger of a beat. */
export const ledger = (space: Space, beat: number, part: "inbox" | "agenda" | "stage") =>
  Effect.map(space.get(`/rt/beat/${beat}/${part}`), (lines) => lines as unknown as ReadonlyArray<string> | undefined)

/** The diagnostic messages of a space. */
export const diagnostics = (space: Space) =>
  Effect.gen(function*() {
    const names = yield* space.list("/data/mailbox/diag/msgs")
    return yield* Effect.forEach(names, (name) => Effect.map(space.get(`/data/mailbox/diag/msgs/${name}`), (value) => value as unknown as {
      readonly [key: string]: Value
    }))
  })

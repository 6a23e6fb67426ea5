/**
 * The real kernel over the memory store, stepped by the test.
 *
 * @module
 */
import { Effect, type Layer } from "effect"
import type { Enzyme, Persistence, Settings, Space, Transaction, Value } from "systole"
import { Kernel } from "systole"
import { TestRuntime } from "systole/testing"
import { Run } from "../../src/scheduler/run/Run.ts"
import * as HashLayer from "./HashLayer.ts"

/** The default settings: manual steps at tempo 0. */
export const { settings } = TestRuntime

/** Whether a run is the first of a node, not the repetition that checks it. */
export const isOwn = (tx: Transaction): boolean => tx instanceof Run

/** A kernel over the memory store or another one, with other services where they are given. Flushed data lives as long as the layer. */
export const layer = <E = never>(
  changed: Partial<Settings> = {},
  persistence?: Layer.Layer<Persistence, E>,
  services: Omit<TestRuntime.Options, "persistence"> = {}
) =>
  TestRuntime.layer<E>({ settings: changed, hash: HashLayer.layer, ...persistence === undefined ? {} : { persistence }, ...services })

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

/**
 * A development host, and its reports on durable runs.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Enzyme, Space } from "systole"
import { CurrentReporter, Reporter } from "../../src/diagnostic/Reporter.ts"
import { CurrentRunWatch } from "../../src/kernel/watchdog/RunWatch.ts"
import { replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A topic, the signal that starts a run, and whether the host is one of development. */
interface Reporting {
  readonly topic: string
  readonly signal: string
  readonly isWatched?: boolean
}

/** The notes of a host under a topic on two runs of an enzyme, which sleep for at most 10 ms. */
export const reports = (enzyme: Enzyme.Enzyme, { isWatched = true, signal, topic }: Reporting) => {
  const told: Array<string> = []
  // A reporter may date what it reports.
  const reporter = new Reporter((fact) => void (Date.now() > 0 && fact.topic === topic && told.push(fact.note)))
  const watch = isWatched ? { stop: () => {}, placeOf: () => undefined } : undefined
  const layers = Layer.mergeAll(Layer.succeed(CurrentReporter, reporter), Layer.succeed(CurrentRunWatch, watch))
  const run = (space: Space) => Effect.gen(function*() {
    yield* space.signal({ signal })
    yield* space.step
    yield* TestClock.adjust(10)
    yield* steps(space, 2)
  })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([enzyme])
    yield* run(space)
    yield* run(space)
    assert.deepStrictEqual(yield* space.list("/data/mailbox/diag/msgs"), [])
    yield* replays(space)
    return told
  }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(layers))))
}

import { describe, it } from "@effect/vitest"
import { Effect as Fx, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Fatal, Kernel, Link, Scheduler, type Value } from "systole"
import { enzyme, glimpsed, put, replaysFromMany } from "../kernel/TestSpace.ts"
import type * as Model from "../scheduler/ReferenceModel.ts"
import * as RandomGraph from "../scheduler/RandomGraph.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"

const seeds = Trials.seeds(192, { least: 12 })
const ROUNDS = 8

/** A node that reads its own cell through others has a different result when it runs twice. */
const unchecked = { scheduler: Scheduler.layer() }

/** Reads a place and writes another one, or is fatal. */
const act = enzyme("act", (tx, { payload }) => {
  const [read, write, value, ends] = payload as unknown as readonly [string, string, Value, boolean]
  const seen = tx.get(read)
  tx.set(write, value ?? undefined)
  return ends ? new Fatal({ reason: "at random" }) : seen ?? null
}, { query: "/signals/act/:n", onFatal: "continue" })

/** Runs one random life of a space with a random graph. */
const live = Fx.fnUntraced(function*(seed: number) {
  const draw = Random.make(seed)
  const features = { ...RandomGraph.featuresOf(seed), closures: seed % 5 < 2, removals: seed % 7 < 3 }
  const model = RandomGraph.random(draw, { sources: 4, computations: 8 }, features)
  for (let i = 0; i < draw(3); i++) RandomGraph.watcher(model, draw, `e${i}`)
  const kernel = yield* Kernel
  for (const spec of Random.shuffled(draw, model.roots)) yield* kernel.register(model.define(spec))
  const space = yield* TestKernel.space([act, put])
  const { places } = model
  const gone = new Set<Model.Spec>()
  for (let round = 0; round < ROUNDS; round++) {
    const changes = RandomGraph.changes({ model, draw, features })
    if (features.removals && draw(3) === 0) {
      const spec = Random.pick(draw, model.roots)
      if (gone.delete(spec)) yield* kernel.register(model.define(spec))
      else {
        gone.add(spec)
        yield* kernel.unregister(model.define(spec))
      }
    }
    for (let n = 0; n < draw(3); n++) {
      const to = draw(8) === 0 ? Random.pick(draw, places) : `/s/${draw(4)}`
      yield* space.signal({
        signal: `/signals/act/${n}`,
        payload: [Random.pick(draw, places), to, RandomGraph.someValue(draw) ?? null, draw(12) === 0]
      })
    }
    if (draw(2) === 0) yield* space.signal({ signal: "/signals/put", payload: changes.map(([source, value]) => [source, value ?? null]) })
    else for (const [source, value] of changes) yield* space.set(source, value).pipe(Fx.forkChild({ startImmediately: true }))
    if (draw(6) === 0) {
      yield* space.set("/data/ring", Link.make("/data/ring") as unknown as Value).pipe(Fx.forkChild({ startImmediately: true }))
    }
    if (draw(4) === 0) {
      yield* Stream.runDrain(space.watch(Random.pick(draw, [...places, "/data/ring"]))).pipe(Fx.forkChild({ startImmediately: true }))
    }
    if (draw(5) === 0) yield* glimpsed(space, space.pull(Random.pick(draw, places)))
    yield* TestClock.adjust(draw(60))
    yield* Fx.result(space.step)
  }
  yield* TestClock.adjust(3000)
  for (let i = 0; i < 4; i++) yield* Fx.result(space.step)
  for (const spec of gone) yield* kernel.register(model.define(spec))
  yield* replaysFromMany(space)
})

describe("Invariants of replays", () => {
  for (const part of [0, 1, 2]) {
    it.effect(`graphs with failures, rings, waits, children, lost nodes, reads and aborts replay equal from every beat (${part})`, () =>
      Fx.forEach(seeds.filter((seed) => seed % 3 === part), (seed) =>
        live(seed).pipe(
          Fx.provide(TestKernel.layer({}, undefined, unchecked)),
          Fx.catchCause((cause) => Fx.die(new Error(`life ${seed}`, { cause })))
        ), { discard: true }))
  }
})

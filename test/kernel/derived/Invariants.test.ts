import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import type { Value } from "systole"
import { Computation, Kernel, Retry } from "systole"
import * as RandomGraph from "../../scheduler/RandomGraph.ts"
import * as Random from "../../support/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { enzyme, steps } from "../TestSpace.ts"

const seeds = Trials.seeds(60, { least: 6 })

describe("Invariants of events", () => {
  it.effect("I4 events are handled in the order of arrival over up-to-date values, however long a gate delays one", () =>
    Fx.forEach(seeds, (seed) =>
      Fx.gen(function*() {
        const draw = Random.make(seed)
        const model = RandomGraph.random(draw, { sources: 4, computations: 10 }, {
          folders: seed % 2 === 1,
          materializers: seed % 3 === 1,
          sides: seed % 4 === 1
        })
        const kernel = yield* Kernel
        for (const spec of model.specs.values()) {
          const node = model.define(spec)
          yield* kernel.register(draw(4) === 0 ? { ...node, throttle: 1 + draw(80) } : node)
        }
        if (draw(2) === 0) yield* kernel.register(model.define(RandomGraph.watcher(model, draw, "watch")))
        const handled: Array<number> = []
        const act = enzyme("act", (tx, { payload }) => {
          const [n, read, source, value] = payload as unknown as readonly [number, string, string, Value]
          const seen = tx.get(read)
          // The model advances with the last attempt of each event, since earlier ones leave no trace.
          tx.set("/data/handled", [...(tx.get("/data/handled") ?? []) as ReadonlyArray<number>, n])
          tx.set(source, value ?? undefined)
          return seen ?? null
        }, { lane: "space" })
        const space = yield* TestKernel.space([act])
        const { places } = model
        const events = Array.from(
          { length: 12 }, (_, n) => [n, Random.pick(draw, places), `/s/${draw(4)}`, RandomGraph.someValue(draw) ?? null] as const
        )
        for (const [source] of model.sources) model.sources.set(source, undefined)
        const ids: Array<string> = []
        for (const event of events) ids.push((yield* space.signal({ signal: "/signals/act", payload: event })).id)
        for (let i = 0; i < 40; i++) {
          yield* TestClock.adjust(draw(60))
          yield* steps(space, 2)
        }
        for (const [i, [n, read, source, value]] of events.entries()) {
          const receipt = yield* space.receipt(ids[i]!)
          assert.strictEqual(receipt?.status, "handled", `event ${n}, seed ${seed}`)
          assert.deepStrictEqual(receipt!.handlings[0]!.value, model.value(read) ?? null, `event ${n} read ${read}, seed ${seed}`)
          model.sources.set(source, value ?? undefined)
          handled.push(n)
        }
        assert.deepStrictEqual(yield* space.get("/data/handled"), handled)
      }).pipe(Fx.provide(TestKernel.layer())), { discard: true }))

  it.effect("I10 launches share the fate of their attempt: signals leave once, from the committed attempt", () =>
    Fx.forEach(seeds, (seed) =>
      Fx.gen(function*() {
        const draw = Random.make(seed)
        const fails = Array.from({ length: 8 }, () => draw(4))
        const attempts = fails.map(() => 0)
        const origin = enzyme("origin", (tx, { payload }) => {
          const n = payload as number
          const attempt = attempts[n]!++
          tx.set(`/data/tried/${n}`, attempt)
          for (let i = 0; i <= n % 3; i++) tx.signal({ signal: "/signals/follow", payload: [n, attempt, i] })
          if (attempt < fails[n]!) return new Retry({ reason: "not yet" })
          return attempt
        })
        const follow = enzyme("follow", (tx, { payload }) => tx.append("/data/followed", payload))
        const space = yield* TestKernel.space([origin, follow])
        for (const n of Random.shuffled(draw, fails.map((_, n) => n))) yield* space.signal({ signal: "/signals/origin", payload: n })
        yield* steps(space, 60)
        const followed = (yield* space.get("/data/followed")) as unknown as ReadonlyArray<readonly [number, number, number]>
        const expected = fails.flatMap((count, n) => Array.from({ length: n % 3 + 1 }, (_, i) => `${n} ${count} ${i}`))
        assert.deepStrictEqual(followed.map((each) => each.join(" ")).toSorted(), expected.toSorted(), `seed ${seed}`)
        for (const [n, count] of fails.entries()) assert.strictEqual(yield* space.get(`/data/tried/${n}`), count)
      }).pipe(Fx.provide(TestKernel.layer())), { discard: true }))

  it.effect("I11 an event is handled at most once, for any number and time of deliveries", () =>
    Fx.forEach(seeds, (seed) =>
      Fx.gen(function*() {
        const draw = Random.make(seed)
        yield* (yield* Kernel).register(Computation.make({ name: "sum", output: "/data/sum", run: (tx) => tx.list("/data/count").length }))
        const count = enzyme("count", (tx, { payload }) => {
          tx.increment(`/data/count/${payload}`)
          return tx.get("/data/sum")
        })
        const space = yield* TestKernel.space([count])
        const sent = new Set<number>()
        for (let i = 0; i < 30; i++) {
          const n = draw(8)
          const { duplicate } = yield* space.signal({ signal: "/signals/count", payload: n, id: `event-${n}` })
          assert.strictEqual(duplicate, sent.has(n), `delivery ${i} of ${n}, seed ${seed}`)
          sent.add(n)
          if (draw(2) === 0) yield* space.step
        }
        yield* steps(space, 10)
        for (const n of sent) assert.strictEqual(yield* space.get(`/data/count/${n}`), 1, `event ${n}, seed ${seed}`)
      }).pipe(Fx.provide(TestKernel.layer())), { discard: true }))
})

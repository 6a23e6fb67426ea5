import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Kernel, Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { ended, enzyme, steps } from "../TestSpace.ts"
import { present } from "../../support/Present.ts"

const again = () => new Retry({ reason: "not yet" })

describe("a run that ends with Retry", () => {
  it.effect("runs again after 1, 2, 4 … beats, with the number of the attempt", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([enzyme("try", (tx, { attempt }) => {
        log.push(`${attempt}@${tx.beat}`)
        tx.set("/data/trace", attempt)
        return attempt < 5 ? again() : "done"
      })])
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
      assert.strictEqual(yield* space.get("/data/trace"), undefined)
      yield* steps(space, 16)
      assert.deepStrictEqual(log, ["1@0", "2@1", "3@3", "4@7", "5@15"])
      assert.deepStrictEqual(yield* ended(space, id), ["try ok @15 #5"])
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "done")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("waits no longer than the limit of the backoff", () =>
    Effect.gen(function*() {
      const log: Array<number> = []
      const space = yield* TestKernel.space([enzyme("try", (tx) => {
        log.push(tx.beat)
        return again()
      })])
      yield* space.signal({ signal: "/signals/try" })
      yield* steps(space, 12)
      assert.deepStrictEqual(log, [0, 1, 3, 5, 7, 9, 11])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, backoffBeats: 2 } }))))

  it.effect("may return it, throw it, or fail with it", () =>
    Effect.gen(function*() {
      const first = (how: () => unknown) => (_: unknown, { attempt }: { readonly attempt: number }) => attempt === 1 ? how() : undefined
      const space = yield* TestKernel.space([
        enzyme("a", first(again), { query: "/signals/try" }),
        enzyme("b", first(() => { throw again() }), { query: "/signals/try" }),
        enzyme("c", first(() => Promise.reject(again())), { query: "/signals/try" }),
        enzyme("d", first(() => Effect.fail(again())), { query: "/signals/try" }),
        enzyme("e", first(() => Effect.succeed(again())), { query: "/signals/try" })
      ])
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* steps(space, 2)
      assert.deepStrictEqual((yield* ended(space, id))?.toSorted(), ["a", "b", "c", "d", "e"].map((name) => `${name} ok @1 #2`))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("runs again alone, without the other runs of its signal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", (tx) => tx.increment("/data/a"), { query: "/signals/s" }),
        enzyme("b", (tx, { attempt }) => attempt < 3 ? again() : tx.increment("/data/b"), { query: "/signals/s" }),
        enzyme("c", (tx) => tx.increment("/data/c"), { query: "/signals/s" })
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* steps(space, 6)
      for (const name of ["a", "b", "c"]) assert.strictEqual(yield* space.get(`/data/${name}`), 1, name)
      assert.deepStrictEqual(yield* ended(space, id), ["a ok @0 #1", "c ok @0 #1", "b ok @3 #3"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("launches no signal or operation until it succeeds", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("try", (tx, { attempt }) => {
          tx.signal({ signal: "/signals/next" })
          tx.bind("/data/x", "try")
          return attempt < 2 ? again() : undefined
        }),
        enzyme("next", (tx) => tx.increment("/data/next"))
      ])
      yield* space.signal({ signal: "/signals/try" })
      yield* steps(space, 4)
      assert.strictEqual(yield* space.get("/data/next"), 1)
      assert.lengthOf((yield* space.get("/sys/bind/data/x")) as ReadonlyArray<unknown>, 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("runs again for an impulse, too", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const space = yield* TestKernel.space([
        enzyme("start", (tx) => tx.signal({ signal: "/signals/try" })),
        enzyme("try", (tx, { attempt }) => {
          log.push(`${attempt}@${tx.beat}`)
          return attempt < 3 ? again() : undefined
        })
      ])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 6)
      assert.deepStrictEqual(log, ["1@1", "2@2", "3@4"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("ends in a dead letter and a diagnostic after its last attempt", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("try", again, { retry: { attempts: 3 } })])
      const { id } = yield* space.signal({ signal: "/signals/try", target: undefined, payload: { n: 1 } })
      yield* steps(space, 8)
      const receipt = yield* space.receipt(id)
      assert.strictEqual(receipt?.status, "dead")
      assert.deepStrictEqual(receipt?.handlings, [{
        enzyme: "try",
        outcome: "dead",
        beat: 3,
        attempt: 3,
        value: {},
        error: { tag: "Retry", code: "run/retry", message: "not yet" }
      }])
      const letter = yield* space.get(`/rt/dead/${id}/try`)
      assert.deepInclude(letter as object, { attempt: 3, beat: 3, code: "run/retry", enzyme: "try", signal: "/signals/try", tag: "Retry" })
      assert.deepStrictEqual(yield* space.get(`/rt/dead/${id}/try#/payload`), { n: 1 })
      const [diagnostic, ...others] = yield* TestKernel.diagnostics(space)
      assert.deepInclude(diagnostic, {
        sev: "sev:crit", topic: "run/dead", code: "run/retry", origin: { kind: "enzyme", name: "try" }, subject: "/signals/try",
        issued_beat: 3
      })
      assert.lengthOf(others, 0)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("ends in a dead letter if its enzyme is withdrawn meanwhile", () =>
    Effect.gen(function*() {
      const retrying = enzyme("try", again)
      const space = yield* TestKernel.space([retrying])
      const { id } = yield* space.signal({ signal: "/signals/try" })
      yield* space.step
      yield* (yield* Kernel).unregister(retrying)
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "enzyme/gone")
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a retried enzyme with a shared name", () => {
  const sharing = () => {
    const ran: Array<string> = []
    const made = ["/signals/s", "/signals/**"].map((query, i) =>
      enzyme("a", (_, { attempt }) => {
        ran.push(`${i} #${attempt}`)
        return attempt < 2 ? again() : "well"
      }, { query }))
    return { ran, made }
  }

  for (const stays of [0, 1]) {
    it.effect(`continues when the other one is withdrawn, and that one does not (${stays})`, () =>
      Effect.gen(function*() {
        const { made, ran } = sharing()
        const space = yield* TestKernel.space(made)
        const { id } = yield* space.signal({ signal: "/signals/s" })
        yield* space.step
        yield* (yield* Kernel).unregister(present(made[1 - stays]))
        yield* space.step
        assert.deepStrictEqual(ran, ["0 #1", "1 #1", `${stays} #2`])
        const handlings = (yield* space.receipt(id))?.handlings ?? []
        assert.deepStrictEqual(handlings.map(({ error, value }) => error?.code ?? value).toSorted(), ["enzyme/gone", "well"])
        const { enzyme: gone } = present(handlings.find(({ error }) => error !== undefined))
        assert.deepInclude((yield* space.get(`/rt/dead/${id}/${gone}`)) as object, { code: "enzyme/gone", enzyme: gone })
      }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("continues when another enzyme of its name is registered", () =>
    Effect.gen(function*() {
      const { made: [one = assert.fail(), other = assert.fail()], ran } = sharing()
      const space = yield* TestKernel.space([other])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      yield* (yield* Kernel).register(one)
      yield* space.step
      assert.deepStrictEqual(ran, ["1 #1", "1 #2"])
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("has its own receipt and dead letter", () =>
    Effect.gen(function*() {
      const { made } = sharing()
      const space = yield* TestKernel.space(made.map((one) => ({ ...one, retry: { attempts: 1 } })))
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      const keys = present(yield* space.receipt(id)).handlings.map((handling) => handling.enzyme)
      assert.strictEqual(new Set(keys).size, 2)
      for (const key of keys) assert.deepInclude((yield* space.get(`/rt/dead/${id}/${key}`)) as object, { enzyme: key, code: "run/retry" })
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a permanent failure", () => {
  it.effect("is not retried, and the other runs of its signal and beat stand", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", (tx) => tx.set("/data/a", 1), { query: "/signals/s" }),
        enzyme("b", (tx) => {
          tx.set("/data/b", 1)
          throw Object.assign(new Error("no such thing"), { _tag: "NoSuchThing", code: "thing/unknown" })
        }, { query: "/signals/s" }),
        enzyme("other", (tx) => tx.set("/data/other", 1))
      ])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.signal({ signal: "/signals/other" })
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* ended(space, id), ["a ok @0 #1", "b dead @0 #1"])
      assert.deepStrictEqual((yield* space.receipt(id))?.handlings[1]?.error, {
        tag: "NoSuchThing",
        code: "thing/unknown",
        message: "no such thing"
      })
      assert.deepStrictEqual([yield* space.get("/data/a"), yield* space.get("/data/b"), yield* space.get("/data/other")], [1, undefined, 1])
      assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), [
        "enzyme=a rc=0 signal=/signals/s target=-",
        "enzyme=b rc=thing/unknown signal=/signals/s target=-",
        "enzyme=other rc=0 signal=/signals/other target=-"
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is a write outside the envelope, even if the run catches the refusal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("sly", (tx) => {
        try {
          tx.set("/data/b", 1)
        } catch {
          tx.set("/data/a", 1)
        }
      }, { writes: ["/data/a"] })])
      const { id } = yield* space.signal({ signal: "/signals/sly" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "envelope/outside")
      assert.deepStrictEqual([yield* space.get("/data/a"), yield* space.get("/data/b")], [undefined, undefined])
      assert.strictEqual((yield* TestKernel.diagnostics(space))[0]?.["code"], "envelope/outside")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is a result that no cell can hold", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("odd", () => ({ f: () => 1 }))])
      const { id } = yield* space.signal({ signal: "/signals/odd" })
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "value/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))
})

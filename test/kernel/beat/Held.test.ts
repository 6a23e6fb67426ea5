import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { type Enzyme, Retry, type Space } from "systole"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"
import { controlled, ended, enzyme, replays, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"

/** An enzyme that logs its payloads with the beat. */
const noting = (name: string, options: Parameters<typeof enzyme>[2] = {}) =>
  enzyme(name, (tx, { payload }) => void tx.append(`/data/${name}`, payload), options)

const a = noting("a")
const b = noting("b")
const all = (...modules: ReadonlyArray<Enzyme.Enzyme>) =>
  modules.map((module) => ({ module, hash: `hash of ${module.name}`, file: `enzymes/${module.name}.ts` }))
const [allA = assert.fail(), allB = assert.fail()] = all(a, b)
const leftOut = { ...allB, leftOut: true }

const send = (space: Space, name: string, payload: number) =>
  Effect.map(space.signal({ signal: `/signals/${name}`, payload }), ({ id }) => id)

describe("a signal for a left-out enzyme alone", () => {
  it.effect("is retained without an end, and runs once and in order when the enzyme is loaded", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([allA, leftOut])
      const ids = yield* Effect.forEach([1, 2, 3], (payload) => send(space, "b", payload))
      yield* send(space, "a", 1)
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* space.get("/data/a"), [1])
      for (const id of ids) assert.deepInclude(yield* space.receipt(id), { status: "pending", handlings: [] })
      const after = yield* machine.boot([allA, allB])
      yield* send(after, "b", 4)
      yield* steps(after, 5)
      assert.deepStrictEqual(yield* after.get("/data/b"), [1, 2, 3, 4])
      for (const id of ids) assert.deepInclude(yield* after.receipt(id), { status: "handled" })
      yield* replays(after)
    }))

  it.effect("needs no beat, and runs in the next one when the enzyme is loaded in the same process", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([allA, leftOut], { pace: "demand" })
      yield* send(space, "a", 1)
      yield* space.idle
      const head = yield* space.head
      yield* Effect.forEach([1, 2], (payload) => send(space, "b", payload))
      yield* turns()
      assert.strictEqual(yield* space.head, head)
      yield* machine.register(allB)
      yield* space.idle
      assert.deepStrictEqual(yield* space.get("/data/b"), [1, 2])
    }))

  it.effect("is discarded by a rollback, and the space continues when the enzyme is loaded", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([allA, leftOut])
      yield* send(space, "a", 1)
      yield* steps(space, 1)
      const ids = yield* Effect.forEach(
        [1, 2],
        (payload) => Effect.map(space.signal({ signal: "/signals/b", payload, qos: "discard" }), ({ id }) => id)
      )
      yield* send(space, "a", 2)
      yield* steps(space, 1)
      for (const ask of [space.control.pause(), space.control.rollback(0)]) {
        yield* controlled(space, ask).pipe(Effect.flatMap(Effect.fromResult))
        while ((yield* space.control.state).control !== null) yield* space.step
      }
      for (const id of ids) assert.deepInclude(yield* space.receipt(id), { status: "discarded" })
      yield* controlled(space, space.control.resume()).pipe(Effect.flatMap(Effect.fromResult))
      yield* machine.register(allB)
      yield* send(space, "b", 3)
      yield* steps(space, 2)
      assert.deepStrictEqual([yield* space.get("/data/a"), yield* space.get("/data/b")], [[1], [3]])
      yield* replays(space)
    }))

  it.effect("waits through starts at which its module fails to load", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const first = yield* machine.boot([allA, allB])
      yield* send(first, "b", 1)
      yield* steps(first, 1)
      const second = yield* machine.boot([allA, { broken: "enzymes/b.ts" }])
      const id = yield* send(second, "b", 2)
      const other = yield* send(second, "c", 1)
      yield* steps(second, 2)
      const third = yield* machine.boot([allA, { broken: "enzymes/b.ts" }])
      yield* steps(third, 2)
      assert.deepInclude(yield* third.receipt(id), { status: "pending" })
      assert.deepInclude(yield* third.receipt(other), { status: "no-match" })
      const fourth = yield* machine.boot([allA, allB])
      yield* steps(fourth, 2)
      assert.deepStrictEqual(yield* fourth.get("/data/b"), [1, 2])
      yield* replays(fourth)
      // A deleted file retains no signal.
      const fifth = yield* machine.boot([allA])
      const gone = yield* send(fifth, "b", 3)
      yield* steps(fifth, 1)
      assert.deepInclude(yield* fifth.receipt(gone), { status: "no-match" })
    }))

  it.effect("is retained as a further attempt, too, and as a redelivered dead letter", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const failing = (first: () => unknown): TestMachine.Versioned =>
        ({ ...allB, module: enzyme("b", (tx, { attempt }) => attempt < 2 ? first() : void tx.set("/data/attempt", attempt)) })
      const retrying = failing(() => new Retry({ reason: "later" }))
      const first = yield* machine.boot([retrying])
      const id = yield* send(first, "b", 1)
      yield* steps(first, 1)
      const second = yield* machine.boot([{ ...retrying, leftOut: true }])
      yield* steps(second, 4)
      assert.deepInclude(yield* second.receipt(id), { status: "pending" })
      const third = yield* machine.boot([retrying])
      yield* steps(third, 1)
      assert.deepStrictEqual(yield* ended(third, id), ["b ok @5 #2"])
      yield* replays(third)
      const dying = failing(() => { throw new Error("no") })
      const fourth = yield* machine.boot([dying])
      const dead = yield* send(fourth, "b", 1)
      yield* steps(fourth, 1)
      assert.deepInclude(yield* fourth.receipt(dead), { status: "dead" })
      const fifth = yield* machine.boot([{ ...dying, leftOut: true }])
      assert.isTrue(Result.isSuccess(yield* controlled(fifth, fifth.redeliver(dead, "b"))))
      yield* steps(fifth, 3)
      assert.deepInclude(yield* fifth.receipt(dead), { status: "pending" })
      const sixth = yield* machine.boot([allB])
      yield* steps(sixth, 1)
      assert.deepInclude(yield* sixth.receipt(dead), { status: "handled" })
    }))

  it.effect("is handled once and in order by each of its enzymes, however often they are left out", () =>
    Effect.gen(function*() {
      for (const seed of Trials.seeds(8, { from: 1 })) {
        const draw = Random.make(seed)
        const modules = all(noting("pair"), noting("target", { lane: "target", bind: ["/data/t"] }), noting("space", { lane: "space" }))
        const sent = new Map<string, Array<number>>(modules.map(({ module }) => [module.name, []]))
        const machine = yield* TestMachine.make
        const boot = (isLeftOut: () => boolean) =>
          machine.boot(modules.map((module) => isLeftOut() ? { ...module, leftOut: true } : module))
        let space = yield* boot(() => false)
        for (let i = 0; i < 30; i++) {
          const kind = draw(5)
          if (kind === 0) space = yield* boot(() => draw(2) === 0)
          else if (kind === 1) yield* space.step
          else {
            const { name } = present(modules[draw(3)]).module
            yield* space.signal({ signal: `/signals/${name}`, payload: i, ...name === "target" ? { target: "/data/t" } : {} })
            present(sent.get(name)).push(i)
          }
        }
        space = yield* boot(() => false)
        yield* steps(space, 40)
        for (const [name, payloads] of sent) {
          assert.deepStrictEqual((yield* space.get(`/data/${name}`)) ?? [], payloads, `seed ${seed}, ${name}`)
        }
        yield* replays(space)
      }
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Computation, Enzyme, Materializer, replay, type Space, type Transaction, type Value, why } from "systole"
import * as RandomGraph from "../../scheduler/RandomGraph.ts"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"
import { controlled, enzyme, put } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

/** Asks for a control operation, and steps until it is over. */
const through = Effect.fnUntraced(function*(space: Space, ask: Effect.Effect<{ readonly oid: string }, Error>) {
  const result = yield* controlled(space, ask)
  if (result._tag === "Failure") return yield* Effect.die(result.failure)
  while ((yield* space.control.state).control !== null) yield* space.step
  return result.success.oid
})

/** Takes a space back; answers the beat in which that was done. */
const takenBack = Effect.fnUntraced(function*(space: Space, to: number) {
  yield* through(space, space.control.pause())
  const oid = yield* through(space, space.control.rollback(to))
  yield* through(space, space.control.resume())
  return (yield* space.ops.get(oid))!.history.find(({ state }) => state === "ist:cutover")!.beat
})

/** What a place holds once it is brought up to date. */
const pulled = (space: Space, address: string) =>
  Effect.flatMap(controlled(space, space.pull(address)), (result) => result._tag === "Failure" ? Effect.die(result.failure) : Effect.succeed(result.success))

const replays = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  for (const from of [0, head >> 1]) {
    const { difference, impossible } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
  }
})

/** A random history of a graph: sources change, nodes are read, the space is rolled back, the process ends. */
const live = Effect.fnUntraced(function*(seed: number) {
  const draw = Random.make(seed)
  const machine = yield* TestMachine.make
  const model = RandomGraph.random(draw, { sources: 4, computations: 8 })
  for (const source of model.sources.keys()) model.sources.set(source, undefined)
  const watched = Array.from({ length: draw(3) }, (_, i) => RandomGraph.watcher(model, draw, `watch${i}`))
  const places = [...model.specs.values()].flatMap(({ output }) => output ?? [])
  const boot = Effect.suspend(() => machine.boot([put, ...[...model.specs.values()].map((spec) => model.define(spec))]))
  let space = yield* boot
  const past: Array<ReadonlyMap<string, Value>> = []
  const passed = (head: number) => {
    while (past.length <= head) past.push(new Map(model.sources))
  }
  for (let move = 0; move < 40; move++) {
    const choice = draw(10)
    if (choice < 4) {
      const changes = Random.shuffled(draw, [...model.sources.keys()]).slice(0, 1 + draw(2)).map((source) => [source, RandomGraph.someValue(draw)] as const)
      yield* space.signal({ signal: "/signals/put", payload: changes.map(([source, value]) => [source, value ?? null]) })
      for (const [source, value] of changes) model.sources.set(source, value)
      yield* space.step
    } else if (choice < 7) {
      const place = Random.pick(draw, places)
      assert.deepStrictEqual(yield* pulled(space, place), model.value(place), `${place}, move ${move}`)
    } else if (choice < 8) space = yield* boot
    else if (past.length > 0) {
      const to = draw(past.length)
      const then = past[to]!
      passed((yield* takenBack(space, to)) - 1)
      for (const [source, value] of then) model.sources.set(source, value)
      for (const [source, value] of then) assert.deepStrictEqual(yield* space.get(source), value, `${source} after beat ${to}`)
      // Nobody has to look for that: what is demanded is up to date by the beat itself.
      for (const { log } of watched) for (const [how, address, value] of log) assert.deepStrictEqual(value, model.reader[how](address), `${address} seen by an effect`)
    }
    passed(yield* space.head)
  }
  for (const place of places) assert.deepStrictEqual(yield* pulled(space, place), model.value(place), place)
  yield* replays(space)
})

describe("a rollback and what is derived", () => {
  for (const part of [1, 2]) {
    it.effect(`leaves it as if it were computed anew from what was brought back, whoever looked before (part ${part})`, () =>
      Effect.forEach(Trials.seeds(40, { from: 100 * part, least: 3 }), (seed) =>
        Effect.scoped(live(seed)).pipe(Effect.catchCause((cause) => Effect.die(new Error(`life ${seed}`, { cause })))), { discard: true }), 60_000)
  }

  it.effect("ends the pieces that were started since, and has those go on that were stopped", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const total = Computation.make({
        name: "total",
        inputs: ["cart"],
        output: "/data/totals/:cart",
        run: (tx, { cart }) => Number(tx.get(`/data/carts/${cart}`) ?? 0) * 2
      })
      const start = enzyme("start", (tx, { payload }) => tx.start("total", { cart: String(payload) }))
      const stop = enzyme("stop", (tx, { payload }) => tx.stop(String(payload)))
      const space = yield* machine.boot([put, start, stop, total])
      const sent = Effect.fnUntraced(function*(name: string, payload: Value) {
        const { id } = yield* space.signal({ signal: `/signals/${name}`, payload })
        yield* space.step
        return (yield* space.receipt(id))!.handlings[0]!.value
      })
      yield* sent("put", [["/data/carts/a", 1], ["/data/carts/b", 1]])
      const kept = yield* sent("start", "a")
      assert.strictEqual(yield* pulled(space, "/data/totals/a"), 2)
      const then = yield* space.head
      yield* sent("start", "b")
      assert.strictEqual(yield* pulled(space, "/data/totals/b"), 2)
      yield* sent("stop", kept)
      yield* sent("put", [["/data/carts/a", 5], ["/data/carts/b", 5]])
      yield* takenBack(space, then)
      assert.deepStrictEqual([yield* pulled(space, "/data/totals/a"), yield* pulled(space, "/data/totals/b")], [2, undefined])
      yield* sent("put", [["/data/carts/a", 7], ["/data/carts/b", 7]])
      assert.deepStrictEqual([yield* pulled(space, "/data/totals/a"), yield* pulled(space, "/data/totals/b")], [14, undefined])
      assert.lengthOf(yield* space.below("/sys/pieces", { limit: 10 }), 1)
      yield* replays(space)
    }))

  it.effect("has what a materializer made made again, where nothing that it read was taken back, and so by a module that comes later", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const index = Materializer.make({
        name: "index",
        writes: ["/data/index/**"],
        run: (tx) => {
          for (const id of tx.list("/data/orders")) tx.set(`/data/index/${String(tx.get(`/data/orders/${id}`))}`, id)
        }
      })
      const late = Computation.make({ name: "late", output: "/data/late", run: (tx) => tx.list("/data/orders").length })
      const first = yield* machine.boot([put])
      yield* first.signal({ signal: "/signals/put", payload: [["/data/orders/a", "tea"]] })
      yield* first.step
      const space = yield* machine.boot([put, index, late])
      assert.strictEqual(yield* pulled(space, "/data/late"), 1)
      assert.strictEqual(yield* space.get("/data/index/tea"), "a")
      const without = yield* machine.boot([put, index])
      yield* takenBack(without, 0)
      assert.strictEqual(yield* without.get("/data/index/tea"), "a")
      assert.isUndefined(yield* without.get("/data/late"))
      const again = yield* machine.boot([put, index, late])
      assert.strictEqual(yield* pulled(again, "/data/late"), 1)
      yield* replays(again)
    }))

  it.effect("has its modules run anew if they were all away meanwhile", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const late = Computation.make({ name: "late", output: "/data/late", run: (tx) => tx.list("/data/orders").length })
      const first = yield* machine.boot([put])
      yield* first.signal({ signal: "/signals/put", payload: [["/data/orders/a", "tea"]] })
      yield* first.step
      assert.strictEqual(yield* pulled(yield* machine.boot([put, late]), "/data/late"), 1)
      const without = yield* machine.boot([put])
      yield* takenBack(without, 0)
      assert.isUndefined(yield* without.get("/data/late"))
      const again = yield* machine.boot([put, late])
      assert.strictEqual(yield* pulled(again, "/data/late"), 1)
      yield* replays(again)
    }))
})

describe("the dossier of a rollback", () => {
  it.effect("lists the signals that a waiting durable run sent to other spaces", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const far = Enzyme.make({
        name: "far",
        query: "/signals/far",
        durable: true,
        run: async (tx: Transaction) => {
          tx.signal({ space: "other", signal: "/signals/first", target: "/data/a" })
          await tx.sleep({ beats: 100 })
          tx.signal({ space: "other", signal: "/signals/second" })
        }
      })
      const space = yield* machine.boot([far])
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/far" })
      const beat = yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.status, "pending")
      yield* through(space, space.control.pause())
      const operation = yield* space.ops.get(yield* through(space, space.control.rollback(beat - 1)))
      const sent = { beat, id: `${beat}.0.0`, space: "other", signal: "/signals/first", target: "/data/a" }
      assert.deepStrictEqual(operation?.sent, { count: 1, requests: [sent] })
    }))
})

describe("why", () => {
  it.effect("names a rollback as what gave a document its value of then", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([put])
      for (const value of [1, 2]) yield* controlled(space, space.set("/data/a", value))
      yield* takenBack(space, (yield* space.head) - 1)
      const reason = yield* space.examine((archive) => why(archive, "/data/a"))
      assert.deepStrictEqual([reason?.before, reason?.value, reason?.writers.map(({ by }) => by)], [2, 1, ["rollback"]])
      yield* controlled(space, space.set("/data/a", 3))
      assert.deepStrictEqual((yield* space.examine((archive) => why(archive, "/data/a")))?.writers.map(({ by }) => by), ["capture"])
    }))
})

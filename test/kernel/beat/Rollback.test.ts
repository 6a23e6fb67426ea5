import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  Computation, Document, Enzyme, Kernel, Materializer, replay, type Space, type SpaceStore, type Transaction, type Value, verify, why
} from "systole"
import { RollbackPlan } from "../../../src/kernel/beat/command/RollbackPlan.ts"
import type { Documents } from "../../../src/kernel/model/Documents.ts"
import { isReplayedEqual } from "../../conformance/ReplayCheck.ts"
import * as RandomGraph from "../../scheduler/RandomGraph.ts"
import * as Random from "../../support/Random.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import { begun, controlled, enzyme, handlingOf, put, refusal, steps, through } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"
import { present } from "../../support/Present.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))

/** Rolls a space back. Returns the beat of the cutover. */
const takenBack = Effect.fnUntraced(function*(space: Space, to: number) {
  yield* through(space, space.control.pause())
  const oid = yield* through(space, space.control.rollback(to))
  yield* through(space, space.control.resume())
  return present(present(yield* space.ops.get(oid)).history.find(({ state }) => state === "ist:cutover")).beat
})

/** The value of a place after a pull. */
const pulled = (space: Space, address: string) => begun(space, space.pull(address))

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
      const changes = Random.shuffled(draw, [...model.sources.keys()]).slice(0, 1 + draw(2)).map(
        (source) => [source, RandomGraph.someValue(draw)] as const
      )
      yield* space.signal({ signal: "/signals/put", payload: changes.map(([source, value]) => [source, value ?? null]) })
      for (const [source, value] of changes) model.sources.set(source, value)
      yield* space.step
    } else if (choice < 7) {
      const place = Random.pick(draw, places)
      assert.deepStrictEqual(yield* pulled(space, place), model.value(place), `${place}, move ${move}`)
    } else if (choice < 8) space = yield* boot
    else if (past.length > 0) {
      const to = draw(past.length)
      const then = present(past[to])
      passed((yield* takenBack(space, to)) - 1)
      for (const [source, value] of then) model.sources.set(source, value)
      for (const [source, value] of then) assert.deepStrictEqual(yield* space.get(source), value, `${source} after beat ${to}`)
      // No pull is needed: the beat itself settles demanded nodes.
      for (const { log } of watched) {
        for (const [how, address, value] of log) assert.deepStrictEqual(value, model.reader[how](address), `${address} seen by an effect`)
      }
    }
    passed(yield* space.head)
  }
  for (const place of places) assert.deepStrictEqual(yield* pulled(space, place), model.value(place), place)
  yield* replays(space)
})

describe("a rollback with derived cells", () => {
  for (const part of [1, 2]) {
    it.effect(`leaves them as if derived anew from the restored cells, after any reads before (part ${part})`, () =>
      Effect.forEach(
        Trials.seeds(40, { from: 100 * part, least: 3 }),
        (seed) => Effect.scoped(live(seed)).pipe(Effect.catchCause((cause) => Effect.die(new Error(`life ${seed}`, { cause })))),
        { discard: true }
      ))
  }

  it.effect("ends the pieces started since, and continues the pieces stopped since", () =>
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
        return (yield* handlingOf(space, id)).value
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

  it.effect("runs a materializer again even if none of its inputs changed, also one of a module loaded later", () =>
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

  it.effect("runs its modules anew if all were absent meanwhile", () =>
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

describe("a rollback", () => {
  it.effect("restores user data alone: journal, receipts, histories, ids and sent signals stay, and its dossier lists the latter", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const out = enzyme("out", (tx) => {
        tx.set("/data/out", 1)
        tx.signal({ space: "other", signal: "/signals/count" })
        tx.op.start({ verb: "op/x", target: "x", mode: "opm:direct" })
        tx.bind("/data/bound", "out")
      })
      const space = yield* TestKernel.space([out, count])
      yield* space.step
      const { id } = yield* space.signal({ signal: "/signals/out" })
      yield* space.step
      yield* through(space, space.control.pause())
      const oid = yield* through(space, space.control.rollback(0))
      assert.isUndefined(yield* space.get("/data/out"))
      assert.strictEqual((yield* space.receipt(id))?.status, "handled")
      assert.isDefined(yield* space.ops.get("OPS:1.0.1"))
      assert.isDefined(yield* space.get("/sys/bind/data/bound"))
      const sent = { count: 1, requests: [{ beat: 1, id: "1.0.0", signal: "/signals/count", space: "other" }] }
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${oid}/sent`), sent)
      assert.deepStrictEqual((yield* space.ops.get(oid))?.sent, sent)
      assert.deepStrictEqual(yield* space.get(`/rt/ops/${oid}/envelope#/payload_id`), { view_hzn: 0 })
      yield* through(space, space.control.resume())
      yield* space.signal({ signal: "/signals/out" })
      const next = yield* space.step
      assert.isDefined(yield* space.ops.get(`OPS:${next}.0.1`))
      const other = yield* kernel.space("other")
      yield* steps(other, 2)
      assert.strictEqual(yield* other.get("/data/n"), 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("lists the first sent signals up to the limit of a dossier, and the number of all", () =>
    Effect.gen(function*() {
      const long = `/${"x".repeat(250)}`.repeat(8)
      const space = yield* TestKernel.space([enzyme("out", (tx) => {
        for (let i = 0; i < 600; i++) tx.signal({ space: "other", signal: `${long}/${i}`, target: long })
      })])
      yield* space.step
      yield* space.signal({ signal: "/signals/out" })
      yield* space.step
      yield* through(space, space.control.pause())
      const { sent, status } = present(yield* space.ops.get(yield* through(space, space.control.rollback(0))))
      assert.deepStrictEqual([status, sent?.count], ["sts:ok", 600])
      assert.deepStrictEqual(sent?.requests[0], { id: "1.0.0", beat: 1, space: "other", signal: `${long}/0`, target: long })
      const listed = sent?.requests.length ?? 0
      assert.isTrue(listed > 50 && listed < 600)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is an ordinary change for watchers and derived cells", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(Computation.make({ name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/n") ?? 0) * 2 }))
      const space = yield* TestKernel.space([count])
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      assert.strictEqual(yield* pulled(space, "/data/double"), 2)
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      assert.strictEqual(yield* pulled(space, "/data/double"), 4)
      yield* through(space, space.control.pause())
      yield* through(space, space.control.rollback(0))
      assert.strictEqual(yield* space.get("/data/n"), 1)
      assert.strictEqual(yield* pulled(space, "/data/double"), 2)
      yield* isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is refused for an invalid, a future or a pruned beat, and changes no cell", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([put])
      for (let i = 0; i < 60; i++) {
        yield* space.signal({ signal: "/signals/put", payload: { at: "/data/x", value: "x".repeat(1000) + i } })
        yield* space.step
      }
      // The store deletes rows once in a few hundred beats.
      yield* steps(space, 700)
      yield* through(space, space.control.pause())
      const head = yield* space.head
      for (const beat of [-1, 0.5, Number.NaN, "3", 2 ** 60, head + 100, 0]) {
        assert.strictEqual((yield* refusal(space, space.control.rollback(beat as number)))?.code, "control/refused", String(beat))
      }
      for (let beat = head + 1; beat <= (yield* space.head); beat++) assert.include((yield* space.journal(beat))?.text, `"cells":[]`)
      // The first retained row can be undone, so the earliest target is the beat before it.
      const first = present((yield* space.examine(verify)).first)
      assert.isAbove(first, 1)
      assert.strictEqual((yield* refusal(space, space.control.rollback(first - 2)))?.code, "control/refused")
      assert.deepInclude(yield* space.ops.get(yield* through(space, space.control.rollback(first - 1))), { status: "sts:ok" })
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 30_000 } }))))

  it("reads a part of the journal in each beat, and fails if it is pruned or the changes exceed the limit", () => {
    const cellsOf = (beat: number) =>
      [["/data/x", 0, [beat - 1], [beat]], [`/data/long${beat}`, 0, [], ["x".repeat(600_000)]], ["/rt/x", 0, [1], [2]]]
    const textOf = (beat: number) => JSON.stringify({ v: 3, beat, in: [], runs: [], cells: cellsOf(beat) })
    const rows = Array.from({ length: 5 }, (_, beat) => ({ beat, clock: 0, hash: "", text: textOf(beat) }))
    const store = (anchor: number) => ({
      head: () => ({ beat: 4, clock: 0, hash: "" }),
      anchor: () => ({ beat: anchor, hash: "" }),
      scanJournal: (from: number) => rows.filter(({ beat }) => beat >= from)
    }) as unknown as SpaceStore
    const documents = { read: () => Document.encode("as it is") } as unknown as Documents
    const plan = new RollbackPlan("OPS:1.x.0", 0, { configured: [], rolledBack: [] })
    assert.deepStrictEqual([plan.advance(store(0), documents), plan.advance(store(0), documents)?.writes.length], [undefined, 5])
    assert.deepStrictEqual(plan.advance(store(0), documents)?.writes.map(([key, document]) => [key, document?.text]), [
      ["/data/long1", undefined], ["/data/long2", undefined], ["/data/long3", undefined], ["/data/long4", undefined], ["/data/x", "0"]
    ])
    assert.include(plan.advance(store(1), documents)?.lost, "pruned up to beat 1")
  })
})

describe("why", () => {
  it.effect("names a rollback as the writer of a restored document", () =>
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

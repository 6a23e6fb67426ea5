import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber, Stream } from "effect"
import type { ExternalChange, Space, Value } from "systole"
import { Kernel, replay } from "systole"
import * as Graph from "../../conformance/Graph.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, turns } from "../TestSpace.ts"

const number = (value: Value): number => Number(value ?? 0)
const kinds = ["pull", "integrate", "revert"] as const

const integrate = (space: Space, foreign: ExternalChange) => controlled(space, space.integrate(foreign))

/** Asserts that every beat replays to the same entry. */
const replays = (space: Space) => Fx.gen(function*() {
  const head = yield* space.head
  for (let from = 0; from <= head; from++) {
    const { difference } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference, `from ${from}: ${JSON.stringify(difference)}`)
  }
})

/** A computation over two foreign cells, and an effect that watches it. */
const sums = (log: Graph.Log) => [
  log.computation("sum", "/data/sum", (tx) => number(tx.get("/data/a#/n")) + number(tx.get("/data/b"))),
  log.effect("watch", (tx) => tx.get("/data/sum"))
]

describe("ExternalChange", () => {
  it.effect("invalidates exactly the readers of different values, for each kind of notification", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(...sums(log))
      yield* space.step
      for (const [i, kind] of kinds.entries()) {
        log.take()
        yield* integrate(space, {
          kind,
          changes: [{ address: "/data/a", value: { n: i + 1, m: 0 } }, { address: "/data/b", value: 10 * i }]
        })
        assert.deepStrictEqual(log.take(), { sum: 1, watch: 1 })
        assert.strictEqual(log.seen["watch"], i + 1 + 10 * i)
        yield* integrate(space, { kind, changes: [{ address: "/data/a#/m", value: i }, { address: "/data/b", value: 10 * i }] })
        assert.deepStrictEqual(log.take(), {})
      }
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("is visible to every run of its beat, and conflicts with none", () =>
    Fx.gen(function*() {
      const seen: Array<Value> = []
      const look = enzyme("look", (tx) => {
        seen.push(tx.get("/data/a"))
        tx.set("/data/a", "mine")
      })
      const space = yield* TestKernel.space([look])
      const fiber = yield* Fx.forkChild(
        space.integrate({ kind: "integrate", changes: [{ address: "/data/a", value: "theirs" }] }),
        { startImmediately: true }
      )
      yield* space.signal({ signal: "/signals/look", payload: 1 })
      yield* space.step
      assert.strictEqual(yield* Fiber.join(fiber), 0)
      assert.deepStrictEqual(seen, ["theirs"])
      assert.strictEqual(yield* space.get("/data/a"), "mine")
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("applies a notification in whole or refuses it with a reason", () =>
    Fx.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/list", []))
      const refused = yield* integrate(space, {
        kind: "integrate",
        changes: [{ address: "/data/a", value: 1 }, { address: "/data/list#/name", value: 2 }]
      })
      assert.strictEqual(refused._tag, "Failure")
      assert.isUndefined(yield* space.get("/data/a"))
      for (const address of ["/sys/x", "/rt/ops/1", "no address"]) {
        const refused = yield* Fx.result(space.integrate({
          kind: "pull",
          changes: [{ address: "/data/a", value: 1 }, { address, value: 2 }]
        }))
        assert.strictEqual(refused._tag, "Failure")
      }
      const many = { kind: "pull", changes: Array.from({ length: 10_001 }, (_, i) => ({ address: `/data/${i}`, value: i })) } as const
      assert.match(String(yield* Fx.flip(space.integrate(many))), /at most 10000/)
      yield* space.step
      assert.isUndefined(yield* space.get("/data/a"))
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("writes at the address itself, and follows no link", () =>
    Fx.gen(function*() {
      const space = yield* TestKernel.space([])
      const { Link } = yield* Fx.promise(() => import("systole"))
      yield* integrate(space, { kind: "pull", changes: [{ address: "/data/a", value: Link.make("/data/b") }] })
      yield* integrate(space, { kind: "integrate", changes: [{ address: "/data/a", value: 1 }] })
      assert.strictEqual(yield* space.get("/data/a"), 1)
      assert.isUndefined(yield* space.get("/data/b"))
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G7 a subscriber is not notified of external writes of its own group, and of all others", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.effect("editor", (tx) => tx.get("/data/text"), { changeGroup: "editor" }),
        log.effect("reader", (tx) => tx.get("/data/text"))
      )
      yield* space.step
      log.take()
      yield* controlled(space, space.set("/data/text", "mine", { group: "editor" }))
      assert.deepStrictEqual(log.take(), { reader: 1 })
      yield* integrate(space, { kind: "integrate", group: "editor", changes: [{ address: "/data/text", value: "mine, from elsewhere" }] })
      assert.deepStrictEqual(log.take(), { reader: 1 })
      yield* integrate(space, { kind: "revert", changes: [{ address: "/data/text", value: "mine" }] })
      assert.deepStrictEqual(log.take(), { editor: 1, reader: 1 })
      yield* controlled(space, space.set("/data/text", "theirs", { group: "other" }))
      assert.deepStrictEqual(log.take(), { editor: 1, reader: 1 })
      yield* Graph.put(space, ["/data/text", "a handler's"])
      assert.deepStrictEqual(log.take(), { editor: 1, reader: 1 })
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("notifies a group of changes by others in the beat of its own write", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.effect("title", (tx) => tx.get("/data/page#/title"), { changeGroup: "editor" }),
        log.effect("body", (tx) => tx.get("/data/page#/body"), { changeGroup: "editor" })
      )
      yield* Graph.put(space, ["/data/page", { title: "a", body: "a" }])
      log.take()
      const [mine, theirs, plain] = yield* Fx.all([
        Fx.forkChild(space.set("/data/page#/title", "b", { group: "editor" }), { startImmediately: true }),
        Fx.forkChild(space.set("/data/page#/body", "b", { group: "other" }), { startImmediately: true }),
        Fx.forkChild(space.set("/data/page#/note", "b"), { startImmediately: true })
      ])
      yield* space.step
      yield* Fx.forEach([mine, theirs, plain], Fiber.join)
      assert.deepStrictEqual(log.take(), { body: 1 })
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("hides the writes of a group from its watchers, and shows all others", () =>
    Fx.gen(function*() {
      const space = yield* TestKernel.space([])
      const collect = (changeGroup?: string) => {
        const seen: Array<Value> = []
        return Fx.as(
          Fx.forkChild(
            Stream.runForEach(
              space.watch("/data/text", changeGroup === undefined ? {} : { changeGroup }),
              ({ value }) => Fx.sync(() => void seen.push(value))
            ),
            { startImmediately: true }
          ),
          seen
        )
      }
      const mine = yield* collect("editor")
      const all = yield* collect()
      yield* turns()
      yield* controlled(space, space.set("/data/text", "1", { group: "editor" }))
      yield* controlled(space, space.set("/data/text", "2", { group: "other" }))
      yield* controlled(space, space.set("/data/text", "3", { group: "editor" }))
      yield* integrate(space, { kind: "revert", changes: [{ address: "/data/text", value: "2" }] })
      yield* turns()
      assert.deepStrictEqual(mine, [undefined, "2", "2"])
      assert.deepStrictEqual(all, [undefined, "1", "2", "3", "2"])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("refuses an invalid group, and a group for a revert", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* kernel.space("test")
      assert.match(String(yield* Fx.flip(space.set("/data/a", 1, { group: "two words" }))), /its group is not/)
      const revert = { kind: "revert", group: "g", changes: [] } as unknown as ExternalChange
      assert.match(String(yield* Fx.flip(space.integrate(revert))), /revert has no group/)
    }).pipe(Fx.provide(TestKernel.layer())))
})

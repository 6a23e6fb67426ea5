import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Link, type Value } from "systole"
import * as TestKernel from "../support/TestKernel.ts"
import { controlled } from "./Kit.ts"

const nest = (levels: number): unknown => levels === 0 ? 1 : { a: nest(levels - 1) }

/** Whoever sends this to an enzyme that does `run` gets a dead letter with this code, and the space goes on. */
const buried = Effect.fn("buried")(function*(run: Enzyme.Definition["run"], code: string, payload?: unknown) {
  const other = Enzyme.make({ name: "other", query: "/signals/other", run: () => "well" })
  const space = yield* TestKernel.space([Enzyme.make({ name: "bad", query: "/signals/bad", run }), other])
  const { id } = yield* space.signal({ signal: "/signals/bad", payload })
  const good = yield* space.signal({ signal: "/signals/other" })
  // The second signal may find the beat full, and waits for the next.
  assert.strictEqual(yield* space.step, 0)
  assert.strictEqual(yield* space.step, 1)
  const receipt = yield* space.receipt(id)
  assert.deepStrictEqual(receipt?.handlings.map(({ error, outcome }) => [outcome, error?.code]), [["dead", code]])
  assert.strictEqual((yield* space.receipt(good.id))?.handlings[0]?.value, "well")
  assert.strictEqual(yield* space.get(`/rt/dead/${id}/bad#/code`), code)
  return { space, id }
})

describe("bad input holds nothing up", () => {
  it.effect("a payload as large as a document may be has its dead letter", () =>
    Effect.gen(function*() {
      const payload = "x".repeat(1_048_574)
      const { id, space } = yield* buried(() => { throw new Error("no") }, "run/failed", payload)
      assert.strictEqual(yield* space.get(`/rt/dead/${id}/bad#/payload`), payload)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a payload as deep as a document may be has its dead letter", () =>
    Effect.gen(function*() {
      const { id, space } = yield* buried(() => { throw new Error("no") }, "run/failed", nest(64))
      assert.deepStrictEqual(yield* space.get(`/rt/dead/${id}/bad#/payload`), nest(64) as Value)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run may throw what cannot be looked at", () =>
    Effect.gen(function*() {
      yield* buried(() => { throw Object.create(null) }, "run/failed")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run may return a thenable that throws", () =>
    Effect.gen(function*() {
      yield* buried(() => ({ then() { throw new Error("no") } }), "run/failed")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a promise of what cannot be looked at is a failure", () =>
    Effect.gen(function*() {
      yield* buried(() => Promise.resolve({ get _tag() { throw new Error("no") } }), "run/failed")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run that binds what is no name is refused", () =>
    Effect.gen(function*() {
      yield* buried((tx) => tx.bind("/data", "x".repeat(2_000_000)), "transaction/refused")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run that binds at what is no cell is refused", () =>
    Effect.gen(function*() {
      yield* buried((tx) => tx.bind("data", "x"), "address/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a binding from outside is refused where its list would have no address", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const answer = yield* controlled(space, space.bind("/a".repeat(64), "x"))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "address/invalid")
      assert.strictEqual(yield* space.step, 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("an object that looks like a link and names no address is a value", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", { $link: "nope" }))
      yield* controlled(space, space.set("/data/x#/a", 1))
      assert.deepStrictEqual(yield* space.get("/data/x"), { $link: "nope", a: 1 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a write from outside through a loop of links is refused", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", Link.make("/data/x")))
      const answer = yield* controlled(space, space.set("/data/x#/a", 1))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "cell/refused")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a link leads nobody outside to the cells of the runtime", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", Link.make("/sys/bind/data")))
      const answer = yield* controlled(space, space.set("/data/x#/0", 1))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "cell/refused")
      assert.strictEqual(yield* space.get("/sys/bind/data"), undefined)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a write that cannot go on top of another run's leaves nothing of its run", () =>
    Effect.gen(function*() {
      const add = (name: string) =>
        Enzyme.make({
          name,
          query: "/signals/add",
          run: (tx) => {
            tx.set(`/data/${name}`, 1)
            tx.increment("/data/sum", 1.7e308)
            tx.signal({ signal: "/signals/after", payload: name })
          }
        })
      const space = yield* TestKernel.space([add("a"), add("b")])
      const { id } = yield* space.signal({ signal: "/signals/add" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/a"), 1)
      assert.strictEqual(yield* space.get("/data/b"), undefined)
      assert.strictEqual(yield* space.get("/data/sum"), 1.7e308)
      assert.deepStrictEqual((yield* space.receipt(id))?.handlings.map(({ outcome }) => outcome), ["ok", "dead"])
      yield* space.step
      assert.lengthOf((yield* TestKernel.ledger(space, 1, "inbox"))!, 1)
    }).pipe(Effect.provide(TestKernel.layer())))
})

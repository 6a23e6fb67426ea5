import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber } from "effect"
import { Enzyme, Flow, Link, type Value } from "systole"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, ended, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const text = "x".repeat(1_048_000)

const nest = (levels: number): unknown => levels === 0 ? 1 : { a: nest(levels - 1) }

/** Checks that a signal to an enzyme with this `run` becomes a dead letter with this code, and that the space continues. */
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

describe("bad input delays no other input", () => {
  it.effect("a payload of the largest size has its dead letter", () =>
    Effect.gen(function*() {
      const payload = "x".repeat(1_048_574)
      const { id, space } = yield* buried(() => { throw new Error("no") }, "run/failed", payload)
      assert.strictEqual(yield* space.get(`/rt/dead/${id}/bad#/payload`), payload)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a payload of the greatest depth has its dead letter", () =>
    Effect.gen(function*() {
      const { id, space } = yield* buried(() => { throw new Error("no") }, "run/failed", nest(64))
      assert.deepStrictEqual(yield* space.get(`/rt/dead/${id}/bad#/payload`), nest(64) as Value)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run may throw an unreadable value", () =>
    Effect.gen(function*() {
      yield* buried(() => { throw Object.create(null) }, "run/failed")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run may return a thenable that throws", () =>
    Effect.gen(function*() {
      yield* buried(() => ({ then() { throw new Error("no") } }), "run/failed")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a promise of an unreadable value is a failure", () =>
    Effect.gen(function*() {
      yield* buried(() => Promise.resolve({ get _tag() { throw new Error("no") } }), "run/failed")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run that binds an invalid name is refused", () =>
    Effect.gen(function*() {
      yield* buried((tx) => tx.bind("/data", "x".repeat(2_000_000)), "transaction/refused")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run that binds at an invalid cell is refused", () =>
    Effect.gen(function*() {
      yield* buried((tx) => tx.bind("data", "x"), "address/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run that binds at a cell too long for its list is refused", () =>
    Effect.gen(function*() {
      yield* buried((tx) => tx.bind(("/" + "n".repeat(255)).repeat(60), "x"), "address/invalid")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run that exceeds the bindings of a cell is refused with all its writes", () =>
    Effect.gen(function*() {
      const { space } = yield* buried((tx) => {
        tx.set("/data/y", 1)
        tx.bind("/data/y", "bad")
        for (let i = 0; i < 4500; i++) tx.bind("/data/x", "n".repeat(200) + i)
      }, "transaction/refused")
      for (const cell of ["/data/y", "/sys/bind/data/x", "/sys/bind/data/y"]) assert.strictEqual(yield* space.get(cell), undefined, cell)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a store that cannot be read at the commit stops the space without dead letters", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      let broken = true
      const space = yield* machine.boot([enzyme("bind", (tx) => {
        tx.bind("/data/x", "bind")
        machine.breakReads(broken)
      })])
      const { id } = yield* space.signal({ signal: "/signals/bind" })
      assert.strictEqual((yield* Effect.flip(space.step)).code, "space/stopped")
      broken = false
      machine.breakReads(broken)
      const again = yield* machine.open
      yield* again.step
      assert.deepStrictEqual(yield* ended(again, id), ["bind ok @0 #1"])
    }))

  it.effect("a run that writes more than a journal's entry can hold is refused", () =>
    Effect.gen(function*() {
      const { space } = yield* buried((tx) => {
        for (let i = 0; i < 540; i++) tx.set(`/data/${i}`, text)
      }, "transaction/refused")
      assert.deepStrictEqual(yield* space.list("/data"), [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a run whose result is one too many is refused", () =>
    Effect.gen(function*() {
      const { space } = yield* buried((tx) => {
        for (let i = 0; i < 16; i++) tx.set(`/data/${i}`, text)
        return text
      }, "transaction/refused")
      assert.deepStrictEqual(yield* space.list("/data"), [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("any number of enzymes that wait for each other have a diagnostic", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 9000 }, (_, i) => `${"n".repeat(124)}${i}`)
      const space = yield* TestKernel.space(names.map((name, i) =>
        Enzyme.make({ name, query: "/signals/knot", before: [names[(i + 1) % names.length]!], run: () => {} })))
      yield* space.signal({ signal: "/signals/knot" })
      yield* space.step
      const [told] = yield* TestKernel.diagnostics(space)
      assert.strictEqual(told?.["code"], "registry/cycle")
      assert.lengthOf(String(told?.["note"]), 2000)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a binding from outside is refused at a cell too long for its list", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const answer = yield* controlled(space, space.bind("/a".repeat(64), "x"))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "address/invalid")
      assert.strictEqual(yield* space.step, 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("an object like a link without an address is a value", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", { $link: "nope" }))
      yield* controlled(space, space.set("/data/x#/a", 1))
      assert.deepStrictEqual(yield* space.get("/data/x"), { $link: "nope", a: 1 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("input from outside that overflows its target document is refused alone, without a trace", () =>
    Effect.gen(function*() {
      const wait = Flow.make({ name: "wait", steps: { a: { clamp: {}, otherwise: "done" } } })
      const space = yield* RendezvousSpace.space({ spawn: (tx) => void tx.rv.spawn({ key: "k", due_off: 9 }) }, [wait])
      yield* RendezvousSpace.ask(space, "spawn")
      const big = "y".repeat(1_048_500)
      const asked = [
        space.rv.report("k", { telemetry: { x: big } }),
        space.rv.report("k", { telemetry: nest(64) }),
        space.rv.spawn({ key: "big", telemetry: { x: big } }),
        space.flows.start({ flow: "wait", inst: "i", input: big }),
        space.ops.start({ verb: "op/x", target: "t", mode: "opm:direct", pipeline: { constructor: 1 } as {} }),
        space.ops.start({ verb: "op/x", target: "t", mode: "opm:direct", pipeline: JSON.parse('{"__proto__":1}') as {} })
      ]
      const fibers = []
      for (const one of asked) fibers.push(
        yield* Effect.forkChild(
          Effect.result(Effect.asVoid(one as Effect.Effect<unknown, { readonly code: string }>)), { startImmediately: true }
        )
      )
      const good = yield* Effect.forkChild(space.rv.spawn({ key: "good", due_off: 9 }), { startImmediately: true })
      yield* steps(space, 8)
      const codes = []
      for (const fiber of fibers) {
        const answer = yield* Fiber.join(fiber)
        codes.push(answer._tag === "Failure" ? answer.failure.code : "done")
      }
      assert.deepStrictEqual(codes, ["value/invalid", "value/invalid", "value/invalid", "value/invalid", "ops/invalid", "ops/invalid"])
      assert.strictEqual((yield* Fiber.join(good)).key, "good")
      assert.deepStrictEqual(yield* space.list("/data/rv"), ["good", "k"])
      assert.deepStrictEqual([yield* space.get("/data/flow/inst/i"), yield* space.list("/rt/ops")], [undefined, []])
      assert.deepInclude(yield* RendezvousSpace.entry(space, "k") as Effect.Effect<object>, { state: "pending", telemetry: {} })
      // One beat executes both. The random values of the refused one are drawn again by the other.
      yield* Effect.forkChild(Effect.result(space.flows.start({ flow: "wait", input: nest(64) })), { startImmediately: true })
      const next = yield* Effect.forkChild(space.rv.spawn({ key: "next", due_off: 9 }), { startImmediately: true })
      assert.strictEqual(yield* space.step, (yield* Fiber.join(next)).beat)
      yield* space.step
      yield* RendezvousSpace.isReplayedEqual(space)
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("a rendezvous keeps room for its own transitions", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space()
      const spec = (key: string, x: string) =>
        ({ key, due_off: 1, deadl_off: 500, max_grace: 1, grace_delta: 100, on_miss: "quarantine" as const, telemetry: { x } })
      yield* controlled(space, space.rv.spawn(spec("a", "")))
      const room = 1_048_576 - JSON.stringify(yield* RendezvousSpace.entry(space, "a")).length
      for (const [key, less, code] of [["b", 0, "value/invalid"], ["c", 1000, "value/invalid"], ["d", 1100, "done"]] as const) {
        const answer = yield* controlled(space, space.rv.spawn(spec(key, "y".repeat(room - less))))
        assert.strictEqual(answer._tag === "Failure" ? answer.failure.code : "done", code, key)
      }
      yield* steps(space, 110)
      assert.deepInclude(yield* RendezvousSpace.entry(space, "d") as Effect.Effect<object>, { state: "quarantine", grace_used: "1" })
    }).pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

  it.effect("a read from outside with an unexpected error fails alone", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const exit = yield* Effect.exit(space.dead(undefined as never))
      assert.isTrue(exit._tag === "Failure" && Cause.hasDies(exit.cause))
      assert.strictEqual(yield* space.step, 0)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a write from outside through a loop of links is refused", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", Link.make("/data/x")))
      const answer = yield* controlled(space, space.set("/data/x#/a", 1))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "cell/refused")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a link gives no outside access to the cells of the runtime", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/x", Link.make("/sys/bind/data")))
      const answer = yield* controlled(space, space.set("/data/x#/0", 1))
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "cell/refused")
      assert.strictEqual(yield* space.get("/sys/bind/data"), undefined)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("a write that cannot be merged discards its run", () =>
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

describe("a beat makes", () => {
  it.effect("at most 64 MiB of changes, and defers further runs to the front of the next", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("big", (tx, { params }) => {
        for (let i = 0; i < 15; i++) tx.set(`/data/${params["n"]}/${i}`, text)
        tx.append("/data/done", `${params["n"]}@${tx.beat}`)
      }, { query: "/signals/big/:n" })])
      const ids = []
      for (let i = 0; i < 6; i++) ids.push((yield* space.signal({ signal: `/signals/big/${i}` })).id)
      yield* space.step
      assert.strictEqual((yield* space.receipt(ids[4]!))?.status, "pending")
      yield* space.signal({ signal: "/signals/big/6" })
      yield* space.step
      assert.deepStrictEqual(yield* space.get("/data/done"), ["0@0", "1@0", "2@0", "3@0", "4@1", "5@1", "6@1"])
      assert.deepStrictEqual(yield* ended(space, ids[4]!), ["big ok @1 #1"])
      assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("as many dead letters as fit, and loses none", () =>
    Effect.gen(function*() {
      const enzymes = Array.from({ length: 70 }, (_, i) => enzyme(`bad${i}`, () => { throw new Error("no") }, { query: "/signals/bad" }))
      const space = yield* TestKernel.space(enzymes)
      const { id } = yield* space.signal({ signal: "/signals/bad", payload: text })
      yield* space.step
      assert.lengthOf(yield* space.list(`/rt/dead/${id}`), 63)
      yield* steps(space, 7)
      const receipt = yield* space.receipt(id)
      assert.lengthOf(receipt!.handlings.filter(({ attempt, outcome }) => outcome === "dead" && attempt === 1), 70)
      assert.strictEqual(yield* space.get(`/rt/dead/${id}/bad69#/payload`), text)
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("a cell", () => {
  it.effect("keeps the bindings of 1,024 names, from runs of one beat together", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("bind", (tx, { params }) => {
        for (let i = 0; i < 600; i++) tx.bind("/data/x", `${params["who"]}${i}`)
      }, { query: "/signals/:who" })])
      const [a, b] = [yield* space.signal({ signal: "/signals/a" }), yield* space.signal({ signal: "/signals/b" })]
      yield* space.step
      assert.deepStrictEqual(yield* ended(space, a.id), ["bind ok @0 #1"])
      assert.deepStrictEqual(
        (yield* space.receipt(b.id))?.handlings.map(({ error, outcome }) => [outcome, error?.code]), [["dead", "transaction/refused"]]
      )
      assert.lengthOf((yield* space.get("/sys/bind/data/x")) as ReadonlyArray<unknown>, 600)
    }).pipe(Effect.provide(TestKernel.layer())))
})

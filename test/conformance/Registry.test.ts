import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { PostedSignal, Space } from "systole"
import { Enzyme, Kernel } from "systole"
import * as Order from "../../src/registry/Order.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** An enzyme that returns its label, and counts its runs under `/data/runs`. */
const enzyme = (name: string, query: string, more: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({
    name,
    query,
    run: (tx) => {
      tx.increment(`/data/runs#/${name}`)
      return more.label ?? name
    },
    ...more
  })

/** Sends a signal and runs a beat. Returns the agenda: the names of the runs, or the reason for none. */
const ran = (space: Space, posted: PostedSignal) =>
  Effect.gen(function*() {
    yield* space.signal(posted)
    const lines = yield* TestKernel.ledger(space, yield* space.step, "agenda")
    return lines?.map((line) => /^enzyme=(\S+) rc=0 /.exec(line)?.[1] ?? line.split(" ")[0])
  })

/** Gives a control input to a space, and runs the beat that executes it. */
const captured = <A, E>(space: Space, control: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const waiting = yield* Effect.forkChild(control, { startImmediately: true })
    yield* space.step
    return yield* Fiber.join(waiting)
  })

const bind = (space: Space, cell: string, name: string) => captured(space, space.bind(cell, name))
const unbind = (space: Space, cell: string, name: string) => captured(space, space.unbind(cell, name))

/** Enzymes with random satisfiable `after` lists: each names only enzymes before it in a hidden order. */
const randomSet = (draw: Random.Random, size: number, query: string) => {
  const names = Random.shuffled(draw, Array.from({ length: size }, (_, i) => `e${i}`))
  return names.map((name, i) => enzyme(name, query, { after: names.slice(0, i).filter(() => draw(3) === 0) }))
}

describe("B: registry, matching, ordering", () => {
  it.effect("B1 after and before order the enzymes of a signal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("b", "/signals/s", { after: ["a"] }),
        enzyme("c", "/signals/s", { before: ["b"] }),
        enzyme("a", "/signals/s")
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["a", "c", "b"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B1 before and after win over every other rule of the order", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", "/signals/s", { after: ["z"] }),
        enzyme("m", "/signals/s"),
        enzyme("z", "/signals/*")
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["m", "z", "a"])
    }).pipe(Effect.provide(TestKernel.layer())))

  const contrary = [enzyme("d", "/signals/s", { after: ["e"] }), enzyme("e", "/signals/s", { after: ["d"] })]

  it.effect("B2 enzymes that wait for each other block the signal, even for a third one", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([...contrary, enzyme("f", "/signals/s")])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/runs"), undefined)
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual({ status: receipt?.status, handlings: receipt?.handlings }, { status: "cycle", handlings: [] })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B3 a cycle leaves one diagnostic and its line in the agenda, and other signals run", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([...contrary, enzyme("other", "/signals/t")])
      yield* space.signal({ signal: "/signals/s" })
      yield* space.signal({ signal: "/signals/t" })
      const beat = yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), [
        "cycle signal=/signals/s target=- enzymes=d,e",
        "enzyme=other rc=0 signal=/signals/t target=-"
      ])
      const diagnostics = yield* TestKernel.diagnostics(space)
      assert.strictEqual(diagnostics.length, 1)
      assert.include(JSON.stringify(diagnostics[0]), "sev:usage")
      assert.include(JSON.stringify(diagnostics[0]), "d, e")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B4 an after that names an enzyme which does not take this signal is ignored", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", "/signals/s", { after: ["elsewhere", "nowhere"] }),
        enzyme("b", "/signals/s"),
        enzyme("elsewhere", "/signals/t", { after: ["b"] })
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["a", "b"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B5 among equals the smaller name runs first, whichever was registered first", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("b", "/signals/*/x"), enzyme("a", "/signals/y/*"), enzyme("B", "/signals/y/*")])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/y/x" }), ["B", "a", "b"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B6 of two enzymes with one name and equal queries the one activated first runs first", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const early = enzyme("twin", "/signals/*/x", { label: "early" })
      const late = enzyme("twin", "/signals/y/*", { label: "late" })
      const space = yield* TestKernel.space([early, late])
      const labels = Effect.gen(function*() {
        const { id } = yield* space.signal({ signal: "/signals/y/x" })
        yield* space.step
        return (yield* space.receipt(id))?.handlings.map(({ value }) => value)
      })
      assert.deepStrictEqual(yield* labels, ["early", "late"])
      yield* kernel.unregister(early)
      yield* kernel.register(early)
      assert.deepStrictEqual(yield* labels, ["late", "early"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B7 of two prefixes the longer one runs first, although registered second", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", "/h", { match: "prefix" }),
        enzyme("b", "/h/m", { match: "prefix" })
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/h/m/n" }), ["b", "a"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B8 a literal query runs before a partly literal one, and that before a glob", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", "/signals/*"),
        enzyme("b", "/signals/im*"),
        enzyme("c", "/signals/image")
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/image" }), ["c", "b", "a"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B10 an exact query takes no longer signal, a prefix does", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("exact", "/h"), enzyme("prefix", "/h", { match: "prefix" })])
      assert.deepStrictEqual(yield* ran(space, { signal: "/h/m" }), ["prefix"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/h" }), ["exact", "prefix"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/hm" }), ["no-match"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B12 an empty query takes every signal, and runs after more specific ones", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("a", ""), enzyme("b", "/**"), enzyme("c", "/signals/**")])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/image/thumbnail" }), ["c", "a", "b"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/x" }), ["a", "b"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B13 without a target each enzyme whose query matches runs once, wherever it is bound", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("a", "/signals/s", { bind: ["/data/x", "/data/y"] }),
        enzyme("b", "/signals/**"),
        enzyme("c", "/signals/t"),
        enzyme("d", "/signals/:name")
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["a", "b", "d"])
      assert.deepStrictEqual(yield* space.get("/data/runs"), { a: 1, b: 1, d: 1 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B14 on a target without bindings nothing runs, though a query matches", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("unbound", "/signals/s"), enzyme("elsewhere", "/signals/s", { bind: ["/data/y"] })])
      const { id } = yield* space.signal({ signal: "/signals/s", target: "/data/x" })
      const beat = yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), ["no-match signal=/signals/s target=/data/x"])
      assert.strictEqual(yield* space.get("/data/runs"), undefined)
      assert.strictEqual((yield* space.receipt(id))?.status, "no-match")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B15 a binding of a parent reaches all cells below, bound at run time or declared", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("declared", "/signals/s", { bind: ["/data/shop"] }),
        enzyme("x", "/signals/s"),
        enzyme("sender", "/signals/send", { run: (tx) => tx.signal({ signal: "/signals/s", target: "/data/shop/orders/17" }) })
      ])
      yield* bind(space, "/data/shop", "x")
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target: "/data/shop/orders/17" }), ["declared", "x"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target: "/data/shopping" }), ["no-match"])
      yield* ran(space, { signal: "/signals/send" })
      yield* space.step
      assert.deepStrictEqual(yield* space.get("/data/runs"), { declared: 2, x: 2 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B16 a binding without propagation holds at its own cell alone", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("declared", "/signals/s", { bind: [{ cell: "/data/shop", propagate: false }] }),
        enzyme("x", "/signals/s")
      ])
      yield* captured(space, space.bind("/data/shop", "x", { propagate: false }))
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target: "/data/shop/orders" }), ["no-match"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target: "/data/shop" }), ["declared", "x"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B18 a withdrawal at a leaf masks the bindings above, there and not beside it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("declared", "/signals/s", { bind: ["/data/shop"] }), enzyme("x", "/signals/s")])
      yield* bind(space, "/data/shop", "x")
      yield* unbind(space, "/data/shop/leaf", "declared")
      const beat = yield* unbind(space, "/data/shop/leaf", "x")
      for (const target of ["/data/shop/leaf", "/data/shop/leaf/below"]) {
        assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target }), ["no-match"])
      }
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target: "/data/shop/sibling" }), ["declared", "x"])
      assert.deepStrictEqual(yield* space.get("/sys/bind/data/shop/leaf"), [
        { beat, enzyme: "x", propagate: true, tombstone: true },
        { beat: beat - 1, enzyme: "declared", propagate: true, tombstone: true }
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B19 the newest binding of a name at a cell holds", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("declared", "/signals/s", { bind: ["/data/leaf"] }),
        enzyme("x", "/signals/s"),
        enzyme("bind", "/signals/bind", { run: (tx) => tx.bind("/data/leaf", "x") }),
        enzyme("unbind", "/signals/unbind", { run: (tx) => tx.unbind("/data/leaf", "x") })
      ])
      const taken = ran(space, { signal: "/signals/s", target: "/data/leaf" })
      yield* unbind(space, "/data/leaf", "x")
      assert.deepStrictEqual(yield* taken, ["declared"])
      yield* bind(space, "/data/leaf", "x")
      assert.deepStrictEqual(yield* taken, ["declared", "x"])
      yield* ran(space, { signal: "/signals/unbind" })
      assert.deepStrictEqual(yield* taken, ["declared"])
      yield* ran(space, { signal: "/signals/bind" })
      assert.deepStrictEqual(yield* taken, ["declared", "x"])
      yield* unbind(space, "/data/leaf", "declared")
      assert.deepStrictEqual(yield* taken, ["x"])
      yield* bind(space, "/data/leaf", "declared")
      assert.deepStrictEqual(yield* taken, ["declared", "x"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B21 an enzyme bound above and at the leaf runs once", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("declared", "/signals/s", { bind: ["/data", "/data/leaf"] }),
        enzyme("x", "/signals/s")
      ])
      yield* bind(space, "/data", "x")
      yield* bind(space, "/data/leaf", "x")
      yield* bind(space, "/data/leaf", "declared")
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s", target: "/data/leaf" }), ["declared", "x"])
      assert.deepStrictEqual(yield* space.get("/data/runs"), { declared: 1, x: 1 })
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B22 a bound enzyme takes no signal that its query does not match", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("x", "/p/q", { bind: ["/data/leaf"] })])
      assert.deepStrictEqual(yield* ran(space, { signal: "/r", target: "/data/leaf" }), ["no-match"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/p/q", target: "/data/leaf" }), ["x"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B24 without a signal all bound enzymes run, by the specificity of the query and then by name", () =>
    Effect.gen(function*() {
      const bound = { bind: ["/data"] }
      const space = yield* TestKernel.space([
        enzyme("a", "/x/*", bound),
        enzyme("d", "/x/y/z", bound),
        enzyme("c", "/x/y", bound),
        enzyme("b", "/u/v", bound),
        enzyme("unbound", "/x/y")
      ])
      assert.deepStrictEqual(yield* ran(space, { target: "/data/leaf" }), ["d", "b", "c", "a"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it("B26 a match by signal and target precedes a match by one of them, of any specificity", () => {
    const candidate = (name: string, strength: number, specificity: number) =>
      ({ name, strength, specificity, before: [], after: [], order: 0 })
    const both = candidate("z", 2, 2)
    const one = candidate("a", 1, 12)
    assert.isBelow(Order.priority(both, one), 0)
    assert.isAbove(Order.priority(one, both), 0)
    assert.deepStrictEqual(Order.arrange([one, both]), [both, one])
  })

  it.effect("B27 with any satisfiable after lists, all run, and each after the enzymes it names", () =>
    Effect.gen(function*() {
      const draw = Random.make(27)
      const rounds = Array.from({ length: 24 }, (_, round) => ({ signal: `/signals/r${round}`, size: 3 + draw(10) }))
      const sets = rounds.map(({ signal, size }) => ({ signal, enzymes: randomSet(draw, size, signal) }))
      const space = yield* TestKernel.space(sets.flatMap(({ enzymes }) => Random.shuffled(draw, enzymes)))
      for (const { enzymes, signal } of sets) {
        const order = (yield* ran(space, { signal })) ?? []
        assert.sameMembers([...order], enzymes.map(({ name }) => name))
        for (const { after, name } of enzymes) {
          for (const first of after) assert.isBelow(order.indexOf(first), order.indexOf(name), `${first} before ${name} on ${signal}`)
        }
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B28 the order does not depend on the order of registration", () =>
    Effect.gen(function*() {
      const draw = Random.make(28)
      const names = Array.from({ length: 9 }, (_, i) => `e${i}`)
      const shapes = names.map((name, i) => ({
        name,
        after: names.slice(0, i).filter(() => draw(4) === 0),
        before: names.slice(i + 1).filter(() => draw(6) === 0),
        glob: draw(2) === 0
      }))
      const orders: Array<unknown> = []
      const kernel = yield* Kernel
      const space = yield* TestKernel.space([])
      for (let round = 0; round < 20; round++) {
        const signal = `/signals/r${round}`
        for (const { glob, name, ...constraints } of Random.shuffled(draw, shapes)) {
          yield* kernel.register(enzyme(name, glob ? `/*/r${round}` : signal, constraints))
        }
        orders.push(yield* ran(space, { signal }))
      }
      assert.lengthOf(orders[0] as Array<string>, names.length)
      for (const order of orders) assert.deepStrictEqual(order, orders[0])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B29 an enzyme registered during a beat takes part from the next one on, which counts it", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const late = enzyme("late", "/signals/s")
      const space = yield* TestKernel.space([enzyme("registrar", "/signals/go", { run: () => kernel.register(late) })])
      yield* space.signal({ signal: "/signals/go" })
      yield* space.signal({ signal: "/signals/s" })
      const beat = yield* space.step
      assert.deepStrictEqual(yield* TestKernel.ledger(space, beat, "agenda"), [
        "enzyme=registrar rc=0 signal=/signals/go target=-",
        "no-match signal=/signals/s target=-"
      ])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["late"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["late"])
      const counts = yield* Effect.forEach([beat, beat + 1, beat + 2], (beat) => space.get(`/rt/beat/${beat}/meta#/activated`))
      assert.deepStrictEqual(counts, [1, 1, 0])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B30 an enzyme registered before the start takes part in the first beat", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      yield* kernel.register(enzyme("x", "/signals/s"))
      const space = yield* kernel.space("fresh")
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["x"])
      assert.strictEqual(yield* space.get("/rt/beat/0/meta#/activated"), 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("B31 an enzyme, active or pending, is withdrawn only by its exact descriptor", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const run = () => "ran"
      const x = enzyme("x", "/signals/s", { label: "x", run })
      const space = yield* TestKernel.space([x])
      const others = [{ label: "other" }, { repeatable: true }, { query: "/signals/*" }, { bind: ["/data"] }, { run: () => "else" }]
      const refuse = Effect.forEach(
        others,
        (other) => Effect.flip(kernel.unregister(Enzyme.make({ name: "x", query: "/signals/s", label: "x", run, ...other })))
      )
      assert.deepStrictEqual((yield* refuse).map(({ code }) => code), others.map(() => "enzyme/unknown"))
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["x"])
      yield* refuse
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["x"])
      yield* kernel.unregister(Enzyme.make({ name: "x", query: "/signals/s", label: "x", run }))
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["no-match"])

      yield* kernel.register(x)
      yield* kernel.unregister(x)
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/s" }), ["no-match"])
      assert.strictEqual((yield* Effect.flip(kernel.unregister(x))).code, "enzyme/unknown")
    }).pipe(Effect.provide(TestKernel.layer())))

  it("B32 a descriptor without a run function is refused", () => {
    for (const run of [undefined, null, "run"]) {
      const make = () => Enzyme.make({ name: "x", query: "/signals/s", run: run as never })
      assert.throws(make, Enzyme.InvalidEnzyme, "it has no run function")
    }
  })

  it.effect("B33 resize_image runs before image_metadata, both bound on the projects", () =>
    Effect.gen(function*() {
      const bound = { bind: ["/env/fs/projects"] }
      const space = yield* TestKernel.space([
        enzyme("image_metadata", "/signals/image/*", bound),
        enzyme("resize_image", "/signals/image/thumbnail", bound)
      ])
      const target = "/env/fs/projects/42/img123"
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/image/thumbnail", target }), ["resize_image", "image_metadata"])
      assert.deepStrictEqual(yield* ran(space, { signal: "/signals/image/rotate", target }), ["image_metadata"])
    }).pipe(Effect.provide(TestKernel.layer())))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Schema from "effect/Schema"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Cell, type CellMistyped, Computation, Enzyme, Kernel, Signal } from "systole"
import { of as problemOf } from "../../src/ingress/wire/Problem.ts"
import * as Loader from "../../src/loader/Loader.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import * as TestIngress from "../ingress/TestIngress.ts"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
const Orders = Cell.family("/data/orders/:id", Order)
const Total = Cell.of("/data/total", Schema.Number)
const Place = Signal.make("/signals/order/:id/place", Schema.Struct({ count: Schema.Natural }))

const place = () =>
  Enzyme.make({
    name: "place",
    query: Place,
    writes: [Orders],
    run: (tx, { params, payload: { count } }) => tx.set(Orders.at(params), { item: "tea", count })
  })
const total = () => Computation.make({ name: "total", output: Total, run: (tx) => tx.entries(Orders).length })

const [TOKEN, WEB, KEEPER] = ["a-token-for-tests", "a-token-of-a-reader", "a-token-of-another-reader"] as const

const sources = { enzymes: ["enzymes"], plugins: [], required: [], millis: 10_000 }

/** An enzyme that declares a family with this schema. */
const declaring = (name: string, path: string, schema: Schema.Codec<string> | Schema.Codec<number>) =>
  Enzyme.make({ name, query: `/signals/${name}`, declares: [Cell.family(path, schema as Schema.Codec<string>)], run: () => undefined })

describe("The schema of a space", () => {
  it.effect("shows the JSON Schema and the digest of each path, and goes with its modules", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const enzyme = place()
    const space = yield* TestKernel.space([enzyme])
    yield* kernel.register(total())
    yield* space.step
    const index = (yield* space.get("/sys/schema")) as unknown as Record<string, object>
    assert.deepStrictEqual(Object.keys(index), ["/data/orders/:id", "/data/total", "/signals/order/:id/place"])
    const shown = (yield* space.get("/sys/schema/data/orders/{id}")) as unknown as {
      readonly path: string
      readonly cell: { readonly schema: unknown }
    }
    assert.strictEqual(shown.path, "/data/orders/:id")
    assert.deepInclude(shown.cell.schema, { type: "object", required: ["item", "count"] })
    yield* kernel.unregister(enzyme)
    yield* space.step
    assert.deepStrictEqual(Object.keys((yield* space.get("/sys/schema")) as object), ["/data/total"])
    assert.isUndefined(yield* space.get("/sys/schema/data/orders/{id}"))
    yield* TestSpace.replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  it.live("is an answer of HTTP, a page at a time, with the types that its reader may know", () =>
    Effect.flatMap(TestIngress.serve({
      enzymes: [place(), declaring("secret", "/data/secret/:id", Schema.String)],
      config: {
        spaces: { create: "on-demand" },
        token: TOKEN,
        labels: {
          cells: { "/sys/schema/**": [], "/data/secret/**": ["secret"] },
          readers: { web: { token: WEB, clearance: [] }, keeper: { token: KEEPER, clearance: ["secret"] } }
        }
      }
    }), ({ ask, post }) => Effect.promise(async () => {
      await post("/v1/spaces/shop/signals", { signal: "/signals/secret" }, { prefer: "wait=10", authorization: `Bearer ${TOKEN}` })
      const paths = async (query = "", token: string = TOKEN) => {
        const { body } = await ask(`/v1/spaces/shop/schema${query}`, { headers: { authorization: `Bearer ${token}` } })
        return body as { readonly types: ReadonlyArray<Record<string, unknown>>; readonly next: string | null }
      }
      const { next, types } = await paths()
      assert.deepStrictEqual([types.map(({ path }) => path), next], [
        ["/data/orders/:id", "/data/secret/:id", "/signals/order/:id/place"], null
      ])
      const [orders, , place] = types as ReadonlyArray<Record<"cell" | "signal", { readonly digest: string; readonly schema: object }>>
      assert.deepInclude(orders?.cell.schema, { type: "object", required: ["item", "count"] })
      assert.deepInclude(place?.signal.schema, { type: "object", required: ["count"] })
      const first = await paths("?limit=1")
      assert.deepStrictEqual(first.types, types.slice(0, 1))
      assert.deepStrictEqual((await paths(`?after=${encodeURIComponent(first.next ?? "")}`)).types, types.slice(1))
      const webs = await paths("", WEB)
      assert.deepStrictEqual(webs.types.map(({ path }) => path), ["/data/orders/:id", "/signals/order/:id/place"])
      assert.lengthOf((await paths("", KEEPER)).types, 3)
    })))

  it.effect("is absent from a space without types", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([TestSpace.put])
    yield* space.step
    assert.isUndefined(yield* space.get("/sys/schema"))
    assert.notInclude(yield* space.list("/sys"), "schema")
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("refuses a value from outside that does not fit, with every mistake", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([place()])
    yield* space.step
    const refused = yield* TestSpace.refusal(space, space.set("/data/orders/1", { item: 1 })) as Effect.Effect<CellMistyped>
    assert.strictEqual(refused.code, "cell/type")
    assert.deepStrictEqual(refused.mistakes.map(({ at }) => at), ["/item", "/count"])
    assert.strictEqual(problemOf(refused).status, 422)
    const part = yield* TestSpace.refusal(space, space.set("/data/orders/1#/count", "x"))
    assert.strictEqual(part?.code, "cell/type")
    const change = { kind: "pull", changes: [{ address: "/data/orders/2", value: 1 }] } as const
    assert.strictEqual((yield* TestSpace.refusal(space, space.integrate(change)))?.code, "cell/type")
    const fitting = [
      ["/data/orders/1", { item: "tea", count: 1 }], ["/data/orders/1#/count", 2], ["/data/orders/1", undefined], ["/data/orders/1/note", 7]
    ] as const
    for (const [address, value] of fitting) {
      assert.isUndefined(yield* TestSpace.refusal(space, space.set(address, value)), address)
    }
    assert.isUndefined(yield* space.get("/data/orders/1"))
    yield* TestSpace.replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("refuses a signal whose payload does not fit at the door, without an event", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([place()])
    yield* space.step
    const refused = yield* Effect.flip(space.signal({ signal: "/signals/order/1/place", payload: { count: "2" } }))
    assert.strictEqual(refused.code, "signal/invalid")
    assert.include(refused.message, "/count is \"2\", expected a number")
    assert.strictEqual(problemOf(refused).status, 422)
    assert.strictEqual(problemOf(yield* Effect.flip(space.signal({ signal: "no path" }))).status, 400)
    yield* space.signal({ signal: "/signals/order/1/place", payload: { count: 2 } })
    yield* space.step
    assert.deepStrictEqual(yield* space.get("/data/orders/1"), { item: "tea", count: 2 })
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("makes a dead letter of a signal that waited while its type changed", () => Effect.gen(function*() {
    const kernel = yield* Kernel
    const before = Enzyme.make({ name: "place", query: "/signals/order/:id/place", run: () => undefined })
    const space = yield* TestKernel.space([before])
    const { id } = yield* space.signal({ signal: "/signals/order/1/place", payload: { count: "2" } })
    yield* kernel.unregister(before)
    yield* kernel.register(place())
    yield* space.step
    const receipt = yield* space.receipt(id)
    assert.strictEqual(receipt?.status, "dead")
    assert.strictEqual(receipt?.handlings[0]?.error?.code, "signal/invalid")
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("shows a reader the types of cells that it may know, and no list of the others", () => Effect.gen(function*() {
    const named = (name: string, path: "/data/orders/:id" | "/data/secret/:id" | "/data/secret/sum") =>
      Enzyme.make({
        name,
        query: `/signals/${name}`,
        declares: [path === "/data/secret/sum" ? Cell.of(path, Schema.Number) : Cell.family(path, Order)],
        run: () => undefined
      })
    const space = yield* TestKernel.space([
      named("orders", "/data/orders/:id"), named("notes", "/data/secret/:id"), named("sum", "/data/secret/sum")
    ])
    yield* space.step
    const web = space.reader({ name: "web", atoms: [] })
    assert.deepInclude(yield* web.get("/sys/schema/data/orders/{id}"), { path: "/data/orders/:id" })
    const withheld = ["/sys/schema", "/sys/schema/data/secret/{id}", "/sys/schema/data/secret/sum"]
    for (const address of withheld) assert.strictEqual((yield* Effect.flip(web.get(address))).code, "label/withheld", address)
    assert.strictEqual((yield* Effect.flip(web.get("/sys/schema/data/secret/none"))).code, "label/withheld")
    const keeper = space.reader({ name: "keeper", atoms: ["secret"] })
    for (const address of withheld) assert.isDefined(yield* keeper.get(address), address)
  }).pipe(Effect.provide(TestKernel.layer({ labels: { cells: { "/sys/**": [], "/data/secret/**": ["secret"] }, declassify: {} } }))))
})

describe("Declarations of several modules", () => {
  const joined = (first: Enzyme.Enzyme, second: Enzyme.Enzyme) => Effect.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel.register(first)
    const result = yield* Effect.result(kernel.register(second))
    return result._tag === "Failure" ? result.failure.message : undefined
  }).pipe(Effect.provide(TestKernel.layer()))

  it.effect.each([
    ["the same path with equal schemas", "/data/x/:a", Schema.String, "/data/x/:a", Schema.String.annotate({}), undefined],
    ["a narrower path", "/data/:a/:b", Schema.String, "/data/x/:b", Schema.Number, undefined],
    ["another length", "/data/:a", Schema.String, "/data/:a/b", Schema.Number, undefined],
    ["the same path with other schemas", "/data/x/:a", Schema.String, "/data/x/:a", Schema.Number, /another schema than "first"/],
    ["other names with other schemas", "/data/x/:a", Schema.String, "/data/x/:b", Schema.Number, /common cells/],
    ["crossing paths", "/data/:a/y", Schema.String, "/data/x/:b", Schema.String, /"first" declares \/data\/:a\/y: they name common cells/]
  ] as const)("with %s", ([_name, path, schema, other, otherSchema, reason]) => Effect.gen(function*() {
    const message = yield* joined(declaring("first", path, schema), declaring("second", other, otherSchema))
    if (reason === undefined) assert.isUndefined(message)
    else assert.match(message ?? "", reason)
  }))

  it.effect("with a schema that a function returns are checked when they are registered", () => Effect.gen(function*() {
    const late = Cell.family("/data/x/:a", () => Schema.NumberFromString as never)
    const message = yield* joined(TestSpace.put, Enzyme.make({ name: "late", query: "/signals/x", declares: [late], run: () => undefined }))
    assert.match(message ?? "", /its schema cannot be used: .*transforms values/)
  }))

  it.live("that contradict each other leave all modules of a reload as they were", () => Effect.gen(function*() {
    const root = yield* SqliteFolder.folder
    const write = (file: string, schema: string) =>
      writeFileSync(join(root, "enzymes", `${file}.ts`), `import * as Schema from "effect/Schema"
import { Cell, Enzyme } from "systole"
const Names = Cell.family("/data/names/:id", Schema.${schema})
export default Enzyme.make({ name: "${file}", query: "/signals/${file}", writes: [Names], run: () => undefined })
`)
    mkdirSync(join(root, "enzymes"))
    yield* Effect.gen(function*() {
      const kernel = yield* Kernel
      const look = Effect.map(kernel.enzymes, (all) => all.map(({ enzyme, hash }) => [enzyme.name, hash]))
      for (const file of ["a", "b"]) write(file, "String")
      let found = yield* Loader.register(yield* Loader.load(sources))
      assert.deepStrictEqual(found.broken, [])
      const before = yield* look
      write("b", "Number")
      found = yield* Loader.reload(found, sources)
      assert.match(found.broken[0]?.message ?? "", /b\.ts.*another schema than "a".*stay as they were/)
      assert.deepStrictEqual(yield* look, before)
      write("a", "Number")
      found = yield* Loader.reload(found, sources)
      assert.deepStrictEqual(found.broken, [])
      assert.notDeepEqual(yield* look, before)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provideMerge(HostModules.layer(root).pipe(Layer.provide(HostHash.layer))))))
  }))

  it.live("that a file exports beside its modules are those of the space, too", () => Effect.gen(function*() {
    const root = yield* SqliteFolder.folder
    mkdirSync(join(root, "enzymes"))
    writeFileSync(join(root, "enzymes", "names.ts"), `import * as Schema from "effect/Schema"
import { Cell, Enzyme, Signal } from "systole"
export const Names = Cell.family("/data/names/:id", Schema.String)
export const Rename = Signal.make("/signals/rename", Schema.String)
export const untyped = Cell.make("/data/plain")
export const other = 7
export const about = { declared: "2026-05-01", path: "/about" }
export default Enzyme.make({ name: "names", query: "/signals/names", run: () => undefined })
`)
    yield* Effect.gen(function*() {
      const found = yield* Loader.register(yield* Loader.load(sources))
      assert.deepStrictEqual(found.broken, [])
      const space = yield* (yield* Kernel).space("home")
      yield* space.step
      assert.deepStrictEqual(Object.keys((yield* space.get("/sys/schema")) as object).sort(), ["/data/names/:id", "/signals/rename"])
      assert.strictEqual((yield* TestSpace.refusal(space, space.set("/data/names/1", 1)))?.code, "cell/type")
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/rename", payload: 1 }))).code, "signal/invalid")
      yield* TestSpace.replays(space)
    }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provideMerge(HostModules.layer(root).pipe(Layer.provide(HostHash.layer))))))
  }))

  it.effect("check a value by the narrower path", () => Effect.gen(function*() {
    const wide = declaring("wide", "/data/x/:a", Schema.String)
    const one = Cell.of("/data/x/y", Schema.Number)
    const narrow = Enzyme.make({ name: "narrow", query: "/signals/n", declares: [one], run: () => undefined })
    const space = yield* TestKernel.space([wide, narrow])
    yield* space.step
    assert.isUndefined(yield* TestSpace.refusal(space, space.set("/data/x/y", 1)))
    assert.strictEqual((yield* TestSpace.refusal(space, space.set("/data/x/z", 1)))?.code, "cell/type")
  }).pipe(Effect.provide(TestKernel.layer())))
})

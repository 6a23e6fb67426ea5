import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Address, Cell, type CellMistyped, Computation, Enzyme, InvalidType, Link, Materializer, type Receipt, Signal } from "systole"
import { expectCell, expectReceipt, TestSpace } from "systole/testing"

const Order = Schema.Struct({
  item: Schema.String,
  count: Schema.Natural,
  status: Schema.Literals(["open", "paid"]),
  tags: Schema.Array(Schema.String)
})
const Orders = Cell.family("/data/orders/:id", Order)
const order = { item: "tea", count: 1, status: "open", tags: [] } as const
const cell = Orders.at({ id: "1" })

/** The error that a call throws. */
const thrown = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return error
  }
  return assert.fail("nothing was thrown")
}

/** A handler of one signal. */
const handler = (run: Enzyme.Definition["run"], more: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name: "handler", query: "/signals/go", retry: { attempts: 1 }, ...more, run })

/** Writes by the text of an address, without a check. */
const puts = Enzyme.make({
  name: "put",
  query: "/signals/put",
  run: (tx, { payload }) => {
    const [address, value] = payload as readonly [string, unknown]
    tx.set(address, value)
  }
})

const put = (space: TestSpace, address: string, value: unknown) => space.handled({ signal: "/signals/put", payload: [address, value] })

/** The outcome of one handling over a space with this order. */
const handled = async (run: Enzyme.Definition["run"], check?: (space: TestSpace) => Promise<void>) => {
  const seen: Array<Receipt> = []
  await TestSpace.use([puts, handler(run)], async (space) => {
    await put(space, "/data/orders/1", order)
    seen.push(await space.handled({ signal: "/signals/go" }))
    await check?.(space)
  })
  return seen[0]?.handlings[0]
}

describe("Cell.family", () => {
  it("names one cell for the same names, and each cell only once", () => {
    assert.strictEqual(cell.address.text, "/data/orders/1")
    assert.strictEqual(Orders.at({ id: "1" }), cell)
    const Lines = Cell.family("/data/:shop/lines/:line", Schema.Natural)
    assert.strictEqual(Lines.at({ shop: "a", line: "b" }).address.text, "/data/a/lines/b")
  })

  it.each(["", "a/b", "a#b", "*", "..", undefined])("refuses %j as a name", (id) => {
    assert.instanceOf(thrown(() => Orders.at({ id: id as string })), Address.InvalidAddress)
  })

  it.each([
    ["/data/*", /no \*/],
    ["data", /slash/],
    ["/data/x", /Cell\.of/],
    ["/data/:a/:a", /twice/]
  ])("refuses the path %s", (path, reason) => {
    const error = thrown(() => Cell.family(path, Schema.String))
    assert.instanceOf(error, InvalidType)
    assert.match((error as Error).message, reason)
  })

  class Thing extends Schema.Class<Thing>("Thing")({ a: Schema.String }) {}
  it.each([
    ["a transformation", Schema.NumberFromString, /it transforms values/],
    ["a transformation inside", Schema.Struct({ a: Schema.Array(Schema.NumberFromString) }), /its \/a\/0 transforms values/],
    ["a class", Thing, /transforms values/],
    ["a default", Schema.Struct({ a: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("x"))) }), /fills in a default/],
    ["a symbol", Schema.Struct({ a: Schema.Symbol }), /a symbol, which no cell holds/],
    ["an example", { item: "" }, /no Schema/]
  ])("refuses %s, with its place and a remedy", (_kind, schema, reason) => {
    const error = thrown(() => Cell.family("/data/x/:id", schema as never)) as InvalidType
    assert.strictEqual(error.code, "type/invalid")
    assert.match(error.message, reason)
  })

  it("takes a schema that refers to itself, and one that a function returns", () => {
    interface Tree { readonly name: string; readonly below: ReadonlyArray<Tree> }
    const Tree: Schema.Codec<Tree> = Schema.Struct({ name: Schema.String, below: Schema.Array(Schema.suspend(() => Tree)) })
    const tree = Cell.of("/data/tree", () => Tree as never)
    assert.deepStrictEqual(tree.type?.mistakes({ name: "a", below: [{ name: "b", below: [] }] }), [])
    assert.deepStrictEqual(tree.type?.mistakes({ name: "a", below: [{ name: 1, below: [] }] }), [
      { at: "/below/0/name", expected: "a text", got: "1" }
    ])
  })
})

describe("A typed write", () => {
  it("stores a value that fits", async () => {
    const handling = await handled((tx) => tx.set(cell, { ...order, status: "paid" }), (space) =>
      expectCell(space, "/data/orders/1", { ...order, status: "paid" }))
    assert.strictEqual(handling?.outcome, "ok")
  })

  it("is refused with every mistake, its place, what was expected and what was given", () => {
    const error = thrown(() => cell.type?.check({ item: 1, count: -1, status: "shipped" }, cell.address.text)) as CellMistyped
    assert.strictEqual(error.code, "cell/type")
    assert.deepStrictEqual(error.mistakes, [
      { at: "/item", expected: "a text", got: "1" },
      { at: "/count", expected: "a value greater than or equal to 0", got: "-1" },
      { at: "/status", expected: "\"open\" or \"paid\"", got: "\"shipped\"" },
      { at: "/tags", expected: "a list", got: "nothing" }
    ])
    assert.include(error.message, "The value for /data/orders/1 does not fit the type of /data/orders/:id: /item is 1, expected a text")
    assert.include(error.message, "change the schema")
  })

  const bad = "bad" as never
  it.each<[string, Enzyme.Definition["run"]]>([
    ["set", (tx) => tx.set(cell, { ...order, count: bad })],
    ["set of a part", (tx) => tx.set(Cell.into(cell, "status"), bad)],
    ["set of an item", (tx) => tx.set(Cell.into(Cell.into(cell, "tags"), 0), 1 as never)],
    ["merge", (tx) => tx.merge(cell, { count: bad })],
    ["append", (tx) => tx.append(Cell.into(cell, "tags"), 1 as never)],
    ["increment", (tx) => tx.increment(Cell.into(cell, "count"), -2)],
    ["a link", (tx) => tx.set(cell, Link.make("/data/orders/2") as never)],
    ["a refusal that is caught", (tx) => {
      try {
        tx.set(cell, bad)
      } catch {
        return "caught"
      }
    }]
  ])("by %s that does not fit aborts the run", async (_name, run) => {
    const handling = await handled(run, (space) => expectCell(space, "/data/orders/1", order))
    assert.strictEqual(handling?.error?.code, "cell/type")
  })

  it.each<[string, Enzyme.Definition["run"], object | undefined]>([
    ["deletes a cell", (tx) => tx.delete(cell), undefined],
    ["deletes a field", (tx) => tx.merge(cell, { tags: undefined }), { item: "tea", count: 1, status: "open" }],
    ["merges fields that fit, whatever the others are", (tx) => tx.merge(cell, { status: "paid" }), { ...order, status: "paid" }],
    ["appends", (tx) => tx.append(Cell.into(cell, "tags"), "a"), { ...order, tags: ["a"] }],
    ["increments", (tx) => tx.increment(Cell.into(cell, "count"), -1), { ...order, count: 0 }],
    ["by a text is not checked", (tx) => tx.set("/data/orders/1", { any: 1 }), { any: 1 }]
  ])("%s", async (_name, run, left) => {
    const handling = await handled(run, (space) => expectCell(space, "/data/orders/1", left))
    assert.strictEqual(handling?.outcome, "ok")
  })

  it("of a promise or a function asks whether it was awaited or called", async () => {
    const promised = await handled((tx) => tx.set("/data/x", { a: Promise.resolve(1) }))
    assert.match(promised?.error?.message ?? "", /did you forget await\?/)
    const called = await handled((tx) => tx.set("/data/x", { a: () => 1 }))
    assert.match(called?.error?.message ?? "", /did you forget to call it\?/)
  })

  it("checks a part of a union by the members that have it", () => {
    const paid = Schema.Struct({ is: Schema.Literal("paid"), cents: Schema.Natural })
    const { type } = Cell.of("/data/state", Schema.Union([Schema.Struct({ is: Schema.Literal("open") }), paid]))
    assert.deepStrictEqual(type?.into("is")?.mistakes("paid"), [])
    assert.deepStrictEqual(type?.into("is")?.mistakes("x"), [{ at: "", expected: "\"open\" or \"paid\"", got: "\"x\"" }])
    assert.strictEqual(type?.into("cents")?.mistakes(-1).length, 1)
  })
})

describe("Typed reads", () => {
  it("list the cells of a family with their names and values", () => {
    const Lines = Cell.family("/data/shops/:shop/lines/:line", Schema.Natural)
    return TestSpace.use([puts, 
      handler((tx) => ({ lines: tx.entries(Lines, { shop: "a" }), names: tx.list(Lines, { shop: "a" }) }))
    ], async (space) => {
      await put(space, "/data/shops/a/lines/x", 1)
      await put(space, "/data/shops/a/lines/y", 2)
      await put(space, "/data/shops/b/lines/z", 3)
      expectReceipt(await space.handled({ signal: "/signals/go" }), {
        value: {
          lines: [[{ line: "x", shop: "a" }, 1], [{ line: "y", shop: "a" }, 2]],
          names: ["x", "y"]
        }
      })
    })
  })

  it("refuse to list cells that are below the ones with names", async () => {
    const Notes = Cell.family("/data/orders/:id/note", Schema.String)
    const handling = await handled((tx) => tx.list(Notes))
    assert.match(handling?.error?.message ?? "", /does not end with a :name/)
  })

  const Named = Cell.family("/data/named/:id", Schema.Struct({ name: Schema.String }), {
    upgrade: (old) => ({ name: String(old) })
  })

  it("upgrade an older value, and store it with the next write alone", () => {
    const both = Computation.make({ name: "both", output: "/data/both", run: (tx) => tx.entries(Named).map(([, { name }]) => name) })
    const run: Enzyme.Definition["run"] = (tx) => {
      const old = Named.at({ id: "old" })
      const seen = { whole: tx.get(old), part: tx.get(Cell.into(old, "name")), keys: tx.keys(old), both: tx.get("/data/both") }
      tx.set(Named.at({ id: "copy" }), tx.peek(old))
      return seen
    }
    return TestSpace.use([puts, both, handler(run)], async (space) => {
      await put(space, "/data/named/old", "ann")
      await put(space, "/data/named/new", { name: "bob" })
      expectReceipt(await space.handled({ signal: "/signals/go" }), {
        value: { whole: { name: "ann" }, part: "ann", keys: ["name"], both: ["bob", "ann"] }
      })
      await expectCell(space, "/data/named/old", "ann")
      await expectCell(space, "/data/named/copy", { name: "ann" })
    })
  })

  it("go through the upgrade in a durable run, too, before and after its awaits", () =>
    TestSpace.use([puts, handler(async (tx) => {
      const before = tx.get(Named.at({ id: "old" }))
      await tx.sleep({ beats: 2 })
      return [before, tx.get(Named.at({ id: "old" }))]
    }, { durable: true })], async (space) => {
      await put(space, "/data/named/old", "ann")
      expectReceipt(await space.handled({ signal: "/signals/go" }), { value: [{ name: "ann" }, { name: "ann" }] })
    }))
})

describe("Nodes", () => {
  it("with a typed output fail with what does not fit", () => {
    const Total = Cell.of("/data/total", Schema.Natural)
    return TestSpace.use([puts, 
      Computation.make({ name: "total", output: Total, run: (tx) => Number(tx.get("/data/x")) }),
      Materializer.make({ name: "copy", writes: [Orders], run: (tx) => tx.get("/data/x") === 1 ? tx.set(cell, order) : undefined }),
      handler((tx) => tx.get(Total) ?? "none")
    ], async (space) => {
      await put(space, "/data/x", 1)
      expectReceipt(await space.handled({ signal: "/signals/go" }), { value: 1 })
      await expectCell(space, "/data/orders/1", order)
      await put(space, "/data/x", -1)
      await space.handled({ signal: "/signals/go" })
      assert.match(JSON.stringify(space.facts), /total.*expected a value greater than or equal to 0/)
    })
  })
})

describe("Signals of a type", () => {
  const Place = Signal.make("/signals/order/:id/place", Schema.Struct({ count: Schema.Natural }))
  const place = Enzyme.make({ name: "place", query: Place, run: (_tx, { params: { id }, payload: { count } }) => `${id} ${count}` })

  it("give their enzyme its names and payload", () =>
    TestSpace.use([puts, place], async (space) =>
      expectReceipt(await space.handled({ signal: "/signals/order/7/place", payload: { count: 3 } }), { value: "7 3" })))

  it("are sent with their names and payload, and refused with another", () => {
    const run: Enzyme.Definition["run"] = (tx, { payload }) =>
      void tx.signal(Place, { params: { id: "7" }, payload: payload as { readonly count: number } })
    return TestSpace.use([puts, place, handler(run)], async (space) => {
      const sent = await space.handled({ signal: "/signals/go", payload: { count: 2 } })
      assert.strictEqual(sent.status, "handled")
      const refused = await space.handled({ signal: "/signals/go", payload: { count: "2" } })
      assert.strictEqual(refused.handlings[0]?.error?.code, "signal/invalid")
      assert.match(refused.handlings[0]?.error?.message ?? "", /\/count is "2", expected a number/)
    })
  })

  it("from a run that names them by a text are dead letters if they do not fit", () => {
    const unfit = handler((tx) => tx.signal({ signal: "/signals/order/7/place", payload: { count: "2" } }))
    return TestSpace.use([puts, place, unfit], async (space) => {
      const { handlings: [handling] } = await space.handled({ signal: "/signals/go" })
      await space.idle()
      const receipt = await space.receipt(String(handling?.value))
      assert.strictEqual(receipt?.status, "dead")
      assert.strictEqual(receipt?.handlings[0]?.error?.code, "signal/invalid")
    })
  })

  it("cannot be handled by an enzyme with a payload of its own", () => {
    assert.throws(() => Enzyme.make({ name: "a", query: Place, payload: Schema.String, run: () => undefined }), /leave payload out/)
  })

  it("are heard by durable runs", () => {
    const Approved = Signal.make("/signals/approved", Schema.Struct({ by: Schema.String }))
    const ask = Enzyme.make({
      name: "ask",
      query: "/signals/ask",
      target: "required",
      bind: [Orders],
      durable: true,
      hears: [Approved],
      run: async (tx, { target }) => (await tx.waitForSignal(Approved, target)).payload.by
    })
    return TestSpace.use([puts, ask], async (space) => {
      const id = await space.signal({ signal: "/signals/ask", target: "/data/orders/1" })
      await space.idle()
      await space.signal({ signal: "/signals/approved", target: "/data/orders/1", payload: { by: "ann" } })
      await space.idle()
      expectReceipt(await space.receipt(id), { value: "ann" })
    })
  })
})

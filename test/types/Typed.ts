/**
 * The types of a project's cells and signals, as its author meets them. The compiler checks this file, and no test runs it.
 *
 * Each `@ts-expect-error` names the mistake of the line below it. A line that compiles is an error of its own.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { Cell, Computation, Enzyme, Link, Materializer, Retry, Signal, type Transaction, type Value } from "systole"

const Order = Schema.Struct({
  item: Schema.String,
  count: Schema.Natural,
  status: Schema.Literals(["open", "paid"]),
  note: Schema.optionalKey(Schema.String),
  tags: Schema.Array(Schema.String)
})
type Order = typeof Order.Type

const Orders = Cell.family("/data/orders/:id", Order)
const Lines = Cell.family("/data/shops/:shop/lines/:line", Schema.Struct({ cents: Schema.Natural }))
const Sold = Cell.of("/data/sold", Schema.Natural)
const Names = Cell.of("/data/names", Schema.Array(Schema.String))
const Place = Signal.make("/signals/order/:id/place", Schema.Struct({ count: Schema.Natural }))
const Approved = Signal.make("/signals/approved", Schema.Struct({ by: Schema.String }))
const Ping = Signal.make("/signals/ping", Schema.UndefinedOr(Schema.String))

const order: Order = { item: "tea", count: 1, status: "open", tags: [] }
const is = <A>(_: A): void => {}
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

/** Inferred types, without an annotation. */
export const inferred = (tx: Transaction): void => {
  const one = tx.get(Orders.at({ id: "1" }))
  same<typeof one, Order | undefined>(true)
  const passed = tx.peek(Sold)
  same<typeof passed, number | undefined>(true)
  const text = tx.get("/data/anything")
  same<typeof text, Value>(true)
  const untyped = tx.get(Cell.make("/data/anything"))
  is<Value>(untyped)
  for (const [{ id }, { count }] of tx.entries(Orders)) {
    same<typeof id, string>(true)
    same<typeof count, number>(true)
  }
  const lines = tx.entries(Lines, { shop: "a" })
  type Line = readonly [names: { readonly shop: string; readonly line: string }, value: { readonly cents: number }]
  same<typeof lines, ReadonlyArray<Line>>(true)
  is<ReadonlyArray<string>>(tx.list(Orders))
  is<ReadonlyArray<string>>(tx.list(Lines, { shop: "a" }))
  tx.set(Orders.at({ id: "1" }), order)
  tx.set(Orders.at({ id: "1" }), undefined)
  tx.set(Orders.at({ id: "1" }), { ...order, note: "gift", status: "paid" })
  tx.set(Cell.into(Orders.at({ id: "1" }), "status"), "paid")
  tx.set(Sold, tx.entries(Orders).reduce((sum, [, { count }]) => sum + count, 0))
  tx.set("/data/untyped", order)
  tx.set("/data/untyped", { any: [1, "b", new Date(0)] })
  tx.merge(Orders.at({ id: "1" }), { status: "paid" })
  tx.merge(Orders.at({ id: "1" }), { note: undefined })
  tx.append(Names, "a", "b")
  tx.append(Cell.into(Orders.at({ id: "1" }), "tags"), "new")
  tx.increment(Sold)
  tx.increment(Cell.into(Orders.at({ id: "1" }), "count"), 2)
  tx.signal(Place, { params: { id: "1" }, payload: { count: 1 }, target: Orders.at({ id: "1" }) })
  tx.signal(Place.at({ id: "1" }), { payload: { count: 1 }, at: { ms: 10 } })
  tx.signal(Ping, {})
  tx.signal({ signal: "/signals/anything", payload: order })
  tx.hear(Approved, Orders.at({ id: "1" }))
  tx.bind(Orders.at({ id: "1" }), "place_order")
}

export const modules = [
  Enzyme.make({
    name: "typed",
    query: Place,
    bind: [Orders, { cell: Orders, propagate: false }],
    writes: [Orders, Sold, "/data/other"],
    reads: (event) => [Orders.at({ id: event.params.id })],
    run: (tx, { params: { id }, payload: { count } }) => tx.set(Cell.into(Orders.at({ id }), "count"), count)
  }),
  Enzyme.make({
    name: "text",
    query: "/signals/pay/:order/:line",
    run: (_tx, { params, payload }) => {
      same<typeof params, { readonly order: string; readonly line: string }>(true)
      same<typeof payload, unknown>(true)
    }
  }),
  Enzyme.make({
    name: "durable",
    query: "/signals/ask",
    durable: true,
    target: "required",
    hears: [Approved, { signal: Place.at({ id: "1" }), target: Sold }],
    run: async (tx, { target }) => (await tx.waitForSignal(Approved, target)).payload.by.length
  }),
  Computation.make({ name: "sum", output: Sold, run: (tx) => tx.entries(Orders).reduce((sum, [, { count }]) => sum + count, 0) }),
  Computation.make({ name: "untyped", output: "/data/x", reads: [Sold], run: () => ({ any: 1 }) }),
  Materializer.make({ name: "copies", writes: [Orders], run: (tx) => tx.set(Orders.at({ id: "2" }), order) })
]

/** Lines that must not compile. */
export const refused = (tx: Transaction): void => {
  const cell = Orders.at({ id: "1" })
  // @ts-expect-error: the value is optional, and an absent order has no count
  is(tx.get(cell).count)
  // @ts-expect-error: an order has no such field
  is(tx.get(cell)?.price)
  // @ts-expect-error: a count is no text
  is<string>(tx.get(Sold))
  // @ts-expect-error: a peeked value is optional, too
  is<number>(tx.peek(Sold))
  // @ts-expect-error: the value at a text is not known
  is<number>(tx.get("/data/sold"))
  // @ts-expect-error: a cell of a text tells no type
  is<Order>(tx.get(Cell.make("/data/orders/1")))
  // @ts-expect-error: the family has no such name
  Orders.at({ order: "1" })
  // @ts-expect-error: the name is missing
  Orders.at({})
  // @ts-expect-error: a name is a text
  Orders.at({ id: 1 })
  // @ts-expect-error: one of two names is missing
  Lines.at({ shop: "a" })
  // @ts-expect-error: a field has another type
  tx.set(cell, { ...order, count: "1" })
  // @ts-expect-error: a field is missing
  tx.set(cell, { item: "tea", count: 1, status: "open" })
  // @ts-expect-error: there is no such field
  tx.set(cell, { ...order, colour: "red" })
  // @ts-expect-error: the text is none of the literals
  tx.set(cell, { ...order, status: "shipped" })
  // @ts-expect-error: an optional field may be absent, and is not null
  tx.set(cell, { ...order, note: null })
  // @ts-expect-error: an order is no number
  tx.set(cell, 1)
  // @ts-expect-error: null is no order; undefined deletes
  tx.set(cell, null)
  // @ts-expect-error: a number is no text
  tx.set(Sold, "1")
  // @ts-expect-error: a promise is no order; await it
  tx.set(cell, Promise.resolve(order))
  // @ts-expect-error: a promise is no value, at a text either; await it
  tx.set("/data/anything", Promise.resolve(1))
  // @ts-expect-error: what a request gives is known once it is awaited
  tx.set("/data/anything", tx.io.fetch("https://example.com"))
  // @ts-expect-error: a function is no value; call it
  tx.set("/data/anything", () => 1)
  // @ts-expect-error: a function is no number; call it
  tx.set(Sold, () => 1)
  // @ts-expect-error: a link is no order
  tx.set(cell, Link.make("/data/orders/2"))
  // @ts-expect-error: an item of another family
  tx.set(cell, tx.get(Lines.at({ shop: "a", line: "1" })))
  // @ts-expect-error: a family is no cell; name one with at
  tx.get(Orders)
  // @ts-expect-error: a family is no cell; name one with at
  tx.set(Orders, order)
  // @ts-expect-error: a part has its own type
  tx.set(Cell.into(cell, "status"), "shipped")
  // @ts-expect-error: an order has no such part
  Cell.into(cell, "colour")
  // @ts-expect-error: a number has no parts
  Cell.into(Sold, "count")
  // @ts-expect-error: a merged field has its own type
  tx.merge(cell, { count: "1" })
  // @ts-expect-error: there is no such field to merge
  tx.merge(cell, { colour: "red" })
  // @ts-expect-error: a number has no fields to merge
  tx.merge(Sold, { count: 1 })
  // @ts-expect-error: an item has another type
  tx.append(Names, 1)
  // @ts-expect-error: an order is no list
  tx.append(cell, order)
  // @ts-expect-error: a list is no number
  tx.increment(Names)
  // @ts-expect-error: a status is no number
  tx.increment(Cell.into(cell, "status"))
  // @ts-expect-error: the shop is missing
  tx.entries(Lines)
  // @ts-expect-error: a family with one name has none before it
  tx.entries(Orders, { id: "1" })
  // @ts-expect-error: a cell has no entries
  tx.entries(Sold)
  // @ts-expect-error: the shop is missing
  tx.list(Lines)
  // @ts-expect-error: the payload is missing
  tx.signal(Place, { params: { id: "1" } })
  // @ts-expect-error: the name is missing
  tx.signal(Place, { payload: { count: 1 } })
  // @ts-expect-error: a payload of another type
  tx.signal(Place, { params: { id: "1" }, payload: { count: "1" } })
  // @ts-expect-error: a signal that is named has no open names
  tx.signal(Place.at({ id: "1" }), { params: { id: "1" }, payload: { count: 1 } })
  // @ts-expect-error: the names of the signal are open; name one with at
  tx.waitForSignal(Place, cell)
  // @ts-expect-error: the names of the signal are open; name one with at
  tx.hear(Place, cell)
}

/** Modules and declarations that must not compile. */
export const refusedModules = () => [
  // @ts-expect-error: a schema that transforms, because cells hold what the schema gives, not what it takes
  Cell.of("/data/x", Schema.NumberFromString),
  // @ts-expect-error: an Option is no value of a cell
  Cell.of("/data/x", Schema.Option(Schema.String)),
  // @ts-expect-error: a symbol is no value of a cell
  Cell.of("/data/x", Schema.Symbol),
  // @ts-expect-error: an example is no schema
  Cell.family("/data/x/:id", { item: "" }),
  // @ts-expect-error: a schema that transforms a payload
  Signal.make("/signals/x", Schema.Struct({ at: Schema.NumberFromString })),
  // @ts-expect-error: the result has another type than the output
  Computation.make({ name: "a", output: Sold, run: () => "1" }),
  // @ts-expect-error: the result lacks a field of the output
  Computation.make({ name: "b", output: Orders.at({ id: "1" }), run: () => ({ item: "tea" }) }),
  // @ts-expect-error: a computation gives its result at once
  Computation.make({ name: "c", output: Sold, run: async () => 1 }),
  // @ts-expect-error: the query captures no such name
  Enzyme.make({ name: "d", query: "/signals/pay/:order", run: (_, { params }) => params.line }),
  // @ts-expect-error: the signal has no such name
  Enzyme.make({ name: "e", query: Place, run: (_, { params }) => params.order }),
  // @ts-expect-error: the payload has no such field
  Enzyme.make({ name: "f", query: Place, run: (_, { payload }) => payload.price }),
  // @ts-expect-error: the payload of a text query is not known
  Enzyme.make({ name: "g", query: "/signals/pay", run: (_, { payload }) => payload.count }),
  // @ts-expect-error: a number is no cell
  Enzyme.make({ name: "h", query: "/signals/pay", writes: [17], run: () => undefined }),
  // @ts-expect-error: a durable run hears signals with a name each
  Enzyme.make({ name: "i", query: "/signals/pay", durable: true, hears: [Place], run: () => undefined }),
  // @ts-expect-error: an upgrade gives what the cell holds
  Cell.of("/data/x", Schema.Natural, { upgrade: (old) => String(old) })
]

export const times = [
  Enzyme.make({ name: "t1", query: "/signals/t", retry: { attempts: 3 }, run: () => undefined }),
  Enzyme.make({ name: "t2", query: "/signals/t", retry: { attempts: 3, beats: 2 }, run: () => undefined }),
  Enzyme.make({ name: "t3", query: "/signals/t", retry: { delay: "1s", factor: 2, max: "1h", jitter: 0.1 }, run: () => undefined }),
  Enzyme.make({ name: "t4", query: "/signals/t", schedule: "0 9 * * MON-FRI", run: () => undefined }),
  Enzyme.make({ name: "t5", query: "/signals/t", schedule: { every: "5m", spaces: ["home"] }, run: () => undefined }),
  Enzyme.make({ name: "t6", query: "/signals/t", schedule: { cron: "0 9 * * *", timezone: "Europe/Vienna" }, run: () => undefined }),
  new Retry({ reason: "later", after: "10s" }),
  new Retry({ reason: "later", after: new Date(0) }),
  new Retry({ reason: "later", after: { beats: 3 } })
]

export const wrongTimes = () => [
  // @ts-expect-error: a wait is in beats or by the clock
  Enzyme.make({ name: "u1", query: "/signals/t", retry: { beats: 2, delay: "1s" }, run: () => undefined }),
  // @ts-expect-error: a factor without a first wait
  Enzyme.make({ name: "u2", query: "/signals/t", retry: { factor: 2 }, run: () => undefined }),
  // @ts-expect-error: a wait is a text with its unit
  Enzyme.make({ name: "u3", query: "/signals/t", retry: { delay: 1000 }, run: () => undefined }),
  // @ts-expect-error: an interval has no time zone
  Enzyme.make({ name: "u4", query: "/signals/t", schedule: { every: "5m", timezone: "UTC" }, run: () => undefined }),
  // @ts-expect-error: an interval or an expression, not both
  Enzyme.make({ name: "u5", query: "/signals/t", schedule: { every: "5m", cron: "* * * * *" }, run: () => undefined }),
  // @ts-expect-error: an interval is a text with its unit
  Enzyme.make({ name: "u6", query: "/signals/t", schedule: { every: 300 }, run: () => undefined }),
  // @ts-expect-error: the spaces are a list
  Enzyme.make({ name: "u7", query: "/signals/t", schedule: { every: "5m", spaces: "home" }, run: () => undefined }),
  // @ts-expect-error: a number has no unit
  new Retry({ reason: "later", after: 10 })
]

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Cell, Computation, Enzyme, Signal } from "systole"
import { rich } from "systole/rich"
import { RequestFailed } from "../../src/client/index.ts"
import * as TestIngress from "../ingress/TestIngress.ts"
import { clientOf, ManualClock } from "./TestClient.ts"

const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
const Orders = Cell.family("/data/orders/:id", Order)
const Total = Cell.of("/data/total", Schema.Natural)
const Place = Signal.make("/signals/order/:id/place", Order)
const Fail = Signal.make("/signals/fail", Schema.UndefinedOr(Schema.String))

const place = Enzyme.make({
  name: "place",
  query: Place,
  writes: [Orders],
  run: (tx, { params: { id }, payload }) => {
    tx.set(Orders.at({ id }), payload)
    return payload.count
  }
})
const total = Computation.make({
  name: "total",
  output: Total,
  run: (tx) => [...tx.entries(Orders)].reduce((sum, [, { count }]) => sum + count, 0)
})
const fail = Enzyme.make({
  name: "fail",
  query: Fail,
  run: () => {
    throw new Error("no luck")
  }
})

const keep = Enzyme.make({ name: "keep", query: "/signals/keep", run: (tx, { payload }) => tx.set("/data/kept", payload) })

const order: typeof Order.Type = { item: "tea", count: 2 }

const test = (name: string, run: (app: TestIngress.TestIngress, shop: ReturnType<ReturnType<typeof clientOf>["space"]>) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(TestIngress.serve({ enzymes: [place, fail, keep], nodes: [total] }), (app) =>
    Effect.promise(async () => {
      await clientOf(app).call("PUT /v1/spaces/:space", { params: { space: "shop" } })
      await run(app, clientOf(app).space("shop"))
    })))

/** The failure of a request. */
const failure = async (request: Promise<unknown>): Promise<RequestFailed> => {
  const error = await request.then(() => assert.fail("no failure"), (error: unknown) => error)
  assert.instanceOf(error, RequestFailed)
  return error
}

describe("The client of a space", () => {
  test("sends a signal with its names and payload, and waits for its receipt", async (_, shop) => {
    const sent = await shop.signal(Place, { params: { id: "17" }, payload: order, wait: 10 })
    assert.deepInclude(sent.receipt, { status: "handled", own: sent.own })
    assert.deepStrictEqual(sent.receipt?.handlings.map(({ enzyme, value }) => [enzyme, value]), [["place", 2]])
    assert.deepStrictEqual(await shop.receipt(sent.id), await shop.receipt(sent.own))
    assert.deepStrictEqual(await shop.get(Orders.at({ id: "17" })), order)
  })

  test("sends the same own id as the same event", async (_, shop) => {
    const send = () => shop.signal(Place, { params: { id: "17" }, payload: order, id: "order-17" })
    const [first, second] = [await send(), await send()]
    assert.strictEqual(first.id, second.id)
    assert.strictEqual(first.own, "order-17")
  })

  test("gives no value for a cell that holds none, writes one, and removes it", async (_, shop) => {
    assert.isUndefined(await shop.get(Orders.at({ id: "1" })))
    const { beat } = await shop.set(Orders.at({ id: "1" }), order)
    assert.isAtLeast(beat, 0)
    assert.strictEqual(await shop.get("/data/orders/1#/count"), 2)
    await shop.set("/data/cart?scope=user:ann@x~1", ["tea"])
    assert.deepStrictEqual(await shop.get("/data/cart?scope=user:ann@x~1#/0"), "tea")
    await shop.remove(Orders.at({ id: "1" }))
    assert.isUndefined(await shop.get(Orders.at({ id: "1" })))
  })

  test("follows a derived cell by its values", async (_, shop) => {
    const add = (id: string, count: number) => shop.set(Orders.at({ id }), { item: "tea", count })
    await add("1", 1)
    await shop.get(Total, { pull: true })
    const seen: Array<number | undefined> = []
    for await (const { value } of shop.watch(Total)) {
      seen.push(value)
      if (seen.length === 3) break
      await add("2", seen.length)
    }
    assert.deepStrictEqual(seen, [1, 2, 3])
  })

  test("calls a function with each value until its signal is aborted", async (_, shop) => {
    await shop.set("/data/seen", 0)
    const ending = new AbortController()
    const seen: Array<unknown> = []
    await shop.watch("/data/seen", { abort: ending.signal }).each(({ value }) => {
      seen.push(value)
      if (value === 0) ending.abort()
    })
    assert.strictEqual(seen.at(-1), 0)
  })

  test("fails with the code of a refusal", async (_, shop) => {
    const refused = await failure(shop.set("/data/orders/1", { item: 5 }))
    assert.deepInclude({ ...refused }, { _tag: "RequestFailed", code: "cell/type", status: 422 })
    assert.include(refused.detail, "/data/orders/:id")
    assert.isFalse(refused.isUnknown)
    assert.strictEqual((await failure(shop.signal("no path"))).code, "signal/invalid")
  })

  test("tells that a value is still the one that a header names, and writes on that condition", async (app, shop) => {
    await shop.set("/data/a", 1)
    const etag = (await app.fetch("/v1/spaces/shop/cells/data/a")).headers.get("etag") ?? assert.fail("no tag")
    const headers = { "if-none-match": etag }
    assert.isUndefined(await shop.call("GET /cells/*", { params: { "*": "data/a" }, headers }))
    assert.strictEqual((await failure(shop.get("/data/a", { headers }))).code, "cell/unchanged")
    await shop.set("/data/a", 2, { headers: { "if-match": etag } })
    assert.strictEqual((await failure(shop.set("/data/a", 3, { headers: { "if-match": etag } }))).code, "cell/changed")
    assert.strictEqual(await shop.get("/data/a", { headers }), 2)
  })

  test("keeps content by its hash", async (_, shop) => {
    const bytes = new TextEncoder().encode("tea")
    const { hash, size } = await shop.blobs.put(bytes)
    assert.strictEqual(size, 3)
    assert.deepStrictEqual(await shop.blobs.get(hash), bytes)
  })

  test("refuses a value that JSON has no form for, in place of another one", async (_, shop) => {
    for (const value of [new Date(0), new Map(), { a: [1n] }, [Number.NaN], { at: new URL("http://a") }, new Uint8Array(1)]) {
      assert.strictEqual((await failure(shop.set("/data/a", value))).code, "value/rich")
    }
    assert.strictEqual((await failure(shop.set("/data/a", undefined))).code, "value/invalid")
  })

  test("writes and reads values that are more than JSON in their form, in cells and in payloads", async (app) => {
    const shop = clientOf(app, { rich }).space("shop")
    const value = { at: new Date(0), counts: new Map([["tea", 2]]) }
    await shop.set("/data/a", value)
    assert.deepStrictEqual(await shop.get("/data/a"), value)
    assert.strictEqual((await shop.signal(Place, { params: { id: "17" }, payload: order, wait: 10 })).receipt?.status, "handled")
    for (const payload of [value, new Date(5), 12n, new Uint8Array([1, 2]), [{ at: new URL("http://a/") }], { $rich: 1 }, "plain"]) {
      assert.strictEqual((await shop.signal("/signals/keep", { payload, wait: 10 })).receipt?.status, "handled")
      assert.deepStrictEqual(await shop.get("/data/kept"), payload)
    }
    assert.strictEqual((await failure(clientOf(app).space("shop").signal("/signals/keep", { payload: value }))).code, "value/rich")
  })

  test("writes at the place that an address names, also where a key has the sign before it", async (_, shop) => {
    await shop.set("/data/a", { x: 1 })
    await shop.set("/data/a#/x#y", 2)
    await shop.set("/data/a?scope=user:42#/z#", 3)
    assert.deepStrictEqual(await shop.get("/data/a"), { x: 1, "x#y": 2 })
    assert.deepStrictEqual(await shop.get("/data/a?scope=user:42"), { "z#": 3 })
    for (const write of [shop.set("data/a", 1), shop.remove("data/a")]) assert.strictEqual((await failure(write)).code, "address/invalid")
  })

  test("sends no request to another path than the one that it names", async (app, shop) => {
    await shop.set("/data/a", 1)
    const refused = [
      shop.remove("/../../shop"), shop.get("/data/./a"), shop.receipt(".."),
      clientOf(app).call("DELETE /v1/spaces/:space", { params: { space: "." } })
    ]
    for (const request of refused) assert.strictEqual((await failure(request)).code, "address/invalid")
    assert.strictEqual(await shop.get("/data/a"), 1)
  })

  test("sends a stream as content, and does not send it again", async (_, shop) => {
    const stream = () => new Blob(["tea"]).stream()
    const { hash } = await shop.blobs.put(stream())
    assert.deepStrictEqual(await shop.blobs.get(hash), new TextEncoder().encode("tea"))
    let count = 0
    const full = async () => {
      count++
      return Response.json({ code: "inbox/full", status: 429, detail: "full" }, { status: 429 })
    }
    const refused = await failure(clientOf({ fetch: full }, { platform: new ManualClock().platform }).space("shop").blobs.put(stream()))
    assert.deepStrictEqual([refused.code, count], ["inbox/full", 1])
  })
})

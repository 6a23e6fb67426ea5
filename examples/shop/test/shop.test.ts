import { describe, it } from "@effect/vitest"
import { rejects } from "node:assert/strict"
import { expectCell, expectReceipt, TestSpace } from "systole/testing"
import dashboard from "../enzymes/dashboard.ts"
import placeOrder from "../enzymes/place_order.ts"
import receiveGoods from "../enzymes/receive_goods.ts"
import stock from "../enzymes/stock.ts"

const TEA = "/data/products/tea"

/** A shop with so many packs of tea at 4 each. */
const shop = (packs: number, body: (space: TestSpace) => Promise<void>) =>
  TestSpace.use([placeOrder, receiveGoods, stock, dashboard], async (space) => {
    await space.handled({ signal: "/signals/goods/receive", target: TEA, payload: { price: 4, count: packs } })
    await body(space)
  })

const order = (count: number) => ({ signal: "/signals/order/place", target: TEA, payload: { count } })

describe("The shop", () => {
  it("adds what comes to what was received", () =>
    shop(5, async (space) => {
      await space.handled({ signal: "/signals/goods/receive", target: TEA, payload: { price: 5, count: 2 } })
      await expectCell(space, TEA, { price: 5, received: 7 })
      await expectCell(space, "/data/stock", { tea: 7 })
    }))

  it("sells as much as is left, and no more", () =>
    shop(5, async (space) => {
      expectReceipt(await space.handled(order(3)), { value: { placed: true, left: 2 } })
      expectReceipt(await space.handled(order(3)), { value: { placed: false, left: 2 } })
      await expectCell(space, "/data/stock", { tea: 2 })
      await expectCell(space, "/data/dashboard", { orders: 1, takings: 12, items: [{ item: "tea", price: 4, left: 2 }] })
    }))

  it("handles orders that come at once one after another", () =>
    shop(2, async (space) => {
      const ids = [await space.signal(order(1)), await space.signal(order(1)), await space.signal(order(1))]
      await space.idle()
      for (const [i, left] of [1, 0, 0].entries()) {
        expectReceipt(await space.receipt(ids[i] ?? ""), { value: { placed: i < 2, left } })
      }
    }))

  it("refuses an order that is no number of packs", () =>
    shop(2, (space) => rejects(space.signal(order(-1)), { code: "signal/invalid" })))
})

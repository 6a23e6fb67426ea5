import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Page from "../../src/cell/Page.ts"
import { Cell, Link, Signal } from "../../src/cell/index.ts"

const Order = Schema.Struct({ lines: Schema.Array(Schema.Struct({ "a/b": Schema.String })) })

/** The texts that a project's declarations give. */
const texts = (cells: { readonly Cell: typeof Cell; readonly Signal: typeof Signal; readonly Link: Pick<typeof Link, "make"> }) => {
  const { Cell, Link, Signal } = cells
  const Orders = Cell.family("/data/shops/:shop/orders/:id", () => Order)
  const order = Orders.at({ shop: "bern", id: "sku:17" })
  return [
    String(Orders), String(order), String(Cell.into(Cell.into(order, "lines"), 0)),
    String(Cell.into(Cell.into(Cell.into(order, "lines"), 3), "a/b")),
    String(Cell.of("/data/sold", () => Schema.Natural)), String(Cell.make("/data/cart?scope=user:ann#/a~1b")),
    String(Signal.make("/signals/order/:id/place", () => Order).at({ id: "1" })), Link.make("/data/a")
  ]
}

describe("Cells in a page", () => {
  it("have the texts of those of the runtime", () => {
    assert.deepStrictEqual(texts(Page as unknown as Parameters<typeof texts>[0]), texts({ Cell, Link, Signal }))
  })

  it("refuse a name that would be another path, and never ask for a schema", () => {
    const family = Page.Cell.family("/data/orders/:id")
    for (const id of ["a/b", "", "..", "a?b", "a#b"]) assert.throws(() => family.at({ id }), /:id names nothing/)
    assert.throws(() => family.at({}), /it has no value/)
  })
})

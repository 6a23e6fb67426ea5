import { assert, describe, it } from "@effect/vitest"
import * as Nearest from "../../src/cell/Nearest.ts"

const queries = ["/signals/order/place", "/signals/order/:id/pay", "/signals/count"]

describe("Nearest", () => {
  it("is the text with the fewest edits", () => {
    assert.strictEqual(Nearest.of("/signals/order/plaec", queries), "/signals/order/place")
    assert.strictEqual(Nearest.of("/signals/cont", queries), "/signals/count")
    assert.strictEqual(Nearest.of("/signals/order/place", queries), "/signals/order/place")
  })

  it("is absent if each text differs in over a third", () => {
    assert.isUndefined(Nearest.of("/data/x", queries))
    assert.isUndefined(Nearest.of("", queries))
    assert.isUndefined(Nearest.of("/signals/count", []))
  })

  it("compares the first of many and long texts", () => {
    const many = Array.from({ length: 201 }, (_, i) => i === 200 ? "/signals/count" : `/other/${i}`)
    assert.isUndefined(Nearest.of("/signals/count", many))
    assert.strictEqual(Nearest.of("a".repeat(100_000), ["a".repeat(90_000)]), "a".repeat(90_000))
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Link from "../../src/cell/Link.ts"
import * as Value from "../../src/cell/Value.ts"

describe("Link", () => {
  it("holds the canonical text of its address", () => {
    const link = Link.make("/a?scope=space#/x")
    assert.deepStrictEqual(link, { $link: "/a#/x" })
    assert.strictEqual(Link.target(link).id, "/a")
    assert.throws(() => Link.make("a"), "is not an address")
  })

  it("is distinguished from values that resemble one", () => {
    assert.isTrue(Link.is(Link.make("/a")))
    for (const other of [undefined, null, "/a", {}, [], { $link: 1 }, { $link: "/a", more: 1 }]) assert.isFalse(Link.is(other))
  })

  it("is found along a path, where it first stands", () => {
    const link = Link.make("/b")
    const value = Value.canonical(link).value
    assert.deepStrictEqual(Link.along({ a: { b: value } }, ["a", "b", "c"]), { link, depth: 2 })
    assert.deepStrictEqual(Link.along(value, []), { link, depth: 0 })
    assert.isUndefined(Link.along({ a: { b: value } }, ["a"]))
    assert.isUndefined(Link.along({ a: 1 }, ["a", "b"]))
  })
})

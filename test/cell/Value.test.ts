import { assert, describe, it } from "@effect/vitest"
import * as Value from "../../src/cell/Value.ts"
import { any, twin } from "./Values.ts"
import * as Trials from "../support/Trials.ts"

const nest = (levels: number): unknown => levels === 0 ? 1 : { a: nest(levels - 1) }
const refusal = (value: unknown): Value.InvalidValue => {
  try {
    Value.canonical(value)
  } catch (error) {
    if (error instanceof Value.InvalidValue) return error
    throw error
  }
  throw new Error("it was not refused")
}

describe("Value", () => {
  describe("canonical", () => {
    it("puts keys in order", () => {
      const { value } = Value.canonical({ b: 1, a: { d: 1, e: 3, c: 2 }, B: 3 })
      assert.strictEqual(JSON.stringify(value), "{\"B\":3,\"a\":{\"c\":2,\"d\":1,\"e\":3},\"b\":1}")
    })

    it("keeps and freezes an object that is in order", () => {
      const value = { a: [1, { b: 2 }], c: "x" }
      assert.strictEqual(Value.canonical(value).value, value)
      assert.isTrue(Object.isFrozen(value) && Object.isFrozen(value.a) && Object.isFrozen(value.a[1]))
    })

    it("leaves an object that is not in order as it was, and freezes its copy", () => {
      const value = { b: 1, a: 2 }
      const copy = Value.canonical(value).value
      assert.notStrictEqual(copy, value)
      assert.isFalse(Object.isFrozen(value))
      assert.isTrue(Object.isFrozen(copy))
    })

    it("makes -0 to 0, at every depth", () => {
      const { value } = Value.canonical({ a: -0, b: [-0], m: new Map([[-0, -0]]) }) as { readonly value: any }
      assert.isTrue(Object.is(value.a, 0) && Object.is(value.b[0], 0))
      assert.isTrue([...value.m].flat().every((item: number) => Object.is(item, 0)))
    })

    it("makes objects without a prototype ordinary, and holes undefined", () => {
      const bare = Object.assign(Object.create(null), { b: 1, a: 2 })
      assert.deepStrictEqual(Value.canonical(bare).value, { a: 2, b: 1 })
      // oxlint-disable-next-line no-sparse-arrays
      const holes = Value.canonical([, 1]).value as ReadonlyArray<unknown>
      assert.isTrue(0 in holes)
    })

    it("says whether JSON is enough", () => {
      assert.isFalse(Value.canonical({ a: [null, true, 1, "x"] }).rich)
      for (const rich of [1n, new Date(0), new Map(), new Set(), new URL("a:b"), new Uint8Array(1), { a: undefined }, [undefined]]) {
        assert.isTrue(Value.canonical(rich).rich)
        assert.isTrue(Value.canonical({ z: [rich] }).rich)
      }
      assert.isFalse(Value.canonical(1).rich)
    })

    it.each(["__proto__", "constructor", "prototype"])("refuses the key %s wherever it stands", (key) => {
      const evil = JSON.parse(`{"x":[{"${key}":{}}]}`) as unknown
      const error = refusal({ ...evil as object })
      assert.strictEqual(error.code, "value/invalid")
      assert.strictEqual(error.at, "/x/0")
      assert.include(error.message, `"${key}" is not allowed`)
      assert.strictEqual(refusal(new Map([["k", JSON.parse(`{"${key}":1}`)]])).at, "/entry 0")
    })

    it("takes 64 levels and refuses 65, and a value that contains itself", () => {
      assert.strictEqual(Value.canonical(nest(Value.MAX_DEPTH)).rich, false)
      assert.include(refusal(nest(Value.MAX_DEPTH + 1)).message, "deeper than 64 levels")
      const loop: Array<unknown> = []
      loop.push(loop, loop)
      assert.include(refusal(loop).message, "deeper than 64 levels")
    })

    it("takes 64 KiB of bytes and refuses more", () => {
      assert.isTrue(Value.canonical(new Uint8Array(Value.MAX_INLINE_BYTES)).rich)
      assert.include(refusal({ b: new Uint8Array(Value.MAX_INLINE_BYTES + 1) }).message, "65537 bytes are more than the 65536")
    })

    it.each([
    Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, () => 1, Symbol("s"), new Date(Number.NaN), /x/, new Error("x"),
    new (class Point {})(), new WeakMap(), Promise.resolve()
  ])(
      "refuses %s and says where it stood",
      (value) => {
        assert.strictEqual(refusal({ a: [value] }).at, "/a/0")
      }
    )

    it("copies mutable values", () => {
      const when = new Date(5)
      const bytes = new Uint8Array([1])
      const { value } = Value.canonical({ bytes, when }) as { readonly value: any }
      when.setTime(9)
      bytes[0] = 9
      assert.strictEqual(value.when.getTime(), 5)
      assert.strictEqual(value.bytes[0], 1)
    })

    it.prop("is its own canonical form", [any], ([value]) => {
      const once = Value.canonical(value)
      const twice = Value.canonical(once.value)
      assert.isTrue(Value.equals(once.value, twice.value))
      assert.strictEqual(twice.rich, once.rich)
    }, Trials.draws())
  })

  describe("equals", () => {
    it.prop("holds between a value and its twin", [any], ([value]) => {
      assert.isTrue(Value.equals(Value.canonical(value).value, Value.canonical(twin(value)).value))
    }, Trials.draws())

    it.prop("is symmetric, and agrees with the assertion library", [any, any], ([a, b]) => {
      const left = Value.canonical(a).value
      const right = Value.canonical(b).value
      assert.strictEqual(Value.equals(left, right), Value.equals(right, left))
      let deep = true
      try {
        assert.deepStrictEqual([left], [right])
      } catch {
        deep = false
      }
      // Order matters in maps and sets of canonical values, but not to the library.
      if (Value.equals(left, right)) assert.isTrue(deep)
    }, Trials.draws())

    it("tells kinds apart", () => {
      const kinds = [undefined, null, false, 0, "", 0n, [], {}, new Map(), new Set(), new Date(0), new URL("a:b"), new Uint8Array(0)]
      for (const a of kinds) for (const b of kinds) assert.strictEqual(Value.equals(a, b), a === b)
      assert.isFalse(Value.equals({ a: undefined }, {}))
      assert.isFalse(Value.equals({ a: undefined }, { b: undefined }))
      assert.isFalse(Value.equals([1], [1, 2]))
      assert.isFalse(Value.equals(new Set([1, 2]), new Set([2, 1])))
    })
  })

  describe("at", () => {
    const value = { a: [{ b: 1 }], "": 2, m: new Map([["k", 1]]), s: "text" }

    it("finds values by own keys and indexes", () => {
      assert.strictEqual(Value.at(value, ["a", "0", "b"]), 1)
      assert.strictEqual(Value.at(value, [""]), 2)
      assert.strictEqual(Value.at(value, []), value)
    })

    it.each([
    ["toString"], ["a", "length"], ["a", "00"], ["a", "-1"], ["a", "1"], ["a", "1e0"], ["m", "k"], ["s", "0"], ["x", "y"]
  ])("finds no value along %s %s", (...path) => {
      assert.isUndefined(Value.at(value, path.filter((part) => part !== undefined)))
    })
  })
})

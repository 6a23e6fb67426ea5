import { assert, describe, it } from "@effect/vitest"
import * as Document from "../../src/cell/Document.ts"
import * as Rich from "../../src/cell/Rich.ts"
import * as Value from "../../src/cell/Value.ts"
import { any, plain } from "./Values.ts"
import * as Trials from "../support/Trials.ts"

const form = (json: unknown, values?: unknown, more: object = {}) => ({ $rich: { json, meta: { values, v: 1, ...more } } }) as never
const accept = (json: unknown, values?: unknown) => Rich.accept(form(json, values))
const refusal = (body: unknown): string => {
  try {
    Rich.accept(body as never)
  } catch (error) {
    assert.instanceOf(error, Value.InvalidValue)
    return (error as Error).message
  }
  return "accepted"
}

describe("Rich", () => {
  it.prop("accepts each text that is written, and gives its value", [any], ([value]) => {
    const canonical = Value.canonical(value).value
    assert.isTrue(Value.equals(Rich.accept(JSON.parse(Rich.write(canonical))), canonical))
  }, Trials.draws())

  it.prop("refuses any other body by name, or reads a value that a cell holds", [plain, plain, plain], ([json, values, body]) => {
    const forms = [form([json, json], { 0: values, "1.a": values, 1: ["map"] }), form({ a: json }, { a: ["set", values] })]
    for (const sent of [body, form(json, values), ...forms]) {
      if (refusal(sent) === "accepted") Document.encode(Rich.accept(sent as never))
    }
  }, Trials.draws())

  it("refuses a length in place of bytes, which superjson makes an array of", () => {
    assert.include(refusal(form({ length: 4e9 }, [["typed-array", "Uint8Array"]])), "numbers from 0 to 255")
    assert.include(refusal(form(4e9, [["typed-array", "Uint8Array"]])), "numbers from 0 to 255")
    assert.include(refusal(form([1], [["typed-array", "Float64Array"]])), "Float64Array")
    assert.include(refusal(form([256], [["typed-array", "Uint8Array"]])), "numbers from 0 to 255")
  })

  it("refuses equal references, of which a few make a graph that is read for minutes", () => {
    assert.include(refusal(form([[], []], undefined, { referentialEqualities: { 0: ["1"] } })), "referentialEqualities")
  })

  it("refuses a bigint of many digits, from outside and from a run", () => {
    assert.include(refusal(form("9".repeat(900_000), ["bigint"])), "at most 4096 digits")
    assert.strictEqual(accept("9".repeat(4096), ["bigint"]), 10n ** 4096n - 1n)
    assert.throws(() => Document.encode(10n ** 4096n), "more than 4096 digits")
    assert.throws(() => Document.encode({ n: -(10n ** 4096n) }), "more than 4096 digits")
  })

  it("refuses types that no value has, and JSON of another shape", () => {
    for (const type of ["regexp", "Error", ["class", "X"], ["symbol", "x"], ["custom", "x"], "toString", "__proto__", 1, null]) {
      assert.include(refusal(form("/(a+)+$/", [type])), "The types are", String(type))
    }
    for (const [json, type] of [
      [1, "Date"], ["2020", "Date"], ["2020-13-01T00:00:00.000Z", "Date"], ["x", "URL"], [{}, "set"], [[1], "map"], [0, "undefined"],
      ["1e9", "bigint"]
    ]) {
      assert.include(refusal(form(json, [type])), "stands for one", String(type))
    }
  })

  it("refuses annotations that lead elsewhere, meet, or lead through another", () => {
    const json = { a: [["1"]] }
    for (const path of ["b", "a.1", "a.00", "a.length", "a.0.0.0", "__proto__", "a\\x", `a${".0".repeat(99)}`]) {
      assert.notStrictEqual(refusal(form(json, { [path]: ["bigint"] })), "accepted", path)
    }
    assert.include(refusal(form(json, { a: ["set"], "a.0": ["set"] })), "two annotations")
    assert.include(refusal(form(json, { "a.0": ["set"], a: { 0: ["set"] } })), "two annotations")
    assert.deepStrictEqual(accept(json, { a: ["set", { 0: ["set", { 0: ["bigint"] }] }] }), { a: new Set([new Set([1n])]) })
  })

  it("refuses another version, because its paths differ in meaning", () => {
    assert.include(refusal({ $rich: { json: { "a.b": "1" }, meta: { values: { "a.b": ["bigint"] } } } }), "meta.v")
  })
})

describe("a value that shares its parts", () => {
  it("is refused when its text would be too long, before it is walked through", () => {
    let value: unknown = [1, 2]
    for (let i = 0; i < 60; i++) value = [value, value]
    assert.throws(() => Document.encode(value), "longer than a cell holds")
    assert.throws(() => Document.encode(Array.from({ length: 100_000 }, () => bytes)), "longer than a cell holds")
    assert.throws(() => Document.encode(Array.from({ length: 500_000 }, () => big)), "longer than a cell holds")
    assert.throws(() => Document.encode(Array.from({ length: 1000 }, () => text)), "longer than a cell holds")
    assert.throws(() => Document.encode(holes), "longer than a cell holds")
    assert.throws(() => Document.write(undefined, ["a"], value), "longer than a cell holds")
  })

  const holes: Array<number> = []
  holes.length = 4_000_000_000
  const big = 10n ** 4000n
  const bytes = new Uint8Array(65_536)
  const text = "x".repeat(1_000_000)
})

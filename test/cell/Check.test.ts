import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Check from "../../src/cell/Check.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { damaged, randomKind, Tree } from "./Schemas.ts"

const isMade = (schema: Schema.Top, value: unknown): boolean => {
  try {
    (schema as unknown as { readonly make: (value: unknown) => unknown }).make(value)
    return true
  } catch {
    return false
  }
}

/** The schemas that a check leaves to their own parsers. */
const compiledBy = (schema: Schema.Top) => {
  const parsed: Array<string> = []
  const check = Check.compile(schema.ast, (ast) => {
    parsed.push(ast._tag)
    const part = schema.rebuild(ast)
    return (value) => isMade(part, value)
  })
  return { check, parsed }
}

describe("A compiled check", () => {
  it("agrees with its schema about every value", () => {
    const seen = { fit: 0, unfit: 0 }
    for (const seed of Trials.seeds(40_000, { least: 2000 })) {
      const draw = Random.make(seed)
      const { schema, value } = randomKind(draw)
      const { check } = compiledBy(schema)
      for (let i = 0; i < 4; i++) {
        const whole = value(draw)
        const tried = i % 2 === 0 ? whole : damaged(whole, draw)
        const isFit = isMade(schema, tried)
        seen[isFit ? "fit" : "unfit"]++
        if (check(tried) !== isFit) assert.fail(`seed ${seed}: the schema says ${isFit} about ${String(JSON.stringify(tried))}`)
      }
    }
    assert.isAbove(Math.min(seen.fit, seen.unfit), 1000)
  })

  it("asks no parser about the common kinds", () => {
    const Order = Schema.Struct({
      item: Schema.String.check(Schema.isMaxLength(100)),
      count: Schema.Natural,
      status: Schema.Literals(["open", "paid"]),
      note: Schema.optionalKey(Schema.NullOr(Schema.String)),
      tags: Schema.Array(Schema.String).check(Schema.isMaxLength(3)),
      by: Schema.Record(Schema.String, Schema.Union([Schema.Boolean, Schema.Struct({ at: Schema.Finite })])),
      more: Tree
    })
    const { check, parsed } = compiledBy(Order)
    const order = { item: "tea", count: 1, status: "open", tags: [], by: { a: true, b: { at: 1 } }, more: { leaf: 1, more: [] } }
    assert.isTrue(check(order))
    assert.deepStrictEqual([{ count: 1.5 }, { status: "x" }, { note: 1 }, { tags: ["a", "b", "c", "d"] }, { by: { a: 1 } }]
      .map((fault) => check({ ...order, ...fault })), [false, false, false, false, false])
    assert.deepStrictEqual(parsed, [])
  })
})

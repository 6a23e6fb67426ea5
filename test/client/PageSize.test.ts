import { assert, describe, it } from "@effect/vitest"
import type * as EffectSchema from "effect/Schema"
import { Schema } from "../../src/cell/Page.ts"
import { bundlers, compressed, FREE, pageOf, untyped } from "../scripts/PageSize.ts"

/** Whether a text has code of Effect's schemas. */
const hasSchemas = (bundle: string | Uint8Array): boolean => String(Buffer.from(bundle)).includes("~effect/")

describe("A page with declarations", () => {
  it.each(["esbuild", "rolldown"] as const)("contains no code of their schemas: %s", async (name) => {
    const bundler = bundlers[name]
    const [typed, bare] = [await bundler(pageOf(FREE)), await bundler(untyped())]
    assert.isFalse(hasSchemas(typed))
    // The stand-in of Schema, and the texts of the declaration.
    assert.isAtMost(compressed(typed) - compressed(bare), 450)
    assert.isTrue(hasSchemas(await bundler(pageOf("import * as Schema from \"effect/Schema\""))))
  })
})

describe("Schema of systole/cells in a page", () => {
  const names = Schema as unknown as typeof EffectSchema

  it("takes any declaration", () => {
    class Row extends names.Class<Row>("Row")({ price: names.Natural }) {}
    const Order = names.Struct({ id: names.String, rows: names.Array(Row), note: names.optionalKey(names.String) })
    const Kept = names.Struct({ ...Order.fields, placed: names.Number })
    assert.strictEqual(Kept as unknown, Schema)
    assert.strictEqual(Order.pipe(names.annotate({ title: "Order" })) as unknown, Schema)
    assert.strictEqual(names.Number.pipe(names.check(names.isGreaterThan(0), names.isPattern(/a/ as never) as never)) as unknown, Schema)
  })

  it("refuses to check or to make a value, in place of another one", () => {
    const Order = names.Struct({ id: names.String })
    const checks = [
      () => names.decodeUnknownSync(Order)({}), () => names.is(Order)(1), () => names.encodeSync(Order)({ id: "1" }),
      () => Order.make({ id: "1" }), () => "ast" in Order, () => Order.ast, () => `${Order as unknown as string}`,
      () => names.toJsonSchemaDocument(Order)
    ]
    for (const check of checks) assert.throws(check, /checks no value in a page/)
  })
})

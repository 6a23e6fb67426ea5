import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Codec from "../../src/contract/Codec.ts"
import * as Fields from "../../src/contract/Fields.ts"
import * as Query from "../../src/contract/Query.ts"
import * as Operations from "../../src/operation/Schemas.ts"
import * as Rendezvous from "../../src/rendezvous/Schemas.ts"

const misfit = (input: unknown): readonly [string, boolean] => {
  try {
    Codec.decode(Operations.awaiting, input)
  } catch (error) {
    if (error instanceof Codec.Misfit) return [error.reason, error.isMissing]
    throw error
  }
  return ["fits", false]
}

const send = "Send { want, signal, ttl, payload }"

describe("Input from outside", () => {
  it.each([
    [{ want: "ist:ok", signal: "/x" }, "fits", false],
    [{ want: "ist:ok", signal: "/x", ttl: "10s" }, "fits", false],
    [{ want: "ist:ok", signal: "/x", ttl: 5, payload: { deep: [1, null] } }, "fits", false],
    [null, `is null, and no object. ${send}`, false],
    [[], `is [], and no object. ${send}`, false],
    ["text", `is "text", and no object. ${send}`, false],
    [{ want: "ist:ok" }, `has no field "signal". ${send}`, true],
    [{ want: "ist:ok", signal: "/x", ttl: true }, `has a field "ttl" that is true instead of a number or a string. ${send}`, false],
    [{ want: 1, signal: "/x" }, `has a field "want" that is 1 instead of a string. ${send}`, false],
    [{ want: "ist:ok", signal: "/x", more: 1 }, `has an unknown field "more". ${send}`, false],
    [JSON.parse("{\"want\":\"a\",\"signal\":\"/x\",\"__proto__\":1}") as unknown, `has an unknown field "__proto__". ${send}`, false]
  ])("tells of %j: %s", (input, reason, isMissing) => assert.deepStrictEqual(misfit(input), [reason, isMissing]))

  it("may be decoded into a text", () => {
    const named = Schema.Struct({ name: Schema.String }).pipe(
      Schema.decodeTo(Schema.String, SchemaTransformation.transform({ decode: ({ name }) => name, encode: (name) => ({ name }) }))
    )
    assert.strictEqual(Codec.decode(() => named, { name: "Ann" }), "Ann")
  })
})

describe("An answer", () => {
  it("has the fields of its schema, in their order", () => {
    const row = { watchers: 0, oid: "OPS:1.0.0", verb: "v", target: "t", mode: "m", state: "s", code: 0, status: null }
    assert.strictEqual(
      JSON.stringify(Codec.encode(Operations.row, row)),
      "{\"oid\":\"OPS:1.0.0\",\"verb\":\"v\",\"target\":\"t\",\"mode\":\"m\",\"state\":\"s\",\"code\":0,\"status\":null,\"watchers\":0}"
    )
  })

  it.each<[string, object]>([
    ["lacks a field or has a wrong one", { oid: "OPS:1.0.0", state: 5 }],
    ["has a field that its schema does not name", {
      oid: "OPS:1.0.0", verb: "v", target: "t", mode: "m", state: "s", code: 0, status: null, watchers: 0, later: 1
    }]
  ])("shows a record as it is that %s", (_, old) => assert.strictEqual(Codec.encode(Operations.row, old as never), old))

  it("shows a row as it is that another version wrote, and encodes the others and the cursor", () => {
    const answer = () => Schema.Struct({
      events: Schema.Array(Schema.Struct({ id: Schema.String, at: Schema.NumberFromString })),
      next: Query.next(Schema.Number)
    })
    const row = { id: "a", at: 1 }
    const old = [{ id: "b", at: 2, later: 1 }, { id: "c" }]
    const events = [row, ...old]
    const encoded = { events: [{ id: "a", at: "1" }, ...old], next: null }
    assert.strictEqual(JSON.stringify(Codec.encode(answer, { next: undefined, events } as never)), JSON.stringify(encoded))
    assert.deepStrictEqual(Codec.encode(answer, { events, next: 7 } as never) as unknown, { ...encoded, next: 7 })
    // Such an answer is whole by another version.
    for (const value of [{ events, next: 7, later: 1 }, { events: 5 }, { next: 7 }]) {
      assert.strictEqual(Codec.encode(answer, value as never) as unknown, value)
    }
  })
})

describe("The fields of a body", () => {
  it("have their types and their meaning", () => {
    assert.deepStrictEqual(Fields.of(Rendezvous.resched), [{
      name: "delta",
      type: "amount",
      isOptional: false,
      means: "The beats by which it is put off, also as a time such as 10s; a negative one brings it forward"
    }])
    assert.deepStrictEqual(Fields.of(Operations.close).map(({ isOptional, name, type }) => [name, type, isOptional]), [
      ["status", "text", false],
      ["summary", "json", true]
    ])
    assert.deepStrictEqual(Fields.of(undefined), [])
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as CellEndpoints from "../../src/contract/Cells.ts"
import * as CellValue from "../../src/contract/CellValue.ts"
import * as Encoder from "../../src/contract/Encoder.ts"
import * as Query from "../../src/contract/Query.ts"
import * as Signals from "../../src/contract/Signals.ts"
import { damaged, kind, type Kind, randomKind } from "../cell/Schemas.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const number = (draw: Random.Random): number => draw(5)

/** An optional text, with a default in JSON. */
const absent = Schema.String.pipe(Schema.decodeTo(Schema.optionalKey(Schema.String), {
  decode: SchemaGetter.passthrough(),
  encode: SchemaGetter.withDefault(Effect.succeed("none"))
}))

/** Schemas with transformations. Their values differ from their JSON. */
const transformations: ReadonlyArray<Kind> = [
  kind(Query.next(Schema.Number), (draw) => draw(2) === 0 ? undefined : 7),
  kind(Query.limit(), number),
  kind(Query.flag(), (draw) => draw(2) === 0),
  kind(Schema.optional(CellValue.schema()), (draw) => Random.pick(draw, [1, "a", { at: new Date(0) }, undefined])),
  kind(Schema.NumberFromString, number),
  kind(absent, () => "a"),
  kind(Schema.Array(Schema.Struct({ at: Schema.NumberFromString, name: Schema.optionalKey(Schema.String) })), (draw) =>
    Array.from({ length: draw(3) }, () => draw(2) === 0 ? { at: draw(9) } : { name: "a", at: draw(9) }))
]

const randomPart = (draw: Random.Random): Kind => draw(2) === 0 ? Random.pick(draw, transformations) : randomKind(draw, 1)

/** A random object, or a list of them. Fields of a value have another order than those of its schema. */
const randomAnswer = (draw: Random.Random): Kind => {
  const fields = ["a", "b", "c"].slice(draw(3)).map((name) => ({ name, of: randomPart(draw), isLeftOut: draw(4) === 0 }))
  const schema = Schema.Struct(Object.fromEntries(fields.map(({ isLeftOut, name, of }) =>
    [name, isLeftOut ? Schema.optionalKey(of.schema) : of.schema])))
  const value = (draw: Random.Random) => Object.fromEntries(Random.shuffled(draw, fields).flatMap(({ isLeftOut, name, of }) =>
    (isLeftOut || of.schema === absent) && draw(2) === 0 ? [] : [[name, of.value(draw)]]))
  return draw(2) === 0 ? kind(schema, value) : kind(Schema.Array(schema), (draw) => Array.from({ length: draw(3) }, () => value(draw)))
}

const strict = { onExcessProperty: "error" } as const

/** An encoder, and the parts for which it uses their parsers. */
const compiledBy = (schema: Schema.Top) => {
  const parsed: Array<string> = []
  const encode = Encoder.compile(schema.ast, (ast) => {
    parsed.push(ast._tag)
    const part = Schema.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast), strict)
    return (value) => {
      const exit = part(value)
      return Exit.isSuccess(exit) ? exit.value : Encoder.misfit
    }
  })
  return { encode, parsed }
}

/** A value as text, with the order of its fields. */
const shown = (value: unknown): string => JSON.stringify(value, (_, part: unknown) =>
  typeof part === "bigint" || part === undefined || Number.isNaN(part) || Object.is(part, -0) ? `${typeof part} ${String(part)}` : part) ??
  "nothing"

describe("A compiled encoder", () => {
  it("agrees with its schema about every value", () => {
    const seen = { fit: 0, unfit: 0 }
    for (const seed of Trials.seeds(20_000, { least: 2000 })) {
      const draw = Random.make(seed)
      const { schema, value } = randomAnswer(draw)
      const { encode } = compiledBy(schema)
      const expected = Schema.encodeUnknownExit(schema as Schema.Codec<unknown>, strict)
      for (let i = 0; i < 4; i++) {
        const whole = value(draw)
        const tried = i % 2 === 0 ? whole : damaged(whole, draw)
        const exit = expected(tried)
        const encoded = encode(tried)
        seen[Exit.isSuccess(exit) ? "fit" : "unfit"]++
        const texts = [Exit.isSuccess(exit) ? shown(exit.value) : "no", encoded === Encoder.misfit ? "no" : shown(encoded)]
        if (texts[0] !== texts[1]) assert.fail(`seed ${seed}: ${shown(tried)} is ${texts[0]} by its schema, and ${texts[1]}`)
      }
    }
    assert.isAbove(Math.min(seen.fit, seen.unfit), 1000)
  })

  it("asks the parsers of long lists for their cursors alone", () => {
    const lists = [CellEndpoints.beats, Signals.waiting, Signals.dead].map(({ answer }) => compiledBy(answer()).parsed)
    assert.deepStrictEqual(lists.map((parsed) => parsed.length), [1, 1, 1])
  })
})

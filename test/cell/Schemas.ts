/**
 * Random schemas with values that mostly fit them.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Random from "../support/Random.ts"

/** A random schema, and the values that mostly fit it. */
export interface Kind {
  readonly schema: Schema.Top
  readonly value: (draw: Random.Random) => unknown
}

const words = ["", "a", "b", "ab", "10", "toString", "__proto__", "constructor"]
const leaves = [
  undefined, null, true, false, 0, -0, 1, -1.5, Number.NaN, 2 ** 53, 7n, ...words, [], {}, [1], { a: 1 }, new Date(0), () => 0
]
const word = (draw: Random.Random) => Random.pick(draw, words)
const number = (draw: Random.Random) => Random.pick(draw, [0, 1, 2, 3, -1, 0.5])
/** A schema with its values. */
export const kind = (schema: unknown, value: Kind["value"]): Kind => ({ schema: schema as Schema.Top, value })
const many = <A>(draw: Random.Random, make: () => A, most = 4): ReadonlyArray<A> => Array.from({ length: draw(most) }, make)
const by = (test: (value: never) => boolean) => Schema.makeFilter(test as (value: unknown) => boolean)

const scalars: ReadonlyArray<Kind> = [
  kind(Schema.String, word),
  kind(Schema.Number, number),
  kind(Schema.Natural, number),
  kind(Schema.Finite, number),
  kind(Schema.Boolean, (draw) => draw(2) === 0),
  kind(Schema.BigInt, () => 7n),
  kind(Schema.Null, () => null),
  kind(Schema.Undefined, () => undefined),
  kind(Schema.Unknown, (draw) => Random.pick(draw, leaves)),
  kind(Schema.Void, () => undefined),
  kind(Schema.Never, () => 0),
  kind(Schema.Literal("a"), () => "a"),
  kind(Schema.Literals(["a", "b", 1, true]), (draw) => Random.pick(draw, ["a", "b", 1, true])),
  kind(Schema.Enum({ A: "a", One: 1 }), (draw) => Random.pick(draw, ["a", 1])),
  kind(Schema.TemplateLiteral(["a", Schema.Number]), () => "a1"),
  kind(Schema.String.check(Schema.isMinLength(1), Schema.isPattern(/^a/)), () => "ab"),
  kind(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 2 })), number),
  kind(Schema.String.check(Schema.isMinLength(1).and(Schema.isMaxLength(1))), word),
  kind(Schema.Date, () => new Date(0)),
  kind(Schema.Struct({}), (draw) => ({ a: draw(3) }))
]

export interface Tree {
  readonly leaf: number
  readonly more: ReadonlyArray<Tree>
}
export const Tree: Schema.Codec<Tree> = Schema.Struct({ leaf: Schema.Natural, more: Schema.Array(Schema.suspend(() => Tree)) })
const tree = (draw: Random.Random, depth = 0): Tree =>
  ({ leaf: draw(3), more: depth > 2 ? [] : many(draw, () => tree(draw, depth + 1), 3) })

const structOf = (draw: Random.Random, depth: number): Kind => {
  const fields = [...new Set(many(draw, () => word(draw), 5))].map((name) => ({ name, of: randomKind(draw, depth + 1), form: draw(3) }))
  const entries = fields.map(({ form, name, of }) =>
    [name, form === 0 ? Schema.optionalKey(of.schema) : form === 1 ? Schema.optional(of.schema) : of.schema] as const)
  const schema = Schema.Struct(Object.fromEntries(entries))
  return kind(schema, (draw) => Object.fromEntries(fields.flatMap(({ form, name, of }) =>
    form === 2 || draw(3) > 0 ? [[name, form === 1 && draw(3) === 0 ? undefined : of.value(draw)]] : [])))
}

const arrayOf = (draw: Random.Random, depth: number): Kind => {
  const item = randomKind(draw, depth + 1)
  return kind(Schema.Array(item.schema), (draw) => many(draw, () => item.value(draw)))
}

/** Schemas of other schemas, by number. */
const compounds: ReadonlyArray<(draw: Random.Random, depth: number) => Kind> = [
  structOf,
  structOf,
  arrayOf,
  (draw, depth) => {
    const of = arrayOf(draw, depth)
    return kind((of.schema as Schema.$Array<Schema.Top>).check(Schema.isMaxLength(2), Schema.isUnique()), of.value)
  },
  (draw, depth) => {
    const of = structOf(draw, depth)
    return kind(of.schema.check(by((value) => Object.keys(value).length < 2)), of.value)
  },
  (draw, depth) => {
    const items = many(draw, () => randomKind(draw, depth + 1))
    return kind(Schema.Tuple(items.map(({ schema }) => schema)), (draw) => items.map((item) => item.value(draw)))
  },
  (draw, depth) => {
    const [first, rest] = [randomKind(draw, depth + 1), many(draw, () => randomKind(draw, depth + 1), 3)]
    return kind(Schema.TupleWithRest(Schema.Tuple([Schema.String]), [first.schema, ...rest.map(({ schema }) => schema)]), (draw) =>
      ["a", ...many(draw, () => first.value(draw)), ...rest.map((item) => item.value(draw))])
  },
  (draw, depth) => {
    const item = randomKind(draw, depth + 1)
    const key = Random.pick(draw, [Schema.String, Schema.String, Schema.String.check(Schema.isMaxLength(1))])
    return kind(Schema.Record(key, item.schema), (draw) => Object.fromEntries(many(draw, () => [word(draw), item.value(draw)])))
  },
  (draw, depth) => {
    const [of, item] = [structOf(draw, depth), randomKind(draw, depth + 1)]
    const schema = Schema.StructWithRest(of.schema as Schema.Struct<Record<string, Schema.Top>>,
      [Schema.Record(Schema.String, item.schema)])
    const more = (draw: Random.Random) => Object.fromEntries(many(draw, () => [word(draw), item.value(draw)]))
    return kind(schema, (draw) => ({ ...of.value(draw) as object, ...more(draw) }))
  },
  (draw, depth) => {
    const members = many(draw, () => randomKind(draw, depth + 1))
    const schema = Schema.Union(members.map(({ schema }) => schema), { mode: draw(3) === 0 ? "oneOf" : "anyOf" })
    return kind(schema, (draw) => members.length === 0 ? 0 : Random.pick(draw, members).value(draw))
  },
  (draw, depth) => {
    const tags = ["a", "b"].map((tag) => ({ tag, of: randomKind(draw, depth + 1) }))
    const schema = Schema.Union(tags.map(({ of, tag }) => Schema.Struct({ tag: Schema.Literal(tag), of: of.schema })))
    return kind(schema, (draw) => {
      const { of, tag } = Random.pick(draw, tags)
      return { tag, of: of.value(draw) }
    })
  },
  () => kind(Tree, tree)
]

/** A random schema, of at most four levels. */
export const randomKind = (draw: Random.Random, depth = 0): Kind =>
  depth > 2 || draw(2 + depth) > 1 ? Random.pick(draw, scalars) : Random.pick(draw, compounds)(draw, depth)

/** The value with a random part replaced, left out or added. */
export const damaged = (value: unknown, draw: Random.Random): unknown => {
  if (typeof value !== "object" || value === null || value instanceof Date || draw(4) === 0) return Random.pick(draw, leaves)
  if (Array.isArray(value)) {
    const i = draw(value.length + 1)
    return draw(3) === 0 ? value.toSpliced(i, 1) : value.toSpliced(i, 1, damaged(value[i], draw))
  }
  const key = Random.pick(draw, [...Object.keys(value), "extra"])
  const { [key as never]: part, ...rest } = value
  return draw(3) === 0 ? rest : { ...rest, [key]: damaged(part, draw) }
}

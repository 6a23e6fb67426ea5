/**
 * The parameters of queries, each a text, and the cursors of pages in answers.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

const numbered = (most: number) =>
  Schema.String.check(Schema.isPattern(/^\d{1,15}$/)).pipe(Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({ decode: (text: string) => Math.min(Number(text), most), encode: String })
  ))

/** A count, or the number of a beat. */
export const number = () => numbered(Infinity).annotate({ expected: "a count or the number of a beat, in digits" })

/** The same, which a request may leave out. */
export const count = () => Schema.optionalKey(number())

/** A text, which a request may leave out. `description` follows it in the reference, such as an example. */
export const text = (description = "") => Schema.optionalKey(Schema.String.annotate({ description }))

/** The size of a page: `listed` unless given, and at most `max`. */
export const limit = (listed = 20, max = 100) =>
  numbered(max).annotate({ expected: "a count in digits", description: ` up to ${max}; ${listed} by default` })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(String(listed))))

/** The most rows of a long page. */
export const MOST = 400

/** The parameters of a list whose cursor is a number, and which has at most {@link MOST} rows on a page. */
export const numberedPage = (listed = MOST) => ({ after: count(), limit: limit(listed, MOST) })

/** A switch: it is set where it is there, and not as `false`. */
export const flag = (description = "") =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.Boolean.annotate({ description }),
      SchemaTransformation.transform({ decode: (text: string) => text !== "false", encode: String })
    ),
    Schema.withDecodingDefaultKey(Effect.succeed("false"))
  )

/** The cursor of the next page of an answer; `null` at the end. */
export const next = <S extends Schema.Codec<string | number>>(cursor: S) =>
  Schema.NullOr(cursor).pipe(Schema.decodeTo(
    Schema.UndefinedOr(Schema.toType(cursor)),
    SchemaTransformation.transform({
      decode: (given: S["Type"] | null) => given ?? undefined,
      encode: (cursor: S["Type"] | undefined) => cursor ?? null
    })
  ))

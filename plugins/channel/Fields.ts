/**
 * Fields of payloads and options: a table of names, types and limits, and the decoding of plain data by it.
 *
 * Messages name the field, its type and its limit, and never a text, which could be a secret.
 *
 * @module
 */
import { Channel, Nearest, Plugin } from "systole"

/** A field: its expected form for messages, and its reading, which is `undefined` for a refused value. */
export interface Field<A> {
  readonly expected: string
  readonly read: (value: unknown) => { readonly value: A } | undefined
}

/** The fields of a record, by name. */
export type Shape = Readonly<Record<string, Field<unknown>>>

/** The shape of options whose type the configuration has: a field for each of them, and no other. */
export type For<Options> = { readonly [Name in keyof Required<Options>]: Field<unknown> }

/** The decoded record of a shape. */
export type Of<S extends Shape> = { readonly [Name in keyof S]: S[Name] extends Field<infer A> ? A : never }

const utf8 = new TextEncoder()

/** A field of the values that a guard accepts. */
export const guard = <A>(expected: string, is: (value: unknown) => value is A): Field<A> =>
  ({ expected, read: (value) => is(value) ? { value } : undefined })

/** A well-formed text of at most `bytes` bytes in UTF-8. */
export const text = (bytes: number): Field<string> =>
  guard(`a text of at most ${bytes} bytes`, (value): value is string =>
    typeof value === "string" && value.length <= bytes && value.isWellFormed() && utf8.encode(value).length <= bytes)

/** A whole number between two limits. */
export const count = (minimum: number, maximum: number): Field<number> =>
  guard(`a whole number from ${minimum} to ${maximum}`, (value): value is number =>
    Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum)

/** One of some texts. */
export const oneOf = <const A extends string>(...texts: ReadonlyArray<A>): Field<A> =>
  guard(texts.map((each) => JSON.stringify(each)).join(" or "), (value): value is A => texts.includes(value as A))

/** A boolean. */
export const flag: Field<boolean> = guard("true or false", (value): value is boolean => typeof value === "boolean")

/** Bytes. */
export const bytes: Field<Uint8Array> = guard("bytes", (value): value is Uint8Array => value instanceof Uint8Array)

/** The address of content. */
export const address: Field<string> = guard("an address /cas/<sha256>", (value): value is string =>
  typeof value === "string" && /^\/cas\/[0-9a-f]{64}$/.test(value))

/** Any value except for `undefined`. */
export const any: Field<unknown> = guard("a value", (value): value is unknown => value !== undefined)

/** A list of at most `most` items. */
export const list = <A>(item: Field<A>, most: number): Field<ReadonlyArray<A>> => ({
  expected: `a list of at most ${most} items, each ${item.expected}`,
  read: (value) => {
    if (!Array.isArray(value) || value.length > most) return undefined
    const items = value.map((each) => item.read(each))
    return items.every((each) => each !== undefined) ? { value: items.map((each) => each.value) } : undefined
  }
})

/** A record with the fields of a shape, and no other. */
export const record = <S extends Shape>(shape: S): Field<Of<S>> => ({
  expected: `an object with ${Object.entries(shape).map(([name, { expected }]) => `${name}: ${expected}`).join(", ")}`,
  read: (value) => {
    try {
      return value === undefined ? undefined : { value: decode(shape, value, (problem) => new Error(problem)) }
    } catch {
      return undefined
    }
  }
})

/** A record of at most `most` texts. */
export const texts = (each: Field<string>, most: number): Field<Readonly<Record<string, string>>> =>
  guard(`an object of at most ${most} entries, each ${each.expected}`, (value): value is Readonly<Record<string, string>> =>
    isRecord(value) && Object.keys(value).length <= most && Object.values(value).every((one) => each.read(one) !== undefined))

/** A field that may be absent, with its default. */
export const or = <A, const B>(field: Field<A>, fallback: B): Field<A | B> =>
  ({ expected: field.expected, read: (value) => value === undefined ? { value: fallback } : field.read(value) })

/** A field that may be absent. */
export const optional = <A>(field: Field<A>): Field<A | undefined> => or(field, undefined)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** The type of a value, with a number's value. Texts are not shown. */
const describe = (value: unknown): string => {
  if (typeof value === "number") return `the number ${value}`
  if (typeof value === "string") return `a text of ${value.length} characters`
  if (value === null || value === undefined) return String(value)
  return typeof value === "object" ? value.constructor?.name ?? "an object" : `a ${typeof value}`
}

/** Decodes a record by its shape. `refuse` makes the error from the first problem. */
export const decode = <S extends Shape>(shape: S, value: unknown, refuse: (problem: string) => Error): Of<S> => {
  const names = Object.keys(shape)
  const record = value === undefined ? {} : value
  if (!isRecord(record)) throw refuse(`it is ${describe(value)}, and an object with the fields ${names.join(", ")} is expected`)
  const strange = Object.keys(record).find((name) => !Object.hasOwn(shape, name))
  if (strange !== undefined) {
    const nearest = Nearest.of(strange, names)
    const advice = nearest === undefined ? "" : `. Did you mean ${nearest}?`
    throw refuse(`its field ${JSON.stringify(strange.slice(0, 100))} is unknown; the fields are ${names.join(", ")}${advice}`)
  }
  const fields = Object.entries(shape).map(([name, field]) => {
    const given = Object.hasOwn(record, name) ? record[name] : undefined
    const found = field.read(given)
    if (found === undefined) throw refuse(`its field "${name}" is ${describe(given)}, and ${field.expected} is expected`)
    return [name, found.value] as const
  })
  return Object.fromEntries(fields) as unknown as Of<S>
}

/** The refusal of an invalid payload, with the id of the request. */
export const invalid = ({ opcode, rid }: Pick<Channel.Job, "opcode" | "rid">, problem: string): Channel.ChannelError =>
  Channel.fail("io/invalid", `Request ${rid}: the payload of ${opcode} is refused: ${problem}`, { errno: -22 })

/** Decodes the payload of a job. */
export const payload = <S extends Shape>(shape: S, job: Channel.DelayedRequest): Of<S> =>
  decode(shape, job.payload, (problem) => invalid(job, problem))

/** A part of the runtime that has options: a channel, unless it is of another kind. */
export interface Owner {
  readonly id: string
  readonly kind?: "channel" | "transport"
}

/** Decodes the options of a channel or a transport. Throws `InvalidPlugin`. */
export const options = <S extends Shape>(name: string, shape: S, owner: Owner & Pick<Plugin.ChannelSettings, "options">): Of<S> =>
  decode(shape, owner.options, (problem) => refusal(name, owner, problem))

/** The refusal of options by their plugin. */
export const refusal = (name: string, { id, kind = "channel" }: Owner, problem: string): Plugin.InvalidPlugin =>
  new Plugin.InvalidPlugin({ name, reason: `the options of ${kind} "${id}" are refused: ${problem}` })

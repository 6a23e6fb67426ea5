/**
 * Values of every kind for property tests, made from a list of numbers, so that a failing value shrinks with its list.
 *
 * @module
 */
import { Arbitrary, Schema } from "effect"

const numbers = Arbitrary.schema(Schema.Array(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 999 })))))

const texts = ["", "a", "$rich", "$link", "ä", "\ud83d\ude00", "\ud800", "~/.\\", "10", "9", "json"]
const keys = ["a", "b", "B", "10", "9", "", "x.y", "p\\q", "$rich", "$link", "json", "meta", "length", "toString"]
const leaves = [null, true, false, 0, -0, 1, -1.5, 1e21, 5e-324, 2 ** 53, ...texts]
const richLeaves = [undefined, 0n, -12n, 10n ** 30n]

/** Draws from the list, and zero at its end, so that every value is finite. */
const source = (list: ReadonlyArray<number>) => {
  let next = 0
  return (bound: number): number => (list[next++] ?? 0) % bound
}

type Draw = ReturnType<typeof source>

const many = (draw: Draw, depth: number, rich: boolean): ReadonlyArray<unknown> =>
  Array.from({ length: draw(4) }, () => build(draw, depth + 1, rich))

const build = (draw: Draw, depth: number, rich: boolean): unknown => {
  const kind = draw(depth > 4 ? 2 : rich ? 10 : 4)
  if (kind === 2) return many(draw, depth, rich)
  if (kind === 3) return Object.fromEntries(many(draw, depth, rich).map((value) => [keys[draw(keys.length)]!, value]))
  if (kind === 4) return new Map(many(draw, depth, rich).map((value) => [build(draw, depth + 1, rich), value]))
  if (kind === 5) return new Set(many(draw, depth, rich))
  if (kind === 6) return new Date(draw(1000) * 1e9)
  if (kind === 7) return new URL(`https://example.org/${draw(9)}?q=${draw(9)}`)
  if (kind === 8) return Uint8Array.from({ length: draw(5) }, () => draw(256))
  if (kind === 9) return richLeaves[draw(richLeaves.length)]
  return leaves[draw(leaves.length)]
}

/** Returns a JSON value. */
export const plain = numbers.pipe(Arbitrary.map((list) => build(source(list), 0, false)))

/** Returns a value of any kind that a cell can hold. */
export const any = numbers.pipe(
  Arbitrary.map((list) => build(source(list), 0, true)),
  Arbitrary.filter((value) => value !== undefined)
)

/** Returns a copy with the keys of all objects in reverse order. */
export const twin = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(twin)
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof URL) return new URL(value.href)
  if (value instanceof Uint8Array) return value.slice()
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [twin(key), twin(item)]))
  if (value instanceof Set) return new Set([...value].map(twin))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).reverse().map(([key, item]) => [key, twin(item)]))
}

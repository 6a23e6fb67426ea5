/**
 * The text form of values that JSON lacks: superjson's JSON with its annotations.
 *
 * A text from outside is checked before superjson reads it, because superjson applies each annotation unchecked. A
 * length creates an array of that length, and equal references create a graph. The check accepts only a tree of known
 * types, each at an existing place and over JSON of its shape. Time and memory are then proportional to the size of the
 * text.
 *
 * @module
 */
import superjson, { type SuperJSONResult } from "superjson"
import type { Path } from "./Address.ts"
import * as JsonParser from "./JsonParser.ts"
import * as Value from "./Value.ts"

/** The key of an object that holds the form. */
export const KEY = "$rich"

/** The first characters of each text in the form. */
const BEGIN = `{"${KEY}":`

/** Tests whether a text is in the form. */
export const is = (text: string): boolean => text.startsWith(BEGIN)

/**
 * Encodes a canonical value. A shared object is written at each of its places, because a value is a tree.
 */
export const write = (value: Value.Value): string => {
  const { json, meta } = superjson.serialize(value)
  return `${BEGIN}${JSON.stringify(meta?.values === undefined ? { json } : { json, meta: { values: meta.values, v: meta.v } })}}`
}

/** The text around the JSON, and the one around the annotations. */
const FORM = `${BEGIN}{"json":}}`.length
const META = ',"meta":{"values":{},"v":1}'.length

/** The form of a document: whether its text is in this one, and whether it has annotations. */
export interface Form {
  readonly isRich: boolean
  readonly isTyped: boolean
}

/** Items that follow the first `count` items of the array at a path. */
export interface Items {
  readonly path: Path
  readonly count: number
  readonly items: ReadonlyArray<Value.Value>
}

/**
 * The number of characters by which rich items lengthen the text of a document of this form.
 */
export const growth = ({ isRich, isTyped }: Form, { count, items, path }: Items): number => {
  const { json, meta } = superjson.serialize(items)
  const list = JSON.stringify(json).length - (count === 0 ? 2 : 1)
  const prefix = path.map((key) => `${key.replace(/[\\.]/g, "\\$&")}.`).join("")
  let types = 0
  for (const [key, tree] of Object.entries(meta?.values ?? {})) {
    const [index = ""] = key.split(".", 1)
    const place = `${prefix}${count + Number(index)}${key.slice(index.length)}`
    types += JSON.stringify(place).length + JSON.stringify(tree).length + 2
  }
  // The first annotation has no comma before it.
  return list + types + (isTyped ? 0 : META - 1) + (isRich ? 0 : FORM)
}

/**
 * Decodes a text that {@link write} made or {@link accept} checked.
 */
export const read = (text: string): Value.Value =>
  superjson.deserialize<Value.Value>(JsonParser.parse(text.slice(BEGIN.length, -1)) as SuperJSONResult)

/** Tests whether a text in the form has annotations. */
export const isTyped = (text: string): boolean =>
  (JsonParser.parse(text) as { readonly [KEY]: { readonly meta?: unknown } })[KEY].meta !== undefined

/**
 * Checks and decodes parsed JSON in the form, from outside.
 *
 * @throws InvalidValue
 */
export const accept = (body: Value.Value): Value.Value => {
  const { json, meta } = fields(fields(body, [KEY])[KEY], ["json", "meta"])
  if (json === undefined) throw refuse("", `it has no "json"`)
  const { v, values } = meta === undefined ? { v: 1 } : fields(meta, ["values", "v"])
  if (v !== 1) throw refuse("", `its "meta.v" is not 1, the one version that is read`)
  if (values !== undefined) {
    const root = place(json, "")
    annotate(root, values)
    check(root)
  }
  return read(`${BEGIN}${JSON.stringify({ json, meta: { values, v } })}}`)
}

/** A place in the JSON that an annotation names or passes. */
interface Place {
  readonly json: Value.Value
  readonly at: string
  type: string | undefined
  readonly inner: Map<string, Place>
}

const place = (json: Value.Value, at: string): Place => ({ json, at, type: undefined, inner: new Map() })

/** Records the types of a tree of annotations: `[type]`, `[type, { path: tree }]` or `{ path: tree }`. */
const annotate = (here: Place, tree: Value.Value): void => {
  if (!Array.isArray(tree)) return annotateInner(here, tree)
  if (tree.length > 2) throw refuse(here.at, "its annotation has more than a type and what is inside")
  here.type = typeof tree[0] === "string" ? tree[0] : isBytes(tree[0]) ? BYTES : unknown(here.at, tree[0])
  if (!Object.hasOwn(kinds, here.type)) unknown(here.at, here.type)
  if (tree.length === 2) annotateInner(here, tree[1])
}

const annotateInner = (here: Place, trees: Value.Value): void => {
  if (!isRecord(trees)) throw refuse(here.at, "its annotation is neither a list nor an object")
  for (const path in trees) annotate(lead(here, path), trees[path])
}

/** Returns the place at the end of a path. Two annotations never share a place, and no path leads through the type of another. */
const lead = (from: Place, path: string): Place => {
  let here = from
  const keys = keysOf(path, from.at)
  for (const [i, key] of keys.entries()) {
    let next = here.inner.get(key)
    if (next === undefined) {
      const json = Value.isContainer(here.json) ? Value.step(here.json, key) : undefined
      if (json === undefined) throw refuse(here.at, `an annotation leads to ${JSON.stringify(key.slice(0, 100))}, which is not there`)
      next = place(json, `${here.at}/${key}`.slice(0, MAX_SHOWN))
      here.inner.set(key, next)
    } else if (i === keys.length - 1 || next.type !== undefined) throw refuse(next.at, "two annotations name it")
    here = next
  }
  return here
}

/** Splits a path into keys at its dots; `\.` and `\\` are a dot and a backslash in a key. */
const keysOf = (path: string, at: string): ReadonlyArray<string> => {
  const keys: Array<string> = []
  let key = ""
  for (let i = 0; i < path.length; i++) {
    if (path[i] === ".") {
      if (keys.push(key) > MAX_KEYS) throw refuse(at, "an annotation leads deeper than a value nests")
      key = ""
    } else if (path[i] !== "\\") key += path[i]
    else if (path[++i] === "." || path[i] === "\\") key += path[i]
    else {
      const shown = JSON.stringify(path.slice(0, 100))
      throw refuse(at, `an annotation has the path ${shown}, in which a backslash stands before neither a dot nor a backslash`)
    }
  }
  keys.push(key)
  return keys
}

/** The maximum number of keys in a path, which is the maximum depth of a value. */
const MAX_KEYS = Value.MAX_DEPTH
/** The maximum length of a place in an error message, in characters. */
const MAX_SHOWN = 300

const check = (here: Place): void => {
  for (const inner of here.inner.values()) check(inner)
  if (here.type === undefined) return
  const kind = kinds[here.type]!
  if (!kind.is(here)) throw refuse(here.at, `it is annotated as ${here.type}, and ${kind.expected} stands for one`)
}

interface Kind {
  readonly is: (place: Place) => boolean
  readonly expected: string
}

const BYTES = "Uint8Array"

/** The types of annotations, each with the JSON that it requires. */
const kinds: Readonly<Record<string, Kind>> = {
  undefined: { is: ({ json }) => json === null, expected: "null" },
  bigint: {
    is: ({ json }) => typeof json === "string" && json.length <= Value.MAX_DIGITS + 1 && /^-?\d+$/.test(json),
    expected: `a string of at most ${Value.MAX_DIGITS} digits`
  },
  Date: {
    is: ({ json }) => typeof json === "string" && ISO.test(json) && !Number.isNaN(Date.parse(json)),
    expected: "a time as Date.toISOString writes it"
  },
  URL: { is: ({ json }) => typeof json === "string" && URL.canParse(json), expected: "an absolute URL" },
  number: { is: ({ json }) => json === "-0", expected: `"-0"` },
  set: { is: ({ json }) => Array.isArray(json), expected: "a list" },
  map: {
    is: ({ inner, json }) =>
      Array.isArray(json) && json.every((entry) => Array.isArray(entry) && entry.length === 2) &&
      [...inner.values()].every(({ type }) => type === undefined),
    expected: "a list of pairs"
  },
  [BYTES]: {
    is: ({ json }) =>
      Array.isArray(json) && json.length <= Value.MAX_INLINE_BYTES &&
      json.every((byte) => typeof byte === "number" && (byte & 255) === byte),
    expected: `a list of at most ${Value.MAX_INLINE_BYTES} numbers from 0 to 255`
  }
}

const ISO = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const isBytes = (type: Value.Value): boolean => Array.isArray(type) && type.length === 2 && type[0] === "typed-array" && type[1] === BYTES

const unknown = (at: string, type: unknown): never => {
  const known = Object.keys(kinds).map((kind) => kind === BYTES ? `["typed-array","${BYTES}"]` : kind).join(", ")
  throw refuse(at, `its annotation has the type ${(JSON.stringify(type) ?? "undefined").slice(0, 100)}. The types are ${known}`)
}

/** Returns the fields of an object with no fields other than `names`. */
const fields = (value: Value.Value, names: ReadonlyArray<string>): Readonly<Record<string, Value.Value>> => {
  const expected = `the form is { ${KEY}: { json, meta: { values, v: 1 } } }`
  if (!isRecord(value)) throw refuse("", expected)
  for (const name in value) if (!names.includes(name)) throw refuse("", `it has a field ${JSON.stringify(name.slice(0, 100))}; ${expected}`)
  return value
}

const isRecord = (value: Value.Value): value is Readonly<Record<string, Value.Value>> => Value.isContainer(value) && !Array.isArray(value)

const refuse = (at: string, reason: string) => new Value.InvalidValue({ at, reason })

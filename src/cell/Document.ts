/**
 * Documents: values together with the text that is stored, hashed and sent.
 *
 * The text of a plain JSON value is its JSON, so the platform's own parser reads it. Other values are written in the
 * form of `Rich.ts`, under one reserved key.
 *
 * Each text is made once and serves the journal, the store and the next before-image. A document that changed at one
 * place makes its text on demand, since a beat may change it again.
 *
 * @module
 */
import { overlaps, type Path } from "./Address.ts"
import * as JsonParser from "./JsonParser.ts"
import * as Rich from "./Rich.ts"
import * as Value from "./Value.ts"

/** The maximum length of a document's text, in characters. */
export const MAX_TEXT = 1_048_576

/** The maximum number of arrays of one document with a series of appends. */
const MAX_SERIES = 16

/** The levels that an entry of a log has around its value. */
const ENTRY_DEPTH = 8

/**
 * A document's value and its text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  /** The canonical text: valid JSON without white space. */
  readonly text: string
  /** The frozen value of a plain document; `undefined` for a document that each reader decodes afresh. */
  readonly plain: Value.Value
  /** The length of the text in characters: exact once the text exists, an upper bound before. */
  readonly size: number
}

/** A plain document that was changed at a place; its text is made on demand. */
class Changed implements Document {
  readonly plain: Value.Value
  private readonly bound: number
  private made: string | undefined

  constructor(plain: Value.Value, bound: number) {
    this.plain = plain
    this.bound = bound
  }

  get text(): string {
    return this.made ??= JSON.stringify(this.plain)
  }

  get size(): number {
    return this.made === undefined ? this.bound : this.made.length
  }
}

/**
 * A document with values that JSON lacks. Readers may change such values, so each decodes the text afresh.
 */
class RichDocument implements Document {
  readonly plain = undefined
  readonly text: string
  private value: Value.Value
  private typed: boolean | undefined

  constructor(text: string) {
    this.text = text
  }

  get size(): number {
    return this.text.length
  }

  /** The value, which no reader gets. */
  get whole(): Value.Value {
    return this.value ??= freeze(Rich.read(this.text))
  }

  get form(): Rich.Form {
    return { isRich: true, isTyped: this.typed ??= Rich.isTyped(this.text) }
  }
}

/** The items that appends add to one array of a document. The documents of a series share the list, which only grows. */
interface Series {
  readonly path: Path
  readonly list: Array<Value.Value>
  /** The number of items of the list that are in the document. */
  readonly count: number
}

/** The form of a document with series of appends. */
interface SeriesForm extends Rich.Form {
  /** Whether items of the series have annotations. The document then has some, too, whatever is written beside the series. */
  readonly hasTypedItems: boolean
}

const plainForm: SeriesForm = { isRich: false, isTyped: false, hasTypedItems: false }
const typedForm: SeriesForm = { isRich: true, isTyped: true, hasTypedItems: true }

/**
 * A document with items at the ends of some of its arrays; its value and its text are made on demand.
 *
 * So an append costs as much as its items, however long the array is. No reader gets the value of a rich one.
 */
class Appended implements Document {
  private readonly base: Value.Value
  private readonly series: ReadonlyArray<Series>
  private readonly bound: number
  readonly form: SeriesForm
  private value: Value.Value
  private made: string | undefined

  constructor(base: Value.Value, series: ReadonlyArray<Series>, { bound, form }: Bounded) {
    this.base = base
    this.series = series
    this.bound = bound
    this.form = form
  }

  get whole(): Value.Value {
    return this.value ??= this.series.reduce(extended, this.base)
  }

  get plain(): Value.Value {
    return this.form.isRich ? undefined : this.whole
  }

  get text(): string {
    return this.made ??= this.form.isRich ? Rich.write(this.whole) : JSON.stringify(this.whole)
  }

  get size(): number {
    return this.made === undefined ? this.bound : this.made.length
  }

  /** A value with the same containers and links along a path. */
  along(path: Path): Value.Value {
    return this.value ?? (this.series.some((one) => one.path.length < path.length && overlaps(one.path, path)) ? this.whole : this.base)
  }

  /** A value that also has the same value at the path. */
  around(path: Path): Value.Value {
    return this.isBeside(path) ? this.base : this.whole
  }

  /** Tests whether no array with appended items is at a path, above it or below it. */
  isBeside(path: Path): boolean {
    return this.value === undefined && !this.series.some((one) => overlaps(one.path, path))
  }

  /** The number of items that appends added to the array at a path. */
  added(path: Path): number {
    return this.value === undefined ? this.series.find((one) => isSame(one.path, path))?.count ?? 0 : 0
  }

  /**
   * The document with further items in the array at a path. The result is `undefined` if its value is made already, or if
   * another document has other items there.
   */
  with(path: Path, items: ReadonlyArray<Value.Value>, bounded: Bounded): Appended | undefined {
    const known = this.series.find((one) => isSame(one.path, path))
    const isOpen = known === undefined ? this.series.length < MAX_SERIES : known.list.length === known.count
    if (this.value !== undefined || !isOpen || this.along(path) !== this.base) return undefined
    const grown = grow(path, known?.list ?? [], items)
    const series = known === undefined ? [...this.series, grown] : this.series.map((one) => one === known ? grown : one)
    return new Appended(this.base, series, bounded)
  }

  /** The document with another value beside its series. */
  over(base: Value.Value, bounded: Bounded): Appended {
    return new Appended(base, this.series, bounded)
  }
}

/** The form of a document with series, and an upper bound of its characters. */
interface Bounded {
  readonly bound: number
  readonly form: SeriesForm
}

const isSame = (a: Path, b: Path): boolean => a.length === b.length && overlaps(a, b)

const grow = (path: Path, list: Array<Value.Value>, items: ReadonlyArray<Value.Value>): Series => {
  for (const item of items) list.push(item)
  return { path, list, count: list.length }
}

const extended = (value: Value.Value, { count, list, path }: Series): Value.Value =>
  put(value, path, Object.freeze((Value.at(value, path) as ReadonlyArray<Value.Value>).concat(list.slice(0, count))))

/**
 * Encodes `value` as a document. The value's objects and arrays are frozen.
 *
 * The text has at most {@link MAX_TEXT} characters. `undefined` is refused, because it deletes a cell.
 *
 * @throws InvalidValue
 * @category constructors
 * @since 0.1.0
 */
export const encode = (value: unknown): Document => {
  const canonical = Value.canonical(value)
  if (canonical.value === undefined) {
    throw new Value.InvalidValue({ at: "", reason: "undefined deletes a cell and cannot be stored in one" })
  }
  const isPlain = !canonical.rich && !hidesAsRich(canonical.value)
  const text = isPlain ? JSON.stringify(canonical.value) : Rich.write(canonical.value)
  if (text.length > MAX_TEXT) {
    const reason = `its text has ${text.length} characters and the limit is ${MAX_TEXT}; ` +
      "split it into several cells, or keep its bytes with tx.blob(bytes)"
    throw new Value.InvalidValue({ at: "", reason })
  }
  return isPlain ? { text, plain: canonical.value, size: text.length } : new RichDocument(text)
}

/**
 * Returns the canonical form of a value with a plain JSON text; `undefined` for any other value.
 *
 * @throws InvalidValue
 * @category getters
 * @since 0.1.0
 */
export const plainOf = (value: unknown): Value.Value => {
  // A view of the journal may be longer than a cell's text.
  const canonical = Value.canonical(value, Infinity)
  return canonical.rich || hidesAsRich(canonical.value) ? undefined : canonical.value
}

/**
 * Returns the text of an entry of a log, of one line, which {@link decode} reads. It may be longer than a cell's text, and
 * deeper, because it contains values of cells.
 *
 * @throws InvalidValue
 * @category getters
 * @since 0.1.0
 */
export const entry = (value: unknown): string => {
  const canonical = Value.canonical(value, Infinity, Value.MAX_DEPTH + ENTRY_DEPTH)
  return canonical.rich || hidesAsRich(canonical.value) ? Rich.write(canonical.value) : JSON.stringify(canonical.value)
}

/**
 * Encodes a derived value as a document, without making its text before the first read of `text`.
 *
 * @throws InvalidValue
 * @category constructors
 * @since 0.1.0
 */
export const derive = (value: unknown): Document => {
  const canonical = Value.canonical(value)
  if (canonical.rich || canonical.value === undefined || hidesAsRich(canonical.value)) return encode(value)
  return canonical.bound > MAX_TEXT ? encode(value) : new Changed(canonical.value, canonical.bound)
}

/**
 * Decodes a stored text, without a check.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = (text: string): Document =>
  Rich.is(text) ? new RichDocument(text) : { text, plain: freeze(JsonParser.parse(text) as Value.Value), size: text.length }

/**
 * Returns the value at `path`, or `undefined` if there is none. Dates, maps, sets, URLs and bytes are copied for each
 * reader.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = (document: Document | undefined, path: Path): Value.Value => {
  if (document === undefined) return undefined
  const value = around(document, path)
  return path.length === 0 ? value : Value.at(value, path)
}

/** Returns a value with the same value at `path` as the document, for less than the whole value if it can. */
export const around = (document: Document, path: Path): Value.Value =>
  isRich(document) ? freeze(Rich.read(document.text)) : document instanceof Appended ? document.around(path) : document.plain

/** Returns the value at `path` for work that neither changes it nor shows it to a reader. It is decoded once. */
export const peek = (document: Document | undefined, path: Path): Value.Value =>
  document === undefined ? undefined : Value.at(document instanceof Appended ? document.around(path) : whole(document), path)

/**
 * Returns a value with the same containers and links along `path` as the document. The values below `path` may be others, and
 * no reader may get them.
 */
export const along = (document: Document, path: Path): Value.Value =>
  document instanceof Appended ? document.along(path) : whole(document)

const whole = (document: Document): Value.Value =>
  document instanceof Appended || document instanceof RichDocument ? document.whole : document.plain

/** Tests whether each reader decodes a document afresh. */
export const isRich = (document: Document): boolean =>
  document instanceof Appended ? document.form.isRich : document.plain === undefined

/**
 * Returns the document with `value` at `path`. The value `undefined` removes the key, or the item of an array.
 *
 * Missing objects along the path are created. A value along the path that is not a container is refused. The result is
 * `undefined` when the whole document is removed.
 *
 * @throws InvalidValue
 * @category combinators
 * @since 0.1.0
 */
export const write = (document: Document | undefined, path: Path, value: unknown): Document | undefined => {
  if (path.length === 0) return value === undefined ? undefined : encode(value)
  const held = heldBeside(document, path, value)
  const before = held?.around(path) ?? read(document, [])
  if (value === undefined && Value.at(before, path) === undefined) return document
  // The value is checked alone, at its depth; the rest of the document was checked before.
  const alone = Value.canonical(value === undefined ? {} : path.reduceRight((inner, key) => ({ [key]: inner }), value))
  const after = put(before, path, value === undefined ? undefined : Value.at(alone.value, path))
  const bound = (document?.size ?? 0) + (alone.rich ? Rich.write(alone.value) : JSON.stringify(alone.value)).length + 2
  const rich = alone.rich || hidesAsRich(after) || (document !== undefined && isRich(document))
  if (held === undefined) return rich || bound > MAX_TEXT ? encode(after) : new Changed(after, bound)
  const later = held.over(after, { bound, form: held.form })
  // A write may change whether a document is rich, unless its series decide that.
  return (rich && !held.form.hasTypedItems) || bound > MAX_TEXT ? encode(later.whole) : later
}

/** The document, if it has series of appends and a write leaves them as they are. */
const heldBeside = (document: Document | undefined, path: Path, value: unknown): Appended | undefined =>
  // A removal may move an array with a series.
  document instanceof Appended && value !== undefined && document.isBeside(path) ? document : undefined

/**
 * Returns the document with items at the end of the array at `path`; `undefined` if only {@link write} can determine it.
 *
 * @throws InvalidValue
 * @category combinators
 * @since 0.1.0
 */
export const append = (document: Document, path: Path, items: ReadonlyArray<Value.Value>): Document | undefined => {
  const array = Value.at(along(document, path), path)
  if (!Array.isArray(array)) return undefined
  if (items.length === 0) return document
  // The items are checked at their depth.
  const { rich, value } = Value.canonical(path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), items))
  const added = Value.at(value, path) as ReadonlyArray<Value.Value>
  const count = array.length + (document instanceof Appended ? document.added(path) : 0)
  const known = formOf(document)
  // Without its brackets, and with a comma before it.
  const growth = rich ? Rich.growth(known, { path, count, items: added }) : JSON.stringify(added).length - (count === 0 ? 2 : 1)
  const bounded = { bound: document.size + growth, form: rich ? typedForm : known }
  if (bounded.bound > MAX_TEXT) return undefined
  const series = document instanceof Appended ? document.with(path, added, bounded) : undefined
  return series ?? new Appended(whole(document), [grow(path, [], added)], bounded)
}

const formOf = (document: Document): SeriesForm => {
  if (document instanceof Appended) return document.form
  return document instanceof RichDocument ? { ...document.form, hasTypedItems: false } : plainForm
}

/** Puts a canonical value into a canonical container. The copied containers along the path are ordered and frozen, too. */
const put = (container: Value.Value, path: Path, value: Value.Value): Value.Value => {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (container !== undefined && !Value.isContainer(container)) {
    throw new Value.InvalidValue({ at: `/${key}`, reason: "the path leads through a value that holds no others; write its parent instead" })
  }
  if (Array.isArray(container)) return putItem(container, path, value)
  const next = put(container === undefined ? undefined : Value.step(container, key), rest, value)
  const copy = { ...(container as Record<string, Value.Value> | undefined) }
  if (next === undefined) delete copy[key]
  else copy[key] = next
  const isNew = container === undefined || !Object.hasOwn(container, key)
  return Object.freeze(isNew ? Object.fromEntries(Object.keys(copy).sort().map((key) => [key, copy[key]])) : copy)
}

const putItem = (array: ReadonlyArray<Value.Value>, path: Path, value: Value.Value): Value.Value => {
  const [key = "", ...rest] = path
  const index = key === "-" ? array.length : Number(key)
  if (!/^(?:-|0|[1-9]\d*)$/.test(key) || index > array.length) {
    const reason = `an array of ${array.length} items has no such place; use an index up to ${array.length}, or - for its end`
    throw new Value.InvalidValue({ at: `/${key}`, reason })
  }
  const next = put(array[index], rest, value)
  return Object.freeze(next === undefined ? array.toSpliced(index, 1) : index === array.length ? [...array, next] : array.with(index, next))
}

/** Tests whether the stored text of a plain value would be read as the rich form. */
const hidesAsRich = (value: Value.Value): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, Rich.KEY)

const freeze = (value: Value.Value): Value.Value => {
  if (!Value.isContainer(value)) return value
  for (const key in value) freeze((value as Record<string, Value.Value>)[key])
  return Object.freeze(value)
}

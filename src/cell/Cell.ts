/**
 * Cells as values: parsed addresses that cache their location in the graph, and have a type if they are declared with one.
 *
 * A text such as `/data/total` is looked up at each use. A `Cell` that a module creates once and keeps is looked up
 * once per space. Reads and writes accept both with the same meaning.
 *
 * @module
 */
import * as Address from "./Address.ts"
import type { Outer, Params } from "./Template.ts"
import { TextCache } from "./TextCache.ts"
import { type Declared, InvalidType, type Schematic, templateOf, Type, Upgrades } from "./Type.ts"
import { at, type Value } from "./Value.ts"

/** The keys of the parts of a value: fields of an object, or indexes of a list. */
export type Key<A> = A extends ReadonlyArray<unknown> ? number : A extends object ? keyof A & string : never

/** The part of a value with a key. */
export type Part<A, K> = A extends ReadonlyArray<infer Item> ? Item : K extends keyof A ? A[K] : never

/**
 * A parsed address with a cached location. `A` is the type of its value; a cell of a text holds any `Value`.
 *
 * @category models
 * @since 0.1.0
 */
export class Cell<out A = Value> {
  /** Of the compiler alone. */
  declare readonly Type: A
  readonly address: Address.Address
  /** The declaration of its type, and the type of the part that it names; `undefined` for the cell of a text. */
  readonly declared: Declared | undefined
  readonly type: Type | undefined
  /** The graph of the last look-up, and the location found there. Only that graph reads or writes the two fields. */
  home: object | undefined = undefined
  found: object | undefined = undefined
  private container: Cell | undefined

  constructor(address: Address.Address, declared?: Declared, type: Type | undefined = declared?.type) {
    this.address = address
    this.declared = declared
    this.type = type
  }

  /** The cell of the whole document, without a type. */
  get whole(): Cell {
    return this.container ??= new Cell(Address.ofKey(this.address.key))
  }

  toString(): string {
    return this.address.text
  }
}

/** A place of a transaction: the text of an address, or a cell. */
export type Place = string | Cell<unknown>

/**
 * The cells of one type below a path with `:name` segments.
 *
 * @category models
 * @since 0.1.0
 */
export class Family<out A, in Given, in Under> {
  /** Of the compiler alone. */
  declare readonly Type: A
  /** Of the compiler alone: the values without the last one. */
  declare readonly Under: (under: Under) => void
  readonly _tag = "Family"
  readonly declared: Declared

  constructor(declared: Declared) {
    this.declared = declared
  }

  /** The path with `:name` segments. */
  get path(): string {
    return this.declared.template.path
  }

  /**
   * The cell with these names. Equal names usually give the same cell.
   *
   * @throws InvalidAddress
   */
  at(given: Given): Cell<A> {
    const { declared } = this
    const { template } = declared
    const path = template.join(given as Readonly<Record<string, string>>)
    const known = path === undefined ? undefined : kept.get(path)
    // A path of the template without a valid value has another number of names, or no cell.
    if (known !== undefined && known.declared === declared) return known as Cell<A>
    const cell = new Cell<A>(Address.parse(template.fill(given as Readonly<Record<string, string>>)), declared)
    kept.set(cell.address.id, cell)
    return cell
  }

  toString(): string {
    return this.path
  }
}

/** The cells of all families by path, because each beat names the same few; of a large space, some ten thousand. */
const kept = new TextCache<Cell<unknown>>(32_768)

/** Settings of a family or a cell with a type. */
export interface Options<A> {
  /**
   * Makes a value of the type from an older one that does not fit. It is called by reads, and has to be a plain function: equal
   * old values give equal new ones. The next write alone stores the new one.
   */
  readonly upgrade?: (old: Value) => A
}

/**
 * Creates the cell of an address, such as `/data/price` or `/data/order#/total`.
 *
 * @throws InvalidAddress
 * @example A cell that a computation reads again and again
 * ```ts
 * import { Cell, Computation } from "systole"
 *
 * const price = Cell.make("/data/price")
 * export default Computation.make({
 *   name: "gross",
 *   output: "/data/gross",
 *   run: (tx) => Number(tx.get(price)) * 1.19
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (address: string): Cell => new Cell(Address.parse(address))

/**
 * Creates a cell with a type.
 *
 * Reads give the type and writes take it. A written value is checked: one that does not fit is refused with `cell/type`, and the
 * run is aborted. The schema has no transformation, because values are stored as their type.
 *
 * @throws InvalidType
 * @example A count
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Cell, Enzyme } from "systole"
 *
 * export const Sold = Cell.of("/data/sold", Schema.Natural)
 *
 * export default Enzyme.make({
 *   name: "sell",
 *   query: "/signals/sell",
 *   writes: [Sold],
 *   run: (tx) => {
 *     tx.set(Sold, (tx.get(Sold) ?? 0) + 1)
 *   }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = <A extends Value>(path: string, schema: Schematic<A>, options: Options<A> = {}): Cell<A> => {
  const declared = declare(path, schema, options)
  const [name] = declared.template.names
  if (name === undefined) return new Cell<A>(Address.parse(path), declared)
  throw new InvalidType({ path, reason: `it has :${name}, so it names many cells; declare them with Cell.family` })
}

/**
 * Creates a family: the cells of one type below a path with `:name` segments.
 *
 * `family.at({ id })` is one of its cells; see {@link of} for the checks. A schema may be given by a function that returns it.
 *
 * An enzyme or a node that names a family in `writes`, `bind` or `output` declares it in its space, and so does its file by an
 * export: writes from outside are checked, too, and `/sys/schema` shows the schema. Values that were stored before are not checked
 * when they are read.
 *
 * @throws InvalidType
 * @example Orders, with a place for what each costs
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Cell, Enzyme } from "systole"
 *
 * export const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
 * export const Orders = Cell.family("/data/orders/:id", Order)
 *
 * export default Enzyme.make({
 *   name: "place_order",
 *   query: "/signals/order/:id/place",
 *   payload: Order,
 *   writes: [Orders],
 *   run: (tx, { params: { id }, payload }) => {
 *     const before = tx.get(Orders.at({ id }))
 *     tx.set(Orders.at({ id }), payload)
 *     return before === undefined ? 0 : before.count
 *   }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const family = <const Path extends string, A extends Value>(
  path: Path,
  schema: Schematic<A>,
  options: Options<A> = {}
): Family<A, Params<Path>, Outer<Path>> => {
  const declared = declare(path, schema, options)
  if (declared.template.names.length > 0) return new Family(declared)
  throw new InvalidType({ path, reason: "it has no :name, so it names one cell; declare that with Cell.of" })
}

/**
 * Returns the part of a cell's value with a key, as a cell of its own: a field of an object, or an item of a list.
 *
 * @example Writing one field of an order
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Cell, Enzyme } from "systole"
 *
 * export const Order = Schema.Struct({ status: Schema.Literals(["open", "paid"]), cents: Schema.Natural })
 * export const Orders = Cell.family("/data/orders/:id", Order)
 *
 * export default Enzyme.make({
 *   name: "pay",
 *   query: "/signals/order/:id/pay",
 *   writes: [Orders],
 *   run: (tx, { params: { id } }) => tx.set(Cell.into(Orders.at({ id }), "status"), "paid")
 * })
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const into = <A, K extends Key<A>>(cell: Cell<A>, key: K): Cell<Part<A, K>> =>
  new Cell(Address.into(cell.address, [String(key)]), cell.declared, cell.type?.into(String(key)))

const declare = <A extends Value>(path: string, schema: Schematic<A>, { upgrade }: Options<A>): Declared => {
  const type = new Type(path, schema)
  return { kind: "cell", template: templateOf(path), type, upgrades: upgrade && new Upgrades(type, upgrade) }
}

/**
 * Returns the address of a text or a cell.
 * @throws InvalidAddress
 */
export const addressOf = (place: Place): Address.Address => typeof place === "string" ? Address.parse(place) : place.address

/** Returns the text of a place. */
export const textAt = (place: Place): string => typeof place === "string" ? place : place.address.text

/** Tests whether reads of a place upgrade older values. */
export const isUpgraded = (place: Place): boolean => typeof place !== "string" && place.declared?.upgrades !== undefined

/**
 * Checks a value that is written to a place. Deleting is always allowed.
 *
 * @throws CellMistyped
 */
export const check = (place: Place, value: unknown): void => {
  if (typeof place !== "string" && value !== undefined) place.type?.check(value, place.address.text)
}

/** Checks fields that are merged into a place. @throws CellMistyped */
export const checkFields = (place: Place, fields: { readonly [key: string]: unknown }): void => {
  if (typeof place === "string" || place.type === undefined) return
  for (const key of Object.keys(fields)) checkPart(place, key, fields[key])
}

/** Checks items that are appended at a place. @throws CellMistyped */
export const checkItems = (place: Place, items: ReadonlyArray<unknown>): void => {
  if (typeof place !== "string" && place.type !== undefined) for (const item of items) checkPart(place, "-", item)
}

const checkPart = ({ address, type }: Cell<unknown>, key: string, value: unknown): void => {
  if (value !== undefined) type?.into(key)?.check(value, Address.into(address, [key]).text)
}

/** Reads the value at a place from a store that answers later, upgraded if it is older than the type of the cell. */
export const read = async (place: Place, stored: (address: string) => Promise<Value>): Promise<Value> => {
  if (typeof place === "string" || place.declared?.upgrades === undefined) return stored(textAt(place))
  const whole = await stored(place.whole.address.text)
  return current(place, () => whole)
}

/** Reads of a store that answers later, by text and by typed cell. */
export interface Reading<Before extends ReadonlyArray<unknown> = []> {
  <A>(...args: [...Before, cell: Cell<A>]): Promise<A | undefined>
  (...args: [...Before, address: string]): Promise<Value>
}

/** Returns the value at a place: that which `read` finds, upgraded if it is older than the type of the cell. */
export const current = (place: Place, read: (place: Place) => Value): Value => {
  if (typeof place === "string" || place.declared?.upgrades === undefined) return read(place)
  return at(place.declared.upgrades.of(read(place.whole), place.whole.address.text), place.address.path)
}

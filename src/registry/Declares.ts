/**
 * Declarations: the families, cells and signals of a type that a module names, and their texts.
 *
 * A module may name one of them wherever it may name a path. All else reads texts, so they are taken once, when the module is
 * made.
 *
 * @module
 */
import { type Cell, type Family, type Place, textAt } from "../cell/Cell.ts"
import { pathOf, type Sent, type Signal } from "../cell/Signal.ts"
import type { Declared } from "../cell/Type.ts"

/** A family of any type. */
export type AnyFamily = Family<unknown, never, never>

/** Signals of any type. */
export type AnySignal = Signal<unknown, never>

/** A cell or a family, where a module names one. */
export type NamedPlace = Place | AnyFamily

/** A value that may have a declaration: a cell, a family or a signal. */
export interface Declaring {
  readonly declared: Declared | undefined
}

/** A signal that a durable run hears: its path, at the target of the event or at another cell. */
export type DeclaredSignal = string | { readonly signal: string; readonly target: string }

/** The same in a definition, which may name signals of a type and cells. */
export type HeardIn = Sent | { readonly signal: Sent; readonly target: Place }

/** A cell in a definition, with its settings as a binding. */
export type BoundIn = NamedPlace | { readonly cell: NamedPlace; readonly propagate?: boolean }

/** The fields of a definition that name cells and signals. */
export interface Places {
  readonly query: string | AnySignal
  readonly bind?: ReadonlyArray<BoundIn>
  readonly writes?: ReadonlyArray<NamedPlace>
  readonly declares?: ReadonlyArray<Declaring>
  readonly reads?: ReadonlyArray<Place> | ((event: never) => ReadonlyArray<Place>)
  readonly hears?: ReadonlyArray<HeardIn> | ((event: never) => ReadonlyArray<HeardIn>)
}

/** The same fields as texts, and all declarations among them. */
export interface Texts<Event> {
  readonly query: string
  readonly bind?: ReadonlyArray<string | { readonly cell: string; readonly propagate?: boolean }>
  readonly writes?: ReadonlyArray<string>
  readonly declares: ReadonlyArray<Declaring>
  readonly reads?: ReadonlyArray<string> | ((event: Event) => ReadonlyArray<string>)
  readonly hears?: ReadonlyArray<DeclaredSignal> | ((event: Event) => ReadonlyArray<DeclaredSignal>)
}

/** Whether a value has the form of a cell, a family or a signal, of any copy of the package. */
export const is = (value: unknown): value is Declaring =>
  typeof value === "object" && value !== null && "declared" in value && ("address" in value || "path" in value)

const isCell = (named: Cell<unknown> | AnyFamily): named is Cell<unknown> => "address" in named

/** The text of a cell, or of a family by its template. Anything else is left as it is, for the check of the definition. */
const textOf = (named: NamedPlace, ofFamily: (family: AnyFamily) => string): string =>
  !is(named) ? named as string : isCell(named) ? textAt(named) : ofFamily(named)

/** The pattern of the cells that are named: `*` replaces each `:name` of a family. */
export const patternOf = (named: NamedPlace): string => textOf(named, ({ declared }) => declared.template.pattern)

/** The path of the cells that are named: a family keeps its `:name` segments. */
export const templateOf = (named: NamedPlace): string => textOf(named, ({ path }) => path)

/** The cell below which all cells that are named are. */
const rootOf = (named: NamedPlace): string => textOf(named, ({ declared }) => declared.template.root)

/** The text of a place. Anything else is left as it is. */
export const placeOf = (place: Place): string => is(place) ? textAt(place as Cell<unknown>) : place as string

/** The declared ones among named values, each once. */
export const among = (values: ReadonlyArray<unknown>): ReadonlyArray<Declaring> => {
  const found = new Map<Declared, Declaring>()
  for (const value of values) {
    // A module may export an object of its own with these names.
    if (is(value) && value.declared?.template !== undefined && !found.has(value.declared)) found.set(value.declared, value)
  }
  return [...found.values()]
}

/** Changes each item of a list. Anything else is left as it is. */
export const each = <A, B>(list: ReadonlyArray<A>, change: (item: A) => B): ReadonlyArray<B> =>
  Array.isArray(list) ? list.map(change) : list as never

/**
 * A definition with the texts of what it names, and its declarations.
 */
export const inTexts = <D extends Places, Event>(definition: D): Omit<D, keyof Places> & Texts<Event> => {
  const { bind, declares, hears, query, reads, writes, ...rest } = definition
  const named = [query, ...[declares, writes, bind, hears, reads].flatMap((list) => Array.isArray(list) ? list as Array<unknown> : [])]
  const inside = named.flatMap((one) => isPair(one) ? Object.values(one) : [one])
  return {
    ...rest,
    query: is(query) ? query.path : query as string,
    declares: among(inside),
    ...bind && { bind: each(bind, bound) },
    ...writes && { writes: each(writes, patternOf) },
    ...reads && { reads: typeof reads === "function" ? (event: Event) => reads(event as never).map(placeOf) : each(reads, placeOf) },
    ...hears && { hears: typeof hears === "function" ? (event: Event) => hears(event as never).map(heard) : each(hears, heard) }
  }
}

/** Whether a part of a list names several things, each in a field. */
const isPair = (one: unknown): one is object => typeof one === "object" && one !== null && !is(one)

const bound = (one: BoundIn): string | { readonly cell: string; readonly propagate?: boolean } =>
  isPair(one) && "cell" in one ? { ...one, cell: rootOf(one.cell) } : rootOf(one as NamedPlace)

const signalOf = (signal: Sent): string => is(signal) ? pathOf(signal) : signal as string

const heard = (one: HeardIn): DeclaredSignal =>
  isPair(one) && "signal" in one && "target" in one
    ? { ...one, signal: signalOf(one.signal), target: placeOf(one.target) }
    : signalOf(one as Sent)

/**
 * The calls of a transaction that are made of others: reads that upgrade, lists of families, and signals of a type.
 *
 * @module
 */
import { type Cell, current, type Family, isUpgraded, type Place, textAt } from "../cell/Cell.ts"
import { pathOf, type Signal } from "../cell/Signal.ts"
import type { Declared } from "../cell/Type.ts"
import { keysOf, type Value } from "../cell/Value.ts"
import type { SignalRequest } from "./Launch.ts"
import { Faces } from "./Ledgers.ts"
import type { TypedRequest } from "./Typed.ts"

/** A family of any type, and the names before its last one. */
type AnyFamily = Family<unknown, never, never>
type Under = [under?: unknown]

/** A request before its check: of any type, with the values of its `:name` segments. */
type Request = TypedRequest<unknown, object> & { readonly params?: object }

/**
 * The calls of a transaction over its own.
 */
export abstract class Calls extends Faces {
  /** Reads the stored value at a place. */
  protected abstract valueAt(place: Place): Value
  /** Reads like `valueAt`, but a change of the value does not run a node again. */
  protected abstract glance(place: Place): Value
  /** Returns the keys of the stored value at a place. */
  protected abstract keysAt(place: Place): ReadonlyArray<string> | undefined
  /** Returns the names of the documents directly below a cell. */
  abstract listed(id: string): ReadonlyArray<string>
  /** Sends a signal, if its payload fits the declaration. */
  abstract send(request: SignalRequest, declared?: Declared): string

  get<A>(cell: Cell<A>): A | undefined
  get(place: Place): Value
  get(place: Place): Value {
    return isUpgraded(place) ? current(place, (stored) => this.valueAt(stored)) : this.valueAt(place)
  }

  peek<A>(cell: Cell<A>): A | undefined
  peek(place: Place): Value
  peek(place: Place): Value {
    return isUpgraded(place) ? current(place, (stored) => this.glance(stored)) : this.glance(place)
  }

  keys(place: Place): ReadonlyArray<string> | undefined {
    return isUpgraded(place) ? keysOf(this.get(place)) : this.keysAt(place)
  }

  list(place: string | AnyFamily, ...[under]: Under): ReadonlyArray<string> {
    return this.listed(typeof place === "string" ? place : folderOf(place, under))
  }

  entries<A, Names>(family: Family<A, Names, never>, ...[under]: Under): ReadonlyArray<readonly [names: Names, value: A]> {
    const { names } = family.declared.template
    const last = names.at(-1)!
    return this.listed(folderOf(family, under)).flatMap((name) => {
      const given = { ...under as object, [last]: name } as Names
      const value = this.get(family.at(given))
      return value === undefined ? [] : [[given, value] as const]
    })
  }

  signal<A, Names>(signal: Signal<A, Names> | SignalRequest, request?: unknown): string {
    return "declared" in signal ? this.send(requestOf(signal, request), signal.declared) : this.send(signal)
  }
}

/**
 * The request for a signal of a type, in texts.
 *
 * @throws InvalidType, InvalidAddress
 */
export const requestOf = <A, Names>(signal: Signal<A, Names>, request: unknown): SignalRequest => {
  const { params, target, ...rest } = (request ?? {}) as Request
  const path = params === undefined ? pathOf(signal as unknown as Signal<A, object>) : signal.at(params as Names).path
  return { ...rest, signal: path, ...target === undefined ? {} : { target: textAt(target) } }
}

const folderOf = ({ declared }: AnyFamily, under: unknown): string =>
  declared.template.folder((under ?? {}) as Readonly<Record<string, string>>)

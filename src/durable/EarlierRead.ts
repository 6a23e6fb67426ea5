/**
 * Earlier reads: the knowledge of a durable run about a place, from a read of one of its segments or from its own write.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Depth } from "../stage/write/ReadLog.ts"
import * as Write from "../stage/write/Write.ts"
import type { OwnWrite } from "./WriteCall.ts"

/** The part of a place that was read: its value, its keys alone, or the names below a cell. */
export type Kind = "value" | "keys" | "names"

/** A read. For keys and names, the value is the list of them; without a container, there are no keys. */
export interface EarlierRead {
  readonly kind: Kind
  readonly address: Address.Address
  readonly value: Value
  /** The segment that read it, or that left it there. */
  readonly segment: number
  /** The number of writes that this segment had made to the document before. */
  readonly writes: number
}

/** A write, and an earlier read that covers its address, or the source of which it writes. */
export interface CoveredRead {
  readonly read: EarlierRead
  readonly write: Write.Write
}

/** A write of an earlier segment. */
export interface EarlierWrite {
  readonly segment: number
  readonly write: OwnWrite
}

/** A document as it is, or its absence. */
type Present = Document.Document | undefined

/** The depth of a read, as the look-up of the sources of derived cells takes it. */
export const depthOf = ({ kind }: EarlierRead): Depth => kind === "names" ? "children" : "deep"

/** Whether a place is an outer one of another, or the same. */
export const covers = (outer: Address.Address, inner: Address.Address): boolean =>
  outer.path.length <= inner.path.length && Address.overlaps(outer.path, inner.path)

/**
 * Whether the place of a write differs now from the read. For keys and names, the deletion of an absent place is no change.
 */
export const isChanged = (read: EarlierRead, write: Write.Write, document: Present): boolean => {
  const { address, kind, value } = read
  const { path } = write.address
  if (kind === "value") {
    const isInside = path.length > address.path.length
    const seen = isInside ? Values.at(value, path.slice(address.path.length)) : value
    return !Values.equals(Document.read(document, isInside ? path : address.path), seen)
  }
  if (deletes(write) && Document.read(document, path) === undefined) return false
  const name = nameIn(read, write)
  if (kind === "names") return has(value, name) !== (document !== undefined)
  const keys = keysAt(document, address.path)
  return name === undefined ? !areSame(keys, value) : has(keys, name) !== has(value, name)
}

/** Whether a read would give another result now. `list` gives the names below its cell. */
export const differs = ({ address, kind, value }: EarlierRead, document: Present, list: () => ReadonlyArray<string>): boolean => {
  if (kind === "value") return !Values.equals(Document.read(document, address.path), value)
  return !areSame(kind === "keys" ? keysAt(document, address.path) : list(), value)
}

/** Whether a write is about a place, an outer one or a part of it. */
export const meets = ({ write: { address } }: EarlierWrite, place: Address.Address): boolean =>
  address.key === place.key && Address.overlaps(address.path, place.path)

/** Whether a place is as this write left it. An increment, an append and a write to a part of the place do not determine it. */
export const isLeft = ({ write }: EarlierWrite, place: Address.Address, document: Present): boolean => {
  if (write.kind !== "set" || !covers(write.address, place)) return false
  const left = Document.read(write.document, place.path.slice(write.address.path.length))
  return Values.equals(Document.read(document, place.path), left)
}

/** The result of a read after writes of the run itself. Changes of other writers do not enter it. */
export const after = (read: EarlierRead, writes: ReadonlyArray<Write.Write>): Value =>
  read.kind === "value" ? writes.reduce((value, write) => valueAfter(read.address, value, write), read.value) : namesAfter(read, writes)

const valueAfter = ({ path }: Address.Address, value: Value, write: Write.Write): Value => {
  const outer = write.address.path.length
  if (write.kind === "set" && outer <= path.length) return Document.read(write.document, path.slice(outer))
  if (outer < path.length) return value
  try {
    const inside = { ...write, address: Address.make("/value", { path: write.address.path.slice(path.length) }) }
    return Document.read(Write.apply(value === undefined ? undefined : Document.encode(value), inside), [])
  } catch (error) {
    // The place has changed since, so that the write fits it alone. The next write there is refused.
    if (error instanceof Values.InvalidValue) return value
    throw error
  }
}

const namesAfter = (read: EarlierRead, writes: ReadonlyArray<Write.Write>): Value => {
  const { address: { path }, kind } = read
  const depth = kind === "names" ? 0 : path.length + 1
  let names: Set<string> | undefined = read.value === undefined ? undefined : new Set(namesOf(read.value))
  for (const write of writes) {
    const name = nameIn(read, write)
    // An item that is inserted or removed moves others, and no read shows which.
    if (name !== undefined && write.array !== undefined) continue
    if (name === undefined) {
      const keys = write.kind === "set" ? keysAt(write.document, path.slice(write.address.path.length)) : read.value
      names = keys === undefined ? undefined : new Set(namesOf(keys))
    } else if (!deletes(write)) names = (names ?? new Set()).add(name)
    // A deletion further inside leaves the name.
    else if (write.address.path.length <= depth) names?.delete(name)
  }
  return names === undefined ? undefined : [...names].sort()
}

const deletes = (write: Write.Write): boolean => write.kind === "set" && write.document === undefined

/** The name that a write is about, among the names or keys of a read; `undefined` if it is about all of them. */
const nameIn = ({ address, kind }: EarlierRead, write: Write.Write): string | undefined =>
  kind === "names" ? Address.name(write.address.id) : write.address.path[address.path.length]

const keysAt = (document: Present, path: Address.Path): Value => {
  const value = Document.read(document, path)
  return Values.isContainer(value) ? Object.keys(value) : undefined
}

const namesOf = (value: Value): ReadonlyArray<string> => value === undefined ? none : value as ReadonlyArray<string>

const none: ReadonlyArray<string> = []

const has = (value: Value, name: string | undefined): boolean => {
  if (name === undefined || value === undefined) return false
  const names = namesOf(value)
  return names.length < MANY ? names.includes(name) : setOf(names).has(name)
}

/** The number of names from which a set is made of them. */
const MANY = 16

const sets = new WeakMap<ReadonlyArray<string>, ReadonlySet<string>>()

const setOf = (names: ReadonlyArray<string>): ReadonlySet<string> => {
  const known = sets.get(names)
  if (known !== undefined) return known
  const set = new Set(names)
  sets.set(names, set)
  return set
}

const areSame = (a: Value, b: Value): boolean => {
  const [one, other] = [namesOf(a), namesOf(b)]
  return (a === undefined) === (b === undefined) && one.length === other.length && one.every((name) => has(other, name))
}

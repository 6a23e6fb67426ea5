/**
 * Locations: one record for each place that nodes read or write.
 *
 * A location holds the value that runs see: committed state with the changes of the
 * beat. Changed documents are listed once per beat with their previous value, for the
 * journal and for aborts. [S2 §2 P1]
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { Cell } from "../../cell/Cell.ts"
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import * as Link from "../../cell/Link.ts"
import * as Value from "../../cell/Value.ts"
import * as Flag from "./Flag.ts"
import { type Depth, Extra, extraOf, isPart, Location, type Part, place, rootOf } from "./Node.ts"

const { COVERED, DROPPED, IDLE, LOADED, READY, RICH } = Flag

/** The state below the graph: committed state with the changes of the beat so far. */
export interface BaseState {
  readonly read: (key: string) => Document | undefined
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
  /** Content, by its digest. */
  readonly content: (hash: string) => Uint8Array | undefined
  /** Whether it stores all values after a settle, so that unused locations can be dropped. */
  readonly holds: boolean
}

/** Longest list that is cleared in place, and longest list whose capacity is kept. Growing a new list costs more than clearing. */
const KEPT = 256
const LONGEST = 65_536

/** Clears the first `count` items of a list, and releases most of its memory. */
export const clear = (list: Array<unknown>, count: number): void => {
  if (count > LONGEST) list.length = 0
  else if (count > KEPT) list.fill(undefined, 0, count)
}

/** Memory of a document beside its text, in characters. */
const OVERHEAD = 100

/** Shorter strings cannot exceed the limit of a document. */
const SHORT = 4096

/**
 * The locations of one graph.
 */
export class Locations {
  private readonly roots = new Map<string, Location>()
  private readonly base: BaseState
  /** Documents changed since {@link settled}, in the order of their first change, and the previous values of plain ones. */
  readonly changed: Array<Location> = []
  readonly before: Array<Value.Value> = []
  /** Number of used entries; later ones are left over. */
  changes = 0
  /** Counts calls of `settled`. A location changed since then has this number. */
  private age = 0
  /** Number of lists of names, which creating a document can change. */
  listings = 0
  /** Called for each new location. */
  created: ((location: Location) => void) | undefined
  /** Characters of each loaded document that the base state has as well, with its overhead, and their total. */
  private readonly loaded = new Map<Location, number>()
  private resident = 0
  /** Documents by parent cell. Made for the first list, and maintained from then on. */
  private folders: Map<string, Set<Location>> | undefined
  /** Possibly unused locations. */
  private idle: Array<Location> = []

  constructor(base: BaseState) {
    this.base = base
  }

  /** The location of a document, if there is one. */
  known(key: string): Location | undefined {
    return this.roots.get(key)
  }

  get size(): number {
    return this.roots.size
  }

  values(): IterableIterator<Location> {
    return this.roots.values()
  }

  root(key: string): Location {
    let location = this.roots.get(key)
    if (location === undefined) {
      location = new Location(key)
      this.roots.set(key, location)
      if (this.folders !== undefined) fold(this.folders, location)
      this.created?.(location)
      this.leave(location)
    }
    return location
  }

  /** The location of an address. The text of a whole document is its key. */
  named(text: string): Location {
    return this.roots.get(text) ?? this.at(Address.parse(text))
  }

  /** The location of a cell, which the cell caches. */
  of(cell: Cell<unknown>): Location {
    const location = this.at(cell.address)
    cell.home = this
    cell.found = location
    return location
  }

  /** The location of a cell that was looked up here before. */
  fresh(cell: Cell<unknown>): Location {
    const location = cell.found as Location
    return (location.flags & DROPPED) === 0 ? location : this.of(cell)
  }

  at(address: Address.Address, depth: Depth = "deep"): Location {
    const root = this.root(address.key)
    return address.path.length === 0 && depth === "deep" ? root : this.part(root, address.path, depth)
  }

  /** The location of a part of a document. */
  part(root: Location, path: Address.Path, depth: Depth): Location {
    if (path.length === 0 && depth === "deep") return root
    const extra = extraOf(root)
    extra.parts ??= []
    for (const part of extra.parts) {
      if (part.extra.depth === depth && samePath(part.extra.path, path)) return part
    }
    const part = new Location(root.key)
    place(part, Object.assign(new Extra(), { root, path, depth }))
    extra.parts.push(part)
    this.created?.(part)
    this.leave(part)
    if (depth === "children") this.listings++
    return part
  }

  /** The list of names that contains a document, if a node reads it. */
  listing({ key }: Pick<Location, "key">): Location | undefined {
    const above = this.roots.get(folderOf(key))
    return above?.extra?.parts?.find((part) => part.extra.depth === "children")
  }

  /** Queues a possibly unused location for the next sweep. */
  leave(location: Location): void {
    if ((location.flags & IDLE) !== 0 || (!this.base.holds && location.extra?.root === undefined)) return
    location.flags |= IDLE
    this.idle.push(location)
  }

  /** Drops queued locations without readers and writers. */
  private sweep(): void {
    const { idle } = this
    this.idle = []
    for (const location of idle) {
      location.flags &= ~IDLE
      if (location.firstReader !== undefined || (location.flags & DROPPED) !== 0) continue
      if (isPart(location)) this.drop(location)
      if (this.base.holds) this.forget(rootOf(location))
    }
  }

  private forget(root: Location): void {
    if (root.firstReader !== undefined || root.writer !== undefined || (root.extra?.parts?.length ?? 0) > 0) return
    this.roots.delete(root.key)
    this.resident -= this.loaded.get(root) ?? 0
    this.loaded.delete(root)
    this.folders?.get(folderOf(root.key))?.delete(root)
    root.flags = DROPPED
    root.value = undefined
    root.extra = undefined
  }

  /** Drops a part without readers. */
  drop(part: Part): void {
    const { depth, root } = part.extra
    if (part.firstReader !== undefined) return
    const { parts } = root.extra ?? {}
    if (parts === undefined) return
    const index = parts.indexOf(part)
    if (index < 0) return
    parts.splice(index, 1)
    part.flags = DROPPED
    if (depth === "children") this.listings--
    this.leave(root)
  }

  /** The value of a document. A rich one is decoded anew. */
  whole(root: Location): Value.Value {
    if ((root.flags & LOADED) === 0) this.load(root)
    return (root.flags & RICH) === 0 ? root.value : Codec.read(root.extra?.document, [])
  }

  /** The value of a document. Makes no location. */
  shown(key: string): Value.Value {
    const root = this.roots.get(key)
    return root === undefined ? Codec.read(this.base.read(key), []) : this.whole(root)
  }

  /** The identity of a document's content. Each change replaces it. */
  held(root: Location): unknown {
    if ((root.flags & LOADED) === 0) this.load(root)
    return (root.flags & RICH) === 0 ? root.value : root.extra?.document
  }

  /** A document in its stored form. */
  document(root: Location): Document | undefined {
    if ((root.flags & LOADED) === 0) this.load(root)
    const document = root.extra?.document
    if (document !== undefined || root.value === undefined) return document
    const encoded = Codec.encode(root.value)
    return Value.isContainer(root.value) ? extraOf(root).document = encoded : encoded
  }

  /** The documents directly below a cell that have locations. */
  below(key: string): Iterable<Location> {
    if (this.folders === undefined) {
      this.folders = new Map()
      for (const root of this.roots.values()) fold(this.folders, root)
    }
    return this.folders.get(key) ?? none
  }

  /** Content, copied for each reader. It is no document: it has no keys, and memory keeps none of it. */
  content(hash: string, depth: Depth = "deep"): Uint8Array | undefined {
    const bytes = depth === "deep" ? this.base.content(hash) : undefined
    return bytes === undefined ? undefined : new Uint8Array(bytes)
  }

  /** Names directly below a cell. */
  children(scope: string, id: string): ReadonlyArray<string> {
    if (!this.base.holds) return this.own(Address.make(id, { scope }).key)
    const names = this.base.children(scope, id)
    if (this.changes === 0) return names
    let own: Set<string> | undefined
    for (let i = 0; i < this.changes; i++) {
      const root = this.changed[i]!
      const address = Address.ofKey(root.key)
      if (address.scope !== scope || Address.parent(address.id) !== id) continue
      own ??= new Set(names)
      if (this.exists(root)) own.add(Address.name(address.id))
      else own.delete(Address.name(address.id))
    }
    return own === undefined ? names : [...own].sort()
  }

  /** The same for a graph without base state. */
  private own(key: string): ReadonlyArray<string> {
    return [...this.below(key)].filter((root) => this.exists(root)).map(({ key }) => Address.name(Address.ofKey(key).id)).sort()
  }

  exists(root: Location): boolean {
    return (root.flags & RICH) !== 0 || root.value !== undefined
  }

  private load(root: Location): void {
    const document = this.base.read(root.key)
    adopt(root, document)
    this.count(root, document)
  }

  /** Counts the memory of a loaded or changed document. */
  private count(root: Location, document: Document | undefined): void {
    if (!this.base.holds) return
    const size = OVERHEAD + (document?.size ?? 0)
    this.resident += size - (this.loaded.get(root) ?? 0)
    this.loaded.set(root, size)
  }

  /** Caches the value of a part for reads. */
  refresh(part: Part): void {
    const { depth, path, root } = part.extra
    if (depth === "children") {
      const { id, scope } = Address.ofKey(part.key)
      part.value = Object.freeze([...this.children(scope, id)])
      part.flags |= READY
      return
    }
    const whole = this.whole(root)
    part.value = partOf(whole, path, depth)
    const isPlain = (root.flags & RICH) === 0 && Link.along(whole, path) === undefined
    part.flags = isPlain ? part.flags | READY : part.flags & ~READY
  }

  /** Records the previous value of a document, once until {@link settled}. */
  touch(root: Location): void {
    if (root.touched === this.age) return
    root.touched = this.age
    const { changes } = this
    this.changed[changes] = root
    this.before[changes] = root.value
    this.changes = changes + 1
  }

  /** Whether a document changed since {@link settled}. */
  isChanged(root: Location): boolean {
    return root.touched === this.age
  }

  /** All changes are committed. Unloads documents beyond `limit` characters. */
  settled(limit = Number.POSITIVE_INFINITY): void {
    this.age++
    if (this.base.holds) for (let i = 0; i < this.changes; i++) this.count(this.changed[i]!, this.changed[i]!.extra?.document)
    clear(this.changed, this.changes)
    clear(this.before, this.changes)
    this.changes = 0
    if (this.idle.length > 0) this.sweep()
    if (this.resident > limit) this.unload()
  }

  /** Unloads all loaded documents; the base state has them. */
  private unload(): void {
    for (const root of this.loaded.keys()) {
      root.value = undefined
      root.flags &= ~(READY | LOADED | RICH)
      if (root.extra === undefined) continue
      root.extra.document = undefined
      for (const part of root.extra.parts ?? []) {
        if (part.extra.depth === "children") continue
        part.value = undefined
        part.flags &= ~READY
      }
    }
    this.loaded.clear()
    this.resident = 0
  }
}

const none: ReadonlyArray<Location> = []

/** The key of a document's parent cell. */
const folderOf = (key: string): string => {
  const { id, scope } = Address.ofKey(key)
  return Address.make(Address.parent(id), { scope }).key
}

const fold = (folders: Map<string, Set<Location>>, root: Location): void => {
  const key = folderOf(root.key)
  const folder = folders.get(key)
  if (folder === undefined) folders.set(key, new Set([root]))
  else folder.add(root)
}

const samePath = (a: Address.Path, b: Address.Path): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** The result of a shallow read: the keys of an object, the indexes of an array, `undefined` for any other value. */
export const keysOf = (value: Value.Value): ReadonlyArray<string> | undefined =>
  Value.isContainer(value) && !Link.is(value) ? Object.freeze(Object.keys(value)) : undefined

/** The result of a read of a document. */
export const partOf = (whole: Value.Value, path: Address.Path, depth: Depth): Value.Value => {
  const inside = Value.at(whole, path)
  return depth === "shallow" ? keysOf(inside) : inside
}

/** Stores a document in its location. */
export const adopt = (root: Location, document: Document | undefined): void => {
  const isRich = document !== undefined && document.plain === undefined
  root.value = document?.plain
  const ready = isRich || (root.flags & COVERED) !== 0 || Link.is(root.value) ? 0 : READY
  root.flags = (root.flags & COVERED) | LOADED | (isRich ? RICH : 0) | ready
  // A primitive value is as quickly encoded again.
  if (root.extra !== undefined || isRich || Value.isContainer(root.value)) extraOf(root).document = document
}

/** Stores a derived value in canonical form. Primitive values are encoded on demand. */
export const derive = (root: Location, value: unknown): void => {
  if (
    typeof value === "number"
      ? Number.isFinite(value)
      : typeof value === "boolean" || value === null || (typeof value === "string" && value.length < SHORT)
  ) {
    root.value = (value === 0 ? 0 : value) as Value.Value
    root.flags = (root.flags & COVERED) | LOADED | ((root.flags & COVERED) === 0 ? READY : 0)
    if (root.extra !== undefined) root.extra.document = undefined
  } else adopt(root, value === undefined ? undefined : Codec.encode(value))
}

/** The address of a location as text. */
export const textOf = (location: Location): string => {
  const { depth, path } = location.extra ?? {}
  const text = Address.into(Address.ofKey(location.key), path ?? []).text
  return depth === "children" ? `${text}/*` : text
}

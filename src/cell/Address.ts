/**
 * Addresses: the one way any part of the runtime names state.
 *
 * Inside a space an address is a document, `(scope, id)`, and a path into it.
 * Its text is `/data/assets/img123#/width`, with `?scope=user:42` before the
 * `#` when the document is not shared by the whole space. Enzymes receive
 * addresses, never object references, so each beat can be recorded and
 * replayed. (Seed 000, "Pure path addressing".)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Name from "./Name.ts"

/** Where inside a document: keys and indexes, outermost first. */
export type Path = ReadonlyArray<string>

/** The scope of a document that the whole space shares. */
export const SPACE = "space"

/** Most characters of an address's text. */
export const MAX_TEXT = 2048

/**
 * A place in the cell tree of one space.
 *
 * @category models
 * @since 0.1.0
 */
export interface Address {
  /** `space`, `user:<id>` or `session:<id>`. */
  readonly scope: string
  /** The document's path in the tree, such as `/data/assets/img123`. */
  readonly id: string
  /** The place inside the document; empty for the whole of it. */
  readonly path: Path
  /** Names the document within its space: the id, and the scope where it is not the space's. */
  readonly key: string
  /** The canonical text. */
  readonly text: string
}

/**
 * A text is not an address.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidAddress extends Schema.TaggedError<InvalidAddress>()("InvalidAddress", {
  text: Schema.String,
  reason: Schema.String
}) {
  readonly code = "address/invalid"
  override get message() {
    return `${JSON.stringify(this.text.slice(0, 200))} is not an address: ${this.reason}. Write it like /data/orders/17, with #/field for a place inside`
  }
}

const none: Path = Object.freeze([])
const scopePattern = /^(?:space|(?:user|session):[A-Za-z0-9._@~-]{1,128})$/

/** Addresses by text: the same few are parsed in every beat. Emptied when full, so that it stays bounded. */
const interned = new Map<string, Address>()
const INTERNED = 65_536

/**
 * The address that `text` stands for.
 *
 * @throws InvalidAddress
 * @example A place inside a document
 * ```ts
 * import { Address } from "systole"
 *
 * const width = Address.parse("/data/assets/img123#/width")
 * if (width.id !== "/data/assets/img123" || width.path[0] !== "width") throw new Error("not parsed")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Address => {
  const known = interned.get(text)
  if (known !== undefined) return known
  if (typeof text !== "string") throw new InvalidAddress({ text: String(text), reason: `it is a value of type ${typeof text}` })
  if (text.length > MAX_TEXT) throw refuse(text, `it has ${text.length} characters and the limit is ${MAX_TEXT}`)
  const hash = text.indexOf("#")
  const document = hash < 0 ? text : text.slice(0, hash)
  const question = document.indexOf("?")
  const id = question < 0 ? document : document.slice(0, question)
  const names = Name.split(id)
  if (typeof names === "string") throw refuse(text, names)
  const address = make(id, {
    scope: question < 0 ? SPACE : scopeOf(text, document.slice(question)),
    path: hash < 0 ? none : pathOf(text, text.slice(hash + 1))
  })
  if (interned.size >= INTERNED) interned.clear()
  interned.set(text, address)
  return address
}

/**
 * An address from parts that are known to be valid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (id: string, parts: { readonly scope?: string; readonly path?: Path } = {}): Address => {
  const { path = none, scope = SPACE } = parts
  const key = scope === SPACE ? id : `${id}?scope=${scope}`
  return { scope, id, path, key, text: path.length === 0 ? key : `${key}#${pointer(path)}` }
}

/** The cell above all others: it holds nothing, and can be listed. */
const top: Address = make("/")

/**
 * The address of a document from its key; that of `/`, whose names can be listed, too.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofKey = (key: string): Address => key === top.key ? top : parse(key)

/**
 * The id of a document from its key: what is the same in each scope.
 *
 * @category getters
 * @since 0.1.0
 */
export const idOf = (key: string): string => {
  const scope = key.indexOf("?")
  return scope < 0 ? key : key.slice(0, scope)
}

/**
 * The address `path` deeper inside the same document.
 *
 * @category combinators
 * @since 0.1.0
 */
export const into = (address: Address, path: Path): Address =>
  path.length === 0 ? address : make(address.id, { scope: address.scope, path: [...address.path, ...path] })

/**
 * The id one level up: `/data` for `/data/x`, `/` for `/data`.
 *
 * @category getters
 * @since 0.1.0
 */
export const parent = (id: string): string => {
  const slash = id.lastIndexOf("/")
  return slash <= 0 ? "/" : id.slice(0, slash)
}

/**
 * The last name of an id.
 *
 * @category getters
 * @since 0.1.0
 */
export const name = (id: string): string => id.slice(id.lastIndexOf("/") + 1)

/**
 * The id of the child `name` of `id`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const child = (id: string, name: string): string => id === "/" ? `/${name}` : `${id}/${name}`

/**
 * Whether `id` is `ancestor` or lies below it.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isWithin = (ancestor: string, id: string): boolean =>
  id.startsWith(ancestor) && (id.length === ancestor.length || ancestor === "/" || id.charCodeAt(ancestor.length) === 47)

/**
 * Whether one of two paths in the same document is a prefix of the other.
 *
 * @category predicates
 * @since 0.1.0
 */
export const overlaps = (a: Path, b: Path): boolean => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * The text of an address for those outside its space: `cell://shop/data/x#/a`.
 *
 * @category getters
 * @since 0.1.0
 */
export const full = (space: string, address: Address): string => `cell://${space}${address.text}`

/** A path as an RFC 6901 pointer. */
export const pointer = (path: Path): string =>
  path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

const refuse = (text: string, reason: string) => new InvalidAddress({ text, reason })

const scopeOf = (text: string, query: string): string => {
  const scope = query.startsWith("?scope=") ? query.slice(7) : ""
  if (!scopePattern.test(scope)) throw refuse(text, `"${query}" is not ?scope=space, ?scope=user:<id> or ?scope=session:<id>`)
  return scope
}

const pathOf = (text: string, fragment: string): Path => {
  if (fragment === "") return none
  if (!fragment.startsWith("/")) throw refuse(text, `after # comes a JSON pointer such as /width, not "${fragment}"`)
  const parts = fragment.slice(1).split("/")
  if (parts.length > 64) throw refuse(text, `its pointer has ${parts.length} parts and the limit is 64`)
  return Object.freeze(parts.map((part) => {
    if (/~(?![01])/.test(part)) throw refuse(text, `in "${part}" a ~ is followed by neither 0 nor 1`)
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    if (!key.isWellFormed()) throw refuse(text, "its pointer holds half of a surrogate pair")
    return key
  }))
}

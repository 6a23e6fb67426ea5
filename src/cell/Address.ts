/**
 * Addresses: the names of places in the state of a space.
 *
 * An address is a document, `(scope, id)`, and a path into that document. Its text is `/data/assets/img123#/width`. A
 * document that is not shared by the whole space has `?scope=user:42` before the `#`. Enzymes receive addresses and
 * never object references, so each beat can be recorded and replayed [S0 §Design Invariants].
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Name from "./Name.ts"
import { TextCache } from "./TextCache.ts"

/** A place inside a document: keys and array indexes, outermost first. */
export type Path = ReadonlyArray<string>

/** The scope of a document that the whole space shares. */
export const SPACE = "space"

/** The maximum length of an address's text, in characters. */
export const MAX_TEXT = 2048

/**
 * A place in the cell tree of one space.
 *
 * @category models
 * @since 0.1.0
 */
export interface Address {
  /** `space`, `user:<id>` or `session:<id>`; an id has 1 to 128 characters of `A-Z a-z 0-9 . _ @ ~ -`. */
  readonly scope: string
  /** The document's path in the tree, such as `/data/assets/img123`: at most 64 names of at most 255 characters. */
  readonly id: string
  /** The place inside the document, at most 64 parts; empty for the whole document. */
  readonly path: Path
  /** The key of the document within its space: the id, followed by `?scope=…` unless the scope is `space`. */
  readonly key: string
  /** The canonical text, which {@link parse} accepts. */
  readonly text: string
}

/**
 * A text is not an address. `reason` names the rule that it breaks.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidAddress extends Data.TaggedError("InvalidAddress")<{ readonly text: string; readonly reason: string }> {
  readonly code = "address/invalid"
  override get message() {
    return `${JSON.stringify(this.text.slice(0, 200))} is not an address: ${this.reason}. ` +
      "Write it like /data/orders/17, with #/field for a place inside"
  }
}

const none: Path = Object.freeze([])
const SCOPE = "?scope="
const scopePattern = /^(?:space|(?:user|session):[A-Za-z0-9._@~-]{1,128})$/

/** Addresses by text, because each beat parses the same few; of a large space, some ten thousand. */
const interned = new TextCache<Address>(32_768)

/**
 * Parses the text of an address. Equal texts usually give the same object.
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
  interned.set(text, address)
  return address
}

/**
 * Creates an address from valid parts, without checking them.
 *
 * `scope` defaults to `space` and `path` to the whole document.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (id: string, parts: { readonly scope?: string; readonly path?: Path } = {}): Address => {
  const { path = none, scope = SPACE } = parts
  const key = scope === SPACE ? id : id + SCOPE + scope
  return { scope, id, path, key, text: path.length === 0 ? key : `${key}#${pointer(path)}` }
}

/** The root of the tree: it holds no value, and its children can be listed. */
const top: Address = make("/")

/**
 * Returns the address of a document from its key; the key `/` gives the root.
 *
 * @throws InvalidAddress
 * @category constructors
 * @since 0.1.0
 */
export const ofKey = (key: string): Address => key === top.key ? top : parse(key)

/**
 * Returns the address of a document from its valid key, without checking it. The address is not kept for later texts, so keys
 * that occur once cost no memory.
 *
 * @example The key of an address
 * ```ts
 * import { Address } from "systole"
 *
 * const cart = Address.ofValidKey("/data/cart?scope=user:42")
 * if (cart.id !== "/data/cart" || cart.scope !== "user:42") throw new Error("another document")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofValidKey = (key: string): Address => {
  const scope = key.indexOf(SCOPE)
  return scope < 0 ? make(key) : make(key.slice(0, scope), { scope: key.slice(scope + SCOPE.length) })
}

/**
 * Returns the id of a document from its key, without the scope.
 *
 * @category getters
 * @since 0.1.0
 */
export const idOf = (key: string): string => {
  const scope = key.indexOf("?")
  return scope < 0 ? key : key.slice(0, scope)
}

/**
 * Returns the address `path` deeper inside the same document.
 *
 * @category combinators
 * @since 0.1.0
 */
export const into = (address: Address, path: Path): Address =>
  path.length === 0 ? address : make(address.id, { scope: address.scope, path: [...address.path, ...path] })

/**
 * Returns the id one level up: `/data` for `/data/x`, `/` for `/data`.
 *
 * @category getters
 * @since 0.1.0
 */
export const parent = (id: string): string => {
  const slash = id.lastIndexOf("/")
  return slash <= 0 ? "/" : id.slice(0, slash)
}

/**
 * Returns the last name of an id: `x` for `/data/x`.
 *
 * @category getters
 * @since 0.1.0
 */
export const name = (id: string): string => id.slice(id.lastIndexOf("/") + 1)

/**
 * Returns the id of the child `name` of `id`, without checking the name.
 *
 * @category constructors
 * @since 0.1.0
 */
export const child = (id: string, name: string): string => id === "/" ? `/${name}` : `${id}/${name}`

/**
 * Tests whether `id` is `ancestor` or a descendant of it.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isWithin = (ancestor: string, id: string): boolean =>
  id.startsWith(ancestor) && (id.length === ancestor.length || ancestor === "/" || id.charCodeAt(ancestor.length) === 47)

/**
 * Tests whether one of two paths in the same document is a prefix of the other.
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
 * Returns the text of an address with its space, for use outside that space: `cell://shop/data/x#/a`.
 *
 * @category getters
 * @since 0.1.0
 */
export const full = (space: string, address: Address): string => `cell://${space}${address.text}`

/** Returns a path as an RFC 6901 JSON pointer. */
export const pointer = (path: Path): string =>
  path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

const refuse = (text: string, reason: string) => new InvalidAddress({ text, reason })

const scopeOf = (text: string, query: string): string => {
  const scope = query.startsWith(SCOPE) ? query.slice(SCOPE.length) : ""
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

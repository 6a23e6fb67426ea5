/**
 * Writes: what a run asks of a document, as data that can be applied again.
 *
 * Most writes set a value; increments and appends are kept as what they are, so
 * that those of several runs commute. (Architecture, section 3.)
 *
 * @module
 */
import type { Address, Path } from "../cell/Address.ts"
import { overlaps } from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"

/**
 * One write. A value is encoded once, when it is given.
 *
 * @category models
 * @since 0.1.0
 */
export type Write = {
  readonly address: Address
  /** The array in which it removes or inserts an item, so that the others move; else it changes its own place alone. */
  readonly array?: Path
} & (
  | { readonly kind: "set"; readonly document: Document.Document | undefined }
  | { readonly kind: "increment"; readonly by: number }
  | { readonly kind: "append"; readonly items: ReadonlyArray<Value.Value> }
)

/**
 * The write that sets a value; `undefined` deletes.
 *
 * @throws InvalidValue
 * @category constructors
 * @since 0.1.0
 */
export const set = (address: Address, value: unknown): Write & { readonly kind: "set" } => ({
  kind: "set",
  address,
  document: value === undefined ? undefined : Document.encode(value)
})

/**
 * A write as it meets a document, which tells whether it moves the items of an array.
 *
 * @category combinators
 * @since 0.1.0
 */
export const meet = (document: Document.Document | undefined, write: Write): Write => {
  const { path } = write.address
  if (path.length === 0) return write
  const deletes = write.kind === "set" && write.document === undefined
  let here = Document.read(document, [])
  for (let depth = 0; depth < path.length && Value.isContainer(here); depth++) {
    const key = path[depth]!
    if (Array.isArray(here)) {
      const index = key === "-" ? here.length : Number(key)
      const moves = deletes && depth === path.length - 1 ? index < here.length : index >= here.length
      if (moves) return { ...write, array: path.slice(0, depth) }
    }
    here = Value.step(here, key)
  }
  return write
}

/**
 * What a document becomes by a write.
 *
 * @throws InvalidValue
 * @category combinators
 * @since 0.1.0
 */
export const apply = (document: Document.Document | undefined, write: Write): Document.Document | undefined => {
  const { path } = write.address
  switch (write.kind) {
    case "set":
      return path.length === 0 ? write.document : Document.write(document, path, Document.read(write.document, []))
    case "increment": {
      const number = Document.read(document, path) ?? 0
      if (typeof number !== "number") throw unfit(write.address, "increment needs a number", number)
      return Document.write(document, path, number + write.by)
    }
    case "append": {
      const array = Document.read(document, path) ?? []
      if (!Array.isArray(array)) throw unfit(write.address, "append needs an array", array)
      return Document.write(document, path, [...array, ...write.items])
    }
  }
}

/** The place all of which a write changes. */
export const reach = ({ address, array }: Write): Path => array ?? address.path

/** How the writes of two runs to one document meet: not at all or in any order; with the same effect; or in contradiction. */
export type Meeting = "apart" | "equal" | "contrary"

/**
 * How two writes of two runs meet.
 *
 * @category getters
 * @since 0.1.0
 */
export const meeting = (a: Write, b: Write): Meeting => {
  // To move items twice is not to move them once, so a write that does agrees with no other.
  if (a.array !== undefined || b.array !== undefined) return overlaps(reach(a), reach(b)) ? "contrary" : "apart"
  if (!overlaps(a.address.path, b.address.path)) return "apart"
  if (a.address.path.length !== b.address.path.length || a.kind !== b.kind) return "contrary"
  if (a.kind !== "set" || b.kind !== "set") return "apart"
  return a.document?.text === b.document?.text ? "equal" : "contrary"
}

/** Characters that a document has, as far as its text is made; none where there is none. */
export const lengthOf = (document: Document.Document | undefined): number => document === undefined ? 0 : document.size

const unfit = (address: Address, need: string, found: Value.Value) =>
  new Value.InvalidValue({ at: address.text, reason: `${need} and found ${found === null ? "null" : typeof found}` })

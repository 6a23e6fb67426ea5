/**
 * Writes: changes to a document, as data that can be applied again.
 *
 * Most writes set a value. Increments and appends are kept in their own form, so that writes of several runs commute.
 *
 * @module
 */
import type { Address, Path } from "../../cell/Address.ts"
import { overlaps } from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Value from "../../cell/Value.ts"

/**
 * One write. A value is encoded once, when the write is made.
 */
export type Write = {
  readonly address: Address
  /** The array in which it removes or inserts an item and so moves others; `undefined` if it changes only its own place. */
  readonly array?: Path
} & (
  | { readonly kind: "set"; readonly document: Document.Document | undefined }
  | { readonly kind: "increment"; readonly by: number }
  | { readonly kind: "append"; readonly items: ReadonlyArray<Value.Value> }
)

/**
 * Creates the write that sets a value; `undefined` deletes.
 *
 * @throws InvalidValue
 */
export const set = (address: Address, value: unknown): Write & { readonly kind: "set" } => ({
  kind: "set",
  address,
  document: value === undefined ? undefined : Document.encode(value)
})

/**
 * Returns the write as applied to a document, with the array that it moves items of, if any.
 */
export const meet = (document: Document.Document | undefined, write: Write): Write => {
  const { path } = write.address
  if (path.length === 0) return write
  const deletes = write.kind === "set" && write.document === undefined
  let here = document === undefined ? undefined : Document.along(document, path)
  let depth = 0
  for (const key of path) {
    if (!Value.isContainer(here)) break
    if (Array.isArray(here)) {
      const index = key === "-" ? here.length : Number(key)
      const moves = deletes && depth === path.length - 1 ? index < here.length : index >= here.length
      if (moves) return { ...write, array: path.slice(0, depth) }
    }
    here = Value.step(here, key)
    depth++
  }
  return write
}

/**
 * Applies a write to a document.
 *
 * @throws InvalidValue
 */
export const apply = (document: Document.Document | undefined, write: Write): Document.Document | undefined => {
  const { path } = write.address
  switch (write.kind) {
    case "set":
      return path.length === 0 ? write.document : Document.write(document, path, Document.read(write.document, []))
    case "increment": {
      const number = Document.peek(document, path) ?? 0
      if (typeof number !== "number") throw unfit(write.address, "increment needs a number", number)
      return Document.write(document, path, number + write.by)
    }
    case "append": {
      const appended = document === undefined ? undefined : Document.append(document, path, write.items)
      if (appended !== undefined) return appended
      const array = Document.read(document, path) ?? []
      if (!Array.isArray(array)) throw unfit(write.address, "append needs an array", array)
      return Document.write(document, path, [...array, ...write.items])
    }
  }
}

/** Returns the place that a write changes as a whole. */
export const reach = ({ address, array }: Write): Path => array ?? address.path

/**
 * The relation of two runs' writes to one document: commutative (`apart`), with the same effect (`equal`), or
 * contradictory (`contrary`).
 */
export type WriteRelation = "apart" | "equal" | "contrary"

/**
 * Compares two writes of two runs.
 */
export const relationOf = (a: Write, b: Write): WriteRelation => {
  // Moving items twice differs from moving them once, so such a write is equal to no other.
  if (a.array !== undefined || b.array !== undefined) return overlaps(reach(a), reach(b)) ? "contrary" : "apart"
  if (!overlaps(a.address.path, b.address.path)) return "apart"
  if (a.address.path.length !== b.address.path.length || a.kind !== b.kind) return "contrary"
  if (a.kind !== "set" || b.kind !== "set") return "apart"
  return a.document?.text === b.document?.text ? "equal" : "contrary"
}

/** The length of a document's text, or its upper bound; 0 if there is none. */
export const lengthOf = (document: Document.Document | undefined): number => document === undefined ? 0 : document.size

const unfit = (address: Address, need: string, found: Value.Value) =>
  new Value.InvalidValue({ at: address.text, reason: `${need} and found ${found === null ? "null" : typeof found}` })

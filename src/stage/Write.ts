/**
 * Writes: what a run asks of a document, as data that can be applied again.
 *
 * Most writes set a value; increments and appends are kept as what they are, so
 * that those of several runs commute. (Architecture, section 3.)
 *
 * @module
 */
import type { Address } from "../cell/Address.ts"
import { overlaps } from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"

/**
 * One write. A value is encoded once, when it is given.
 *
 * @category models
 * @since 0.1.0
 */
export type Write =
  | { readonly kind: "set"; readonly address: Address; readonly document: Document.Document | undefined }
  | { readonly kind: "increment"; readonly address: Address; readonly by: number }
  | { readonly kind: "append"; readonly address: Address; readonly items: ReadonlyArray<Value.Value> }

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

/**
 * Whether two runs cannot both have made these writes: they overlap, do not commute, and do not agree.
 *
 * @category predicates
 * @since 0.1.0
 */
export const conflicts = (a: Write, b: Write): boolean => {
  if (!overlaps(a.address.path, b.address.path)) return false
  const same = a.address.path.length === b.address.path.length
  if (a.kind === "set" && b.kind === "set") return !same || a.document?.text !== b.document?.text
  return !same || a.kind !== b.kind
}

const unfit = (address: Address, need: string, found: Value.Value) =>
  new Value.InvalidValue({ at: address.text, reason: `${need} and found ${found === null ? "null" : typeof found}` })

/**
 * The port of key-value tables.
 *
 * @module
 */

/** The form of a stored value: the text of a document, or bytes. */
export type Kind = "value" | "bytes"

/** A stored value. */
export interface StoredValue {
  readonly kind: Kind
  readonly bytes: Uint8Array
}

/** A request for keys: at most `limit` keys with a prefix, after a cursor. */
export interface Query {
  readonly prefix: string
  readonly limit: number
  readonly cursor: string | undefined
}

/** Keys in the order of their bytes, and the cursor of the next page, if there is one. */
export interface Page {
  readonly keys: ReadonlyArray<string>
  readonly cursor?: string
}

/** The keys and values of all spaces. A space sees its own keys alone. */
export interface Table {
  readonly get: (space: string, key: string) => Promise<StoredValue | undefined>
  /** Stores a value, durably. `ttl` is its life in milliseconds; without one it stays. */
  readonly put: (space: string, key: string, value: StoredValue & { readonly ttl?: number | undefined }) => Promise<void>
  /** Deletes a key. An absent key is no failure. */
  readonly delete: (space: string, key: string) => Promise<void>
  readonly list: (space: string, query: Query) => Promise<Page>
  readonly close: () => Promise<void>
}

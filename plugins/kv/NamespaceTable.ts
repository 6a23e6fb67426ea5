/**
 * A key-value table in a KV namespace of Workers.
 *
 * @module
 */
import { Channel } from "systole"
import type { Kind, Table } from "./Table.ts"

/** The used part of a KV namespace binding. */
export interface Namespace {
  readonly getWithMetadata: (key: string, type: "arrayBuffer") => Promise<{
    readonly value: ArrayBuffer | null
    readonly metadata: unknown
  }>
  readonly put: (key: string, value: Uint8Array, options: {
    readonly metadata: { readonly kind: Kind }
    readonly expirationTtl?: number
  }) => Promise<void>
  readonly delete: (key: string) => Promise<void>
  readonly list: (query: { readonly prefix: string; readonly limit: number; readonly cursor?: string | null }) => Promise<{
    readonly keys: ReadonlyArray<{ readonly name: string }>
    readonly list_complete: boolean
    readonly cursor?: string
  }>
}

/** Tests whether a value is a KV namespace binding. */
export const isNamespace = (value: unknown): value is Namespace =>
  typeof value === "object" && value !== null &&
  ["getWithMetadata", "put", "delete", "list"].every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function")

/** Calls the namespace. Its failures have no codes; all of them are retryable, because every operation is repeatable. */
const call = async <A>(run: () => Promise<A>): Promise<A> => {
  try {
    return await run()
  } catch (error) {
    const status = /\b[45]\d\d\b/.exec(String(error))?.[0]
    const said = status === undefined ? "failed" : `answered ${status}`
    throw Channel.fail(status === "429" ? "kv/busy" : "kv/failed", `the KV namespace ${said}; try again later`, { retryable: true })
  }
}

/** The table of a namespace. A key is stored below the name of its space. */
export const make = (namespace: Namespace): Table => ({
  get: (space, key) =>
    call(async () => {
      const { metadata, value } = await namespace.getWithMetadata(`${space}/${key}`, "arrayBuffer")
      if (value === null) return undefined
      const kind = (metadata as { readonly kind?: unknown } | null)?.kind
      return { kind: kind === "value" ? "value" : "bytes", bytes: new Uint8Array(value) }
    }),
  put: (space, key, { bytes, kind, ttl }) =>
    call(() => namespace.put(`${space}/${key}`, bytes, {
      metadata: { kind },
      ...ttl === undefined ? {} : { expirationTtl: Math.ceil(ttl / 1000) }
    })),
  delete: (space, key) => call(() => namespace.delete(`${space}/${key}`)),
  list: (space, { cursor, limit, prefix }) =>
    call(async () => {
      const page = await namespace.list({ prefix: `${space}/${prefix}`, limit, ...cursor === undefined ? {} : { cursor } })
      const keys = page.keys.map(({ name }) => name.slice(space.length + 1))
      return page.list_complete || page.cursor === undefined ? { keys } : { keys, cursor: page.cursor }
    }),
  close: async () => {}
})

/**
 * A content store in memory, for tests.
 *
 * @module
 */
import type { ContentStore } from "systole"

const MiB = 1_048_576

/** Content of a size, different for each seed. */
export const contentOf = (size: number, seed = 1): Uint8Array => {
  const words = new Uint32Array(Math.ceil(size / 4))
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + seed, 2_654_435_761)
  return new Uint8Array(words.buffer, 0, size)
}

/** The most objects of one list of the content store. */
export const PAGE = 8

/** A content store in memory, with the largest number of bytes that a call took. */
export const make = () => {
  const objects = new Map<string, { readonly bytes: Uint8Array; readonly modified: number }>()
  const at = { now: Date.now(), most: 0, failing: false, deletions: 0 }
  const store: ContentStore = {
    place: "memory",
    maxBytes: 40 * MiB,
    put: async (key, bytes) => {
      if (at.failing) throw new Error("the bucket is closed")
      at.most = Math.max(at.most, bytes.length)
      objects.set(key, { bytes: bytes.slice(), modified: at.now })
    },
    get: async (key) => objects.get(key)?.bytes,
    delete: async (keys) => {
      at.deletions++
      for (const key of keys) objects.delete(key)
    },
    list: async (prefix, after) => {
      const found = [...objects].filter(([key]) => key.startsWith(prefix) && key > after).sort(([a], [b]) => a < b ? -1 : 1)
      return { objects: found.slice(0, PAGE).map(([key, { modified }]) => ({ key, modified })), more: found.length > PAGE }
    }
  }
  return { objects, at, store }
}

/** The store, with its objects and the counts of its calls. */
export type MemoryContents = ReturnType<typeof make>

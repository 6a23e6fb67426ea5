/**
 * The parts of large content in memory.
 *
 * @module
 */
import type { ContentStore } from "../../persistence/LargeContent.ts"

/** The most parts in memory, loaded and being loaded, of 4 MiB each. */
export const PARTS = 4

/** The most parts that are loaded at a time. Further ones wait. */
export const LOADS = 2

/**
 * The newest parts of downloads, of all spaces with one content store. All downloads of a part share one load.
 */
export class RecentParts {
  private static readonly byStore = new WeakMap<ContentStore, RecentParts>()
  private readonly loading = new Map<string, Promise<Uint8Array>>()
  /** By their keys, the oldest first. */
  private readonly loaded = new Map<string, Uint8Array>()
  private readonly waiting: Array<() => void> = []
  private running = 0

  /** The parts of a content store. */
  static of(store: ContentStore): RecentParts {
    let parts = RecentParts.byStore.get(store)
    if (parts === undefined) {
      parts = new RecentParts()
      RecentParts.byStore.set(store, parts)
    }
    return parts
  }

  /** The part with a key. A failed load is repeated by the next download. */
  async get(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.loaded.get(key) ?? this.loading.get(key)
    if (known !== undefined) return known
    const loading = this.load(key, load)
    this.loading.set(key, loading)
    return loading
  }

  private async load(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array> {
    while (this.running >= LOADS) await new Promise<void>((resume) => this.waiting.push(resume))
    this.running++
    this.trim()
    try {
      const bytes = await load()
      this.loaded.set(key, bytes)
      return bytes
    } finally {
      this.running--
      this.loading.delete(key)
      this.trim()
      this.waiting.shift()?.()
    }
  }

  /** Drops the oldest parts, until those that are being loaded have their room. */
  private trim(): void {
    for (const [oldest] of this.loaded) {
      if (this.loaded.size + this.running <= PARTS) break
      this.loaded.delete(oldest)
    }
  }
}

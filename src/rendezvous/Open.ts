/**
 * The open entries of a space, indexed by variant id and signal path.
 *
 * The index derives from the entries' cells alone, and is rebuilt when a space is
 * opened.
 *
 * @module
 */
import type { Entry } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import { isAwaited } from "./Transition.ts"

/**
 * The open entries of a space.
 */
export class Open {
  /** The id that each entry shares with its variants, if it is a variant. */
  private readonly ids = new Map<string, string | undefined>()
  private readonly variants = new Index()
  /** The keys of entries with a signal path that does not end in their key. */
  private readonly signals = new Index()
  private readonly paths = new Map<string, string>()

  /** The number of open entries. */
  get size(): number {
    return this.ids.size
  }

  /** Updates an entry as of a beat. */
  see(key: string, entry: Entry | undefined): void {
    this.variants.remove(this.ids.get(key), key)
    this.signals.remove(this.paths.get(key), key)
    this.paths.delete(key)
    if (entry === undefined || Entries.isFinished(entry)) {
      this.ids.delete(key)
      return
    }
    const id = variantOf(entry)
    this.ids.set(key, id)
    this.variants.add(id, key)
    if (entry.signal_path === Entries.signalFor(key) && !key.includes(":")) return
    this.paths.set(key, entry.signal_path)
    this.signals.add(entry.signal_path, key)
  }

  /** The open variants under an id, sorted, so that the order is independent of their history. */
  rivals(id: string): ReadonlyArray<string> {
    return this.variants.under(id).toSorted()
  }

  /** The open entries with a signal path, except the entry with the path's last name as its key. */
  sending(path: string): ReadonlyArray<string> {
    return this.signals.under(path)
  }
}

/** Keys by a common value. */
class Index {
  private readonly keys = new Map<string, Set<string>>()

  under(common: string): ReadonlyArray<string> {
    return [...this.keys.get(common) ?? []]
  }

  add(common: string | undefined, key: string): void {
    if (common === undefined) return
    const keys = this.keys.get(common)
    if (keys === undefined) this.keys.set(common, new Set([key]))
    else keys.add(key)
  }

  remove(common: string | undefined, key: string): void {
    if (common === undefined) return
    const keys = this.keys.get(common)
    if (keys?.delete(key) === true && keys.size === 0) this.keys.delete(common)
  }
}

/** The id shared by the variants of one question. The first applied variant ends the others. */
export const variantOf = (entry: Entry): string | undefined => entry.prof === "spec" && isAwaited(entry) ? entry.inst_id : undefined

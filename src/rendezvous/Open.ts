/**
 * Open: the entries of a space that are not over, which of them are variants of
 * one question, and which complete with a signal that does not name their key.
 *
 * It follows from the entries' cells alone and is made anew when a space is
 * opened.
 *
 * @module
 */
import type { Entry } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import { isAwaited } from "./Transition.ts"

/**
 * The entries of a space that are not over.
 *
 * @category models
 * @since 0.1.0
 */
export class Open {
  /** The id that each of them shares with its variants, where it is one. */
  private readonly ids = new Map<string, string | undefined>()
  private readonly variants = new Index()
  /** The keys of the entries whose signal path is not the one of their whole key. */
  private readonly signals = new Index()
  private readonly paths = new Map<string, string>()

  /** How many there are. */
  get size(): number {
    return this.ids.size
  }

  /** Takes in how an entry stands after a beat. */
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

  /** The open variants under an id, in an order that does not tell of what each went through. */
  rivals(id: string): ReadonlyArray<string> {
    return this.variants.under(id).toSorted()
  }

  /** The open entries with a signal path, but for the one whose key is the path's last name. */
  sending(path: string): ReadonlyArray<string> {
    return this.signals.under(path)
  }
}

/** Keys under what they have in common. */
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
    const keys = common === undefined ? undefined : this.keys.get(common)
    if (keys === undefined) return
    keys.delete(key)
    if (keys.size === 0) this.keys.delete(common!)
  }
}

/** The id that the variants of one question share, of which the first to be applied ends the others. */
export const variantOf = (entry: Entry): string | undefined => entry.prof === "spec" && isAwaited(entry) ? entry.inst_id : undefined

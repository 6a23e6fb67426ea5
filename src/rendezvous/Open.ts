/**
 * Open: the entries of a space that are not over, and which of them are variants
 * of one question.
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
  private readonly variants = new Map<string, Set<string>>()

  /** How many there are. */
  get size(): number {
    return this.ids.size
  }

  /** Takes in how an entry stands after a beat. */
  see(key: string, entry: Entry | undefined): void {
    this.leave(key, this.ids.get(key))
    if (entry === undefined || Entries.isFinished(entry)) {
      this.ids.delete(key)
      return
    }
    const id = variantOf(entry)
    this.ids.set(key, id)
    this.join(key, id)
  }

  /** The open variants under an id, in an order that does not tell of what each went through. */
  rivals(id: string): ReadonlyArray<string> {
    return [...this.variants.get(id) ?? []].sort()
  }

  private join(key: string, id: string | undefined): void {
    if (id === undefined) return
    const keys = this.variants.get(id)
    if (keys === undefined) this.variants.set(id, new Set([key]))
    else keys.add(key)
  }

  private leave(key: string, id: string | undefined): void {
    if (id === undefined) return
    const keys = this.variants.get(id)!
    keys.delete(key)
    if (keys.size === 0) this.variants.delete(id)
  }
}

/** The id that the variants of one question share, of which the first to be applied ends the others. */
export const variantOf = (entry: Entry): string | undefined => entry.prof === "spec" && isAwaited(entry) ? entry.inst_id : undefined

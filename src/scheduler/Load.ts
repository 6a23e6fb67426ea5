/**
 * How much of the host's time passes take: a graph that never comes to rest, or
 * that is too much for its host, shows in it.
 *
 * What is noticed here is told and changes nothing. (Seed 002, section 13;
 * semantics, section 7.1, "non-settling".)
 *
 * @module
 */

/** What counts as busy: this much, and this part, of a window of at least this length. All in milliseconds but the part. */
const BUSY = 1000
const PART = 0.3
const WINDOW = 5000

/** A window that is longer is cut in half, with what it holds. */
const LONGEST = 10_000

/**
 * The passes of one graph, as time goes by.
 *
 * @category models
 * @since 0.1.0
 */
export class Load {
  private since: number | undefined
  private spent = 0
  private isBusy = false

  /** A pass ended at this moment and took so long, in milliseconds of the host. Answers the window and what passes took of it when that begins to be too much. */
  add(now: number, spent: number): { readonly window: number; readonly spent: number } | undefined {
    this.since ??= now - spent
    this.spent += spent
    const window = now - this.since
    const was = this.isBusy
    this.isBusy = window >= WINDOW && this.spent >= BUSY && this.spent > PART * window
    const told = this.isBusy && !was ? { window, spent: this.spent } : undefined
    if (window > LONGEST) {
      this.since += window / 2
      this.spent /= 2
    }
    return told
  }
}

/**
 * Load: the share of the host's time that passes take.
 *
 * A graph that never settles, or overloads its host, has a high share. A finding is
 * reported and has no other effect. [S2 §13]
 *
 * @module
 */

/** Busy means at least this time, and more than this share, of a window of at least this length. Times are in milliseconds. */
const BUSY = 1000
const PART = 0.3
const WINDOW = 5000

/** A longer window is halved, with its content. */
const LONGEST = 10_000

/**
 * The load of one graph over time.
 */
export class Load {
  private since: number | undefined
  private spent = 0
  private isBusy = false

  /**
   * Records a pass by its end and duration, in milliseconds of the host. Returns the window and the time spent in it when the
   * graph becomes busy.
   */
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

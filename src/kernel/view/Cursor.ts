/**
 * Cursors: numbers of beats for those who may not know them.
 *
 * How many beats there were tells of what happened out of sight. A cursor is a
 * number under a key that is drawn when the space opens: it leads back there, and
 * says neither how far nor how long ago. (Architecture, section 10.)
 *
 * @module
 */

import type { Observation, Seen } from "./Space.ts"
import { textOf } from "./Subscriptions.ts"

const ROUNDS = 6
const HALF = 0xffff_ffffn

/**
 * Makes cursors, and reads those that it made.
 *
 * @category models
 * @since 0.1.0
 */
export class Cursor {
  private readonly hash: (text: string) => string
  private readonly draw: () => string
  private key: string | undefined
  private readonly shown = new WeakMap<Observation, Seen>()

  constructor(hash: (text: string) => string, draw: () => string) {
    this.hash = hash
    this.draw = draw
  }

  /** Whether it was never used, so that another one does as well. */
  get isBlank(): boolean {
    return this.key === undefined
  }

  of(beat: number): string {
    let [left, right] = [BigInt(beat + 1) >> 32n, BigInt(beat + 1) & HALF]
    for (let i = 0; i < ROUNDS; i++) [left, right] = [right, left ^ this.round(i, right)]
    return ((left << 32n) | right).toString(16).padStart(16, "0")
  }

  /** An observation as readers are shown it: one object for all of them. */
  seen(observation: Observation): Seen {
    let seen = this.shown.get(observation)
    if (seen === undefined) {
      const { beat, missed, value } = observation
      seen = { cursor: this.of(beat), value, text: textOf(observation), isReset: missed !== undefined }
      this.shown.set(observation, seen)
    }
    return seen
  }

  /** The beat of a cursor; one that no space ever reaches for what is no cursor of this one. */
  beat(text: string): number {
    if (!/^[0-9a-f]{16}$/.test(text)) return Number.MAX_SAFE_INTEGER
    const number = BigInt(`0x${text}`)
    let [left, right] = [number >> 32n, number & HALF]
    for (let i = ROUNDS - 1; i >= 0; i--) [left, right] = [right ^ this.round(i, left), left]
    return Math.min(Number((left << 32n) | right), Number.MAX_SAFE_INTEGER) - 1
  }

  private round(i: number, half: bigint): bigint {
    this.key ??= this.draw()
    return BigInt(`0x${this.hash(`${this.key} ${i} ${half}`).slice(0, 8)}`)
  }
}

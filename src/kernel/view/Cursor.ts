/**
 * Cursors: encrypted beat numbers for readers.
 *
 * The number of beats reveals activity that a reader must not see. A cursor is a beat
 * number encrypted with a key of the space's opening, or of its host. It leads back to
 * that beat, and reveals neither its number nor its age.
 *
 * @module
 */

import type { Observation, Seen } from "./Space.ts"
import { textOf } from "./Observed.ts"

const ROUNDS = 6
const HALF = 0xffff_ffffn

/**
 * Encrypts beat numbers, and decrypts its own cursors.
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

  /** Whether it has never been used, so that a new one is equivalent. */
  get isBlank(): boolean {
    return this.key === undefined
  }

  of(beat: number): string {
    let [left, right] = [BigInt(beat + 1) >> 32n, BigInt(beat + 1) & HALF]
    for (let i = 0; i < ROUNDS; i++) [left, right] = [right, left ^ this.round(i, right)]
    return ((left << 32n) | right).toString(16).padStart(16, "0")
  }

  /** An observation as readers see it: one object for all of them. */
  seen(observation: Observation): Seen {
    let seen = this.shown.get(observation)
    if (seen === undefined) {
      const { beat, missed, value } = observation
      seen = { cursor: this.of(beat), value, text: textOf(observation), isReset: missed !== undefined }
      this.shown.set(observation, seen)
    }
    return seen
  }

  /** The beat of a cursor. A foreign text gives a beat that no space reaches. */
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

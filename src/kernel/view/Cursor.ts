/**
 * Cursors: encrypted beat numbers and keys for readers.
 *
 * The number of beats reveals activity that a reader must not see. A cursor is a beat
 * number encrypted with a key of the space's opening, or of its host. It leads back to
 * that beat, and reveals neither its number nor its age. A page of cells may end behind
 * a withheld one, so its cursor is encrypted, too.
 *
 * @module
 */

import { bytesToHex } from "@noble/hashes/utils.js"
import * as Address from "../../cell/Address.ts"
import type { Observation, Seen } from "./Space.ts"
import { textOf } from "./Observed.ts"

const ROUNDS = 6
const HALF = 0xffff_ffffn

/** The digits of the mark of a key's cursor, the bytes of a mask, and the step of lengths. */
const [MARK, MASK, PADDING] = [32, 32, 64]

/**
 * Encrypts beat numbers and keys, and decrypts its own cursors.
 */
export class Cursor {
  private readonly hash: (text: string) => string
  private readonly draw: () => string
  private drawn: string | undefined
  private readonly shown = new WeakMap<Observation, Seen>()

  constructor(hash: (text: string) => string, draw: () => string) {
    this.hash = hash
    this.draw = draw
  }

  /** Whether it has never been used, so that a new one is equivalent. */
  get isBlank(): boolean {
    return this.drawn === undefined
  }

  of(beat: number): string {
    let [left, right] = [BigInt(beat + 1) >> 32n, BigInt(beat + 1) & HALF]
    for (let i = 0; i < ROUNDS; i++) [left, right] = [right, left ^ this.round(i, right)]
    return ((left << 32n) | right).toString(16).padStart(16, "0")
  }

  /** A key as a cursor, which tells at most its length, in steps of {@link PADDING}. */
  ofKey(key: string): string {
    const padded = new TextEncoder().encode(key.padEnd(Math.ceil(key.length / PADDING) * PADDING))
    const mark = this.mark(key)
    return mark + bytesToHex(this.masked(padded, mark))
  }

  /**
   * The key of a cursor.
   *
   * @throws InvalidAddress for a text that is no cursor of this opening
   */
  key(text: string): string {
    const [mark, hex] = [text.slice(0, MARK), text.slice(MARK)]
    if (/^[0-9a-f]{0,16384}$/.test(text) && hex.length % 2 === 0) {
      const key = new TextDecoder().decode(this.masked(bytesOf(hex), mark)).trimEnd()
      if (this.mark(key) === mark) return key
    }
    const reason = "it is no cursor, or one of before the space opened. Begin the list anew"
    throw new Address.InvalidAddress({ text, reason })
  }

  private mark(key: string): string {
    return this.hash(`${this.secret} of ${key}`).slice(0, MARK)
  }

  /** Bytes with each replaced by its sum with one that only the key of the space and the mark give; the inverse of itself. */
  private masked(bytes: Uint8Array, mark: string): Uint8Array {
    let mask = new Uint8Array()
    return bytes.map((byte, i) => {
      if (i % MASK === 0) mask = bytesOf(this.hash(`${this.secret} ${mark} ${i}`))
      return byte ^ mask[i % MASK]!
    })
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
    return BigInt(`0x${this.hash(`${this.secret} ${i} ${half}`).slice(0, 8)}`)
  }

  private get secret(): string {
    return this.drawn ??= this.draw()
  }
}

/** The bytes of a text of hexadecimal digits. */
const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))

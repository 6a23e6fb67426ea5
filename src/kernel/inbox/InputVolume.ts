/**
 * The volume of the input from outside that waits in an inbox, against its limits.
 *
 * @module
 */
import type { Limits } from "../model/Limits.ts"

/**
 * The input from outside of one space.
 */
export class InputVolume {
  /** Signals that wait for a capture or another attempt. */
  signals = 0
  /** Commands that wait for a beat. */
  commands = 0
  /** The characters of both. */
  bytes = 0

  /** The limit that one more signal or command of this size would exceed. */
  limitFor(size: number, { inboxBytes, inboxSignals }: Limits): string | undefined {
    if (this.signals + this.commands >= inboxSignals) return `${inboxSignals} signals`
    return this.bytes + size > inboxBytes ? `${inboxBytes} characters` : undefined
  }
}

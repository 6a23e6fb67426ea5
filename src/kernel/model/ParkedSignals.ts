/**
 * Parked signals: those that a pause keeps from their beat, as a beat's stage
 * lines report them.
 *
 * The next beat that runs reports each one once, and journals it as captured
 * input. Of very many signals it reports the first and the number of the others.
 * Signals parked when the process ended are not reported again.
 *
 * @module
 */
import type { Qos } from "../../stage/Launch.ts"
import type { Signal } from "./Signal.ts"

/** One parked signal. */
export type ParkedLine = readonly [signal: string | 0, target: string | 0, qos: Qos]

/** A beat's report of parked signals: lines, and the number of further signals. */
export type ParkedNote = readonly [lines: ReadonlyArray<ParkedLine>, more: number]

/** The most signals that one beat reports by path. */
const MAX_LINES = 1000

/**
 * The parked signals of one space that no beat has reported.
 */
export class ParkedSignals {
  private lines: Array<ParkedLine> = []
  private more = 0

  add({ qos = "retain", signal, target }: Pick<Signal, "qos" | "signal" | "target">): void {
    if (this.lines.length < MAX_LINES) this.lines.push([signal ?? 0, target ?? 0, qos])
    else this.more++
  }

  /** Adds the signals of a queue, of which only the first are read. */
  addAll(size: number, first: (count: number) => ReadonlyArray<Signal>): void {
    const looked = first(MAX_LINES)
    for (const signal of looked) this.add(signal)
    this.more += size - looked.length
  }

  /** The pending report; it stays until a beat has reported it. */
  get note(): ParkedNote | undefined {
    return this.lines.length === 0 ? undefined : [[...this.lines], this.more]
  }

  /** Removes a report that a beat has made. */
  told([lines, more]: ParkedNote): void {
    this.lines.splice(0, lines.length)
    this.more -= more
  }

  /** Drops all, because the space is resumed. */
  clear(): void {
    this.lines = []
    this.more = 0
  }
}

/**
 * A report in the text form of the beat view.
 */
export const render = ([lines, more]: ParkedNote): ReadonlyArray<string> => [
  ...lines.map(([signal, target, qos]) => `pause: parked signal=${signal || "-"} target=${target || "-"} qos=${qos}`),
  ...more === 0 ? [] : [`pause: parked ${more} more`]
]

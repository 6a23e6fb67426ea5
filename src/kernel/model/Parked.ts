/**
 * Parked signals: those that a closed gate keeps from their beat, as the stage of a beat tells them.
 *
 * Each is told once, by the next beat that runs, which journals it as captured
 * input; of very many the first, and how many more there are. What was parked when
 * the process ended is not told again. (Semantics, section 3.1, "Gate".)
 *
 * @module
 */
import type { Qos } from "../../stage/Launch.ts"
import type { Signal } from "./Signal.ts"

/** One signal that was parked. */
export type ParkedLine = readonly [signal: string | 0, target: string | 0, qos: Qos]

/** A beat's report of parked signals: lines, and the number of further signals. */
export type ParkedNote = readonly [lines: ReadonlyArray<ParkedLine>, more: number]

/** Most signals that one beat tells of by their paths. */
const MAX_LINES = 1000

/**
 * The signals of one space that were parked and no beat has told of.
 *
 * @category models
 * @since 0.1.0
 */
export class Parked {
  private lines: Array<ParkedLine> = []
  private more = 0

  add({ qos = "retain", signal, target }: Pick<Signal, "qos" | "signal" | "target">): void {
    if (this.lines.length < MAX_LINES) this.lines.push([signal ?? 0, target ?? 0, qos])
    else this.more++
  }

  /** Takes in the signals of a queue, of which only the first are looked at. */
  addAll(size: number, first: (count: number) => ReadonlyArray<Signal>): void {
    const looked = first(MAX_LINES)
    for (const signal of looked) this.add(signal)
    this.more += size - looked.length
  }

  /** The report that is due; it stays until a beat has told it. */
  get note(): ParkedNote | undefined {
    return this.lines.length === 0 ? undefined : [[...this.lines], this.more]
  }

  /** A beat told this. */
  told([lines, more]: ParkedNote): void {
    this.lines.splice(0, lines.length)
    this.more -= more
  }

  /** The gate is open. */
  clear(): void {
    this.lines = []
    this.more = 0
  }
}

/**
 * A note in the text forms of the ledger.
 *
 * @category getters
 * @since 0.1.0
 */
export const render = ([lines, more]: ParkedNote): ReadonlyArray<string> => [
  ...lines.map(([signal, target, qos]) => `pause: parked signal=${signal || "-"} target=${target || "-"} qos=${qos}`),
  ...more === 0 ? [] : [`pause: parked ${more} more`]
]

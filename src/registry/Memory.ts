/**
 * What a registry remembers: who takes what in one space, which holds as long as
 * its bindings and the enzymes stay as they are.
 *
 * Below a cell at which something is bound, the same is bound everywhere down to
 * the next such cell, so targets that come and go leave nothing here.
 *
 * @module
 */

/** Most resolutions that are remembered for one space. */
const REMEMBERED = 1024

/** What a resolution depends on beside the signal. */
export interface Place {
  readonly cell: string
  readonly isBelow: boolean
}

/** Where a signal without a target is. */
export const nowhere: Place = { cell: "", isBelow: false }

/**
 * Resolutions of signals, by signal and place.
 *
 * @category models
 * @since 0.1.0
 */
export class Memory<A> {
  /** The versions of enzymes and bindings that it holds for. */
  readonly enzymes: number
  readonly bindings: number
  /** For targets at which something is bound, by target; under an empty one, for signals without a target. */
  private at = new Map<string, Map<string | undefined, A>>()
  /** For all other targets, by the nearest cell above them at which something is bound. */
  private below = new Map<string, Map<string | undefined, A>>()
  private size = 0
  private found = 0

  constructor(enzymes: number, bindings: number) {
    this.enzymes = enzymes
    this.bindings = bindings
  }

  get(signal: string | undefined, { cell, isBelow }: Place): A | undefined {
    const resolution = (isBelow ? this.below : this.at).get(cell)?.get(signal)
    if (resolution !== undefined) this.found++
    return resolution
  }

  /** Where signals never come again it is of no use, and takes in no more when it is full. */
  put(signal: string | undefined, { cell, isBelow }: Place, resolution: A): void {
    if (this.size >= REMEMBERED) {
      if (this.found < REMEMBERED) return
      this.at = new Map()
      this.below = new Map()
      this.size = this.found = 0
    }
    const places = isBelow ? this.below : this.at
    const here = places.get(cell)
    if (here === undefined) places.set(cell, new Map([[signal, resolution]]))
    else here.set(signal, resolution)
    this.size++
  }
}

/**
 * The cache of a registry: resolutions in one space, valid for one version of its bindings and enzymes.
 *
 * All targets between two cells with bindings resolve alike. They share the entry of the nearest cell above them, so
 * short-lived targets add no entries.
 *
 * @module
 */

/** The maximum number of cached resolutions per space. */
const REMEMBERED = 1024

/** The part of a resolution's key that is not the signal. */
export interface Place {
  readonly cell: string
  readonly isBelow: boolean
}

/** The place of a signal without a target. */
export const nowhere: Place = { cell: "", isBelow: false }

/**
 * Resolutions of signals, by signal and place.
 */
export class ResolutionCache<A> {
  /** The versions of enzymes and bindings for which the cache is valid. */
  readonly enzymes: number
  readonly bindings: number
  /** For targets with bindings, by target; the empty key holds signals without a target. */
  private at = new Map<string, Map<string | undefined, A>>()
  /** For all other targets, by their nearest ancestor with bindings. */
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

  /** Adds a resolution. A full cache is cleared if it had enough hits; otherwise signals never repeat, and it takes no more. */
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

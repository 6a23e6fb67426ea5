/**
 * The open spaces of a kernel, in the order of their last use.
 *
 * @module
 */
import type { LiveSpace } from "../live/LiveSpace.ts"
import type { Space } from "../view/Space.ts"

/** An open space with its API. */
export interface OpenSpace {
  readonly space: LiveSpace
  readonly client: Space
}

/** An open space, linked to its neighbours in the order of use. */
interface Place extends OpenSpace {
  older: Place | undefined
  newer: Place | undefined
}

/**
 * A linked list of the open spaces. A use has constant cost.
 */
export class OpenSpaces {
  private readonly places = new Map<string, Place>()
  private oldest: Place | undefined
  private newest: Place | undefined

  get size(): number {
    return this.places.size
  }

  get(name: string): OpenSpace | undefined {
    return this.places.get(name)
  }

  all(): Iterable<OpenSpace> {
    return this.places.values()
  }

  /** Adds a space, as the most recently used one. No other one has its name. */
  add(resident: OpenSpace): void {
    const place: Place = { ...resident, older: undefined, newer: undefined }
    this.places.set(resident.space.name, place)
    this.append(place)
  }

  /** Removes a space, if it is there. */
  remove(space: LiveSpace): void {
    const place = this.places.get(space.name)
    if (place?.space !== space) return
    this.places.delete(space.name)
    this.unlink(place)
  }

  /** Moves a space to the end, as the most recently used one. */
  touch(name: string): void {
    const place = this.places.get(name)
    if (place === undefined || place === this.newest) return
    this.unlink(place)
    this.append(place)
  }

  /** The least recently used space. */
  first(): OpenSpace | undefined {
    return this.oldest
  }

  private append(place: Place): void {
    place.older = this.newest
    place.newer = undefined
    if (this.newest === undefined) this.oldest = place
    else this.newest.newer = place
    this.newest = place
  }

  private unlink({ newer, older }: Place): void {
    if (older === undefined) this.oldest = newer
    else older.newer = newer
    if (newer === undefined) this.newest = older
    else newer.older = older
  }
}

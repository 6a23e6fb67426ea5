/**
 * Residents: the open spaces of a kernel, in the order of their last use.
 *
 * @module
 */
import type { LiveSpace } from "./LiveSpace.ts"
import type { Space } from "../view/Space.ts"

/** An open space, and the face that those outside have of it. */
export interface OpenSpace {
  readonly space: LiveSpace
  readonly handle: Space
}

/** A resident between the one that was used before it and the one after it. */
interface Place extends OpenSpace {
  older: Place | undefined
  newer: Place | undefined
}

/**
 * A list of the open spaces. Each use costs a few links, however many there are.
 *
 * @category models
 * @since 0.1.0
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

  /** Takes a space in; one of its name that stopped goes. */
  add(resident: OpenSpace): void {
    const stopped = this.places.get(resident.space.name)
    if (stopped !== undefined) this.unlink(stopped)
    const place: Place = { ...resident, older: undefined, newer: undefined }
    this.places.set(resident.space.name, place)
    this.append(place)
  }

  /** Takes a space out, unless another one has its name by now. */
  remove(space: LiveSpace): void {
    const place = this.places.get(space.name)
    if (place?.space !== space) return
    this.places.delete(space.name)
    this.unlink(place)
  }

  /** Puts a space behind all that were used before. */
  touch(name: string): void {
    const place = this.places.get(name)
    if (place === undefined || place === this.newest) return
    this.unlink(place)
    this.append(place)
  }

  /** The space whose last use is the longest ago. */
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

/**
 * The open spaces of a kernel, in the order of their last use.
 *
 * A space closes when more spaces are open than the limit permits, the least recently used one first, or when it has been
 * unused for the idle time. A space in use counts as just used.
 *
 * @module
 */
import type { LiveSpace } from "../live/LiveSpace.ts"
import type { Settings } from "../model/Limits.ts"
import type { Turn } from "../model/Pacemaker.ts"
import type { Space } from "../view/Space.ts"
import type { RunHost } from "../watchdog/RunHost.ts"

/** Most spaces inspected in one sweep. */
const LOOKS = 64

/** An open space with its API. */
export interface OpenSpace {
  readonly space: LiveSpace
  readonly client: Space
}

/** An open space, linked to its neighbours in the order of use. */
interface Place extends OpenSpace {
  older: Place | undefined
  newer: Place | undefined
  /** The period of its last use. */
  period: number
}

/** The host of a kernel, its settings, and the closing of a space that nothing uses. */
interface Dependencies {
  readonly host: Pick<RunHost, "now" | "timer">
  readonly turn: Turn
  readonly settings: Pick<Settings, "open" | "idleMillis">
  readonly retire: (space: LiveSpace) => void
}

/**
 * A linked list of the open spaces. A use has constant cost.
 */
export class OpenSpaces {
  private readonly places = new Map<string, Place>()
  private readonly deps: Dependencies
  private oldest: Place | undefined
  private newest: Place | undefined
  /** The number of the current period. One has the length of the idle time. */
  private period = 0
  private disarm: (() => void) | undefined
  private isSweeping = false
  private isClosed = false

  constructor(deps: Dependencies) {
    this.deps = deps
  }

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
    const place: Place = { ...resident, older: undefined, newer: undefined, period: this.period }
    this.places.set(resident.space.name, place)
    this.append(place)
    this.sweepLater()
    this.arm()
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
    if (place === undefined) return
    place.period = this.period
    if (place === this.newest) return
    this.unlink(place)
    this.append(place)
  }

  /** Closes no space from now on. */
  stop(): void {
    this.isClosed = true
    this.disarm?.()
  }

  /** Closes spaces in the host's next turn, if too many are open. */
  sweepLater(): void {
    if (this.isSweeping || this.isClosed || !this.isOver(this.oldest)) return
    this.isSweeping = true
    this.deps.turn(() => {
      this.isSweeping = false
      this.sweep()
    })
  }

  private sweep(): void {
    for (let looks = Math.min(LOOKS, this.size); looks > 0 && this.isOver(this.oldest) && !this.isClosed; looks--) {
      const { space } = this.oldest
      if (space.lifetime.isResting) this.deps.retire(space)
      else this.touch(space.name)
    }
    // Beyond the limit, the next space that opens or rests has the others closed.
    if (this.oldest !== undefined && this.isIdle(this.oldest)) this.sweepLater()
  }

  /** Whether the oldest space has to close. */
  private isOver(oldest: Place | undefined): oldest is Place {
    return oldest !== undefined && (this.size > this.deps.settings.open || this.isIdle(oldest))
  }

  /** Whether a space was unused for a whole period. */
  private isIdle({ period }: Place): boolean {
    return period < this.period - 1
  }

  /** Ends the period after the idle time, as long as spaces are open. */
  private arm(): void {
    const { host, settings: { idleMillis } } = this.deps
    if (idleMillis === undefined || this.disarm !== undefined || this.isClosed) return
    this.disarm = host.timer(host.now() + idleMillis, () => {
      this.disarm = undefined
      this.period++
      this.sweepLater()
      if (this.size > 0) this.arm()
    })
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

/**
 * The start of a group: at the host's next turn, and later while the inbox grows.
 *
 * @module
 */
import type { Turn } from "../model/Pacemaker.ts"

/**
 * Schedules the groups of one space.
 */
export class GroupStart {
  private readonly turn: Turn
  /** The turns by which a start is deferred at most. */
  private readonly turns: number
  private readonly begin: () => void
  private scheduled = false
  private grown = 0

  constructor(turn: Turn, turns: number, begin: () => void) {
    this.turn = turn
    this.turns = turns
    this.begin = begin
  }

  /** Whether a start is scheduled. */
  get isScheduled(): boolean {
    return this.scheduled
  }

  /** Notes that the inbox has grown. */
  grow(): void {
    this.grown++
  }

  /** Begins a group at the host's next turn. While the inbox grows, the start is deferred by a few turns. */
  schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    const wait = (seen: number, left: number): void => {
      this.turn(() => {
        if (this.grown !== seen && left > 0) return wait(this.grown, left - 1)
        this.scheduled = false
        this.begin()
      }, left < this.turns)
    }
    wait(this.grown, this.turns)
  }
}

/**
 * A world of its own for a space: its time, its turns and its chance, all of
 * them given by hand, so that the same life comes out the same each time.
 *
 * @module
 */
import type { Pacemaker } from "systole"

/** Real turns of the host without anything to do after which all is at rest. */
const STILL = 3

/** Turns after which something goes in a circle. */
const MAX_TURNS = 10_000

interface Wake {
  readonly at: number
  readonly run: () => void
}

/** What a kernel is given by its host. */
export class World {
  private clock = 1_000_000
  private drawn = 0
  private turns: Array<() => void> = []
  private wakes: Array<Wake> = []

  readonly pacemaker: Pacemaker["Service"] = {
    now: () => this.clock,
    seed: () => (++this.drawn).toString(16).padStart(32, "0"),
    turn: (run) => void this.turns.push(run),
    wake: (at, run) => {
      const wake = { at, run }
      this.wakes.push(wake)
      return () => {
        this.wakes = this.wakes.filter((other) => other !== wake)
      }
    }
  }

  /** Gives turns until nobody asks for one any more. */
  async rest(): Promise<void> {
    for (let still = 0, given = 0; still < STILL;) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      const { turns } = this
      this.turns = []
      still = turns.length === 0 ? still + 1 : 0
      given += turns.length
      if (given > MAX_TURNS) throw new Error(`${given} turns, and still no rest`)
      for (const run of turns) run()
    }
  }

  /** Lets time pass until the next who wants to be woken; answers whether there was one. */
  pass(): boolean {
    const [next] = this.wakes.toSorted((a, b) => a.at - b.at)
    if (next === undefined) return false
    this.wakes = this.wakes.filter((other) => other !== next)
    this.clock = Math.max(this.clock, next.at)
    next.run()
    return true
  }

  /** The process is gone: nothing that it had in hand ever happens. */
  cut(): void {
    this.turns = []
    this.wakes = []
  }
}

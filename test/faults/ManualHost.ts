/**
 * A host whose clock, turns and seeds are controlled by the test,
 * so that the same scenario runs the same each time.
 *
 * @module
 */
import type { Pacemaker } from "systole"

/** The number of empty turns of the event loop after which the kernel counts as idle. */
const STILL = 3

/** The maximum number of turns; more indicate an endless loop. */
const MAX_TURNS = 10_000

interface Wake {
  readonly at: number
  readonly run: () => void
}

/** The host of a kernel. */
export class ManualHost {
  private clock = 1_000_000
  private drawn = 0
  private turns: Array<() => void> = []
  private wakes: Array<Wake> = []

  readonly pacemaker: Pacemaker["Service"] = {
    now: () => this.clock,
    seed: () => (++this.drawn).toString(16).padStart(32, "0"),
    turn: (run) => void this.turns.push(run),
    timer: (at, run) => this.timer(at, run),
    wake: (at, run) => this.timer(at, run)
  }

  private timer(at: number, run: () => void): () => void {
    const wake = { at, run }
    this.wakes.push(wake)
    return () => {
      this.wakes = this.wakes.filter((other) => other !== wake)
    }
  }

  /** Runs turns until none is requested. */
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

  /** Advances the clock to the next wake and runs it. Returns false if there is none. */
  pass(): boolean {
    const [next] = this.wakes.toSorted((a, b) => a.at - b.at)
    if (next === undefined) return false
    this.wakes = this.wakes.filter((other) => other !== next)
    this.clock = Math.max(this.clock, next.at)
    next.run()
    return true
  }

  /** Ends the process: its pending turns and wakes are dropped. */
  cut(): void {
    this.turns = []
    this.wakes = []
  }
}

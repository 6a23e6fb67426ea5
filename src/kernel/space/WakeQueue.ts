/**
 * The wake queue: the times at which closed spaces have their next work.
 *
 * @module
 */
import { Heap } from "../../cell/Heap.ts"
import type { RunHost } from "../watchdog/RunHost.ts"

interface Wake {
  readonly name: string
  readonly moment: number
}

/** Least number of outdated entries before they are removed. */
const OUTDATED = 1024

/**
 * One host timer for all closed spaces.
 */
export class WakeQueue {
  private readonly host: Pick<RunHost, "now" | "wake">
  private readonly due: (name: string, moment: number) => void
  private readonly behindMillis: number
  /** The latest time that the host's clock has shown. */
  private latest = 0
  private readonly byMoment = new Heap<Wake>((a, b) => a.moment - b.moment)
  private readonly current = new Map<string, Wake>()
  private armed: { readonly moment: number; readonly disarm: () => void } | undefined

  /** `due` is called once for each due space, and for all of them when the host's clock was set back by more than `behindMillis`. */
  constructor(host: Pick<RunHost, "now" | "wake">, behindMillis: number, due: (name: string, moment: number) => void) {
    this.host = host
    this.behindMillis = behindMillis
    this.due = due
  }

  /** Sets the wake time of a closed space, in place of its previous one; `undefined` for none. */
  set(name: string, moment: number | undefined): void {
    this.forget(name)
    if (moment === undefined) return
    const now = this.host.now()
    this.latest = Math.max(this.latest, now)
    if (moment <= now) return this.due(name, moment)
    const wake = { name, moment }
    this.current.set(name, wake)
    this.byMoment.push(wake)
    this.arm()
  }

  /** Removes the wake time of a space, because it is open or has no work. */
  forget(name: string): void {
    if (!this.current.delete(name) || this.byMoment.size < 2 * this.current.size + OUTDATED) return
    this.byMoment.retain((wake) => this.isCurrent(wake))
  }

  /** Cancels all wake times. */
  stop(): void {
    this.armed?.disarm()
    this.armed = undefined
    this.current.clear()
    this.byMoment.retain(() => false)
  }

  private isCurrent(wake: Wake): boolean {
    return this.current.get(wake.name) === wake
  }

  private arm(): void {
    for (let wake = this.byMoment.peek(); wake !== undefined; wake = this.byMoment.peek()) {
      if (!this.isCurrent(wake)) {
        this.byMoment.pop()
        continue
      }
      const { moment } = wake
      if (this.armed !== undefined && this.armed.moment <= moment) return
      this.armed?.disarm()
      this.armed = { moment, disarm: this.host.wake(moment, () => this.ring()) }
      return
    }
  }

  private ring(): void {
    this.armed = undefined
    const now = this.host.now()
    // The waits of a space are by its own clock, which has not gone back. Only the open space knows how far it is ahead.
    const isBehind = now < this.latest - this.behindMillis
    this.latest = isBehind ? now : Math.max(this.latest, now)
    if (isBehind) this.ringAll()
    for (let wake = this.byMoment.peek(); wake !== undefined && wake.moment <= now; wake = this.byMoment.peek()) {
      this.byMoment.pop()
      if (!this.isCurrent(wake)) continue
      this.current.delete(wake.name)
      this.due(wake.name, wake.moment)
    }
    this.arm()
  }

  private ringAll(): void {
    const wakes = [...this.current.values()]
    this.current.clear()
    this.byMoment.retain(() => false)
    for (const { moment, name } of wakes) this.due(name, moment)
  }
}

/**
 * Onlookers: the nodes that watch a place for somebody outside.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import * as EffectNode from "../../scheduler/Effect.ts"
import { seen } from "../../scheduler/Persistence.ts"
import type { Scheduler } from "../../scheduler/Scheduler.ts"

/** The prefix of their names, which no module's name can have. */
const WATCH = "watch/"

/** Whether a name is that of a node which watches for somebody outside. */
export const isWatchNode = (name: string): boolean => name.startsWith(WATCH)

/**
 * The onlookers of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class WatchNodes {
  private readonly places = new Map<string, Address.Address>()
  /** Names that are free again, so that there are no more of them than were ever watched at once. */
  private readonly ended: Array<string> = []

  /** One more, in the graph that is there by now; answers its name. */
  add(address: Address.Address, scheduler: Scheduler | undefined): string {
    const name = this.ended.pop() ?? `${WATCH}${this.places.size}`
    this.places.set(name, address)
    if (scheduler !== undefined) demand(scheduler, name, address)
    return name
  }

  /** Lets one go. */
  remove(name: string, scheduler: Scheduler | undefined): void {
    if (!this.places.delete(name)) return
    scheduler?.remove(name)
    this.ended.push(name)
  }

  /** Has all take part in a graph. */
  join(scheduler: Scheduler): void {
    for (const [name, address] of this.places) demand(scheduler, name, address)
  }
}

/** An effect that has seen the place already: it demands what is derived there, and costs no beat where nothing is. */
const demand = (scheduler: Scheduler, name: string, address: Address.Address): void => {
  const watch = { ...EffectNode.make({ name: "watch", read: (tx) => tx.get(address.text), deliver: () => {}, noDebounce: true }), name }
  scheduler.resume(watch, seen(watch, address))
}

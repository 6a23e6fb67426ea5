/**
 * Watch nodes: the nodes behind subscriptions from outside.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import * as Reaction from "../../scheduler/definition/Reaction.ts"
import type { Node } from "../../scheduler/graph/Node.ts"
import { observationOf } from "../../scheduler/run/Persistence.ts"
import type { SpaceScheduler } from "../../scheduler/SpaceScheduler.ts"

/** The prefix of their names. No module's name can have it. */
const WATCH = "watch/"

/** Whether a name is that of a watch node. */
export const isWatchNode = (name: string): boolean => name.startsWith(WATCH)

/** Whether a node is a watch node. */
export const isWatch = ({ definition: { name } }: Pick<Node, "definition">): boolean => isWatchNode(name)

/**
 * The watch nodes of one space.
 */
export class WatchNodes {
  private readonly places = new Map<string, Address.Address>()
  /** Free names. Reuse bounds their number by the most simultaneous subscriptions. */
  private readonly ended: Array<string> = []

  /** Adds a watch node, also to the graph if there is one. Returns its name. */
  add(address: Address.Address, scheduler: SpaceScheduler | undefined): string {
    const name = this.ended.pop() ?? `${WATCH}${this.places.size}`
    this.places.set(name, address)
    if (scheduler !== undefined) demand(scheduler, name, address)
    return name
  }

  /** Removes a watch node. */
  remove(name: string, scheduler: SpaceScheduler | undefined): void {
    if (!this.places.delete(name)) return
    scheduler?.remove(name)
    this.ended.push(name)
  }

  /** Whether one of these documents is watched. */
  watches(keys: ReadonlySet<string>): boolean {
    if (keys.size > 0) for (const { key } of this.places.values()) if (keys.has(key)) return true
    return false
  }

  /** Adds all watch nodes to a graph. */
  join(scheduler: SpaceScheduler): void {
    for (const [name, address] of this.places) demand(scheduler, name, address)
  }
}

/** An effect that has seen the place already. It demands the derived value, and costs no beat without one. */
const demand = (scheduler: SpaceScheduler, name: string, address: Address.Address): void => {
  const watch = { ...Reaction.make({ name: "watch", read: (tx) => tx.get(address.text), deliver: () => {}, noDebounce: true }), name }
  scheduler.resume(watch, observationOf(watch, address))
}

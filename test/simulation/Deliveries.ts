/**
 * The deliveries of effects: at most once each, in the order of their beats, and never one of a dead process.
 *
 * @module
 */
import type { Value } from "systole"
import type { Outgoing } from "./Bank.ts"
import type { Delivered } from "./Derived.ts"

/** The deliveries of a world. */
export class Deliveries {
  /** The newest delivery of each effect in each space. */
  private readonly latest = new Map<string, Delivered>()
  /** The values that no process lost since. */
  private readonly values = new Map<string, Value>()
  private readonly tell: Outgoing
  /** The spaces with the name of another one in their cells. */
  private readonly shared = new Set<string>()

  constructor(tell: Outgoing) {
    this.tell = tell
  }

  take(delivered: Delivered): void {
    const { beat, node, space } = delivered
    this.tell.count(`deliver ${node}`)
    if (space === undefined || this.shared.has(space)) return
    if (this.tell.isDetached(space)) this.tell.wrong(`${space} is detached, and an effect on node ${node} is told beat ${beat}`)
    const key = `${space} ${node}`
    const before = this.latest.get(key)
    if (before !== undefined && before.beat >= beat) {
      this.tell.wrong(`${space}: an effect on node ${node} was told beat ${before.beat}, and then beat ${beat}`)
    }
    this.latest.set(key, delivered)
    this.values.set(key, delivered.value)
  }

  /** The value that an effect was told last, unless a process ended since, and a delivery with it. */
  last(space: string, node: number): { readonly value: Value } | undefined {
    const key = `${space} ${node}`
    return this.values.has(key) ? { value: this.values.get(key) } : undefined
  }

  /** A copy may tell the name of a space. */
  share(space: string): void {
    this.shared.add(space)
    this.forget(space)
  }

  /** A process ends. Its deliveries that are on their way are lost. */
  lose(): void {
    this.values.clear()
  }

  /** Forgets the deliveries in a space that is removed. */
  forget(space: string): void {
    for (const key of this.latest.keys()) if (key.startsWith(`${space} `)) this.latest.delete(key)
    this.values.clear()
  }
}

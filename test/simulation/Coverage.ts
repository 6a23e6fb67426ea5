/**
 * The coverage of simulations: how often each kind of event occurred, and which kinds never met in one world.
 *
 * @module
 */
import * as Actions from "./Actions.ts"
import * as Bank from "./Bank.ts"
import * as Disk from "./Disk.ts"
import * as Network from "./Network.ts"
import * as Program from "./Program.ts"

/** Every kind of event, by its part of the world. */
export const kinds: ReadonlyArray<string> = [
  ...Actions.kinds.map((kind) => `action ${kind}`),
  ...Program.kinds.map((kind) => `program ${kind}`),
  ...Disk.faultKinds.map((kind) => `disk ${kind}`),
  ...Network.faults.map((kind) => `network ${kind}`),
  ...Bank.faults.map((kind) => `bank ${kind}`)
]

/** The counts of many worlds. */
export class Coverage {
  worlds = 0
  private readonly counts = new Map<string, number>()
  private readonly pairs = new Set<string>()

  /** Adds the events of a world. */
  add(counts: ReadonlyMap<string, number>): void {
    this.worlds++
    const there = kinds.filter((kind) => counts.has(kind))
    for (const [kind, count] of counts) this.counts.set(kind, (this.counts.get(kind) ?? 0) + count)
    there.forEach((a, i) => there.slice(i + 1).forEach((b) => this.pairs.add(`${a} × ${b}`)))
  }

  /** The number of occurrences of each kind. */
  get rows(): ReadonlyArray<readonly [kind: string, count: number]> {
    return kinds.map((kind) => [kind, this.counts.get(kind) ?? 0])
  }

  /** The pairs of kinds that occurred in no world together. */
  get missing(): ReadonlyArray<string> {
    return kinds.flatMap((a, i) => kinds.slice(i + 1).map((b) => `${a} × ${b}`)).filter((pair) => !this.pairs.has(pair))
  }
}

/**
 * Demand: a place is brought up to date because it is about to be read.
 *
 * Links are followed to what lies behind them, since a read goes there, too.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Link from "../cell/Link.ts"
import * as Value from "../cell/Value.ts"
import type { Graph } from "./Graph.ts"
import type { Depth, Location, Node } from "./Node.ts"
import type { Settle } from "./Settle.ts"

/** Whether a link may be followed to a place. */
export type Admits = (address: Address.Address) => boolean

/**
 * Demand for places of one graph.
 *
 * @category models
 * @since 0.1.0
 */
export class Demand {
  private readonly graph: Graph
  private readonly settling: Settle

  constructor(graph: Graph, settling: Settle) {
    this.graph = graph
    this.settling = settling
  }

  /**
   * What lies at an address when all that it is derived from is up to date; what a gate holds back stays as it was.
   *
   * @throws LinkLoop
   */
  pull(start: Address.Address): Value.Value {
    this.settling.begin()
    const end = this.along(start, (location) => void this.bringLocation(location))
    if (end === undefined) throw new Link.LinkLoop({ address: start.text })
    const { key, path } = end
    const whole = this.graph.locations.shown(key)
    return path.length === 0 ? whole : Value.at(whole, path)
  }

  /** Brings all that writes a place up to date, through no link. Answers when the latest gate opens that keeps it from being so. */
  read(address: Address.Address, depth: Depth): number | undefined {
    // Most of what handlings read is derived by nobody.
    if (!this.graph.isDerived(address, depth)) return undefined
    this.settling.begin()
    return this.bringLocation(this.graph.locations.at(address, depth))
  }

  /** Brings a place up to date, and those that it leads to. */
  bring(address: Address.Address, admits?: Admits): void {
    this.settling.begin()
    this.along(address, (location) => void this.bringLocation(location), admits)
  }

  /** When the latest gate opens that keeps a place from being up to date, or one that it leads to; `undefined` where all is settled. To look changes nothing. */
  heldUntil(address: Address.Address, admits?: Admits): number | undefined {
    let until: number | undefined
    this.along(address, (location) => {
      for (const writer of this.writersOf(location)) until = latest(until, this.settling.heldUntil(writer))
    }, admits)
    return until
  }

  /** Whether all that writes a place is settled. To look changes nothing. */
  isSettled(address: Address.Address, depth: Depth): boolean {
    if (!this.graph.isDerived(address, depth)) return true
    return this.writersOf(this.graph.locations.at(address, depth)).every((writer) => this.settling.heldUntil(writer) === undefined)
  }

  /** Goes along links, and tells of each place that nodes derive; answers where that ends, which is nowhere for links in a loop. */
  private along(start: Address.Address, met: (location: Location) => void, admits?: Admits): Address.Address | undefined {
    const { locations } = this.graph
    let address = start
    for (let hops = 0; ; hops++) {
      if (this.graph.isDerived(address, "deep")) met(locations.at(address))
      const linked = Link.along(locations.shown(address.key), address.path)
      if (linked === undefined) return address
      if (hops >= Link.MAX_HOPS) return undefined
      const next = Address.into(Link.target(linked.link), address.path.slice(linked.depth))
      if (admits?.(next) === false) return address
      address = next
    }
  }

  private bringLocation(location: Location): number | undefined {
    let until: number | undefined
    for (const writer of this.writersOf(location)) until = latest(until, this.settling.pull(writer))
    return until
  }

  /** The nodes that decide what a place holds, or may. */
  private writersOf(location: Location): ReadonlyArray<Node> {
    return [...this.graph.writersOf(location), ...this.graph.writerIndex.of(location)]
  }
}

const latest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.max(one, other)

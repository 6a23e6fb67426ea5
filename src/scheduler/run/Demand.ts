/**
 * Demand: brings a place up to date before it is read.
 *
 * Links are followed, since a read follows them as well.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Link from "../../cell/Link.ts"
import * as Value from "../../cell/Value.ts"
import type { Graph } from "../graph/Graph.ts"
import type { Depth, Location, Node } from "../graph/Node.ts"
import type { Settle } from "./Settle.ts"

/** Whether a link to a place may be followed. */
export type Admits = (address: Address.Address) => boolean

/**
 * Demand for places of one graph.
 */
export class Demand {
  private readonly graph: Graph
  private readonly settling: Settle

  constructor(graph: Graph, settling: Settle) {
    this.graph = graph
    this.settling = settling
  }

  /**
   * The value at an address with up-to-date sources. A value behind a closed gate stays as it was.
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

  /** Brings all writers of a place up to date; follows no link. Returns the opening of the latest gate that prevents it. */
  read(address: Address.Address, depth: Depth): number | undefined {
    // Most reads of handlings are of places without a writer.
    if (!this.graph.isDerived(address, depth)) return undefined
    this.settling.begin()
    return this.bringLocation(this.graph.locations.at(address, depth))
  }

  /** Brings a place up to date, and the targets of its links. */
  bring(address: Address.Address, admits?: Admits): void {
    this.settling.begin()
    this.along(address, (location) => void this.bringLocation(location), admits)
  }

  /**
   * The opening of the latest gate that keeps a place, or a target of its links, from being up to date; `undefined` if all are
   * settled. Changes no state.
   */
  heldUntil(address: Address.Address, admits?: Admits): number | undefined {
    let until: number | undefined
    this.along(address, (location) => {
      for (const writer of this.writersOf(location)) until = latest(until, this.settling.heldUntil(writer))
    }, admits)
    return until
  }

  /** A node whose newest run failed, among the writers of a place and of the targets of its links. */
  failed(address: Address.Address): Node | undefined {
    let found: Node | undefined
    this.along(address, (location) => void (found ??= this.writersOf(location).find(({ run }) => run?.error !== undefined)))
    return found
  }

  /** Whether all writers of a place are settled. Changes no state. */
  isSettled(address: Address.Address, depth: Depth): boolean {
    if (!this.graph.isDerived(address, depth)) return true
    return this.writersOf(this.graph.locations.at(address, depth)).every((writer) => this.settling.heldUntil(writer) === undefined)
  }

  /** Follows links, and calls `met` with each derived place. Returns the final address; `undefined` for a loop of links. */
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

  /** The nodes that write a place, or may write it. */
  private writersOf(location: Location): ReadonlyArray<Node> {
    return [...this.graph.writersOf(location), ...this.graph.writerIndex.of(location)]
  }
}

const latest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.max(one, other)

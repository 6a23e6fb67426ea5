/**
 * The writer index: the materializers that may write at an address.
 *
 * It indexes them by the literal prefixes of their envelopes, so a lookup checks few of
 * them. Each location caches its materializers until any is added or removed. [S2 §4.3]
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Envelope from "../../stage/Envelope.ts"
import * as Flag from "./Flag.ts"
import type { Locations } from "./Locations.ts"
import { type Depth, extraOf, type Location, type Node } from "./Node.ts"

const { COVERED, READY } = Flag

const nobody: ReadonlyArray<Node> = []

/**
 * The index of one graph.
 */
export class WriterIndex {
  private readonly locations: Locations
  private readonly nodes = new Set<Node>()
  /** Materializers by the prefixes of their envelopes. */
  private readonly beginnings = new Map<string, Set<Node>>()
  /** Counts additions and removals. */
  private age = 0

  constructor(locations: Locations) {
    this.locations = locations
    locations.created = (location) => this.mark(location)
  }

  get isEmpty(): boolean {
    return this.nodes.size === 0
  }

  /** Adds a materializer. Covered locations are checked before each read. */
  add(node: Node): void {
    this.age++
    this.nodes.add(node)
    const { envelope } = node.definition
    for (const prefix of prefixesOf(envelope)) {
      const known = this.beginnings.get(prefix)
      if (known === undefined) this.beginnings.set(prefix, new Set([node]))
      else known.add(node)
    }
    this.each((location) => {
      if (concerns(envelope, addressOf(location), location.extra?.depth)) location.flags = (location.flags | COVERED) & ~READY
    })
  }

  remove(node: Node): void {
    this.age++
    this.nodes.delete(node)
    for (const prefix of prefixesOf(node.definition.envelope)) {
      const known = this.beginnings.get(prefix)
      known?.delete(node)
      if (known?.size === 0) this.beginnings.delete(prefix)
    }
    this.each((location) => {
      if ((location.flags & COVERED) !== 0) this.mark(location)
    })
  }

  private each(look: (location: Location) => void): void {
    for (const root of this.locations.values()) {
      look(root)
      for (const part of root.extra?.parts ?? []) look(part)
    }
  }

  private mark(location: Location): void {
    if (!this.isEmpty && this.at(addressOf(location), location.extra?.depth).length > 0) {
      location.flags = (location.flags | COVERED) & ~READY
    }
    else if ((location.flags & COVERED) !== 0) location.flags &= ~(COVERED | READY)
  }

  /** The materializers that may write the value of a location. */
  of(location: Location): ReadonlyArray<Node> {
    if ((location.flags & COVERED) === 0) return nobody
    const extra = extraOf(location)
    if (extra.coveredAt === this.age && extra.covering !== undefined) return extra.covering
    extra.coveredAt = this.age
    return extra.covering = this.at(addressOf(location), extra.depth)
  }

  /** Whether a materializer may write at an address. */
  has(address: Address.Address, depth: Depth = "deep"): boolean {
    return !this.isEmpty && this.at(address, depth).length > 0
  }

  /** The materializers that may write at an address, by ordinal. */
  at(address: Address.Address, depth: Depth = "deep"): ReadonlyArray<Node> {
    const found = [...this.candidates(address.id, depth)].filter(({ definition: { envelope } }) => concerns(envelope, address, depth))
    return found.length < 2 ? found : found.sort((a, b) => a.ordinal - b.ordinal)
  }

  /** The materializers whose prefixes are at or above a cell. A list of names may depend on deeper ones. */
  private candidates(id: string, depth: Depth): ReadonlySet<Node> {
    if (depth === "children") return this.nodes
    const found = new Set<Node>()
    for (let prefix = id; ; prefix = prefix.slice(0, prefix.lastIndexOf("/"))) {
      for (const node of this.beginnings.get(prefix) ?? nobody) found.add(node)
      if (prefix === "") return found
    }
  }
}

const concerns = (envelope: Envelope.Envelope, address: Address.Address, depth: Depth = "deep"): boolean =>
  depth === "children" ? Envelope.touchesBelow(envelope, address) : Envelope.touches(envelope, address)

const prefixesOf = ({ parts }: Envelope.Envelope): ReadonlySet<string> =>
  new Set(parts === undefined ? [""] : parts.map(({ prefix }) => prefix))

const addressOf = ({ extra, key }: Location): Address.Address => Address.into(Address.ofKey(key), extra?.path ?? [])

/**
 * The reads of a durable run that its later writes depend on.
 *
 * A value that an earlier segment read counts as read at that beat. A write to it that does not commute is refused if
 * another writer changed the value since, unless the present segment has read it again.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Draft } from "../stage/Draft.ts"
import { RunStale } from "./RunError.ts"
import type { Left } from "./Step.ts"

/** A value that the run read, or that it left there itself. */
interface Known {
  readonly address: Address.Address
  readonly value: Value
  readonly segment: number
}

/** A write without a fresh read of a value that an earlier segment read. It fails once another writer changes the value. */
export interface Risk {
  /** The written address, and the one that was read. */
  readonly at: string
  readonly read: string
  /** The number of the segment that read it. */
  readonly segment: number
}

/**
 * The newest reads of one run, by document and address.
 *
 * @category models
 * @since 0.1.0
 */
export class Reads {
  /** Called with each write at risk, in development. */
  risk: ((risk: Risk) => void) | undefined
  private readonly known = new Map<string, Map<string, Known>>()

  /** Notes a read of a segment. */
  add(address: Address.Address, value: Value, segment: number): void {
    const here = this.known.get(address.key)
    if (here === undefined) this.known.set(address.key, new Map([[address.text, { address, value, segment }]]))
    else here.set(address.text, { address, value, segment })
  }

  /** Checks the writes of a segment from number `first` on, against the state below the draft. */
  check(draft: Draft, first: number, segment: number): void {
    for (let i = first; i < draft.writes.length; i++) {
      const write = draft.writes[i]
      if (write?.kind === "set") this.checkSet(write.address, draft, segment)
    }
  }

  private checkSet(address: Address.Address, draft: Draft, segment: number): void {
    const here = this.known.get(address.key)
    if (here === undefined) return
    const near = [...here.values()].filter((read) => Address.overlaps(read.address.path, address.path))
    const fresh = near.filter((read) => read.segment === segment)
    const document = draft.stage.visible(address.key)
    const old = near.filter((read) => !fresh.some((other) => covers(other.address, read.address) || covers(other.address, address)))
    const stale = old.find((read) => isChanged(read, address, document))
    const [first] = old
    if (first !== undefined) this.risk?.({ at: address.text, read: first.address.text, segment: first.segment })
    if (stale !== undefined) throw new RunStale({ address: address.text, read: stale.address.text, segment: stale.segment })
  }

  /** The values at known addresses that a segment wrote, as the segment leaves them. */
  leave(draft: Draft, segment: number): ReadonlyArray<Left> {
    const left: Array<Left> = []
    for (const key of draft.own?.keys ?? []) {
      const here = this.known.get(key)
      if (here === undefined) continue
      const writes = draft.own?.writesTo(key) ?? []
      for (const { address } of here.values()) {
        if (!writes.some((write) => Address.overlaps(write.address.path, address.path))) continue
        const value = Document.read(draft.visible(key), address.path)
        this.add(address, value, segment)
        left.push(value === undefined ? [address.text] : [address.text, value])
      }
    }
    return left
  }

  /** Notes the values that a recorded segment left. */
  restore(left: ReadonlyArray<Left>, segment: number): void {
    for (const [address, value] of left) this.add(Address.parse(address), value, segment)
  }
}

/** Whether a place is an outer one of another, or the same. */
const covers = (outer: Address.Address, inner: Address.Address): boolean =>
  outer.path.length <= inner.path.length && Address.overlaps(outer.path, inner.path)

/** Whether the place of a write has another value now than in an earlier read. */
const isChanged = ({ address: { path }, value }: Known, write: Address.Address, document: Document.Document | undefined): boolean => {
  const [inner, seen] = write.path.length > path.length ? [write.path, Values.at(value, write.path.slice(path.length))] : [path, value]
  return !Values.equals(Document.read(document, inner), seen)
}

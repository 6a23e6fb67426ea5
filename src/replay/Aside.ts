/**
 * Runs aside: runs of creators that only say what these start, over the state
 * of the moment.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Definition } from "../scheduler/Definition.ts"
import type { Draft } from "../stage/Draft.ts"

/** Where the run looked, and what it wrote. */
type Log = Pick<Draft, "own" | "reads">

/**
 * One run aside, while it is under way.
 *
 * @category models
 * @since 0.1.0
 */
export class Aside {
  /** What it started so far. */
  readonly started = new Map<string, Definition>()
  private readonly draft: Log
  private readonly keys = new Set<string>()
  private readonly lists = new Set<string>()
  /** How many of the draft's reads these sets hold. */
  private noted = 0
  /** What it read is not what is there any more: it does not say what another run would start. */
  isStale = false

  constructor(draft: Log) {
    this.draft = draft
  }

  /** Another node made something else of a document. */
  changed(key: string): void {
    const { own, reads } = this.draft
    for (; reads !== undefined && this.noted < reads.length; this.noted++) {
      const address = reads.addresses[this.noted]!
      if (reads.depth(this.noted) === "children") this.lists.add(within(address.scope, address.id))
      else this.keys.add(address.key)
    }
    const { id, scope } = Address.ofKey(key)
    this.isStale ||= this.keys.has(key) || own?.has(key) === true || this.lists.has(within(scope, Address.parent(id)))
  }
}

const within = (scope: string, id: string): string => `${scope} ${id}`

/**
 * Isolated runs: runs of parent nodes that only determine their children, over the current state.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Definition } from "../scheduler/definition/Definition.ts"
import { adjust } from "../stage/write/Children.ts"
import type { Draft } from "../stage/Draft.ts"
import type { View } from "../stage/BeatClock.ts"
import type { WriteSet } from "../stage/write/WriteSet.ts"

/** The reads and writes of the run. */
type Log = Pick<Draft, "own" | "reads">

/** How a line is run; `own` are documents that the run sees alone. */
export interface How {
  readonly isLast: boolean
  readonly isTaken: boolean
  readonly own?: WriteSet | undefined
}

/**
 * One isolated run in progress.
 */
export class IsolatedRun {
  /** The children started so far. */
  readonly started = new Map<string, Definition>()
  private readonly draft: Log
  private readonly keys = new Set<string>()
  private readonly lists = new Set<string>()
  /** The number of the draft's reads that these sets include. */
  private noted = 0
  /** Whether a document that it read has changed since, so that another run could start other children. */
  isStale = false

  constructor(draft: Log) {
    this.draft = draft
  }

  /** Handles the change of a document by another node. */
  changed(key: string): void {
    const { own, reads } = this.draft
    for (; reads !== undefined && this.noted < reads.length; this.noted++) {
      const address = reads.address(this.noted)
      if (reads.depth(this.noted) === "children") this.lists.add(within(address.scope, address.id))
      else this.keys.add(address.key)
    }
    const { id, scope } = Address.ofKey(key)
    this.isStale ||= this.keys.has(key) || own?.has(key) === true || this.lists.has(within(scope, Address.parent(id)))
  }
}

const within = (scope: string, id: string): string => `${scope} ${id}`

/** The view of a run that sees some documents alone. */
export const alone = (view: View, own: WriteSet): View => ({
  ...view,
  visible: (key) => own.has(key) ? own.get(key) : view.visible(key),
  children: (scope, id) => adjust(view.children(scope, id), { scope, id, own })
})

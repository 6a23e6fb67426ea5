/**
 * The transaction of a node that is run again: the draft, as far as a node may use it.
 *
 * @module
 */
import type { Cell } from "../cell/Cell.ts"
import type * as Value from "../cell/Value.ts"
import { NodeTransaction } from "../scheduler/NodeTransaction.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Startable } from "../stage/Transaction.ts"

/**
 * One run of a node in a replay.
 *
 * @category models
 * @since 0.1.0
 */
export class RecordedRun extends NodeTransaction {
  private readonly draft: Draft
  private readonly beforeRead: () => void

  constructor(draft: Draft, beforeRead = () => {}) {
    super()
    this.draft = draft
    this.beforeRead = beforeRead
  }

  override get beat(): number {
    return this.draft.beat
  }

  override get now(): number {
    return this.draft.now
  }

  override get(place: string | Cell): Value.Value {
    this.beforeRead()
    return this.draft.get(place)
  }

  override peek(place: string | Cell): Value.Value {
    this.beforeRead()
    return this.draft.peek(place)
  }

  override keys(place: string | Cell): ReadonlyArray<string> | undefined {
    this.beforeRead()
    return this.draft.keys(place)
  }

  override list(id: string): ReadonlyArray<string> {
    this.beforeRead()
    return this.draft.list(id)
  }

  override start(node: Startable | string, inputs?: { readonly [name: string]: unknown }): string {
    return this.draft.start(node, inputs)
  }

  protected override writing(): Draft {
    return this.draft
  }

  protected override refuse(error: unknown): unknown {
    this.draft.refusal ??= error
    return error
  }
}

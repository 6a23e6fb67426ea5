/**
 * Recorded runs: the transaction of a replayed node.
 *
 * @module
 */
import { addressOf, type Place } from "../cell/Cell.ts"
import type * as Value from "../cell/Value.ts"
import { NodeTransaction } from "../scheduler/run/NodeTransaction.ts"
import * as Standpoints from "../scheduler/definition/Standpoint.ts"
import type { Standpoint } from "../scheduler/definition/Standpoint.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Startable } from "../stage/Transaction.ts"

/** The options of a recorded run. */
interface Options {
  readonly beforeRead?: (() => void) | undefined
  readonly standpoint?: Standpoint | undefined
}

/**
 * The draft, restricted to the calls that a node may make.
 */
export class RecordedRun extends NodeTransaction {
  private readonly draft: Draft
  private readonly beforeRead: () => void
  private readonly standpoint: Standpoint | undefined

  /** `beforeRead` is called before each read; `standpoint` is the recorded clock and state of peeked cells. */
  constructor(draft: Draft, { beforeRead = () => {}, standpoint }: Options) {
    super()
    this.draft = draft
    this.beforeRead = beforeRead
    this.standpoint = standpoint
  }

  override get beat(): number {
    return (this.standpoint ?? this.draft).beat
  }

  override get now(): number {
    return (this.standpoint ?? this.draft).now
  }

  protected override valueAt(place: Place): Value.Value {
    this.beforeRead()
    return this.draft.get(place)
  }

  protected override glance(place: Place): Value.Value {
    this.beforeRead()
    const seen = this.standpoint && Standpoints.at(this.standpoint, addressOf(place).text)
    return seen === undefined ? this.draft.peek(place) : seen.value
  }

  protected override keysAt(place: Place): ReadonlyArray<string> | undefined {
    this.beforeRead()
    return this.draft.keys(place)
  }

  override listed(id: string): ReadonlyArray<string> {
    this.beforeRead()
    return this.draft.listed(id)
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

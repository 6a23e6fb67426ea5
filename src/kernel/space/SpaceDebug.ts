/**
 * Stepping through a space while it is developed.
 *
 * Before the runs of chosen nodes the debugger of the process is told. Nothing of
 * it is in the journal: the beats are the same, whenever they run. A space that is
 * held (`Controls`) runs its beats by hand, one at a time. (Seed 002, section 13
 * and P10.)
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { Derived } from "../derived/Derived.ts"
import type { ReadError } from "../view/Expected.ts"
import type { Group } from "../beat/Group.ts"
import type { DebugReport, SpaceDebug } from "../view/Space.ts"

/** What it stands on. */
interface Around {
  readonly derivation: Derived
  readonly group: Group
  /** Looks when all that can be seen is durable. */
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
}

/**
 * How one live space is stepped through.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveDebug implements SpaceDebug {
  private readonly around: Around
  readonly view: Effect.Effect<DebugReport, ReadError>

  constructor(around: Around) {
    this.around = around
    const { derivation, durably, group } = around
    this.view = durably(() => ({ beat: group.durable, breakpoints: [...derivation.attention.breakpoints], held: group.held }))
  }

  breakAt(nodes: ReadonlyArray<string>): Effect.Effect<void, ReadError> {
    return this.around.durably(() => this.around.derivation.breakAt(nodes))
  }
}

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
import type { BeatScheduler } from "../derived/BeatScheduler.ts"
import type { ReadError } from "../view/Expected.ts"
import type { Group } from "../beat/Group.ts"
import type { DebugReport, SpaceDebug } from "../view/Space.ts"

/** What it stands on. */
interface Dependencies {
  readonly derivation: BeatScheduler
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
  private readonly deps: Dependencies
  readonly view: Effect.Effect<DebugReport, ReadError>

  constructor(deps: Dependencies) {
    this.deps = deps
    const { derivation, durably, group } = deps
    this.view = durably(() => ({ beat: group.durable, breakpoints: [...derivation.inspector.breakpoints], held: group.held }))
  }

  breakAt(nodes: ReadonlyArray<string>): Effect.Effect<void, ReadError> {
    return this.deps.durably(() => this.deps.derivation.breakAt(nodes))
  }
}

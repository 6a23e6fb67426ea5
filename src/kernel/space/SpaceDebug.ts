/**
 * Debugging of a space in development.
 *
 * The debugger of the process is called before runs of nodes with a breakpoint. The
 * journal does not record it, and the beats are the same with and without it. A held
 * space (`CommandQueue`) runs its beats one at a time, by hand. [S2 §13]
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { BeatScheduler } from "../derived/BeatScheduler.ts"
import type { ReadError } from "../view/Expected.ts"
import type { GroupCommit } from "../beat/GroupCommit.ts"
import type { Members, SpacePart } from "./SpacePart.ts"
import type { DebugReport, SpaceDebug } from "../view/Space.ts"

/** The dependencies of debugging. */
interface Dependencies {
  readonly derivation: BeatScheduler
  readonly group: GroupCommit
  /** Reads once all visible state is durable. */
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
}

/**
 * The debugging of one live space.
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

const members: Members<keyof SpaceDebug> = { view: "effect", breakAt: "method" }

/**
 * The part of the API of a space for its debugging.
 *
 * @category constructors
 * @since 0.2.0
 */
export const part: SpacePart = {
  name: "debug",
  members,
  make: ({ group, ledgers: { durably }, state: { derivation } }) => new LiveDebug({ derivation, durably, group })
}

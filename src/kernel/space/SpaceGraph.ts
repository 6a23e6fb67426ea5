/**
 * The reactive graph of a space as those outside see it.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import * as Introspection from "../../scheduler/Introspection.ts"
import type { Kind } from "../../scheduler/Trace.ts"
import type { Derived } from "../derived/Derived.ts"
import type { ReadError } from "../view/Expected.ts"
import type { GraphReport, SpaceGraph, TraceReport } from "../view/Space.ts"

/** What it stands on. */
interface Around {
  readonly derivation: Derived
  /** Looks when all that can be seen is durable. */
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
}

/**
 * The graph of one live space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveGraph implements SpaceGraph {
  private readonly around: Around
  readonly view: Effect.Effect<GraphReport, ReadError>
  readonly traces: Effect.Effect<TraceReport, ReadError>

  constructor(around: Around) {
    this.around = around
    const { derivation, durably } = around
    this.view = durably(() => {
      const view = derivation.view()
      return { ...view, stats: Introspection.stats(view), findings: Introspection.diagnose(view) }
    })
    this.traces = durably(() => {
      const { trace } = derivation.attention
      return { kinds: trace.active, run: trace.get("run"), invalid: trace.get("invalid"), pass: trace.get("pass") }
    })
  }

  trace(kinds: ReadonlyArray<Kind>): Effect.Effect<void, ReadError> {
    return this.around.durably(() => this.around.derivation.follow(kinds))
  }
}

/**
 * The reactive graph of a space, as seen from outside.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import * as Introspection from "../../scheduler/Introspection.ts"
import type { EdgeView, NodeView } from "../../scheduler/Introspection.ts"
import type { Kind } from "../../scheduler/Trace.ts"
import type { BeatScheduler } from "../derived/BeatScheduler.ts"
import { errorOf } from "../derived/DerivationPort.ts"
import type { ReadError } from "../view/Expected.ts"
import { MAX_ROWS } from "../view/PageTurns.ts"
import type { Page } from "../view/Pages.ts"
import type { Members, SpacePart } from "./SpacePart.ts"
import type { FailedNode, GraphReport, SpaceGraph, TraceReport } from "../view/Space.ts"

/** The dependencies of the graph view. */
interface Dependencies {
  readonly derivation: BeatScheduler
  /** Reads once all visible state is durable. */
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
  /** The same for a page, in a turn of its own. */
  readonly page: <A>(see: () => A) => Effect.Effect<A, ReadError>
}

const reported = (view: Introspection.GraphPage): GraphReport =>
  ({ ...view, stats: Introspection.stats(view), findings: Introspection.diagnose(view) })

/**
 * The graph of one live space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveGraph implements SpaceGraph {
  private readonly deps: Dependencies
  readonly view: Effect.Effect<GraphReport, ReadError>
  readonly traces: Effect.Effect<TraceReport, ReadError>

  constructor(deps: Dependencies) {
    this.deps = deps
    const { derivation, page } = deps
    this.view = this.whole()
    this.traces = page(() => {
      const { trace } = derivation.inspector
      return { kinds: trace.active, run: trace.get("run"), invalid: trace.get("invalid"), pass: trace.get("pass") }
    })
  }

  page({ after, limit }: Page<number>): Effect.Effect<GraphReport, ReadError> {
    return this.deps.page(() => reported(this.deps.derivation.page({ after, limit, rows: MAX_ROWS })))
  }

  private whole(): Effect.Effect<GraphReport, ReadError> {
    return Effect.gen({ self: this }, function*() {
      const nodes: Array<NodeView> = []
      const edges: Array<EdgeView> = []
      for (let after: number | undefined; ;) {
        const { next, ...found } = yield* this.page({ after, limit: MAX_ROWS })
        nodes.push(...found.nodes)
        edges.push(...found.edges)
        if (next === undefined) return reported({ nodes, edges, next })
        after = next
      }
    })
  }

  failed(text: string): Effect.Effect<FailedNode | undefined, ReadError> {
    return this.deps.durably(() => {
      const node = this.deps.derivation.failed(Address.parse(text))
      if (node === undefined) return undefined
      const { code, message } = errorOf(node.run?.error, true)
      return { name: node.definition.name, code, message }
    })
  }

  trace(kinds: ReadonlyArray<Kind>): Effect.Effect<void, ReadError> {
    return this.deps.durably(() => this.deps.derivation.follow(kinds))
  }
}

const members: Members<keyof SpaceGraph> = { view: "effect", page: "method", failed: "method", trace: "method", traces: "effect" }

/**
 * The part of the API of a space for its graph.
 *
 * @category constructors
 * @since 0.2.0
 */
export const part: SpacePart = {
  name: "graph",
  members,
  make: ({ ledgers: { durably, page }, state: { derivation } }) => new LiveGraph({ derivation, durably, page })
}

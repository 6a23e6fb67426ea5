/**
 * The reactive graph of a space, as seen from outside.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../cell/Address.ts"
import * as Introspection from "../../scheduler/view/Introspection.ts"
import type { EdgeView, NodeView } from "../../scheduler/view/Introspection.ts"
import { errorOf } from "../derived/DerivationPort.ts"
import type { ReadError } from "../view/Expected.ts"
import { MAX_ROWS } from "../view/PageTurns.ts"
import type { Page } from "../view/Pages.ts"
import type { GraphReport, SpaceGraph } from "../view/Space.ts"
import type { Access } from "./Access.ts"
import type { LiveSpace } from "../live/LiveSpace.ts"
import type { SpacePart } from "./SpacePart.ts"

type Source = Pick<LiveSpace, "graph" | "reads">

const reported = (view: Introspection.GraphPage): GraphReport =>
  ({ ...view, stats: Introspection.stats(view), findings: Introspection.diagnose(view) })

const pageOf = ({ graph, reads }: Source, { after, limit }: Page<number>): Effect.Effect<GraphReport, ReadError> =>
  reads.page(() => reported(graph.page({ after, limit, rows: MAX_ROWS })))

const whole = (space: Source): Effect.Effect<GraphReport, ReadError> =>
  Effect.gen(function*() {
    const nodes: Array<NodeView> = []
    const edges: Array<EdgeView> = []
    for (let after: number | undefined; ;) {
      const { next, ...found } = yield* pageOf(space, { after, limit: MAX_ROWS })
      nodes.push(...found.nodes)
      edges.push(...found.edges)
      if (next === undefined) return reported({ nodes, edges, next })
      after = next
    }
  })

const make = (access: Access): SpaceGraph => ({
  view: access.use(whole),
  page: (page) => access.use((space) => pageOf(space, page)),
  failed: (text) => access.use(({ graph, reads }) => reads.read(() => {
    const node = graph.failed(Address.parse(text))
    if (node === undefined) return undefined
    const { code, message } = errorOf(node.run?.error, true)
    return { name: node.definition.name, code, message }
  })),
  trace: (kinds) => access.use(({ graph, reads }) => reads.read(() => graph.inspector.follow(kinds))),
  traces: access.use(({ graph: { inspector: { trace } }, reads }) => reads.page(() =>
    ({ kinds: trace.active, run: trace.get("run"), invalid: trace.get("invalid"), pass: trace.get("pass") })))
})

/**
 * The part of the API of a space for its graph.
 */
export const part: SpacePart = { name: "graph", make }

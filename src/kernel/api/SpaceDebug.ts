/**
 * Debugging of a space in development.
 *
 * The debugger of the process is called before runs of nodes with a breakpoint. The
 * journal does not record it, and the beats are the same with and without it. A held
 * space (`CommandQueue`) runs its beats one at a time, by hand. [S2 §13]
 *
 * @module
 */
import type { SpaceDebug } from "../view/Space.ts"
import type { Access } from "./Access.ts"
import type { SpacePart } from "./SpacePart.ts"

const make = (access: Access): SpaceDebug => ({
  view: access.use(({ barrier, graph: { inspector }, group, reads }) =>
    reads.read(() => ({ beat: barrier.durable, breakpoints: [...inspector.breakpoints], held: group.held }))),
  breakAt: (nodes) => access.use(({ graph, reads }) => reads.read(() => graph.inspector.breakAt(nodes)))
})

/**
 * The part of the API of a space for its debugging.
 */
export const part: SpacePart = { name: "debug", make }

/**
 * The idempotency check: two runs of a node on the same values have to make the same.
 *
 * The second run has a transaction of its own over the results of the first one, and is
 * discarded. It has no observers and causes no run. [S2 §4.2]
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import type { Pieces } from "../stage/RunGrant.ts"
import { Draft } from "../stage/Draft.ts"
import type { View } from "../stage/BeatClock.ts"
import type { Definition } from "./definition/Definition.ts"
import type { BaseState } from "./graph/Locations.ts"
import type { Node, NodeRun, StartedNodes } from "./graph/Node.ts"
import type { SpaceScheduler } from "./SpaceScheduler.ts"

/** Reports a node that fails the check, with the first differing address; `undefined` if it starts other nodes. */
export type Unstable = (name: string, address: string | undefined) => void

/**
 * Checks the successful runs of one graph as they end: an observer of its scheduler. A reported node is not checked again.
 */
export const checker = (scheduler: SpaceScheduler, base: BaseState, told: Unstable) => {
  const known = new WeakSet<Node>()
  const view = viewOf(scheduler, base)
  return (run: NodeRun, keys: ReadonlyArray<string>): void => {
    const { node } = run
    const isLeftOut = run.recalled !== undefined || run.isBarred || node.definition._tag === "Effect"
    if (run.error !== undefined || isLeftOut || known.has(node)) return
    const again = repeat(node, view, scheduler)
    const key = again === undefined ? node.output?.key ?? keys[0] : differs(again.made, view.visible, keys)
    const isSame = again !== undefined && key === undefined && starts(again.started, run.children)
    if (isSame) return
    known.add(node)
    told(node.definition.name, key === undefined ? undefined : Address.ofKey(key).text)
  }
}

/** The results of the first run. Reading adds no locations. */
const viewOf = ({ graph: { locations } }: SpaceScheduler, base: BaseState): View => {
  const read = (key: string): Document | undefined => {
    const root = locations.known(key)
    return root === undefined ? base.read(key) : locations.document(root)
  }
  const children = locations.children.bind(locations)
  return { committed: { read, children, blob: base.content }, visible: read, children }
}

/** The results of a second run; `undefined` if it fails. */
const repeat = ({ definition, output }: Node, view: View, scheduler: SpaceScheduler) => {
  const started = new Set<string>()
  // The nodes that it starts exist already.
  const start: Pieces<Draft>["start"] = (_, node, inputs) => {
    const { name } = scheduler.startable(node as Definition | string, inputs)
    started.add(name)
    return name
  }
  const pieces: Pieces<Draft> = { start, stop: () => {} }
  const draft = new Draft(view, scheduler.moment, {
    run: 0,
    envelope: definition.envelope,
    serializable: false,
    pieces,
    labels: scheduler.graph.labels,
    surface: definition
  })
  const made = new Map<string, Document | undefined>()
  try {
    const { run } = definition
    const value = run(draft)
    if (output !== undefined) made.set(output.key, value === undefined ? undefined : Codec.encode(value))
  } catch {
    return undefined
  }
  const { own } = draft
  own?.keys.forEach((key, i) => made.set(key, own.documents[i]))
  return { made, started }
}

/** The first document that the second run made differently, or not at all. */
const differs = (
  made: ReadonlyMap<string, Document | undefined>,
  read: View["visible"],
  keys: ReadonlyArray<string>
): string | undefined => {
  for (const [key, document] of made) if (document?.text !== read(key)?.text) return key
  return keys.find((key) => !made.has(key))
}

const starts = (again: ReadonlySet<string>, first: StartedNodes | undefined): boolean =>
  first === undefined ? again.size === 0 : again.size === first.size && [...again].every((name) => first.has(name))

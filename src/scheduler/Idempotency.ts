/**
 * The idempotency check: a node that runs twice on the same values has to make
 * the same of them.
 *
 * The second run is a transaction of its own over what the first one left, and is
 * dropped: nothing hears of it, and nothing runs for it. (Seed 002, section 4.2.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import * as Codec from "../cell/Document.ts"
import type { Pieces } from "../stage/Charter.ts"
import { Draft } from "../stage/Draft.ts"
import type { Moment, View } from "../stage/Moment.ts"
import type { Definition } from "./Definition.ts"
import type { BaseState } from "./Locations.ts"
import type { Node, NodeRun, Started } from "./Node.ts"
import type { Scheduler } from "./Scheduler.ts"

/** Told of a node that does not keep to it, and of the first place where that shows; `undefined` where it starts other nodes instead. */
export type Unstable = (name: string, address: string | undefined) => void

/** A run that ended well: which, what it wrote beside its output, and when. */
export interface Ended {
  readonly run: NodeRun
  readonly keys: ReadonlyArray<string>
  readonly moment: Moment
}

/**
 * Checks runs of one graph as they end. A node that was told of is not looked at again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const checker = (scheduler: Scheduler, base: BaseState, told: Unstable): (ended: Ended) => void => {
  const known = new WeakSet<Node>()
  const view = viewOf(scheduler, base)
  return (ended) => {
    const { node } = ended.run
    if (node.definition._tag === "Effect" || known.has(node)) return
    const again = repeat(ended, view, scheduler)
    const key = again === undefined ? node.output?.key ?? ended.keys[0] : differs(again.made, view.visible, ended.keys)
    const isSame = again !== undefined && key === undefined && starts(again.started, ended.run.children)
    if (isSame) return
    known.add(node)
    told(node.definition.name, key === undefined ? undefined : Address.ofKey(key).text)
  }
}

/** What the first run left, without a location for what nobody looked at yet. */
const viewOf = ({ graph: { locations } }: Scheduler, base: BaseState): View => {
  const read = (key: string): Document | undefined => {
    const root = locations.known(key)
    return root === undefined ? base.read(key) : locations.document(root)
  }
  const children = locations.children.bind(locations)
  return { committed: { read, children, blob: base.content }, visible: read, children }
}

/** What a second run makes; `undefined` where it fails. */
const repeat = ({ moment, run: { node: { definition, output } } }: Ended, view: View, scheduler: Scheduler) => {
  const started = new Set<string>()
  // What it starts is there already.
  const start: Pieces<Draft>["start"] = (_, node, inputs) => {
    const { name } = scheduler.startable(node as Definition | string, inputs)
    started.add(name)
    return name
  }
  const pieces: Pieces<Draft> = { start, stop: () => {} }
  const draft = new Draft(view, moment, { run: 0, envelope: definition.envelope, serializable: false, pieces, labels: scheduler.graph.labels, surface: definition })
  const made = new Map<string, Document | undefined>()
  try {
    const { run } = definition
    const value = run(draft)
    if (output !== undefined) made.set(output.key, value === undefined ? undefined : Codec.encode(value))
  } catch {
    return undefined
  }
  draft.own?.keys.forEach((key, i) => made.set(key, draft.own!.documents[i]))
  return { made, started }
}

/** The first document of which the second run made something else, or nothing. */
const differs = (made: ReadonlyMap<string, Document | undefined>, read: View["visible"], keys: ReadonlyArray<string>): string | undefined => {
  for (const [key, document] of made) if (document?.text !== read(key)?.text) return key
  return keys.find((key) => !made.has(key))
}

const starts = (again: ReadonlySet<string>, first: Started | undefined): boolean =>
  again.size === (first?.size ?? 0) && [...again].every((name) => first!.has(name))

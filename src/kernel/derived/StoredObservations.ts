/**
 * Stored observations: the state of nodes that are not registered yet.
 *
 * A space opens with the observations of its nodes, and each node takes its own when its
 * module is registered. Changes until then mark the observations that read the changed
 * place, so that no stale node counts as clean. [S2 §9.2]
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Changes from "../../cell/Change.ts"
import * as Document from "../../cell/Document.ts"
import * as JsonParser from "../../cell/JsonParser.ts"
import type { ObservationRow } from "../../persistence/Persistence.ts"
import type { Locations } from "../../scheduler/graph/Locations.ts"
import { type Observation, type ObservedRead, outputsOf } from "../../scheduler/run/Persistence.ts"
import { FOLDER } from "../../stage/Content.ts"
import type { CommittedState } from "../../stage/BeatClock.ts"
import type { StagedDocument } from "../../stage/Stage.ts"
import type { DerivedBeat } from "./DerivationPort.ts"
import { others, type Step, type Steps } from "../model/ExternalChange.ts"

/** A read of an observation, by its index in the list; without one, a document that its node writes. */
interface Read {
  readonly name: string
  readonly place: number | undefined
}

/** Documents with those that are derived from them. */
export interface Above {
  readonly keys: ReadonlySet<string>
  /** Whether a node that runs by itself reads one of them. */
  readonly isDemanded: boolean
}

/** A document before a beat, and with the changes of the beat so far. */
export interface Change {
  readonly before: Document.Document | undefined
  readonly after: Document.Document | undefined
}

/** The changes of a beat so far. */
export interface BeatChanges {
  readonly changed: (key: string) => Change | undefined
  readonly steps: Steps | undefined
  /** Whether the names of the documents directly below a cell differ. */
  readonly isListChanged: (scope: string, id: string) => boolean
}

/** The changes of the beat in progress, from its stage and from a graph. */
export const beatChanges = (
  committed: CommittedState,
  locations: Locations,
  work: () => Pick<DerivedBeat, "commands" | "stage"> | undefined
): BeatChanges => ({
  get steps() {
    return work()?.commands.steps
  },
  changed: (key) => {
    const root = locations.known(key)
    if (root !== undefined && locations.isChanged(root)) return { before: committed.read(key), after: locations.document(root) }
    const staged = work()?.stage.documents.get(key)
    return staged === undefined ? undefined : { before: committed.read(key), after: staged.after }
  },
  isListChanged: (scope, id) => work() !== undefined && committed.children(scope, id).join() !== locations.children(scope, id).join()
})

/**
 * The observations without a node.
 */
export class StoredObservations {
  /** The changes of the beat in progress, if there is one. */
  world: BeatChanges | undefined
  private readonly byName = new Map<string, Observation>()
  /** Reads and outputs by document, and reads of lists of names by cell. */
  private readonly byKey = new Map<string, Array<Read>>()
  private readonly byFolder = new Map<string, Array<Read>>()
  /** Observations taken since the newest committed beat, with the changes up to then. */
  private taken = new Map<string, Observation>()
  /** Names whose observations changed since the last call of `rows`. */
  private marked = new Set<string>()
  /** Names whose observations were dropped since then. */
  private gone = new Set<string>()

  constructor(rows: Iterable<ObservationRow>) {
    for (const { node, text } of rows) {
      const kept = parse(text)
      if (kept === undefined) continue
      this.byName.set(node, kept)
      kept.reads.forEach(([text, depth], place) => {
        add(depth === "children" ? this.byFolder : this.byKey, Address.parse(text).key, { name: node, place })
      })
      for (const key of outputsOf(kept)) add(this.byKey, key, { name: node, place: undefined })
    }
  }

  get size(): number {
    return this.byName.size
  }

  get(name: string): Observation | undefined {
    return this.byName.get(name)
  }

  entries(): Iterable<readonly [name: string, kept: Observation]> {
    return this.byName
  }

  /** These documents with all that are derived from them, and whether a node that runs by itself reads one. */
  above(keys: Iterable<string>): Above {
    const reached = new Set<string>()
    let isDemanded = false
    const above = [...keys]
    for (let key = above.pop(); key !== undefined; key = above.pop()) {
      if (reached.has(key)) continue
      reached.add(key)
      for (const reads of [this.byKey.get(key), this.byFolder.get(folderOf(key))]) {
        for (const { name, place } of reads ?? none) {
          const kept = place === undefined ? undefined : this.byName.get(name)
          if (kept === undefined) continue
          const outputs = outputsOf(kept)
          if (outputs.length === 0) isDemanded = true
          above.push(...outputs)
        }
      }
    }
    return { keys: reached, isDemanded }
  }

  /** Hands an observation to its node, marked with the changes of the beat so far. */
  take(name: string): Observation | undefined {
    if (this.world !== undefined) this.look(name, this.world)
    const kept = this.byName.get(name)
    this.byName.delete(name)
    if (kept !== undefined) this.taken.set(name, kept)
    return kept
  }

  /** The node was not added: its observation stays here. */
  giveBack(name: string): void {
    const kept = this.taken.get(name)
    if (kept === undefined) return
    this.taken.delete(name)
    this.byName.set(name, kept)
  }

  /** The node did not adopt its observation, so it does not hear of changes. If the former code returns, that has to run. */
  outdate(name: string): void {
    const kept = this.taken.get(name)
    if (kept === undefined || kept.status === "invalid") return
    this.taken.set(name, { ...kept, status: "invalid" })
    this.marked.add(name)
  }

  /** The beat is in the store: taken observations belong to their nodes. */
  committed(): void {
    if (this.taken.size > 0) this.taken = new Map()
  }

  /** The beat is aborted: observations of nodes that are gone with it return. Those of others are stored with the next one. */
  abort(isThere: (name: string) => boolean): void {
    for (const name of this.taken.keys()) if (!isThere(name)) this.giveBack(name)
  }

  /** Marks an observation if a place that it read has changed. */
  private look(name: string, world: BeatChanges): void {
    const kept = this.byName.get(name)
    kept?.reads.forEach(([text, depth], place) => {
      const { id, key, scope } = Address.parse(text)
      if (depth === "children") {
        if (world.isListChanged(scope, id)) this.invalidate(name, place)
        return
      }
      const change = world.changed(key)
      if (change !== undefined && isNews([text, depth], partsOf(change, kept.group, world.steps?.get(key)))) this.invalidate(name, place)
    })
    if (kept !== undefined && outputsOf(kept).some((key) => isOther(world.changed(key)))) this.invalidate(name, undefined)
  }

  /** Drops the observation of a node that does not return, and those of its children. */
  drop(name: string): void {
    const kept = this.take(name)
    if (kept === undefined) return
    this.gone.add(name)
    for (const child of kept.children) this.drop(child)
  }

  /** Marks the readers of a beat's changes; changes under groups by their steps. */
  mark(changes: Iterable<StagedDocument>, steps: Steps): void {
    for (const { address, after, before } of changes) {
      for (const { name, place } of this.byKey.get(address.key) ?? []) {
        const kept = this.byName.get(name)
        if (kept === undefined) continue
        const read = place === undefined ? undefined : kept.reads[place]
        // A derived document belongs to its node, which derives it again when it returns.
        if (read === undefined) {
          if (isOther({ before, after })) this.invalidate(name, undefined)
        } else if (isNews(read, partsOf({ before, after }, kept.group, steps.get(address.key)))) this.invalidate(name, place)
      }
      if ((before === undefined) === (after === undefined)) continue
      for (const { name, place } of this.byFolder.get(folderOf(address.key)) ?? []) this.invalidate(name, place)
    }
  }

  /** Marks the nodes that looked for content which is now present. */
  appear(hash: string): void {
    for (const { name, place } of this.byKey.get(FOLDER + hash) ?? none) this.invalidate(name, place)
  }

  /** Drops all observations. The documents of those nodes may be gone, so each starts without state. */
  clear(): void {
    for (const name of this.byName.keys()) this.gone.add(name)
    this.byName.clear()
  }

  get isChanged(): boolean {
    return this.marked.size > 0 || this.gone.size > 0
  }

  /** The rows changed since the last call, also of observations taken meanwhile: their nodes may have nothing newer to store. */
  *rows(): Generator<ObservationRow> {
    for (const node of this.marked) {
      const kept = this.byName.get(node) ?? this.taken.get(node)
      if (kept !== undefined) yield { node, text: JSON.stringify(kept) }
    }
    for (const node of this.gone) yield { node, text: undefined }
    if (this.marked.size > 0) this.marked = new Set()
    if (this.gone.size > 0) this.gone = new Set()
  }

  private invalidate(name: string, place: number | undefined): void {
    const kept = this.byName.get(name)
    if (kept === undefined) return
    const causes = place === undefined || kept.causes.includes(place) ? kept.causes : [...kept.causes, place]
    this.byName.set(name, { ...kept, status: "invalid", causes })
    this.marked.add(name)
  }
}

const none: ReadonlyArray<Read> = []

const add = (index: Map<string, Array<Read>>, key: string, read: Read): void => {
  const reads = index.get(key)
  if (reads === undefined) index.set(key, [read])
  else reads.push(read)
}

/** The key of the cell above a document. */
const folderOf = (key: string): string => {
  const { id, scope } = Address.ofKey(key)
  return Address.make(Address.parent(id), { scope }).key
}

/** Whether a document is another one after a change. */
const isOther = (change: Change | undefined): boolean => change !== undefined && change.before?.text !== change.after?.text

/** An unreadable row counts as absent: its node starts without state. */
const parse = (text: string | undefined): Observation | undefined => {
  if (text === undefined) return undefined
  try {
    const kept = JsonParser.parse(text) as Observation
    if (kept.v !== 2 || !Array.isArray(kept.reads) || !Array.isArray(kept.causes)) return undefined
    for (const [address] of kept.reads) Address.parse(address)
    return kept
  } catch {
    return undefined
  }
}

/** The parts of a change that a group sees. */
const partsOf = (change: Change, group: string | undefined, steps: ReadonlyArray<Step> | undefined): ReadonlyArray<Change> =>
  group === undefined || steps === undefined ? [change] : others(steps, group, change)

/** Whether the change is visible at the path that the node read. */
const isNews = ([text, depth]: ObservedRead, parts: ReadonlyArray<Change>): boolean => {
  const read = { path: Address.parse(text).path, shallow: depth === "shallow" }
  return parts.some(({ after, before }) =>
    after?.text !== before?.text &&
    Changes.triggers(read, { path: [], before: Document.read(before, []), after: Document.read(after, []) }))
}

/**
 * What is kept of nodes that are not registered yet.
 *
 * A space opens with the observations of its nodes, and each node takes its own
 * when its module is registered. What changes until then marks those that read
 * it, so that none is taken for clean that is not. (Seed 002, section 9.2.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Changes from "../../cell/Change.ts"
import * as Document from "../../cell/Document.ts"
import type { ObservationRow } from "../../persistence/Persistence.ts"
import type { Locations } from "../../scheduler/Locations.ts"
import type { Observation } from "../../scheduler/Persistence.ts"
import { FOLDER } from "../../stage/Content.ts"
import type { Committed } from "../../stage/Moment.ts"
import type { Staged } from "../../stage/Stage.ts"
import type { BeatWork } from "../model/BeatWork.ts"
import { others, type Step, type Steps } from "../model/Foreign.ts"

/** A place that an observation read, by its place in the list. */
interface Read {
  readonly name: string
  readonly place: number
}

/** A document before a beat, and as the beat has made it so far. */
export interface Change {
  readonly before: Document.Document | undefined
  readonly after: Document.Document | undefined
}

/** What a beat has changed so far. */
export interface BeatChanges {
  readonly changed: (key: string) => Change | undefined
  readonly steps: Steps | undefined
  /** Whether there are other documents directly below a cell. */
  readonly isListChanged: (scope: string, id: string) => boolean
}

/** What the beat under way has changed of what is committed, on its stage and in a graph. */
export const beatChanges = (committed: Committed, locations: Locations, work: () => Pick<BeatWork, "stage" | "steps"> | undefined): BeatChanges => ({
  get steps() {
    return work()?.steps
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
 * Observations that no node has taken.
 *
 * @category models
 * @since 0.1.0
 */
export class StoredObservations {
  /** Where observations are handed over within beats. */
  world: BeatChanges | undefined
  private readonly byName = new Map<string, Observation>()
  /** Who read a document or the names below it. */
  private readonly byKey = new Map<string, Array<Read>>()
  private readonly byFolder = new Map<string, Array<Read>>()
  /** What was handed over since the newest beat that was committed. */
  private readonly taken = new Map<string, Observation>()
  /** Names whose observations changed since they were asked for. */
  private readonly marked = new Set<string>()
  /** Names whose observations were let go since then. */
  private readonly gone = new Set<string>()

  constructor(rows: Iterable<ObservationRow>) {
    for (const { node, text } of rows) {
      const kept = parse(text)
      if (kept === undefined) continue
      this.byName.set(node, kept)
      kept.reads.forEach(([text, depth], place) => {
        const { key } = Address.parse(text)
        const index = depth === "children" ? this.byFolder : this.byKey
        const reads = index.get(key)
        if (reads === undefined) index.set(key, [{ name: node, place }])
        else reads.push({ name: node, place })
      })
    }
  }

  get size(): number {
    return this.byName.size
  }

  get(name: string): Observation | undefined {
    return this.byName.get(name)
  }

  /** Hands an observation over: from now on its node keeps itself. What the beat under way has changed by now counts. */
  take(name: string): Observation | undefined {
    if (this.world !== undefined) this.look(name, this.world)
    const kept = this.byName.get(name)
    this.byName.delete(name)
    if (kept !== undefined) this.taken.set(name, kept)
    return kept
  }

  /** The beat is in the store: who took something keeps it. */
  committed(): void {
    if (this.taken.size > 0) this.taken.clear()
  }

  /** The beat leaves no trace: what nodes took that are gone with it is here again. */
  abort(isThere: (name: string) => boolean): void {
    for (const [name, kept] of this.taken) if (!isThere(name)) this.byName.set(name, kept)
    this.taken.clear()
  }

  /** Marks an observation, where what was read is something else by now. */
  private look(name: string, world: BeatChanges): void {
    const kept = this.byName.get(name)
    kept?.reads.forEach(([text, depth], place) => {
      const { id, key, scope } = Address.parse(text)
      if (depth === "children") {
        if (world.isListChanged(scope, id)) this.invalidate(name, place)
        return
      }
      const change = world.changed(key)
      if (change !== undefined && isNews(kept, place, partsOf(change, kept.group, world.steps?.get(key)))) this.invalidate(name, place)
    })
  }

  /** Lets go of the observation of a node that does not come back, and of those that it started. */
  drop(name: string): void {
    const kept = this.take(name)
    if (kept === undefined) return
    this.gone.add(name)
    for (const child of kept.children) this.drop(child)
  }

  /** Marks who read what a beat changed; some of that by steps. */
  mark(changes: Iterable<Staged>, steps: Steps): void {
    for (const { address, after, before } of changes) {
      for (const { name, place } of this.byKey.get(address.key) ?? []) {
        const kept = this.byName.get(name)
        if (kept !== undefined && isNews(kept, place, partsOf({ before, after }, kept.group, steps.get(address.key)))) this.invalidate(name, place)
      }
      if ((before === undefined) === (after === undefined)) continue
      const folder = Address.make(Address.parent(address.id), { scope: address.scope }).key
      for (const { name, place } of this.byFolder.get(folder) ?? []) this.invalidate(name, place)
    }
  }

  /** Marks who looked for content that is there now. */
  appear(hash: string): void {
    for (const { name, place } of this.byKey.get(FOLDER + hash) ?? none) this.invalidate(name, place)
  }

  /** Lets go of all: what those nodes made may not be there any more, so each begins anew. */
  clear(): void {
    for (const name of this.byName.keys()) this.gone.add(name)
    this.byName.clear()
  }

  get isChanged(): boolean {
    return this.marked.size > 0 || this.gone.size > 0
  }

  /** The rows that changed since this was asked last. */
  *rows(): Generator<ObservationRow> {
    for (const node of this.marked) {
      const kept = this.byName.get(node)
      if (kept !== undefined) yield { node, text: JSON.stringify(kept) }
    }
    for (const node of this.gone) yield { node, text: undefined }
    this.marked.clear()
    this.gone.clear()
  }

  private invalidate(name: string, place: number): void {
    const kept = this.byName.get(name)
    if (kept === undefined) return
    const causes = kept.causes.includes(place) ? kept.causes : [...kept.causes, place]
    this.byName.set(name, { ...kept, status: "invalid", causes })
    this.marked.add(name)
  }
}

const none: ReadonlyArray<Read> = []

/** A row that cannot be read is as good as none: its node begins anew. */
const parse = (text: string | undefined): Observation | undefined => {
  if (text === undefined) return undefined
  try {
    const kept = JSON.parse(text) as Observation
    if (kept.v !== 2 || !Array.isArray(kept.reads) || !Array.isArray(kept.causes)) return undefined
    for (const [address] of kept.reads) Address.parse(address)
    return kept
  } catch {
    return undefined
  }
}

/** What of a change a group hears of. */
const partsOf = (change: Change, group: string | undefined, steps: ReadonlyArray<Step> | undefined): ReadonlyArray<Change> =>
  group === undefined || steps === undefined ? [change] : others(steps, group, change)

/** Whether a read of what a node read hears of what the document became. */
const isNews = ({ reads }: Observation, place: number, parts: ReadonlyArray<Change>): boolean => {
  const [text, depth] = reads[place]!
  const read = { path: Address.parse(text).path, shallow: depth === "shallow" }
  return parts.some(({ after, before }) => after?.text !== before?.text && Changes.triggers(read, { path: [], before: Document.read(before, []), after: Document.read(after, []) }))
}

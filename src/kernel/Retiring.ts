/**
 * Retiring: what is over is kept for a while, and then let go of.
 *
 * Each beat notes what came to its end in it, in the order of beats, so the
 * oldest are found without a look at any other:
 *
 *     /sys/index/over/<kind>                  how many are noted
 *     /sys/index/over/<kind>/<beat>-<n>       { clock, names }   what ended in a beat, some of it in each cell
 *
 * Which notes a beat goes through is captured and journaled, since it follows
 * from limits that a configuration may change; what goes with them follows from
 * the cells. A beat lets go of a bounded number, and none is run for it.
 * (Architecture, sections 1.1 and 7.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import * as Instance from "../flow/Instance.ts"
import * as Dossier from "../operation/Dossier.ts"
import * as Entries from "../rendezvous/Entry.ts"
import { COMMIT, type Stage, type Staged } from "../stage/Stage.ts"
import type { BeatWork, Start } from "./BeatWork.ts"
import type { Body, LiveBody } from "./Body.ts"
import type { Retired } from "./Journal.ts"

/** Where it is noted what is over. */
const OVER = "/sys/index/over"

/** Names that one note holds, notes of one kind that a beat goes through, and documents after which it stops. */
const MAX_NAMES = 256
const MAX_NOTES = 8
const MAX_DOCUMENTS = 1024

/** What ended in a beat, some of it. */
interface Note {
  /** The clock of the beat. */
  readonly clock: number
  readonly names: ReadonlyArray<string>
}

/** Where what ended is looked for. */
interface Around {
  readonly stage: Stage
  readonly store: Body["store"]
  /** The beat that ended it. */
  readonly since: number
}

/** What goes with something that ended: its documents, the one by which it is found last; and whether those are all. */
interface Found {
  readonly keys: ReadonlyArray<string>
  readonly isWhole: boolean
}

interface Kind {
  /** What the keys of its documents begin with: most that a beat changes is of no kind. */
  readonly prefix: string
  /** The name of what ended with a change of the beat; `undefined` where nothing of the kind did. */
  readonly ended: (staged: Staged) => string | undefined
  readonly find: (name: string, around: Around) => Found
}

const whole = (...keys: ReadonlyArray<string>): Found => ({ keys, isWhole: true })

/** What may be more than one beat lets go of: a part of what is many, or the rest and the document by which it is found. */
const gradual = (store: Body["store"], { below, first, key }: { readonly first: string; readonly below?: string; readonly key: string }): Found => {
  const many = store.below(first, { limit: MAX_DOCUMENTS })
  if (many.length === MAX_DOCUMENTS) return { keys: many, isWhole: false }
  return whole(...below === undefined ? many : store.below(below, { limit: 2 * MAX_DOCUMENTS }), key)
}

/** The name directly below a folder that a document's key names. */
const nameBelow = (folder: string, key: string): string | undefined => {
  if (!key.startsWith(`${folder}/`) || key.includes("?")) return undefined
  const name = key.slice(folder.length + 1)
  return name.includes("/") ? undefined : name
}

const entryOf = (document: Document.Document | undefined): Entries.Entry | undefined => Entries.read(Document.read(document, []))
const instanceOf = (document: Document.Document | undefined): Instance.Instance | undefined => Instance.read(Document.read(document, []))
const isClosed = (document: Document.Document | undefined): boolean => Dossier.live(Document.read(document, []))?.status !== undefined
const isOver = (instance: Instance.Instance | undefined): boolean => instance !== undefined && Instance.isOver(instance)
const isFinished = (entry: Entries.Entry | undefined): entry is Entries.Entry => entry !== undefined && Entries.isFinished(entry)

/** What comes to an end, by the name of its folder among the notes. */
const kinds: Readonly<Record<Retired[0], Kind>> = {
  rv: {
    prefix: `${Entries.FOLDER}/`,
    ended: ({ address, after, before }) => {
      const key = Entries.keyOf(address.key)
      const entry = key === undefined ? undefined : entryOf(after)
      if (!isFinished(entry)) return undefined
      const earlier = entryOf(before)
      return isFinished(earlier) && earlier.spawn_beat === entry.spawn_beat ? undefined : key
    },
    // One that was spawned anew since then is another.
    find: (key, { since, stage }) => {
      const place = Entries.address(key).key
      const entry = entryOf(stage.newest(place))
      return isFinished(entry) && entry.spawn_beat <= since ? whole(`${Entries.EVENTS}/${key}`, place) : whole()
    }
  },
  flow: {
    prefix: `${Instance.FOLDER}/`,
    ended: ({ address, after, before }) => {
      const inst = Instance.idOf(address.key)
      return inst !== undefined && isOver(instanceOf(after)) && !isOver(instanceOf(before)) ? inst : undefined
    },
    find: (inst, { store }) => gradual(store, { first: `${Instance.HEARD}/${inst}`, key: Instance.address(inst).key })
  },
  op: {
    prefix: `${Dossier.FOLDER}/`,
    ended: ({ address, after, before }) => {
      const oid = nameBelow(Dossier.FOLDER, address.key)
      return oid !== undefined && isClosed(after) && !isClosed(before) ? oid : undefined
    },
    find: (oid, { store }) => {
      const { id, key } = Dossier.address(oid)
      return gradual(store, { first: `${id}/history`, below: id, key })
    }
  },
  fact: {
    prefix: `${Diagnostic.FOLDER}/`,
    ended: ({ address, before }) => before === undefined ? nameBelow(Diagnostic.FOLDER, address.key) : undefined,
    find: (name) => {
      const place = Address.make(`${Diagnostic.FOLDER}/${name}`)
      return whole(Diagnostic.payloadOf(place).key, place.key)
    }
  }
}

const names = Object.keys(kinds) as ReadonlyArray<Retired[0]>

const folders: Readonly<Record<Retired[0], Address.Address>> = {
  rv: Address.make(`${OVER}/rv`),
  flow: Address.make(`${OVER}/flow`),
  op: Address.make(`${OVER}/op`),
  fact: Address.make(`${OVER}/fact`)
}
const noteAddress = (kind: Retired[0], note: string): Address.Address => Address.make(`${OVER}/${kind}/${note}`)
const countOf = (document: Document.Document | undefined): number => (Document.read(document, []) as number | undefined) ?? 0
const noteOf = (document: Document.Document | undefined): Note => Document.read(document, []) as unknown as Note

/**
 * Notes what came to its end in the beat, of these kinds.
 *
 * @category combinators
 * @since 0.1.0
 */
export const note = ({ moment: { beat, now }, stage }: BeatWork, ...of: ReadonlyArray<Retired[0]>): void => {
  const ended = new Map<Retired[0], Array<string>>()
  for (const staged of stage.documents.values()) {
    for (const kind of of) {
      if (!staged.address.key.startsWith(kinds[kind].prefix)) continue
      const name = kinds[kind].ended(staged)
      if (name === undefined) continue
      const here = ended.get(kind)
      if (here === undefined) ended.set(kind, [name])
      else here.push(name)
    }
  }
  for (const [kind, here] of ended) {
    here.sort()
    for (let i = 0; i < here.length; i += MAX_NAMES) {
      const place = noteAddress(kind, `${String(beat).padStart(16, "0")}-${String(i / MAX_NAMES).padStart(6, "0")}`)
      stage.put(place, Document.encode({ clock: now, names: here.slice(i, i + MAX_NAMES) }), COMMIT)
    }
    add(stage, kind, here.length)
  }
}

const add = (stage: Stage, kind: Retired[0], by: number): void => {
  const { key } = folders[kind]
  const count = countOf(stage.newest(key)) + by
  stage.put(folders[kind], count === 0 ? undefined : Document.encode(count), COMMIT)
}

/**
 * Lets go of what the beat was given, the oldest first, as far as it comes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const retire = ({ retired, stage }: BeatWork, { store }: Body): void => {
  let left = MAX_DOCUMENTS
  for (const [kind, name, count] of retired) {
    if (left <= 0) return
    const place = noteAddress(kind, name)
    const { clock, names } = noteOf(stage.newest(place.key))
    let gone = 0
    while (gone < count && left > 0) {
      const { isWhole, keys } = kinds[kind].find(names[gone]!, { stage, store, since: Number(name.split("-")[0]) })
      for (const key of keys) stage.put(Address.ofKey(key), undefined, COMMIT)
      left -= Math.max(1, keys.length)
      if (isWhole) gone++
    }
    stage.put(place, gone === names.length ? undefined : Document.encode({ clock, names: names.slice(gone) }), COMMIT)
    add(stage, kind, -gone)
  }
}

/**
 * What a live space has to let go of, by its limits.
 *
 * @category models
 * @since 0.1.0
 */
export class Shelf {
  private readonly body: Pick<LiveBody, "documents" | "store" | "settings">
  /** The clock of the oldest note of each kind, as long as that stands. */
  private readonly oldest = new Map<Retired[0], number>()

  constructor(body: Shelf["body"]) {
    this.body = body
  }

  /** The notes that a beat goes through, and how many of the first names of each. */
  due({ clock }: Start): ReadonlyArray<Retired> {
    const { documents, settings: { limits } } = this.body
    let due: Array<Retired> | undefined
    for (const kind of names) {
      const count = countOf(documents.read(folders[kind].key))
      if (count === 0) continue
      const last = clock - limits.finishedMillis
      if (count <= limits.finishedCount && this.clockOf(kind) > last) continue
      this.oldest.delete(kind)
      ;(due ??= []).push(...this.take(kind, { excess: count - limits.finishedCount, last }))
    }
    return due ?? none
  }

  private clockOf(kind: Retired[0]): number {
    const known = this.oldest.get(kind)
    if (known !== undefined) return known
    const { documents, store } = this.body
    const [key] = store.below(folders[kind].id, { limit: 1 })
    const { clock } = noteOf(documents.read(key!))
    this.oldest.set(kind, clock)
    return clock
  }

  private take(kind: Retired[0], { excess, last }: { readonly excess: number; readonly last: number }): ReadonlyArray<Retired> {
    const { documents, store } = this.body
    const taken: Array<Retired> = []
    let left = excess
    for (const key of store.below(folders[kind].id, { limit: MAX_NOTES })) {
      const { clock, names } = noteOf(documents.read(key))
      const count = clock <= last ? names.length : Math.min(names.length, left)
      if (count <= 0) break
      taken.push([kind, Address.name(key), count])
      left -= count
    }
    return taken
  }
}

const none: ReadonlyArray<Retired> = []

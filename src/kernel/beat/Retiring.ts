/**
 * Retiring: what is over is kept for a while, and then let go of.
 *
 * Each beat notes what came to its end in it, in the order of beats, so the
 * oldest are found without a look at any other:
 *
 *     /sys/index/over/<kind>                  how many are noted
 *     /sys/index/over/<kind>/<beat>-<n>       { clock, names }   what ended in a beat, some of it in each cell
 *
 * What is too old and how many are too many follows from limits that a
 * configuration may change, so it is captured and journaled; what goes follows
 * from the cells. Of each kind a beat lets go of so many documents, or of twice as
 * many as it wrote of the kind: so a steady load of one kind holds up no other,
 * and what is due never grows for long. None is run for it. (Architecture,
 * sections 1.1 and 7.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Name from "../../cell/Name.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import * as Instance from "../../flow/Instance.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as Entries from "../../rendezvous/Entry.ts"
import { COMMIT, type Stage, type Staged } from "../../stage/Stage.ts"
import type { BeatWork, Start } from "../model/BeatWork.ts"
import type { Body, LiveBody } from "./Body.ts"
import { below } from "../model/Documents.ts"
import type { Retired } from "../model/Journal.ts"

/** Where it is noted what is over. */
const OVER = "/sys/index/over"

/** Names that one note holds, notes that are asked for at a time, and documents of a kind that each beat may let go of. */
const MAX_NAMES = 256
const PAGE = 8
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
}

/** Of what ended: the beat in which it did, and how many documents may go. */
interface Found {
  readonly since: number
  readonly left: number
}

/** What goes with something that ended: its documents, the one by which it is found last; and whether those are all. */
interface Going {
  readonly keys: ReadonlyArray<string>
  readonly isWhole: boolean
}

interface Kind {
  /** Where its documents lie. The keys of those by which it is found begin with the first: most that a beat changes is of no kind. */
  readonly folders: readonly [string, ...ReadonlyArray<string>]
  /** The name of what ended with a change of the beat; `undefined` where nothing of the kind did. */
  readonly ended: (staged: Staged) => string | undefined
  readonly find: (name: string, found: Found, around: Around) => Going
}

const whole = (...keys: ReadonlyArray<string>): Going => ({ keys, isWhole: true })

/** Where what ended has its documents: below a cell, some of which are many, and the one by which it is found. */
interface Dossiers {
  readonly folder: string
  readonly many: string
  readonly key: string
}

/** What goes as a whole, unless that is more than a beat lets go of: then a part of what is many. */
const gradual = ({ folder, key, many }: Dossiers, { left }: Found, { store }: Around): Going => {
  const limit = Math.max(left, MAX_DOCUMENTS)
  const all = store.below(folder, { limit })
  if (all.length < limit) return whole(...all, key)
  const part = store.below(many, { limit })
  return { keys: part.length > 0 ? part : all, isWhole: false }
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
    folders: [`${Entries.FOLDER}/`, `${Entries.EVENTS}/`],
    ended: ({ address, after, before }) => {
      const key = Entries.keyOf(address.key)
      const entry = key === undefined ? undefined : entryOf(after)
      if (!isFinished(entry)) return undefined
      const earlier = entryOf(before)
      return isFinished(earlier) && earlier.spawn_beat === entry.spawn_beat ? undefined : key
    },
    // One that was spawned anew since then is another.
    find: (key, { since }, { stage }) => {
      const place = Entries.address(key).key
      const entry = entryOf(stage.newest(place))
      return isFinished(entry) && entry.spawn_beat <= since ? whole(`${Entries.EVENTS}/${key}`, place) : whole()
    }
  },
  flow: {
    folders: [`${Instance.FOLDER}/`, `${Instance.HEARD}/`],
    ended: ({ address, after, before }) => {
      const inst = Instance.idOf(address.key)
      return inst !== undefined && isOver(instanceOf(after)) && !isOver(instanceOf(before)) ? inst : undefined
    },
    // One that was started anew since then is another.
    find: (inst, found, around) => {
      const { key } = Instance.address(inst)
      const instance = instanceOf(around.stage.newest(key))
      if (instance !== undefined && !(isOver(instance) && instance.started <= found.since)) return whole()
      const heard = `${Instance.HEARD}/${inst}`
      return gradual({ folder: heard, many: heard, key }, found, around)
    }
  },
  op: {
    folders: [`${Dossier.FOLDER}/`],
    ended: ({ address, after, before }) => {
      const oid = nameBelow(Dossier.FOLDER, address.key)
      return oid !== undefined && isClosed(after) && !isClosed(before) ? oid : undefined
    },
    find: (oid, found, around) => {
      const { id, key } = Dossier.address(oid)
      return gradual({ folder: id, many: `${id}/history`, key }, found, around)
    }
  },
  fact: {
    folders: [`${Diagnostic.FOLDER}/`],
    ended: ({ address, before }) => before === undefined ? nameBelow(Diagnostic.FOLDER, address.key) : undefined,
    find: (name) => {
      const place = Address.make(`${Diagnostic.FOLDER}/${name}`)
      return whole(Diagnostic.payloadOf(place).key, place.key)
    }
  }
}

const names = Object.keys(kinds) as ReadonlyArray<Retired[0]>

/** The kinds by the first letter in which the keys of their documents differ, and most that a beat changes differs from those. */
const LETTER = 6
const byLetter: ReadonlyMap<number, Retired[0]> = new Map(names.map((kind) => [kinds[kind].folders[0].charCodeAt(LETTER), kind]))

const kindOf = (key: string): Retired[0] | undefined => {
  const kind = byLetter.get(key.charCodeAt(LETTER))
  return kind !== undefined && key.startsWith(kinds[kind].folders[0]) ? kind : undefined
}

const folders: Readonly<Record<Retired[0], Address.Address>> = {
  rv: Address.make(`${OVER}/rv`),
  flow: Address.make(`${OVER}/flow`),
  op: Address.make(`${OVER}/op`),
  fact: Address.make(`${OVER}/fact`)
}

/** How many a cell says are noted; `undefined` where it says nothing of the kind. */
const countOf = (document: Document.Document | undefined): number | undefined => {
  if (document === undefined) return 0
  const count = Document.read(document, [])
  return Number.isSafeInteger(count) && count as number > 0 ? count as number : undefined
}

/** What a cell notes; `undefined` where it notes nothing. */
const noteOf = (document: Document.Document | undefined): Note | undefined => {
  const { clock, names } = Object(Document.read(document, [])) as Partial<Note>
  return Number.isFinite(clock) && Array.isArray(names) && names.every(isName) ? { clock: clock!, names } : undefined
}

const isName = (name: unknown): boolean => typeof name === "string" && Name.refusal(name) === undefined

/**
 * Notes what came to its end in the beat, of these kinds.
 *
 * @category combinators
 * @since 0.1.0
 */
export const note = ({ moment: { beat, now }, stage }: BeatWork, ...of: ReadonlyArray<Retired[0]>): void => {
  // Most beats end nothing.
  let ended: Map<Retired[0], Array<string>> | undefined
  for (const staged of stage.documents.values()) {
    const kind = kindOf(staged.address.key)
    const name = kind === undefined || !of.includes(kind) ? undefined : kinds[kind].ended(staged)
    if (name === undefined) continue
    const here = (ended ??= new Map()).get(kind!)
    if (here === undefined) ended.set(kind!, [name])
    else here.push(name)
  }
  if (ended === undefined) return
  for (const [kind, here] of ended) {
    here.sort()
    for (let i = 0; i < here.length; i += MAX_NAMES) {
      const place = Address.make(`${folders[kind].id}/${String(beat).padStart(16, "0")}-${String(i / MAX_NAMES).padStart(6, "0")}`)
      stage.put(place, Document.encode({ clock: now, names: here.slice(i, i + MAX_NAMES) }), COMMIT)
    }
    // What cannot be read stays as it is until the next beat counts anew.
    const count = countOf(stage.newest(folders[kind].key))
    if (count !== undefined) keep(stage, kind, count + here.length)
  }
}

const keep = (stage: Stage, kind: Retired[0], count: number): void =>
  stage.put(folders[kind], count === 0 ? undefined : Document.encode(count), COMMIT)

/**
 * Lets go of what is due, the oldest first, as far as the beat comes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const retire = ({ retired, stage }: BeatWork, { store }: Body): void => {
  for (const line of retired) letGo(line, { stage, store })
}

const letGo = ([kind, last, excess]: Retired, around: Around): void => {
  const { stage, store } = around
  const counted = countOf(stage.newest(folders[kind].key))
  const written = writtenOf(kind, stage)
  let [left, gone, isOdd, isEnd] = [Math.max(MAX_DOCUMENTS, 2 * written.size), 0, counted === undefined, true]
  for (const key of notes(kind, store)) {
    const { clock, names } = noteOf(stage.newest(key)) ?? nothing
    const due = clock <= last ? names.length : Math.min(names.length, excess - gone)
    if (left <= 0 || (due <= 0 && names.length > 0)) {
      isEnd = false
      break
    }
    const went = take(names.slice(0, due), { kind, written, since: Number(Address.name(key).split("-")[0]), left }, around)
    stage.put(Address.ofKey(key), went.count === names.length ? undefined : Document.encode({ clock, names: names.slice(went.count) }), COMMIT)
    gone += went.count
    left = went.left - 1
    isOdd ||= names.length === 0
  }
  const rest = counted! - gone
  // Where something cannot be read or is not there, the count may be wrong as well.
  keep(stage, kind, isOdd || isEnd || rest <= 0 ? total(kind, around) : rest)
}

/** Lets go of these, as far as there is room left; answers how many went, and the room that is left then. */
const take = (names: ReadonlyArray<string>, { kind, left: room, since, written }: Found & { readonly kind: Retired[0]; readonly written: Written }, around: Around): { readonly count: number; readonly left: number } => {
  let [count, left] = [0, room]
  while (count < names.length && left > 0) {
    const name = names[count]!
    const { isWhole, keys } = kinds[kind].find(name, { since, left }, around)
    // Of what the beat itself put there the store knows nothing yet.
    const late = isWhole && keys.length > 0 ? written.byName.get(name) ?? [] : []
    for (const key of [...keys, ...late]) around.stage.put(Address.ofKey(key), undefined, COMMIT)
    if (!isWhole) return { count, left: 0 }
    left -= Math.max(1, keys.length)
    count++
  }
  return { count, left }
}

/** The documents of a kind that the beat wrote so far. */
interface Written {
  readonly byName: ReadonlyMap<string, ReadonlyArray<string>>
  readonly size: number
}

const writtenOf = (kind: Retired[0], stage: Stage): Written => {
  const byName = new Map<string, Array<string>>()
  let size = 0
  for (const key of stage.documents.keys()) {
    const folder = kinds[kind].folders.find((folder) => key.startsWith(folder))
    if (folder === undefined) continue
    size++
    const name = key.slice(folder.length).split("/", 1)[0]!
    const keys = byName.get(name)
    if (keys === undefined) byName.set(name, [key])
    else keys.push(key)
  }
  return { byName, size }
}

/** The keys of the notes of a kind, the oldest first. */
const notes = (kind: Retired[0], store: Body["store"]): Iterable<string> => below(store, folders[kind].id, PAGE)

/** How many of a kind are noted, note by note. */
const total = (kind: Retired[0], { stage, store }: Around): number => {
  let sum = 0
  for (const key of notes(kind, store)) sum += noteOf(stage.newest(key))?.names.length ?? 0
  return sum
}

/** What a cell notes that cannot be read: it is older than all others, and goes with the next beat. */
const nothing: Note = { clock: -1, names: [] }

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

  /** What a beat has to let go of. */
  due({ clock }: Start): ReadonlyArray<Retired> {
    const { documents, settings: { limits } } = this.body
    // A journal has no number for what is never too old.
    const last = Math.max(-1, clock - limits.finishedMillis)
    let due: Array<Retired> | undefined
    for (const kind of names) {
      const count = countOf(documents.read(folders[kind].key))
      if (count === 0) continue
      const excess = Math.max(0, (count ?? 0) - limits.finishedCount)
      if (count !== undefined && excess === 0 && this.clockOf(kind) > last) continue
      this.oldest.delete(kind)
      ;(due ??= []).push([kind, last, excess])
    }
    return due ?? none
  }

  private clockOf(kind: Retired[0]): number {
    const known = this.oldest.get(kind)
    if (known !== undefined) return known
    const { documents, store } = this.body
    const [key] = store.below(folders[kind].id, { limit: 1 })
    const { clock } = (key === undefined ? undefined : noteOf(documents.read(key))) ?? nothing
    this.oldest.set(kind, clock)
    return clock
  }
}

const none: ReadonlyArray<Retired> = []

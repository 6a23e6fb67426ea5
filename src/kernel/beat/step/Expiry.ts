/**
 * Expiry: finished records are retained for a while, and then deleted.
 *
 * Each beat indexes the records that finished in it, in the order of beats, so the oldest are found without a scan:
 *
 *     /sys/index/over/<kind>                  the number of indexed records
 *     /sys/index/over/<kind>/<beat>-<n>       { clock, names }   finished records of a beat, up to 256 per cell
 *
 * The limits of age and number belong to the configuration, which may change. So the captured limits are journaled, and
 * the deleted documents follow from the cells. Of each kind, a beat deletes up to 1024 documents, or twice as many as it
 * wrote of the kind: a steady load of one kind delays no other, and the backlog shrinks under any load. No enzyme runs
 * for it. Each ledger has a rule for its records; the rule for diagnostics is here.
 *
 * @module
 */
import * as Address from "../../../cell/Address.ts"
import * as Document from "../../../cell/Document.ts"
import * as Name from "../../../cell/Name.ts"
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import type { ByPlace, LedgerList } from "../../../ledger/LedgerList.ts"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import { type ExpiryRule, type ExpiryState, type Found, MAX_DOCUMENTS, nameBelow, whole } from "../../../ledger/Expiry.ts"
import { below } from "../../../persistence/Below.ts"
import { cutoff } from "../../../persistence/Pruning.ts"
import { LETTER } from "../../../stage/write/Interest.ts"
import * as SpaceClock from "../../../stage/SpaceClock.ts"
import { COMMIT, type Stage, type StagedDocument } from "../../../stage/Stage.ts"
import type { Start } from "../../model/BeatStart.ts"
import type { ExpiredRecords } from "../../journal/RetiredLine.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { Documents } from "../../model/Documents.ts"
import type { Settings } from "../../model/Limits.ts"

const SLASH = "/".charCodeAt(0)

/** The index of finished records. */
const OVER = "/sys/index/over"

/** The maximum number of names per note, and the number of notes per read. */
const MAX_NAMES = 256
const PAGE = 8

/** A cell of the index: finished records of one beat. */
interface Note {
  /** The clock of the beat. */
  readonly clock: number
  readonly names: ReadonlyArray<string>
}

/** The expiry of diagnostics. */
const fact: ExpiryRule = {
  kind: "fact",
  order: Infinity,
  folders: [Diagnostic.FOLDER],
  ended: ({ address, before }) => before === undefined ? nameBelow(Diagnostic.FOLDER, address.key) : undefined,
  find: (name) => {
    const place = Address.make(`${Diagnostic.FOLDER}/${name}`)
    return whole(Diagnostic.payloadOf(place).key, place.key)
  }
}

export const facts: ReadonlyArray<ExpiryRule> = [fact]

/** The record that a change finished, and its rule. The folder of one kind may lie within that of another. */
const endedBy = (staged: StagedDocument, rules: ReadonlyArray<ExpiryRule>): readonly [ExpiryRule, name: string] | undefined => {
  const { key } = staged.address
  const letter = key.charCodeAt(LETTER)
  for (const rule of rules) {
    const [folder] = rule.folders
    if (folder.charCodeAt(LETTER) !== letter || key.charCodeAt(folder.length) !== SLASH || !key.startsWith(folder)) continue
    const name = rule.ended(staged)
    if (name !== undefined) return [rule, name]
  }
  return undefined
}

const folderOf = ({ kind }: Pick<ExpiryRule, "kind">): Address.Address => Address.make(`${OVER}/${kind}`)

/** The count in a cell; `undefined` for a document that is no count. */
const countOf = (document: Document.Document | undefined): number | undefined => {
  if (document === undefined) return 0
  const count = Document.read(document, [])
  return Number.isSafeInteger(count) && count as number > 0 ? count as number : undefined
}

/** The note in a cell; `undefined` for a document that is no note. */
const noteOf = (document: Document.Document | undefined): Note | undefined => {
  const { clock, names } = Object(Document.read(document, [])) as Partial<Note>
  const isNote = typeof clock === "number" && Number.isFinite(clock) && Array.isArray(names) && names.every(isName)
  return isNote ? { clock, names } : undefined
}

const isName = (name: unknown): boolean => typeof name === "string" && Name.refusal(name) === undefined

/**
 * Notes the records that finished in the beat, of the kinds of these rules.
 */
export const note = ({ moment, stage }: Pick<BeatTransaction, "moment" | "stage">, rules: ReadonlyArray<ExpiryRule>): void => {
  const { beat, clock } = moment
  // Allocated on demand: most beats finish no record.
  let ended: Map<ExpiryRule, Array<string>> | undefined
  for (const staged of stage.documents.values()) {
    const found = endedBy(staged, rules)
    if (found === undefined) continue
    const [rule, name] = found
    const here = (ended ??= new Map()).get(rule)
    if (here === undefined) ended.set(rule, [name])
    else here.push(name)
  }
  if (ended === undefined) return
  for (const [rule, here] of ended) {
    const folder = folderOf(rule)
    here.sort()
    for (let i = 0; i < here.length; i += MAX_NAMES) {
      const place = noteAt(folder, beat, String(i / MAX_NAMES).padStart(6, "0"))
      stage.put(place, Document.encode({ clock, names: here.slice(i, i + MAX_NAMES) }), COMMIT)
    }
    // An unreadable count stays until the next deletion counts anew.
    const count = countOf(stage.newest(folder.key))
    if (count !== undefined) keep(stage, folder, count + here.length)
  }
}

const noteAt = ({ id }: Address.Address, beat: number, name: string): Address.Address =>
  Address.make(`${id}/${String(beat).padStart(16, "0")}-${name}`)

const keep = (stage: Stage, folder: Address.Address, count: number): void =>
  stage.put(folder, count === 0 ? undefined : Document.encode(count), COMMIT)

/** The ledgers of a space, and its store. */
interface ExpirySpace {
  readonly ledgers: LedgerList
  readonly states: ByPlace
  readonly store: SpaceStore
}

/**
 * Deletes the due records, oldest first, up to the limit of a beat.
 */
export const retire = (
  retired: ReadonlyArray<ExpiredRecords>,
  { moment, stage }: Pick<BeatTransaction, "moment" | "stage">,
  { ledgers, states, store }: ExpirySpace
): void => {
  const isHeld = (key: string): boolean => ledgers.holds(states, key)
  for (const due of retired) {
    const rule = [...ledgers.expiry, fact].find(({ kind }) => kind === due.kind)
    if (rule !== undefined) expire(rule, due, { isHeld, moment, stage, store })
  }
}

/** The state of the beat that deletes records. A held record has work in progress, so it is retained once more. */
interface Retiring extends ExpiryState, Pick<BeatTransaction, "moment"> {
  readonly isHeld: (key: string) => boolean
}

const expire = (rule: ExpiryRule, { excess, last }: ExpiredRecords, state: Retiring): void => {
  const { stage, store } = state
  const held: Array<string> = []
  const folder = folderOf(rule)
  const counted = countOf(stage.newest(folder.key))
  const written = writtenOf(rule, stage)
  let [left, gone, isOdd, isEnd] = [Math.max(MAX_DOCUMENTS, 2 * written.size), 0, counted === undefined, true]
  for (const key of notes(folder, store)) {
    const { clock, names } = noteOf(stage.newest(key)) ?? nothing
    const due = clock <= last ? names.length : Math.min(names.length, excess - gone)
    if (left <= 0 || (due <= 0 && names.length > 0)) {
      isEnd = false
      break
    }
    const went = take(names.slice(0, due), { held, rule, written, since: Number(Address.name(key).split("-")[0]), left }, state)
    const rest = names.slice(went.count)
    stage.put(Address.ofKey(key), rest.length === 0 ? undefined : Document.encode({ clock, names: rest }), COMMIT)
    gone += went.count
    left = went.left - 1
    isOdd ||= names.length === 0
  }
  const rest = (counted ?? 0) - gone
  // If a note is unreadable or missing, the count may be wrong as well.
  keep(stage, folder, (isOdd || isEnd || rest <= 0 ? total(folder, state) : rest) + held.length)
  retain(folder, held, state)
}

/** Notes the held records anew, as if they had finished in this beat. */
const retain = (folder: Address.Address, held: ReadonlyArray<string>, { moment: { beat, clock }, stage }: Retiring): void => {
  for (let i = 0; i < held.length; i += MAX_NAMES) {
    const place = noteAt(folder, beat, `held${i / MAX_NAMES}`)
    stage.put(place, Document.encode({ clock, names: held.slice(i, i + MAX_NAMES) }), COMMIT)
  }
}

/** The number of deleted records, and the documents that may still be deleted. */
interface Went {
  readonly count: number
  readonly left: number
}

/** Deletes records up to the limit of documents. */
const take = (names: ReadonlyArray<string>, { held, left: room, rule, since, written }: Taking, state: Retiring): Went => {
  let [count, left] = [0, room]
  for (const name of names) {
    if (left <= 0) break
    if (state.isHeld(`${rule.folders[0]}/${name}`)) {
      held.push(name)
      left--
      count++
      continue
    }
    const { isWhole, keys } = rule.find(name, { since, left }, state)
    // The store does not have the documents that this beat wrote.
    const late = isWhole && keys.length > 0 ? written.byName.get(name) ?? [] : []
    for (const key of [...keys, ...late]) state.stage.put(Address.ofKey(key), undefined, COMMIT)
    if (!isWhole) return { count, left: 0 }
    left -= Math.max(1, keys.length)
    count++
  }
  return { count, left }
}

/** The context of a deletion: the rule, and the documents of the kind that the beat wrote. */
interface Taking extends Found {
  /** Receives the names of held records. */
  readonly held: Array<string>
  readonly rule: ExpiryRule
  readonly written: Written
}

/** The documents of a kind that the beat has written. */
interface Written {
  readonly byName: ReadonlyMap<string, ReadonlyArray<string>>
  readonly size: number
}

const writtenOf = ({ folders }: ExpiryRule, stage: Stage): Written => {
  const byName = new Map<string, Array<string>>()
  let size = 0
  for (const key of stage.documents.keys()) {
    const folder = folders.find((folder) => key.startsWith(`${folder}/`))
    if (folder === undefined) continue
    size++
    const name = key.slice(folder.length + 1).split("/", 1)[0]!
    const keys = byName.get(name)
    if (keys === undefined) byName.set(name, [key])
    else keys.push(key)
  }
  return { byName, size }
}

/** The keys of the notes of a kind, oldest first. */
const notes = ({ id }: Address.Address, store: ExpiryState["store"]): Iterable<string> => below(store, id, PAGE)

/** The number of indexed records of a kind, counted note by note. */
const total = (folder: Address.Address, { stage, store }: ExpiryState): number => {
  let sum = 0
  for (const key of notes(folder, store)) sum += noteOf(stage.newest(key))?.names.length ?? 0
  return sum
}

/** Replaces an unreadable note: older than all others, so the next deletion removes it. */
const nothing: Note = { clock: -1, names: [] }

/** A kind in a live space: the folder of its notes, and the cached clock of the oldest. */
interface IndexedKind {
  readonly kind: string
  readonly folder: Address.Address
  oldest: number | undefined
}

/** The documents of a space with its limits. */
interface IndexedSpace {
  readonly documents: Pick<Documents, "read">
  readonly settings: Settings
  readonly store: Pick<SpaceStore, "below">
}

/**
 * Finds the finished records of a live space that exceed its limits.
 */
export class ExpiryIndex {
  private readonly state: IndexedSpace
  private readonly kinds: ReadonlyArray<IndexedKind>

  constructor(state: IndexedSpace & Pick<ExpirySpace, "ledgers">) {
    this.state = state
    this.kinds = [...state.ledgers.expiry, fact].map(({ kind }) => ({ kind, folder: folderOf({ kind }), oldest: undefined }))
  }

  /** The records to delete at a beat of the space's clock: the kind, the newest expired clock, and the excess number. */
  due({ clock }: Start, ofSpace: SpaceClock.SpaceClock): ReadonlyArray<ExpiredRecords> {
    const { documents, settings: { limits } } = this.state
    // A clock is never negative, so -1 stands for no expiry by age.
    const last = Math.max(-1, cutoff(clock, limits.finishedMillis, SpaceClock.uncountedJumps(ofSpace, clock)))
    let due: Array<ExpiredRecords> | undefined
    for (const indexed of this.kinds) {
      const count = countOf(documents.read(indexed.folder.key))
      if (count === 0) continue
      const excess = Math.max(0, (count ?? 0) - limits.finishedCount)
      if (count !== undefined && excess === 0 && this.clockOf(indexed) > last) continue
      indexed.oldest = undefined
      ;(due ??= []).push({ kind: indexed.kind, last, excess })
    }
    return due ?? none
  }

  private clockOf(indexed: IndexedKind): number {
    if (indexed.oldest !== undefined) return indexed.oldest
    const { documents, store } = this.state
    const [key] = store.below(indexed.folder.id, { limit: 1 })
    return indexed.oldest = ((key === undefined ? undefined : noteOf(documents.read(key))) ?? nothing).clock
  }
}

const none: ReadonlyArray<ExpiredRecords> = []

/**
 * The check of documents against a journal: each that a kept row changed equals its last value there.
 *
 * A pass holds the changes of the documents whose places, which are numbers from the digests of their keys, lie in a range. The range
 * shrinks while the changes take more room than there is, and the next pass takes the rest. So any number of documents is checked in
 * the same memory, and most spaces in one pass.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { concat } from "../cell/Bytes.ts"
import type { FrameRecord } from "../frame/FrameReader.ts"
import { Refusal } from "../frame/FrameRefused.ts"
import * as Record from "../frame/Record.ts"
import * as Row from "../frame/Row.ts"
import * as CellLine from "../kernel/journal/CellLine.ts"
import * as Journal from "../kernel/journal/Journal.ts"
import { attempt } from "../persistence/Backend.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { JournalRow, SpaceStore } from "../persistence/Persistence.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"

/** The most characters that a pass holds: 8 MiB. */
export const MOST = 8_388_608

/** The characters of an entry beside its key. */
const OVERHEAD = 200

/** The most characters of a text that is held in place of its digest. */
const SHORT = 64

/** The characters of the journal between two turns of the host. */
const TURN = 262_144

/** A document in a pass: its last change in the journal, and its text. */
interface Entry {
  readonly place: number
  isChanged: boolean
  after: string | undefined
  text: string | undefined
}

/**
 * One pass over documents and a journal, which may come in any order; the rows of the journal come in theirs.
 */
export class DocumentCheck {
  private readonly hash: Hash["Service"]
  private readonly most: number
  private readonly from: number
  /** The end of the range of places; those from it on belong to a later pass. */
  private until = Infinity
  private readonly entries = new Map<string, Entry>()
  private size = 0

  constructor(hash: Hash["Service"], from = 0, most = MOST) {
    this.hash = hash
    this.from = from
    this.most = most
  }

  /** The begin of the next pass; `undefined` after the last. */
  get next(): number | undefined {
    return this.until === Infinity ? undefined : this.until
  }

  /** A document, as it is at the end. */
  document(key: string, text: string | undefined): void {
    const entry = this.entryOf(key)
    if (entry !== undefined) entry.text = this.short(text)
  }

  /**
   * The changes of the next row of the journal.
   *
   * @throws Refusal
   */
  row(row: Pick<JournalRow, "beat" | "text">): void {
    for (const { after, key } of changesOf(row)) {
      const entry = this.entryOf(key)
      if (entry === undefined) continue
      entry.isChanged = true
      entry.after = this.short(after === undefined ? undefined : JSON.stringify(after))
    }
  }

  /** The keys of the changed documents. */
  *changed(): Generator<string> {
    for (const [key, { isChanged }] of this.entries) if (isChanged) yield key
  }

  /** The key of a document that differs from its last change; `undefined` for none. */
  get differing(): string | undefined {
    for (const [key, { after, isChanged, text }] of this.entries) if (isChanged && after !== text) return key
    return undefined
  }

  private entryOf(key: string): Entry | undefined {
    const known = this.entries.get(key)
    if (known !== undefined) return known
    const place = Number.parseInt(this.hash.hex(key).slice(0, 12), 16)
    if (place < this.from || place >= this.until) return undefined
    this.entries.set(key, { place, isChanged: false, after: undefined, text: undefined })
    this.size += key.length + OVERHEAD
    if (this.size > this.most && this.entries.size > 1) this.shrink()
    return this.entries.get(key)
  }

  /** Leaves the upper half of the documents to a later pass. */
  private shrink(): void {
    const places = Float64Array.from(this.entries.values(), ({ place }) => place).sort()
    const middle = places[places.length >> 1] ?? 0
    // Two documents of one place stay in one pass.
    if (middle === places[0]) return
    this.until = middle
    for (const [key, { place }] of this.entries) {
      if (place < middle) continue
      this.entries.delete(key)
      this.size -= key.length + OVERHEAD
    }
  }

  private short(text: string | undefined): string | undefined {
    return text === undefined || text.length <= SHORT ? text : this.hash.hex(text)
  }
}

/**
 * A pass over the records of a frame, as its reader hands them on.
 */
export class FrameCheck {
  readonly pass: DocumentCheck
  /** A divided row of which some bytes came. */
  private divided: { readonly owner: Record.Owner; readonly parts: Array<Uint8Array> } | undefined
  private left = 0

  constructor(pass: DocumentCheck) {
    this.pass = pass
  }

  /** @throws Refusal */
  see(record: FrameRecord): void {
    if (record.type === "part") return this.part(record.here)
    const { here, key, total, type } = record
    this.divided = undefined
    if (type !== "cell" && type !== "journal") return
    if (here.length === total) return this.whole(type, { key, bytes: here })
    if (total > Record.MAX_HELD) throw new Refusal("frame/bounds", `"${key}" announces ${total} bytes, more than ${Record.MAX_HELD}`)
    this.divided = { owner: record, parts: [] }
    this.left = total
  }

  private part(here: Uint8Array): void {
    const { divided } = this
    if (divided === undefined) return
    divided.parts.push(here)
    this.left -= here.length
    if (this.left > 0) return
    this.divided = undefined
    this.whole(divided.owner.type, { key: divided.owner.key, bytes: concat(divided.parts) })
  }

  private whole(type: Record.Type, record: Pick<Record.Record, "bytes" | "key">): void {
    if (type === "journal") return this.pass.row(Row.read(type, record))
    const { key, text } = Row.read("cell", record)
    this.pass.document(key, text)
  }
}

/**
 * The changed documents of a row of a journal.
 *
 * @throws Refusal for a row that is no entry of this version
 */
export const changesOf = ({ beat, text }: Pick<JournalRow, "beat" | "text">): ReadonlyArray<CellLine.CellRecord> => {
  try {
    return Journal.parse(text).cells.map(CellLine.read)
  } catch (error) {
    if (error instanceof PersistenceError) throw new Refusal("frame/unknown", error.message)
    throw new Refusal("frame/bounds", `the entry of beat ${beat} of its journal is none`)
  }
}

/** The refusal of a frame with such a document. */
export const refusal = (key: string): Refusal =>
  new Refusal("frame/changed", `the document ${key} differs from its last change in the journal`)

/**
 * Checks the documents of a store, with pauses. It fails with the refusal of a frame, unless the store fails.
 */
export const check = (
  store: Pick<SpaceStore, "anchor" | "read" | "scanJournal">,
  hash: Hash["Service"]
): Effect.Effect<Refusal | undefined, PersistenceError> =>
  Effect.gen(function*() {
    for (let from: number | undefined = 0; from !== undefined;) {
      const pass: DocumentCheck = new DocumentCheck(hash, from)
      const rows = store.scanJournal(store.anchor().beat + 1, Infinity)[Symbol.iterator]()
      for (let isLast = false; !isLast;) {
        const refused = yield* attempt(() => refusing(() => {
          let size = 0
          while (size < TURN && !isLast) {
            const row = rows.next()
            isLast = row.done === true
            if (row.done === true) break
            size += row.value.text.length
            pass.row(row.value)
          }
        }))
        if (refused !== undefined) return refused
        yield* Effect.yieldNow
      }
      yield* attempt(() => {
        for (const key of pass.changed()) pass.document(key, store.read(key))
      })
      if (pass.differing !== undefined) return refusal(pass.differing)
      from = pass.next
    }
    return undefined
  })

/** The refusal that a body throws. */
const refusing = (body: () => void): Refusal | undefined => {
  try {
    body()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

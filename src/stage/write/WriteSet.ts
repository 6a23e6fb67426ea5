/**
 * The write set of a run: the documents that it wrote.
 *
 * Most runs write one or two documents, for which a list is faster than a map. A map is added above a threshold.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import type { Write } from "./Write.ts"

/** The number of documents from which a map complements the list. */
const MANY = 8

const nothing: ReadonlyArray<Write> = []

/** The previous state of a document: its index in the list, and whether the document or one of its writes was added. */
interface Noted {
  readonly place: number
  readonly before: Document | undefined
  readonly isNew: boolean
  readonly isWritten: boolean
}

/**
 * Documents by key, in the order of their first write, each with its writes.
 */
export class WriteSet {
  readonly keys: Array<string> = []
  readonly documents: Array<Document | undefined> = []
  private readonly writes: Array<Array<Write>> = []
  private places: Map<string, number> | undefined
  /** The changes since a savepoint, if there is one. */
  private noted: Array<Noted> | undefined

  has(key: string): boolean {
    return this.place(key) >= 0
  }

  get(key: string): Document | undefined {
    const place = this.place(key)
    return place < 0 ? undefined : this.documents[place]
  }

  /** Returns the writes to a document so far, in order. */
  writesTo(key: string): ReadonlyArray<Write> {
    const place = this.place(key)
    return place < 0 ? nothing : this.writesAt(place)
  }

  /** Returns the writes to the document at an index of `keys`. */
  writesAt(place: number): ReadonlyArray<Write> {
    return this.writes[place]!
  }

  set(key: string, document: Document | undefined, write?: Write): void {
    const place = this.place(key)
    this.noted?.push({ place, before: place < 0 ? undefined : this.documents[place], isNew: place < 0, isWritten: write !== undefined })
    if (place >= 0) {
      this.documents[place] = document
      if (write !== undefined) this.writes[place]!.push(write)
      return
    }
    this.places?.set(key, this.keys.length)
    this.keys.push(key)
    this.documents.push(document)
    this.writes.push(write === undefined ? [] : [write])
    if (this.places === undefined && this.keys.length >= MANY) this.places = new Map(this.keys.map((key, i) => [key, i]))
  }

  /** Starts to record changes, so that they can be reverted. */
  note(): void {
    this.noted = []
  }

  /** Keeps the recorded changes. */
  keep(): void {
    this.noted = undefined
  }

  /** Reverts the recorded changes, the newest first. */
  restore(): void {
    for (const { before, isNew, isWritten, place } of this.noted?.reverse() ?? []) {
      if (isNew) {
        const key = this.keys.pop()
        if (key !== undefined) this.places?.delete(key)
        this.documents.pop()
        this.writes.pop()
      } else {
        this.documents[place] = before
        if (isWritten) this.writes[place]!.pop()
      }
    }
    this.noted = undefined
  }

  private place(key: string): number {
    return this.places === undefined ? this.keys.indexOf(key) : this.places.get(key) ?? -1
  }
}

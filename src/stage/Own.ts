/**
 * What a run made of the documents it wrote.
 *
 * Most runs write a document or two, for which a list is cheaper than a map; a
 * map takes over where there are many.
 *
 * @module
 */
import type { Document } from "../cell/Document.ts"
import type { Write } from "./Write.ts"

/** From how many documents on a map is kept beside the list. */
const MANY = 8

const nothing: ReadonlyArray<Write> = []

/** What a document was before it was set: where it is in the list, and whether it or a write is new there. */
interface Noted {
  readonly place: number
  readonly before: Document | undefined
  readonly isNew: boolean
  readonly isWritten: boolean
}

/**
 * Documents by key, in the order in which they were first written, each with the writes that made it.
 *
 * @category models
 * @since 0.1.0
 */
export class Own {
  readonly keys: Array<string> = []
  readonly documents: Array<Document | undefined> = []
  readonly writes: Array<Array<Write>> = []
  private places: Map<string, number> | undefined
  /** What was set since a savepoint, where there is one. */
  private noted: Array<Noted> | undefined

  has(key: string): boolean {
    return this.place(key) >= 0
  }

  get(key: string): Document | undefined {
    const place = this.place(key)
    return place < 0 ? undefined : this.documents[place]
  }

  /** The writes to a document so far, in order. */
  writesTo(key: string): ReadonlyArray<Write> {
    const place = this.place(key)
    return place < 0 ? nothing : this.writes[place]!
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

  /** Notes what is set from now on, so that it can be taken back. */
  note(): void {
    this.noted = []
  }

  /** Keeps what was noted. */
  keep(): void {
    this.noted = undefined
  }

  /** Takes back what was noted, the newest first. */
  restore(): void {
    for (const { before, isNew, isWritten, place } of this.noted!.reverse()) {
      if (isNew) {
        this.places?.delete(this.keys.pop()!)
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

/**
 * The undoing of beats: what documents were, read back from the journal.
 *
 * The oldest before-image after a beat is what a document was then. It is read a
 * piece in each beat, so that a long journal holds up nobody; beats that come
 * meanwhile are read as well. What belongs to the runtime is not undone, and
 * what went to other spaces cannot be. Pieces are: they derive what is undone.
 * The configuration of a ledger stays as well. (Semantics, section 3.1.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as Envelope from "../../stage/Envelope.ts"
import type { Cutover } from "../model/Command.ts"
import type { Documents } from "../model/Documents.ts"
import type { SentSince } from "../model/Dossiers.ts"
import * as Journal from "../model/Journal.ts"
import * as Pieces from "../derived/Pieces.ts"

/** Characters of the journal that are read in one beat. */
const PIECE = 1_048_576

/** Most characters that one rollback makes of documents, as they are and as they were. */
const MAX_SIZE = 64 * 1_048_576

/** Most requests that a dossier lists, and most characters of them: they are one document. */
const MAX_SENT = 1000
const MAX_SENT_SIZE = Document.MAX_TEXT / 2

/**
 * Takes one space back to a beat.
 *
 * @category models
 * @since 0.1.0
 */
export class RollbackPlan {
  readonly oid: string
  private readonly to: number
  private readonly configured: ReadonlyArray<string>
  private next: number
  private readonly texts = new Map<string, string | undefined>()
  private size = 0
  private readonly requests: Array<SentSince["requests"][number]> = []
  private count = 0
  private listed = 0

  /** `configured` are the cells below which users configure ledgers. */
  constructor(oid: string, to: number, configured: ReadonlyArray<string>) {
    this.oid = oid
    this.to = to
    this.configured = configured
    this.next = to + 1
  }

  /** Reads on; answers what is to be done where all is read, or why it cannot be. */
  advance(store: SpaceStore, documents: Documents): Pick<Cutover, "lost" | "sent" | "writes"> | undefined {
    const { beat } = store.head()
    let left = PIECE
    if (store.anchor().beat > this.to) return this.lost(`the journal is pruned up to beat ${store.anchor().beat}. Roll back to that one or a later one`)
    for (const row of store.scanJournal(this.next, beat)) {
      if (left <= 0) return undefined
      left -= row.text.length
      this.undo(Journal.parse(row.text))
      this.next = row.beat + 1
      if (this.size > MAX_SIZE) return this.lost(`more than ${MAX_SIZE} characters of documents changed since beat ${this.to}. Roll back to a later one`)
    }
    return this.found(documents)
  }

  private undo(entry: Journal.Parsed): void {
    for (const [key, , [was], [became]] of entry.cells) {
      if (this.texts.has(key) || stays(key, this.configured)) continue
      const text = was === undefined ? undefined : JSON.stringify(was)
      this.texts.set(key, text)
      this.size += key.length + (text?.length ?? 0) + (became === undefined ? 0 : JSON.stringify(became).length)
    }
    for (const request of sentBy(entry)) this.list(request)
  }

  private list(request: SentSince["requests"][number]): void {
    this.count++
    this.listed += JSON.stringify(request).length
    if (this.requests.length < MAX_SENT && this.listed <= MAX_SENT_SIZE) this.requests.push(request)
  }

  private found(documents: Documents): Pick<Cutover, "lost" | "sent" | "writes"> {
    const writes: Array<readonly [string, Document.Document | undefined]> = []
    for (const key of [...this.texts.keys()].sort()) {
      const text = this.texts.get(key)
      if (documents.read(key)?.text !== text) writes.push([key, text === undefined ? undefined : Document.decode(text)])
    }
    return { writes, sent: { count: this.count, requests: this.requests }, lost: undefined }
  }

  private lost(lost: string): Pick<Cutover, "lost" | "sent" | "writes"> {
    return { writes: [], sent: { count: 0, requests: [] }, lost }
  }
}

/** Whether a rollback leaves a document as it is. */
const stays = (key: string, configured: ReadonlyArray<string>): boolean => {
  if (Pieces.isCell(key)) return false
  const { id } = Address.ofKey(key)
  return Envelope.isReserved(id) || configured.some((cell) => id.startsWith(`${cell}/`))
}

/** What a beat sent to other spaces. */
const sentBy = (entry: Journal.Parsed): SentSince["requests"] =>
  entry.runs.flatMap((line) => {
    const emissions = typeof line[2] === "object" ? (line[3] as ReadonlyArray<Journal.Emitted> | undefined) ?? [] : []
    return emissions.flatMap(([id, signal, target, , , space]) =>
      space === undefined ? [] : [{ id, beat: entry.beat, space, ...(signal === 0 ? {} : { signal }), ...(target === 0 ? {} : { target }) }])
  })

/**
 * The plan of a rollback: the documents as of a beat, read back from the journal.
 *
 * The oldest before-image of a document after a beat is its state as of that
 * beat. Each beat reads a part of the journal, so a long journal does not delay
 * signals; beats that commit meanwhile are read as well. The runtime's own cells
 * stay as they are, except pieces, which derive restored cells. The configuration
 * cells of ledgers stay too. Signals already sent to other spaces cannot be
 * recalled and are listed.
 *
 * @module
 */
import * as Address from "../../../cell/Address.ts"
import * as Document from "../../../cell/Document.ts"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import * as Envelope from "../../../stage/Envelope.ts"
import type { LedgerList, PlacedRollback } from "../../../ledger/LedgerList.ts"
import type { ChangedRecords, Cutover } from "../../model/Command.ts"
import type { Documents } from "../../model/Documents.ts"
import type { SentSince } from "../../../operation/DossierView.ts"
import * as Journal from "../../journal/Journal.ts"
import * as Records from "../../journal/JournalRecords.ts"
import * as Pieces from "../../derived/Pieces.ts"

/** Characters of the journal read in one beat. */
const PIECE = 1_048_576

/** Most characters of changed documents in one rollback, before and after. */
const MAX_SIZE = 64 * 1_048_576

/** Most requests that a dossier lists, and most of their characters: the list is one document. */
const MAX_SENT = 1000
const MAX_SENT_SIZE = Document.MAX_TEXT / 2

/**
 * Plans the rollback of one space to a beat.
 */
export class RollbackPlan {
  readonly oid: string
  private readonly to: number
  private readonly configured: ReadonlyArray<string>
  /** The records of ledgers that changed since the target beat. */
  private readonly changed: ReadonlyArray<{ readonly ledger: string; readonly rule: PlacedRollback["rule"]; readonly names: Set<string> }>
  private next: number
  private readonly texts = new Map<string, string | undefined>()
  private size = 0
  private readonly requests: Array<SentSince["requests"][number]> = []
  private count = 0
  private listed = 0

  constructor(oid: string, to: number, ledgers: Pick<LedgerList, "configured" | "rolledBack">) {
    this.oid = oid
    this.to = to
    this.configured = ledgers.configured
    this.changed = ledgers.rolledBack.map(({ placed, rule }) => ({ ledger: placed.ledger.name, rule, names: new Set() }))
    this.next = to + 1
  }

  /** Reads the next part of the journal. Returns the cutover when all is read, or the reason of its failure. */
  advance(store: SpaceStore, documents: Documents): Omit<Cutover, "kind"> | undefined {
    const { beat } = store.head()
    let left = PIECE
    const pruned = store.anchor().beat
    if (pruned > this.to) return this.lost(`the journal is pruned up to beat ${pruned}. Roll back to that one or a later one`)
    for (const row of store.scanJournal(this.next, beat)) {
      if (left <= 0) return undefined
      left -= row.text.length
      this.undo(Journal.parse(row.text))
      this.next = row.beat + 1
      if (this.size <= MAX_SIZE) continue
      return this.lost(`more than ${MAX_SIZE} characters of documents changed since beat ${this.to}. Roll back to a later one`)
    }
    return this.found(documents)
  }

  private undo(entry: Journal.Entry): void {
    const cells = Records.cellsOf(entry)
    for (const { after, before, key } of cells) {
      if (this.texts.has(key) || stays(key, this.configured)) continue
      const text = before === undefined ? undefined : JSON.stringify(before)
      this.texts.set(key, text)
      this.size += key.length + (text?.length ?? 0) + (after === undefined ? 0 : JSON.stringify(after).length)
    }
    for (const { names, rule } of this.changed) {
      for (const { key } of cells) {
        const name = rule.nameOf(key)
        if (name !== undefined) names.add(name)
      }
    }
    for (const request of sentBy(entry)) this.list(request)
  }

  private list(request: SentSince["requests"][number]): void {
    this.count++
    this.listed += JSON.stringify(request).length
    if (this.requests.length < MAX_SENT && this.listed <= MAX_SENT_SIZE) this.requests.push(request)
  }

  private found(documents: Documents): Omit<Cutover, "kind"> {
    const writes: Array<readonly [string, Document.Document | undefined]> = []
    for (const key of [...this.texts.keys()].sort()) {
      const text = this.texts.get(key)
      if (documents.read(key)?.text !== text) writes.push([key, text === undefined ? undefined : Document.decode(text)])
    }
    return { writes, sent: { count: this.count, requests: this.requests }, records: this.records(), lost: undefined }
  }

  private records(): ChangedRecords {
    const changed = this.changed.filter(({ names }) => names.size > 0)
    return Object.fromEntries(changed.map(({ ledger, names }) => [ledger, [...names].sort()]))
  }

  private lost(lost: string): Omit<Cutover, "kind"> {
    return { writes: [], sent: { count: 0, requests: [] }, records: {}, lost }
  }
}

/** Whether a rollback skips a document. */
const stays = (key: string, configured: ReadonlyArray<string>): boolean => {
  if (Pieces.isCell(key)) return false
  const { id } = Address.ofKey(key)
  return Envelope.isReserved(id) || configured.some((cell) => id.startsWith(`${cell}/`))
}

/** The signals that a beat sent to other spaces. */
const sentBy = (entry: Journal.Entry): SentSince["requests"] =>
  Records.runsOf(entry).flatMap((run) => "sent" in run ? run.sent : []).flatMap(({ id, signal, space, target }) => {
    if (space === undefined) return []
    return [{ id, beat: entry.beat, space, ...(signal === undefined ? {} : { signal }), ...(target === undefined ? {} : { target }) }]
  })

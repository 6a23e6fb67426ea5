/**
 * The store of a space over any backend: batches gather in an overlay, and a flush commits them as one group.
 *
 * Appends and reads are synchronous: a beat waits neither for a disk nor for an Effect.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Address from "../cell/Address.ts"
import { attempt, type Backend, partOf } from "./Backend.ts"
import * as Journal from "./Journal.ts"
import { keyOf, Overlay } from "./Overlay.ts"
import type { Anchor, Arrival, Batch, BlobPart, BlobWriter, Head, JournalRow, Jump } from "./Persistence.ts"
import type { ObservationRow, OpenOptions, PlacedStore, Progress, QueueRow, ReceiptRow } from "./Persistence.ts"
import { BeatConflict, isUnapplied, PersistenceError, StoreDamaged, StoreUnavailable } from "./PersistenceError.ts"
import type * as StoreFormat from "./StoreFormat.ts"
import { StorePin } from "./StorePin.ts"
import { Upload } from "./Upload.ts"

/** Rows of one page of a scan, and of the first one of the journal. */
const PAGE = 64
const FEW = 4

/** The characters of a page of the journal, as far as whole rows go. */
const SIZE = 32_768

/**
 * The store of a space, over a backend. After a failed flush it takes no more batches: the state of the database is known
 * to a new handle alone. A busy backend is the exception: it applied nothing, and the group stays for another flush.
 *
 * @category models
 * @since 0.1.0
 */
export class GroupStore implements PlacedStore {
  readonly space: string
  readonly place: string
  /** Commits the group. With a backend that has `sync`, it waits until all earlier commits are durable. */
  readonly flush: Effect.Effect<void, PersistenceError>
  private readonly pins = new Set<StorePin>()
  private readonly backend: Backend
  private readonly digest: OpenOptions["digest"]
  /** Waits until all commits are durable. */
  private readonly settle: Effect.Effect<void, PersistenceError>
  private overlay: Overlay
  /** The failure after which this handle writes no more. */
  private failed: PersistenceError | undefined
  private committed = 0
  private durable = 0

  constructor(backend: Backend, { digest }: Pick<OpenOptions, "digest">) {
    this.digest = digest
    this.space = backend.space
    this.place = backend.place
    this.backend = backend
    this.overlay = new Overlay(backend.head, { due: backend.due, jumps: [] })
    this.settle = this.makeSettle(backend.sync)
    this.flush = Effect.andThen(attempt(() => this.commit()), this.settle)
  }

  get epoch(): number {
    return this.backend.epoch
  }

  head(): Head {
    return this.overlay.head
  }

  anchor(): Anchor {
    return this.backend.anchor()
  }

  read(key: string): string | undefined {
    const row = this.overlay.cells.get(key)
    return row === undefined ? this.backend.read(key) : row.text
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    const stored = this.backend.children(scope, id)
    const written = this.overlay.writtenBelow(keyOf(scope, id))
    if (written === undefined) return stored
    const names = new Set(stored)
    for (const address of written) {
      const name = Address.name(address.id)
      if (this.overlay.cells.get(address.key)?.text === undefined) names.delete(name)
      else names.add(name)
    }
    return [...names].sort()
  }

  below(id: string, page: { readonly after?: string; readonly limit: number }): ReadonlyArray<string> {
    const { after = "", limit } = page
    const written = this.writtenWithin(id, after)
    if (written.length === 0) return this.backend.below(id, after, limit)
    const found: Array<string> = []
    for (let next = 0, cursor = after; found.length < limit;) {
      const stored = this.backend.below(id, cursor, limit)
      const last = stored.length < limit ? undefined : stored[limit - 1]!
      const keys = new Set(stored)
      for (; next < written.length && (last === undefined || written[next]! <= last); next++) {
        const key = written[next]!
        if (this.overlay.cells.get(key)?.text === undefined) keys.delete(key)
        else keys.add(key)
      }
      found.push(...[...keys].sort())
      if (last === undefined) break
      cursor = last
    }
    return found.length > limit ? found.slice(0, limit) : found
  }

  entry(beat: number): JournalRow | undefined {
    const { journal } = this.overlay
    const row = journal[Journal.seek(journal, beat)]
    if (row?.beat === beat) return row
    for (const stored of this.backend.journal(beat, beat, 1)) return this.checked(stored)
    return undefined
  }

  *scanJournal(from: number, to: number): Iterable<JournalRow> {
    const end = Math.min(to, Number.MAX_SAFE_INTEGER - 1)
    let next = from
    // Long rows come few at a time: a page is read at once.
    for (let limit = FEW; ;) {
      const first = next
      let [count, size] = [0, 1]
      for (const row of this.backend.journal(first, end, limit)) {
        yield this.checked(row)
        next = row.beat + 1
        count++
        size += row.text.length
      }
      if (next === first) break
      limit = Math.max(1, Math.min(PAGE, 2 * limit, Math.floor(count * SIZE / size)))
    }
    yield* Journal.range(this.overlay.journal, { from: next, to: end })
  }

  /** A journal row, when its text has the digest that was written with it. */
  private checked(row: JournalRow): JournalRow {
    const digest = this.digest?.(row.text) ?? row.hash
    if (digest === row.hash) return row
    const detail = `the text of beat ${row.beat} in its journal has the digest ${digest}, and ${row.hash} was written beside it`
    throw new PersistenceError({ reason: new StoreDamaged({ space: this.space, place: this.place, detail }) })
  }

  receipts(id: string): ReadonlyArray<ReceiptRow> {
    const stored = this.backend.receipts(id)
    const written = this.overlay.receipts.get(id)
    const rows = written === undefined
      ? stored
      : [...stored.filter((row) => !written.some((newer) => newer.enzyme === row.enzyme)), ...written]
    return rows.length < 2 ? rows : [...rows].sort((a, b) => a.enzyme < b.enzyme ? -1 : 1)
  }

  named(own: string, limit: number): ReadonlyArray<string> {
    const written = this.overlay.ownedBy(own)
    return [...new Set([...written, ...this.backend.named(own, limit)])].slice(0, limit)
  }

  *queue(from = -1): Iterable<QueueRow> {
    for (let after = from, more = true; more;) {
      // A flush between two pages puts another overlay in the place of this one.
      const { dequeued, queued } = this.overlay
      const stored = this.backend.queue(after, PAGE)
      more = stored.length === PAGE
      const last = more ? stored[PAGE - 1]!.seq : Infinity
      const rows = stored.filter((row) => !dequeued.has(row.seq))
      for (const row of queued.values()) if (row.seq > after && row.seq <= last) rows.push(row)
      rows.sort((a, b) => a.seq - b.seq)
      yield* rows
      after = last
    }
  }

  queued(seq: number, limit: number): ReadonlyArray<QueueRow> {
    const { dequeued, queued } = this.overlay
    const written = queued.get(seq)
    if (written !== undefined) return [written]
    const rows = this.backend.queued(seq, limit).filter((row) => !dequeued.has(row.seq))
    return rows[0]?.seq === seq ? rows : []
  }

  waiting(id: string): ReadonlyArray<QueueRow> {
    const { dequeued } = this.overlay
    const stored = this.backend.waiting(id).filter((row) => !dequeued.has(row.seq))
    return [...stored, ...this.overlay.waiting(id)].sort((a, b) => a.seq - b.seq)
  }

  observations(): ReadonlyArray<ObservationRow> {
    const { observations } = this.overlay
    const rows = this.backend.observations().filter(({ node }) => !observations.has(node))
    for (const row of observations.values()) if (row.text !== undefined) rows.push(row)
    return rows.sort((a, b) => a.node < b.node ? -1 : 1)
  }

  blob(hash: string): Uint8Array | undefined {
    const content = this.overlay.blobs.get(hash)
    if (content === undefined) return this.backend.blob(hash)
    return "bytes" in content ? content.bytes : this.backend.readUpload(content.upload)
  }

  blobPart(hash: string, part: number): BlobPart | undefined {
    if (!this.overlay.blobs.has(hash)) return this.backend.blobPart(hash, part)
    const bytes = this.blob(hash)
    return bytes && partOf(bytes, part)
  }

  holds(hash: string): boolean {
    return this.overlay.blobs.has(hash) || this.backend.holds(hash)
  }

  isCode(hash: string): boolean {
    return this.overlay.isCode(hash) || this.backend.isCode(hash)
  }

  examine(): Iterable<void> {
    return this.backend.examine()
  }

  undated(): ReadonlyArray<string> {
    return this.backend.undated()
  }

  format(): StoreFormat.Status | undefined {
    return this.backend.formats?.status()
  }

  raise(to: StoreFormat.Status): Effect.Effect<void, PersistenceError> {
    const { formats } = this.backend
    return formats === undefined ? Effect.void : Effect.andThen(attempt(() => this.apply(() => formats.raise(to))), this.settle)
  }

  writeBlob(): BlobWriter {
    return new Upload(this.backend, (hash, upload) => {
      this.checkUsable()
      if (this.overlay.blobs.has(hash)) this.backend.dropUpload(upload)
      else {
        for (const pin of this.pins) pin.beforeContent(hash)
        this.overlay.addBlob(hash, { upload })
      }
    })
  }

  append(batch: Batch): void {
    this.checkUsable()
    const { entry } = batch
    const { head } = this.overlay
    if (entry !== undefined && !(entry.beat > head.beat)) {
      throw new PersistenceError({ reason: new BeatConflict({ space: this.space, beat: entry.beat, head: head.beat }) })
    }
    for (const pin of this.pins) pin.before(batch)
    this.overlay.add(batch)
  }

  progress(): Progress {
    return this.backend.progress()
  }

  arrival(): Arrival | undefined {
    return this.overlay.arrival ?? this.backend.arrival()
  }

  arrive(arrival: Arrival, from?: Head): void {
    this.checkUsable()
    this.overlay.arrive(arrival, from)
  }

  prune(before: number): void {
    this.checkUsable()
    this.overlay.prune(before)
  }

  pin(lastSeq: number): StorePin {
    const pin = new StorePin(this.backend, lastSeq, () => {
      this.pins.delete(pin)
      this.backend.pin(this.pins.size > 0)
    })
    this.pins.add(pin)
    this.backend.pin(true)
    return pin
  }

  setDue(moment: number | undefined): void {
    this.overlay.due = moment
  }

  setJumps(jumps: ReadonlyArray<Jump>): void {
    this.overlay.jumps = jumps
  }

  /** Closes the backend. Batches that were not flushed are gone. */
  close(): void {
    for (const pin of this.pins) pin.release()
    this.failed ??= this.unavailable("this handle is closed")
    this.backend.close()
  }

  private checkUsable(): void {
    if (this.failed !== undefined) throw this.failed
  }

  private unavailable(detail: string): PersistenceError {
    return new PersistenceError({ reason: new StoreUnavailable({ space: this.space, place: this.place, detail }) })
  }

  private commit(): void {
    this.checkUsable()
    if (this.overlay.empty) return
    this.apply(() => this.backend.commit(this.overlay))
    this.overlay = new Overlay(this.overlay.head, this.overlay)
  }

  /** Makes a change of the backend, after whose failure the state of the database is unknown, unless it applied nothing. */
  private apply(change: () => void): void {
    this.checkUsable()
    try {
      change()
    } catch (cause) {
      if (!isUnapplied(cause)) this.failed = cause instanceof PersistenceError ? cause : this.unavailable("its last flush broke off")
      throw cause
    }
    this.committed++
  }

  private makeSettle(sync: Backend["sync"]): Effect.Effect<void, PersistenceError> {
    if (sync === undefined) return Effect.void
    const settle = Effect.suspend(() => {
      const reached = this.committed
      if (this.durable >= reached) return Effect.void
      return Effect.map(sync, () => {
        this.durable = Math.max(this.durable, reached)
      })
    })
    // The commit is applied by then, so no failure of the wait can be repeated.
    return Effect.mapError(settle, (error) => this.failed ??= isUnapplied(error) ? this.unavailable(error.message) : error)
  }

  private writtenWithin(id: string, after: string): ReadonlyArray<string> {
    const prefix = Address.child(id, "")
    const keys: Array<string> = []
    for (const key of this.overlay.cells.keys()) if (key > after && key.startsWith(prefix)) keys.push(key)
    return keys.sort()
  }
}

/**
 * The store over the backend that `open` returns, until the scope closes.
 *
 * @example The `open` of a persistence
 * ```ts
 * import { Backend, GroupStore, type OpenOptions } from "systole"
 *
 * const open = (make: () => Backend.Backend, options: OpenOptions) => GroupStore.scoped(Backend.attempt(make), options)
 * if (open.length !== 2) throw new Error("not a function of two")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const scoped = <R>(
  open: Effect.Effect<Backend, PersistenceError, R>,
  options: Pick<OpenOptions, "digest">
): Effect.Effect<PlacedStore, PersistenceError, R | Scope.Scope> =>
  Effect.acquireRelease(Effect.map(open, (backend) => new GroupStore(backend, options)), (store) => Effect.sync(() => store.close()))

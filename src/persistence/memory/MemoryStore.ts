/**
 * Spaces in memory: durable for the life of the layer.
 *
 * Tests use it, and processes that need no persistence. A space that is opened again has the state of its last flush.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Address from "../../cell/Address.ts"
import * as Bytes from "../../cell/Bytes.ts"
import { arrivalAfter, attempt, type Backend, checkArrival, checkHead, Claim, type Group, partOf, progressOf } from "../Backend.ts"
import * as GroupStore from "../GroupStore.ts"
import * as Journal from "../Journal.ts"
import { Space } from "./MemorySpace.ts"
import * as ContentReferences from "../ContentReferences.ts"
import { keyOf, parentOf } from "../Overlay.ts"
import {
  type Anchor, type Arrival, type BlobPart, checkSpaceName, type Head, type JournalRow, type ObservationRow, type OpenOptions, Persistence,
  type Progress, type QueueRow, type ReceiptRow, type Retention, retention
} from "../Persistence.ts"
import { NoSuchSpace, PersistenceError } from "../PersistenceError.ts"
import { cutoff, expired, pastOf, Pruning, sizeOf } from "../Pruning.ts"
import * as ReceiptOrder from "../ReceiptOrder.ts"
import { firstAfter, SortedKeys } from "./SortedKeys.ts"
import * as StoreFormat from "../StoreFormat.ts"

class MemoryBackend implements Backend {
  readonly space: string
  readonly place = "memory"
  readonly head: Head
  readonly due: number | undefined
  readonly sync = undefined
  readonly formats: StoreFormat.Formats
  private readonly data: Space
  private readonly pruning: Pruning
  private readonly claim: Claim
  private readonly uploads = new Map<number, Array<Uint8Array>>()
  private lastUpload = 0

  constructor(space: string, data: Space, kept: Retention) {
    this.space = space
    this.data = data
    this.claim = new Claim(space, data.writer)
    this.head = data.head
    this.due = data.due
    this.pruning = new Pruning(kept)
    this.formats = { status: () => data.formats, raise: (to) => this.raise(to) }
  }

  /** Raises the format, and stops all other handles. */
  private raise(to: StoreFormat.Status): void {
    const { data } = this
    const writer = this.claim.next(data.writer, true)
    if (writer !== undefined) data.writer = writer
    this.claim.wrote(writer)
    data.formats = StoreFormat.join(data.formats, to)
  }

  get epoch(): number {
    return this.claim.epoch
  }

  anchor(): Anchor {
    return this.data.anchor
  }

  arrival(): Arrival | undefined {
    return this.data.arrival
  }

  progress(): Progress {
    return progressIn(this.data)
  }

  pin(isPinned: boolean): void {
    this.pruning.isPinned = isPinned
  }

  read(key: string): string | undefined {
    return this.data.cells.get(key)
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    const names = this.data.names.get(keyOf(scope, id))
    return names === undefined ? [] : [...names].sort()
  }

  below(id: string, after: string, limit: number): ReadonlyArray<string> {
    const prefix = Address.child(id, "")
    const { cells, changed } = this.data
    const keys = this.data.keys ??= new SortedKeys(cells.keys())
    for (const key of changed) {
      if (cells.has(key)) keys.add(key)
      else keys.delete(key)
    }
    changed.clear()
    const page: Array<string> = []
    for (const key of keys.after(after > prefix ? after : prefix)) {
      if (page.length >= limit || !key.startsWith(prefix)) break
      page.push(key)
    }
    return page
  }

  journal(from: number, to: number, limit: number): ReadonlyArray<JournalRow> {
    return Journal.range(this.data.journal, { from, to, limit })
  }

  receipts(id: string): ReadonlyArray<ReceiptRow> {
    return this.data.receipts.get(id) ?? []
  }

  named(own: string, limit: number): ReadonlyArray<string> {
    return [...setOf(this.data.owned.get(own))].reverse().slice(0, limit)
  }

  queue(after: number, limit: number): ReadonlyArray<QueueRow> {
    const numbers = this.data.numbers ??= [...this.data.queue.keys()].sort((a, b) => a - b)
    const start = firstAfter(numbers, after)
    return this.rows(numbers.slice(start, start + limit))
  }

  queued(seq: number, limit: number): ReadonlyArray<QueueRow> {
    return this.rows(Array.from({ length: limit }, (_, i) => seq + i))
  }

  private rows(numbers: Iterable<number>): ReadonlyArray<QueueRow> {
    const rows: Array<QueueRow> = []
    for (const seq of numbers) {
      const row = this.data.queue.get(seq)
      if (row !== undefined) rows.push(row)
    }
    return rows
  }

  waiting(id: string): ReadonlyArray<QueueRow> {
    return this.rows(this.data.waiting.get(id) ?? [])
  }

  observations(): Array<ObservationRow> {
    return [...this.data.observations.values()]
  }

  observation(node: string): string | undefined {
    return this.data.observations.get(node)?.text
  }

  everyReceipt(after: number): Iterable<ReadonlyArray<ReceiptRow>> {
    return ReceiptOrder.pages([...this.data.receipts.values()].flat(), after)
  }

  blob(hash: string): Uint8Array | undefined {
    return this.data.content.get(hash)
  }

  blobPart(hash: string, part: number): BlobPart | undefined {
    const bytes = this.blob(hash)
    return bytes && partOf(bytes, part)
  }

  isCode(hash: string): boolean {
    return this.data.content.isCode(hash)
  }

  holds(hash: string): boolean {
    return this.data.content.has(hash)
  }

  undated(): ReadonlyArray<string> {
    return this.data.content.fresh()
  }

  examine(): [] {
    return []
  }

  startUpload(): number {
    this.uploads.set(++this.lastUpload, [])
    return this.lastUpload
  }

  writePart(upload: number, _part: number, bytes: Uint8Array): void {
    this.uploads.get(upload)?.push(bytes.slice())
  }

  readUpload(upload: number): Uint8Array {
    return Bytes.concat(this.uploads.get(upload) ?? [])
  }

  dropUpload(upload: number): void {
    this.uploads.delete(upload)
  }

  commit(group: Group): void {
    const { data } = this
    const writer = this.claim.next(data.writer, group.journal.length === 0)
    checkHead(this.space, group, data.head)
    // Texts made on demand are first: a failure to make one must leave the store unchanged.
    const queued = Array.from(group.queued.values(), ({ id, seq, text }): QueueRow => ({ seq, id, text }))
    if (writer !== undefined) data.writer = writer
    data.arrival = arrivalAfter(group, data.arrival)
    data.anchor = group.anchor ?? data.anchor
    this.claim.wrote(writer)
    this.commitCells(group)
    for (const row of group.journal) {
      data.journal.push(row)
      data.journalSize += sizeOf(row)
    }
    this.commitReceipts(group)
    this.commitQueue(group.dequeued, queued)
    for (const [node, row] of group.observations) {
      if (row.text === undefined) data.observations.delete(node)
      else data.observations.set(node, row)
    }
    for (const [hash, content] of group.blobs) {
      const bytes = () => "bytes" in content ? content.bytes.slice() : this.readUpload(content.upload)
      data.content.put(hash, bytes, "code" in content && content.code)
      if ("upload" in content) this.dropUpload(content.upload)
    }
    data.content.date(group.journal, group.head.clock + this.pruning.retention.contentMillis)
    data.head = group.head
    data.due = group.due
    this.prune(group)
  }

  close(): void {}

  private commitCells(group: Group): void {
    const { cells, names } = this.data
    for (const [key, { address, text }] of group.cells) {
      const known = cells.has(key)
      this.data.content.hold(key, text)
      if (text !== undefined) cells.set(key, text)
      if (known === (text !== undefined)) continue
      if (this.data.keys !== undefined) this.data.changed.add(key)
      const parent = parentOf(address)
      const siblings = names.get(parent) ?? new Set()
      if (text === undefined) {
        cells.delete(key)
        siblings.delete(Address.name(address.id))
      } else siblings.add(Address.name(address.id))
      if (siblings.size === 0) names.delete(parent)
      else names.set(parent, siblings)
    }
    if (this.data.changed.size <= cells.size) return
    // So many changes cost more than a new order.
    this.data.keys = undefined
    this.data.changed.clear()
  }

  private commitQueue(dequeued: Group["dequeued"], queued: ReadonlyArray<QueueRow>): void {
    const { data } = this
    if (dequeued.size > 0 || queued.length > 0) data.numbers = undefined
    for (const seq of dequeued) {
      data.content.hold(ContentReferences.waiting(seq), undefined)
      const id = data.queue.get(seq)?.id
      data.queue.delete(seq)
      if (id === undefined) continue
      const rest = data.waiting.get(id)
      rest?.delete(seq)
      if (rest?.size === 0) data.waiting.delete(id)
    }
    for (const row of queued) {
      data.queue.set(row.seq, row)
      data.content.hold(ContentReferences.waiting(row.seq), row.text)
      if (row.id !== undefined && data.waiting.get(row.id)?.add(row.seq) === undefined) data.waiting.set(row.id, new Set([row.seq]))
    }
  }

  private commitReceipts(group: Group): void {
    const { callers, pointers, receipts } = this.data
    for (const [id, written] of group.receipts) {
      const older = receipts.get(id)?.filter((row) => !written.some((newer) => newer.enzyme === row.enzyme))
      receipts.set(id, older === undefined ? written : [...older, ...written])
      for (const { beat, digest, own } of written) {
        if (digest !== undefined) {
          callers.delete(id)
          callers.set(id, group.head.clock)
          if (own !== undefined) this.own(own, id)
        } else if (pointers.get(beat)?.push(id) === undefined) pointers.set(beat, [id])
      }
    }
  }

  /** Makes an id the newest with an own id. */
  private own(own: string, id: string): void {
    const { owned } = this.data
    const older = owned.get(own)
    if (older === undefined || older === id) return void owned.set(own, id)
    const ids = setOf(older)
    ids.delete(id)
    owned.set(own, ids.add(id))
  }

  /** Removes an id from those with an own id. */
  private disown(own: string, id: string): void {
    const { owned } = this.data
    const ids = owned.get(own)
    if (ids === id) owned.delete(own)
    else if (ids instanceof Set && ids.delete(id) && ids.size === 0) owned.delete(own)
  }

  /** Removes the receipts of an id, except for the rows that `isKept` accepts. */
  private dropReceipts(id: string, isKept: (row: ReceiptRow) => boolean): void {
    const { receipts } = this.data
    const { own } = receipts.get(id)?.find((row) => row.own !== undefined && !isKept(row)) ?? {}
    if (own !== undefined) this.disown(own, id)
    const kept = receipts.get(id)?.filter(isKept) ?? []
    if (kept.length === 0) receipts.delete(id)
    else receipts.set(id, kept)
  }

  private prune(group: Group): void {
    const { data, pruning } = this
    const budget = pruning.budget(group)
    if (budget === undefined) return
    const { head: { clock }, jumps } = group
    const isPast = pastOf(group)
    const { contentMillis, journalBytes, journalMillis, receiptMillis } = pruning.retention
    const count = expired(data.journal, {
      cutoff: cutoff(clock, journalMillis, jumps),
      excess: data.journalSize - journalBytes,
      budget: { ...budget, rows: Math.min(budget.rows, data.journal.length - 1) },
      sizeOf,
      isPast
    })
    for (const row of data.journal.splice(0, count)) {
      data.anchor = { beat: row.beat, hash: row.hash }
      data.journalSize -= sizeOf(row)
      const isKept = ({ beat, digest }: ReceiptRow) => beat !== row.beat || digest !== undefined
      for (const id of data.pointers.get(row.beat) ?? []) this.dropReceipts(id, isKept)
      data.pointers.delete(row.beat)
    }
    const forgotten = cutoff(clock, receiptMillis, jumps)
    let left = budget.rows
    for (const [id, written] of data.callers) {
      if (left-- === 0 || written >= forgotten) break
      data.callers.delete(id)
      this.dropReceipts(id, ({ digest }) => digest === undefined)
    }
    const collected = { clock: cutoff(clock, contentMillis, jumps) + contentMillis, millis: contentMillis, anchor: data.anchor.beat }
    if (data.content.collect({ ...collected, limit: budget.rows })) pruning.lookAgain()
  }
}

const progressIn = ({ head, queue, writer }: Space): Progress => progressOf(head, writer, queue.size > 0)

const setOf = (ids: string | Set<string> = new Set()): Set<string> => typeof ids === "string" ? new Set([ids]) : ids

const findSpace = (spaces: Map<string, Space>, name: string, { create, importing }: Pick<OpenOptions, "create" | "importing">): Space => {
  checkSpaceName(name)
  const known = spaces.get(name)
  if (known !== undefined) return known
  if (!create) throw new PersistenceError({ reason: new NoSuchSpace({ space: name }) })
  const space = new Space()
  if (importing === true) space.arrival = { note: "", isWhole: false }
  spaces.set(name, space)
  return space
}

const openSpace = (spaces: Map<string, Space>, name: string, options: OpenOptions): Space => {
  const space = findSpace(spaces, name, options)
  checkArrival(name, space.arrival, options)
  return space
}

/**
 * A layer of {@link Persistence} in memory. Its spaces are lost when the layer closes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Persistence> = Layer.sync(Persistence, () => {
  const spaces = new Map<string, Space>()
  return {
    open: (space, options) =>
      GroupStore.scoped(attempt(() => {
        const data = openSpace(spaces, space, options)
        return new MemoryBackend(space, data, { ...retention, ...options.retention })
      }), options),
    progress: (space) => attempt(() => progressIn(openSpace(spaces, space, { create: false }))),
    due: (space) => attempt(() => findSpace(spaces, space, { create: false }).due),
    remove: (space) => attempt(() => {
      spaces.delete(findSpace(spaces, space, { create: false }) && space)
    }),
    spaces: Effect.sync(() => spaces.keys())
  }
})

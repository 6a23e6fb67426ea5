/**
 * A store over an ordered key-value database, as the author of a plugin writes one: one file over the public names of
 * `systole`.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import type { Anchor, Arrival, Head, JournalRow, ObservationRow, OpenOptions, QueueRow, ReceiptRow, Retention } from "systole"
import {
  Address, Backend, checkSpaceName, ContentReferences, GroupStore, NoSuchSpace, Persistence, PersistenceError, Pruning, retention
} from "systole"
import { Changes, KeyValue, parsed } from "./KeyValue.ts"

/** The state of a space beside its rows. */
interface Meta {
  readonly writer: Backend.Writer
  readonly head: Head
  readonly due: number | null
  readonly anchor: Anchor
  readonly arrival?: Arrival | undefined
  /** Characters of the journal. */
  readonly size: number
}

/** Content without its bytes: the newest beat that mentions it, and when it is looked at. */
interface Blob {
  readonly size: number
  readonly code: boolean
  readonly beat: number
  readonly due?: string | undefined
}

/** A number as a part of a key, in order. */
const digits = (number: number): string => String(number).padStart(16, "0")

/** The last part of a key. */
const tail = (key: string): string => key.slice(key.lastIndexOf("\0") + 1)

class KeyValueBackend implements Backend.Backend {
  readonly place = "key-value"
  readonly sync = undefined
  readonly space: string
  readonly head: Head
  readonly due: number | undefined
  private readonly data: KeyValue
  private readonly claim: Backend.Claim
  private readonly pruning: Pruning.Pruning
  private readonly uploads = new Map<number, ReadonlyArray<Uint8Array>>()
  private lastUpload = 0

  constructor(space: string, data: KeyValue, kept: Retention) {
    const { due, head, writer } = metaOf(data)
    this.space = space
    this.data = data
    this.head = head
    this.due = due ?? undefined
    this.claim = new Backend.Claim(space, writer)
    this.pruning = new Pruning.Pruning(kept)
  }

  get epoch(): number { return this.claim.epoch }

  anchor() { return metaOf(this.data).anchor }

  arrival(): Arrival | undefined {
    return metaOf(this.data).arrival
  }

  progress() { return progressIn(this.data) }

  pin(isPinned: boolean): void {
    this.pruning.isPinned = isPinned
  }

  read(key: string): string | undefined {
    return this.data.get(`cell ${key}`) as string | undefined
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    return this.data.list(`child ${scope}\0${id}\0`).map(tail)
  }

  below(id: string, after: string, limit: number): ReadonlyArray<string> {
    const prefix = `cell ${Address.child(id, "")}`
    const from = `cell ${after}\0`
    return this.data.list(prefix, from > prefix ? from : prefix, limit).map((key) => key.slice("cell ".length))
  }

  journal(from: number, to: number, limit: number): ReadonlyArray<JournalRow> {
    return this.rows<JournalRow>(this.data.list("beat ", `beat ${digits(from)}`, limit)).filter(({ beat }) => beat <= to)
  }

  receipts(id: string): ReadonlyArray<ReceiptRow> {
    return this.rows(this.data.list(`receipt ${id}\0`))
  }

  named(own: string, limit: number): ReadonlyArray<string> {
    const ages = this.rows<ReceiptRow>(this.data.list("receipt ")).flatMap((row) => row.own === own ? [this.data.get(`age ${row.id}`)] : [])
    return ages.sort().reverse().slice(0, limit).map((age) => tail(age as string))
  }

  queue(after: number, limit: number): ReadonlyArray<QueueRow> {
    return this.queued(after + 1, limit)
  }

  queued(seq: number, limit: number): ReadonlyArray<QueueRow> {
    return this.rows(this.data.list("queued ", `queued ${digits(seq)}`, limit))
  }

  waiting(id: string): ReadonlyArray<QueueRow> {
    return this.rows(this.data.list(`waiting ${id}\0`).map((key) => `queued ${tail(key)}`))
  }

  observations(): Array<ObservationRow> {
    return [...this.rows<ObservationRow>(this.data.list("node "))]
  }

  observation(node: string): string | undefined {
    return this.rows<ObservationRow>(this.data.list(`node ${node}`).filter((key) => key === `node ${node}`))[0]?.text
  }

  everyReceipt(after: number): Iterable<ReadonlyArray<ReceiptRow>> {
    return Backend.receiptPages(this.rows(this.data.list("receipt ")), after)
  }

  blob(hash: string): Uint8Array | undefined {
    const blob = parsed<Blob>(this.data.get(`blob ${hash}`))
    if (blob === undefined) return undefined
    const whole = new Uint8Array(blob.size)
    for (let part = 0; part * Backend.PART < blob.size; part++) whole.set(this.part(hash, part), part * Backend.PART)
    return whole
  }

  blobPart(hash: string, part: number) {
    const blob = parsed<Blob>(this.data.get(`blob ${hash}`))
    return blob && { bytes: this.part(hash, part), size: blob.size }
  }

  holds(hash: string): boolean {
    return this.data.get(`blob ${hash}`) !== undefined
  }

  isCode(hash: string): boolean {
    return parsed<Blob>(this.data.get(`blob ${hash}`))?.code === true
  }

  undated(): ReadonlyArray<string> {
    const hashes = this.data.list("undated ").map((key) => key.slice("undated ".length))
    return hashes.filter((hash) => parsed<Blob>(this.data.get(`blob ${hash}`))?.beat === -1)
  }

  examine(): [] {
    return []
  }

  startUpload(): number {
    return ++this.lastUpload
  }

  writePart(upload: number, _part: number, bytes: Uint8Array): void {
    this.uploads.set(upload, [...this.uploads.get(upload) ?? [], bytes.slice()])
  }

  readUpload(upload: number): Uint8Array {
    const parts = this.uploads.get(upload) ?? []
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
    parts.forEach((bytes, part) => whole.set(bytes, part * Backend.PART))
    return whole
  }

  dropUpload(upload: number): void {
    this.uploads.delete(upload)
  }

  commit(group: Backend.Group): void {
    const meta = metaOf(this.data)
    const writer = this.claim.next(meta.writer, group.journal.length === 0)
    Backend.checkHead(this.space, group, meta.head)
    const changes = new Changes(this.data)
    putCells(changes, group)
    for (const row of group.journal) changes.set(`beat ${digits(row.beat)}`, JSON.stringify(row))
    putReceipts(changes, group)
    putQueue(changes, group)
    for (const [node, row] of group.observations) changes.set(`node ${node}`, row.text === undefined ? undefined : JSON.stringify(row))
    for (const [hash, content] of group.blobs) {
      if ("bytes" in content) putBlob(changes, hash, content)
      else putBlob(changes, hash, { bytes: this.readUpload(content.upload), code: false })
      if ("upload" in content) this.dropUpload(content.upload)
    }
    date(changes, group, this.pruning.retention.contentMillis)
    const size = group.journal.reduce((sum, row) => sum + Pruning.sizeOf(row), meta.size)
    const { anchor = meta.anchor, due = null, head } = group
    const arrival = Backend.arrivalAfter(group, meta.arrival)
    changes.set("meta", JSON.stringify({ ...meta, writer: writer ?? meta.writer, head, due, size, anchor, arrival }))
    this.data.write(changes.all)
    this.claim.wrote(writer)
    this.prune(group)
  }

  close(): void {}

  private rows<A>(keys: ReadonlyArray<string>): ReadonlyArray<A> {
    return keys.map((key) => JSON.parse(this.data.get(key) as string) as A)
  }

  private part(hash: string, part: number): Uint8Array {
    return this.data.get(`part ${hash}\0${digits(part)}`) as Uint8Array | undefined ?? new Uint8Array()
  }

  /** Old rows go in a step of their own: a store that ends between the two keeps them for longer. */
  private prune(group: Backend.Group): void {
    const budget = this.pruning.budget(group)
    if (budget === undefined) return
    const { head: { clock }, jumps } = group
    const { contentMillis, journalBytes, journalMillis, receiptMillis } = this.pruning.retention
    const changes = new Changes(this.data)
    const meta = metaOf(changes)
    const oldest = this.journal(0, meta.head.beat - 1, budget.rows)
    const bounds = {
      cutoff: Pruning.cutoff(clock, journalMillis, jumps), excess: meta.size - journalBytes, budget, sizeOf: Pruning.sizeOf,
      isPast: Pruning.pastOf(group)
    }
    const count = Pruning.expired(oldest, bounds)
    const gone = oldest.slice(0, count)
    for (const { beat } of gone) dropBeat(changes, beat)
    const { beat, hash } = gone.at(-1) ?? meta.anchor
    changes.set(
      "meta",
      JSON.stringify({ ...meta, anchor: { beat, hash }, size: gone.reduce((size, row) => size - Pruning.sizeOf(row), meta.size) })
    )
    dropCallers(changes, Pruning.cutoff(clock, receiptMillis, jumps), budget.rows)
    const collected = { clock: Pruning.cutoff(clock, contentMillis, jumps) + contentMillis, millis: contentMillis, anchor: beat }
    if (collect(changes, { ...collected, limit: budget.rows })) this.pruning.lookAgain()
    this.data.write(changes.all)
  }
}

const metaOf = (data: Pick<KeyValue, "get">): Meta => JSON.parse(data.get("meta") as string)

const putCells = (changes: Changes, group: Backend.Group): void => {
  for (const [key, { address, text }] of group.cells) {
    changes.set(`cell ${key}`, text)
    changes.set(`child ${address.scope}\0${Address.parent(address.id)}\0${Address.name(address.id)}`, text === undefined ? undefined : "")
    hold(changes, key, text)
  }
}

const putReceipts = (changes: Changes, group: Backend.Group): void => {
  for (const [id, rows] of group.receipts) {
    for (const row of rows) {
      const key = `receipt ${id}\0${row.enzyme}`
      changes.set(key, JSON.stringify(row))
      if (row.digest === undefined) changes.set(`pointer ${digits(row.beat)}\0${id}\0${row.enzyme}`, key)
      else {
        const before = changes.get(`age ${id}`) as string | undefined
        if (before !== undefined) changes.set(before, undefined)
        const age = `caller ${digits(group.head.clock)}\0${id}`
        changes.set(`age ${id}`, age)
        changes.set(age, key)
      }
    }
  }
}

const putQueue = (changes: Changes, group: Backend.Group): void => {
  for (const seq of group.dequeued) {
    const id = changes.json<QueueRow>(`queued ${digits(seq)}`)?.id
    changes.set(`queued ${digits(seq)}`, undefined)
    if (id !== undefined) changes.set(`waiting ${id}\0${digits(seq)}`, undefined)
    hold(changes, ContentReferences.waiting(seq), undefined)
  }
  for (const { id, seq, text } of group.queued.values()) {
    changes.set(`queued ${digits(seq)}`, JSON.stringify({ seq, id, text }))
    if (id !== undefined) changes.set(`waiting ${id}\0${digits(seq)}`, "")
    hold(changes, ContentReferences.waiting(seq), text)
  }
}

/** A document or a signal that waits has this text now, or is gone: notes the content that it mentions. */
const hold = (changes: Changes, holder: string, text: string | undefined): void => {
  for (const hash of changes.json<ReadonlyArray<string>>(`holder ${holder}`) ?? []) changes.set(`mention ${hash}\0${holder}`, undefined)
  const hashes = text === undefined ? [] : ContentReferences.of(text)
  changes.set(`holder ${holder}`, hashes.length === 0 ? undefined : JSON.stringify(hashes))
  for (const hash of hashes) changes.set(`mention ${hash}\0${holder}`, "")
}

const putBlob = (changes: Changes, hash: string, { bytes, code }: { readonly bytes: Uint8Array; readonly code: boolean }): void => {
  const known = changes.json<Blob>(`blob ${hash}`)
  for (let part = 0; known === undefined && part * Backend.PART < bytes.length; part++) {
    changes.set(`part ${hash}\0${digits(part)}`, Backend.partOf(bytes, part).bytes.slice())
  }
  putDue(changes, hash, { ...known ?? { size: bytes.length, code, beat: -1 }, at: undefined })
  changes.set(`undated ${hash}`, "")
}

/** When content is looked at next. */
const putDue = (changes: Changes, hash: string, { at, ...blob }: Blob & { readonly at: number | undefined }): void => {
  if (blob.due !== undefined) changes.set(blob.due, undefined)
  const due = at === undefined ? undefined : `due ${digits(at)}\0${hash}`
  if (due !== undefined) changes.set(due, "")
  changes.set(`blob ${hash}`, JSON.stringify({ ...blob, due }))
}

/** Content that came before these beats counts its time from them, and is kept with those that mention it. */
const date = (changes: Changes, { head, journal }: Backend.Group, millis: number): void => {
  if (journal.length === 0) return
  for (const key of changes.list("undated ")) {
    const hash = key.slice("undated ".length)
    const blob = changes.json<Blob>(`blob ${hash}`)
    if (blob !== undefined) putDue(changes, hash, { ...blob, at: head.clock + millis })
    changes.set(key, undefined)
  }
  for (const { beat, text } of journal) {
    for (const hash of ContentReferences.of(text)) {
      const blob = changes.json<Blob>(`blob ${hash}`)
      if (blob !== undefined) changes.set(`blob ${hash}`, JSON.stringify({ ...blob, beat }))
    }
  }
}

/** A beat goes from the journal, and the receipts that point to it. */
const dropBeat = (changes: Changes, beat: number): void => {
  changes.set(`beat ${digits(beat)}`, undefined)
  for (const pointer of changes.list(`pointer ${digits(beat)}\0`)) {
    const key = changes.get(pointer) as string
    const row = changes.json<ReceiptRow>(key)
    if (row?.beat === beat && row.digest === undefined) changes.set(key, undefined)
    changes.set(pointer, undefined)
  }
}

/** Digests of callers from before a moment go. */
const dropCallers = (changes: Changes, before: number, limit: number): void => {
  for (const age of changes.list("caller ", limit)) {
    if (Number(age.slice("caller ".length, age.indexOf("\0"))) >= before) return
    changes.set(changes.get(age) as string, undefined)
    changes.set(`age ${tail(age)}`, undefined)
    changes.set(age, undefined)
  }
}

/** Lets go of content that is due and that nothing holds; answers whether more is left to go. */
const collect = (changes: Changes, { anchor, clock, limit, millis }: ContentReferences.Collection): boolean => {
  let parts = 0
  for (const due of changes.list("due ", limit)) {
    if (Number(due.slice("due ".length, due.indexOf("\0"))) > clock) return false
    const hash = tail(due)
    const blob = changes.json<Blob>(`blob ${hash}`) ?? { size: 0, code: false, beat: -1 }
    if (blob.beat > anchor || changes.list(`mention ${hash}\0`, 1).length > 0) putDue(changes, hash, { ...blob, at: clock + millis })
    else if (parts >= ContentReferences.MOST_PARTS) return true
    else {
      for (const part of changes.list(`part ${hash}\0`)) changes.set(part, undefined)
      for (const key of [due, `blob ${hash}`]) changes.set(key, undefined)
      parts += Math.ceil(blob.size / Backend.PART)
    }
  }
  return false
}

const opened = (
  spaces: Map<string, KeyValue>,
  space: string,
  { create, importing }: Pick<OpenOptions, "create" | "importing">
): KeyValue => {
  checkSpaceName(space)
  const known = spaces.get(space)
  if (known !== undefined) return known
  if (!create) throw new PersistenceError({ reason: new NoSuchSpace({ space }) })
  const data = new KeyValue()
  const none = { beat: -1, hash: "" }
  const arrival = importing === true ? { note: "", isWhole: false } : undefined
  const meta: Meta = { writer: { epoch: 0, asides: 0 }, head: { ...none, clock: 0 }, due: 0, anchor: none, size: 0, arrival }
  data.write(new Map([["meta", JSON.stringify(meta)]]))
  spaces.set(space, data)
  return data
}

const progressIn = (data: KeyValue) =>
  Backend.progressOf(metaOf(data).head, metaOf(data).writer, data.list("queued ", "queued ", 1).length > 0)

/** Spaces in key-value maps, for as long as the layer lives. */
export const layer: Layer.Layer<Persistence> = Layer.sync(Persistence, () => {
  const spaces = new Map<string, KeyValue>()
  return {
    open: (space, options) =>
      GroupStore.scoped(Backend.attempt(() => {
        const data = opened(spaces, space, options)
        Backend.checkArrival(space, metaOf(data).arrival, options)
        return new KeyValueBackend(space, data, { ...retention, ...options.retention })
      }), options),
    progress: (space) => Backend.attempt(() => progressIn(opened(spaces, space, { create: false }))),
    due: (space) => Backend.attempt(() => metaOf(opened(spaces, space, { create: false })).due ?? undefined),
    remove: (space) => Backend.attempt(() => {
      opened(spaces, space, { create: false })
      spaces.delete(space)
    }),
    spaces: Effect.sync(() => spaces.keys())
  }
})

/**
 * Drafts: the transactions of running enzymes and nodes.
 *
 * A draft logs its reads and holds all writes and launches. It changes no other state: the stage merges or drops it. A
 * draft that refused a call stays refused, so code that catches the error cannot commit the rest.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Binding from "./Binding.ts"
import { addressOf, check, checkFields, checkItems, type Place, textAt } from "../cell/Cell.ts"
import * as Document from "../cell/Document.ts"
import * as Label from "../cell/Label.ts"
import * as Link from "../cell/Link.ts"
import type { Declared } from "../cell/Type.ts"
import * as Value from "../cell/Value.ts"
import { Changes } from "./Changes.ts"
import { adjust, CHILDREN } from "./write/Children.ts"
import * as Random from "./Random.ts"
import type { RunGrant, Pieces } from "./RunGrant.ts"
import * as Envelope from "./Envelope.ts"
import { type BindingChange, NotProvided, type OutgoingSignal, type Report, type ReportLaunch, type SignalRequest } from "./Launch.ts"
import type { LaunchRecord, Launches } from "./Launches.ts"
import type { Ledgers } from "./Ledgers.ts"
import * as Emitted from "./OutgoingSignal.ts"
import type { Startable, Transaction } from "./Transaction.ts"
import type { BeatClock, View } from "./BeatClock.ts"
import { WriteSet } from "./write/WriteSet.ts"
import { type EarlierReads, ReadLog } from "./write/ReadLog.ts"
import * as Reports from "./Report.ts"
import { TransactionRefused } from "./TransactionRefused.ts"
import * as Content from "./Content.ts"
import { isView } from "./View.ts"
import * as WriteMode from "./write/WriteMode.ts"
import * as Write from "./write/Write.ts"

/** The shared empty list. */
const none: Array<never> = []

/** The marks of the capture and the commit in the ids that they mint. */
const MARKS: Readonly<Record<number, string>> = { [-1]: "x", [-2]: "c" }
/** The maximum size of content that one run stores with `blob`, in bytes. */
const MAX_BLOB = 32 * 1_048_576
/** The maximum number of writes of one run. */
const MAX_WRITES = 100_000
/** The maximum number of signals of one run. */
const MAX_EMISSIONS = 10_000
/** The maximum number of characters of one run's signals, bindings, result and digests, and of its documents before and after. */
const MAX_SIZE = 16 * 1_048_576

const WAITS = "only a durable run waits; declare durable: true, or send a signal with at: { ms } and go on when it comes"
const refused = (reason: string) => new TransactionRefused({ reason })

/** The transaction of one run. */
export class Draft extends Changes implements Transaction {
  readonly beat: number
  readonly now: number
  /** The cells that it may write. A durable run has the envelope of the module with which it began. */
  envelope: Envelope.Envelope
  readonly serializable: boolean
  readonly run: number
  /** The read log, created by the first read. */
  reads: ReadLog | undefined
  /** The reads of earlier segments that count as its own; `undefined` unless a durable run has any. */
  earlier: EarlierReads | undefined
  emissions: Array<OutgoingSignal> = none
  reports: ReadonlyArray<ReportLaunch> = none
  bindings: Array<BindingChange> | undefined
  blobs: Map<string, Uint8Array> | undefined
  /** The size of content stored with `blob`, in bytes. */
  kept = 0
  /** The label of all information that the run received so far. */
  label: Label.Label
  /** The state below the draft, without its writes. */
  readonly stage: View
  readonly moment: BeatClock
  /** The operation of a durable run, and the number of its next request. */
  owner: { readonly oid: string; readonly step: number | string } | undefined
  private readonly grant: RunGrant<Draft>
  private faces: Map<string, unknown> | undefined
  private generator: (() => number) | undefined
  private revoked: string | undefined

  constructor(stage: View, moment: BeatClock, grant: RunGrant<Draft>) {
    super()
    this.stage = stage
    this.moment = moment
    this.beat = moment.beat
    this.now = moment.date
    this.run = grant.run
    this.envelope = grant.envelope
    this.serializable = grant.serializable
    this.label = grant.label ?? Label.none
    this.grant = grant
  }

  /** Ends the draft: further calls throw `why`. */
  revoke(why: string): void {
    this.revoked ??= why
  }

  random(): number {
    this.generator ??= Random.make(this.moment.seed, this.run)
    return this.generator()
  }

  id(): string {
    return `${this.beat}.${this.run < 0 ? MARKS[this.run] : this.run}.${this.minted++}`
  }

  protected valueAt(place: Place): Value.Value {
    this.alive()
    const address = addressOf(place)
    if (address.id.charCodeAt(1) === 114) this.refuseView(address)
    return this.read(address, 0)
  }

  protected glance(place: Place): Value.Value { return this.valueAt(place) }
  protected keysAt(place: Place): ReadonlyArray<string> | undefined { return Value.keysOf(this.valueAt(place)) }

  listed(id: string): ReadonlyArray<string> {
    this.alive()
    const address = Address.ofKey(id)
    if (address.path.length > 0) throw this.refuse(refused(`list needs a cell and ${id} is a place inside one`))
    this.refuseView(address)
    this.log(address, CHILDREN)
    const names = this.stage.children(address.scope, address.id)
    const mine = this.own === undefined ? names : adjust(names, { scope: address.scope, id: address.id, own: this.own })
    return this.shown === undefined ? mine : adjust(mine, { scope: address.scope, id: address.id, own: this.shown })
  }

  set(place: Place, value: unknown): void {
    this.alive()
    try {
      check(place, value)
      this.write(Write.set(this.settle(addressOf(place), WriteMode.of(value)), value))
    } catch (error) {
      throw this.refuse(error)
    }
  }

  /** Writes an encoded value; `undefined` deletes. */
  put(address: Address.Address, document: Document.Document | undefined): void {
    this.write({ kind: "set", address: this.settle(address, WriteMode.ofDocument(document)), document })
  }

  /** Writes whole documents, all or none, without following links or checking an envelope. */
  place(documents: ReadonlyMap<string, Document.Document | undefined>): void {
    let size = 0
    for (const [key, document] of documents) size += key.length + Write.lengthOf(this.visible(key)) + Write.lengthOf(document)
    this.grow(size, 0)
    for (const [key, document] of documents) this.enter({ kind: "set", address: Address.ofKey(key), document })
  }

  merge(place: Place, fields: { readonly [key: string]: unknown }): void {
    this.guarded(() => {
      checkFields(place, fields)
      const address = this.settle(addressOf(place), "into")
      for (const key of Object.keys(fields)) this.write(Write.set(Address.into(address, [key]), fields[key]))
    })
  }

  append(place: Place, ...items: ReadonlyArray<unknown>): void {
    this.guarded(() => {
      checkItems(place, items)
      const canonical = Value.canonical(items).value as ReadonlyArray<Value.Value>
      this.write({ kind: "append", address: this.settle(addressOf(place), "into"), items: canonical })
    })
  }

  increment(place: Place, by = 1): void {
    this.guarded(() => {
      const reason = `increment by ${by}, which is not a finite number`
      if (!Number.isFinite(by)) throw new Value.InvalidValue({ at: addressOf(place).text, reason })
      const address = this.settle(addressOf(place), "into")
      this.write({ kind: "increment", address, by })
      check(place, Document.peek(this.visible(address.key)!, address.path))
    })
  }

  delete(place: Place): void { this.set(place, undefined) }

  blob(bytes: Uint8Array): string {
    return this.guarded(() => {
      if (!(bytes instanceof Uint8Array)) throw refused("blob takes a Uint8Array")
      this.blobs ??= new Map()
      const total = this.kept + bytes.length
      if (total > MAX_BLOB) throw refused(`${total} bytes of content in one run are more than the limit of ${MAX_BLOB}`)
      const hash = this.moment.hash(bytes)
      this.rise(`${Content.FOLDER}${hash}`)
      if (!this.blobs.has(hash)) {
        this.launch(hash.length)
        this.blobs.set(hash, bytes.slice())
        this.kept = total
      }
      return `${Content.FOLDER}${hash}`
    })
  }

  send(request: SignalRequest, declared?: Declared): string {
    return this.guarded(() => {
      if (declared !== undefined) Emitted.checkPayload(declared, request.payload)
      if (this.emissions.length >= MAX_EMISSIONS) throw refused(`one run sends at most ${MAX_EMISSIONS} signals`)
      const id = this.id()
      const emission = Emitted.make(id, request, this.beat)
      this.launch((emission.signal?.length ?? 0) + (emission.target?.length ?? 0) + Write.lengthOf(emission.payload))
      if (this.emissions === none) this.emissions = [emission]
      else this.emissions.push(emission)
      return id
    })
  }

  bind(cell: Place, enzyme: string, options: { readonly propagate?: boolean } = {}): void {
    this.binding(textAt(cell), { enzyme, propagate: options.propagate ?? true, tombstone: false })
  }

  unbind(cell: Place, enzyme: string): void {
    this.binding(textAt(cell), { enzyme, propagate: true, tombstone: true })
  }

  start(node: Startable | string, inputs?: { readonly [name: string]: unknown }): string {
    return this.guarded(() => this.pieces.start(this, node, inputs))
  }

  stop(piece: string): void {
    this.guarded(() => this.pieces.stop(this, piece))
  }

  private get pieces(): Pieces<Draft> {
    if (this.grant.pieces === undefined) throw new NotProvided({ verb: "tx.start", service: "Scheduler" })
    return this.grant.pieces
  }

  report(report: Report): void {
    this.guarded(() => this.reports = Reports.add(this, report))
  }

  get sleep(): never { throw this.refuse(refused(WAITS)) }
  get hear(): never { throw this.refuse(refused(WAITS)) }
  get waitForSignal(): never { throw this.refuse(refused(WAITS)) }
  get waitForEvent(): never { throw this.refuse(refused(WAITS)) }

  /** Adds to the number of characters that the run launches. */
  launch(size: number): void {
    this.grow(0, size)
    this.launched += size
  }

  /** The face of one ledger of the runtime. */
  ledger<Name extends keyof Ledgers>(name: Name): Ledgers[Name] {
    const { caller, ledgers } = this.grant
    if (ledgers === undefined || caller === undefined) throw this.refuse(new NotProvided({ verb: `tx.${name}`, service: "Kernel" }))
    let face = this.faces?.get(name)
    if (face === undefined) (this.faces ??= new Map()).set(name, face = this.guarded(() => ledgers.face(name, this, caller)))
    return face as Ledgers[Name]
  }

  private read(address: Address.Address, hops: number): Value.Value {
    const hash = Content.hashOf(address.id)
    if (hash !== undefined) return this.content(address.id, hash)
    const document = this.visible(address.key)
    this.log(address, document)
    if (document === undefined) return undefined
    const value = Document.around(document, address.path)
    const linked = Link.along(value, address.path)
    if (linked === undefined) return address.path.length === 0 ? value : Value.at(value, address.path)
    if (hops >= Link.MAX_HOPS) throw this.refuse(new Link.LinkLoop({ address: address.text }))
    return this.read(Address.into(Link.target(linked.link), address.path.slice(linked.depth)), hops + 1)
  }

  /** Follows the links along the path of a write, and a final link unless the write replaces it. */
  settle(address: Address.Address, mode: WriteMode.WriteMode, hops = 0): Address.Address {
    const document = this.visible(address.key)
    this.rise(address.key)
    if (document === undefined) return address
    const linked = Link.along(Document.along(document, address.path), address.path)
    if (linked === undefined || WriteMode.ends(mode, address, linked)) return address
    if (hops >= Link.MAX_HOPS) throw new Link.LinkLoop({ address: address.text })
    return this.settle(Address.into(Link.target(linked.link), address.path.slice(linked.depth)), mode, hops + 1)
  }

  /** Writes to a ledger, exempt from the envelope. The ledger merges the launch; `shows` holds its documents until then. */
  operate<Name extends keyof Launches>(writes: ReadonlyArray<Write.Write>, launched?: LaunchRecord<Name>): void {
    if (this.operated + writes.length > MAX_WRITES) throw refused(`one run makes at most ${MAX_WRITES} writes to the runtime's ledgers`)
    this.operated += writes.length
    for (const write of writes) this.enter(write)
    if (launched === undefined) return
    this.shown ??= new WriteSet()
    for (const [address, document] of launched.shows) {
      this.launch(address.key.length + document.text.length)
      this.shown.set(address.key, document)
    }
    if (this.launches.length === 0) this.launches = [launched]
    else this.launches.push(launched)
  }

  private write(write: Write.Write): void {
    if (this.writes.length >= MAX_WRITES) throw refused(`one run makes at most ${MAX_WRITES} writes`)
    Envelope.check(this.envelope, write.address)
    const met = this.enter(write)
    if (this.writes.length === 0) this.writes = [met]
    else this.writes.push(met)
  }

  private enter(write: Write.Write): Write.Write {
    const { key } = write.address
    this.rise(key)
    const before = this.visible(key)
    const met = Write.meet(before, write)
    const after = Write.apply(before, met)
    this.own ??= new WriteSet()
    const was = Write.lengthOf(before)
    const is = Write.lengthOf(after)
    const size = this.own.has(key) ? is - was : key.length + was + is
    this.grow(size, 0)
    this.written += size
    this.own.set(key, after, met)
    return met
  }

  private grow(written: number, launched: number): void {
    const size = this.written + this.launched + written + launched
    if (size <= MAX_SIZE) return
    const reason = `${size} characters of documents, signals, bindings and results in one run are more than the limit of ${MAX_SIZE}`
    throw refused(`${reason}; do the work in several runs`)
  }

  private log(address: Address.Address, seen: Document.Document | undefined | typeof CHILDREN): void {
    const { labels } = this.grant
    if (labels !== undefined) this.learn(labels.at(address, seen === CHILDREN ? "children" : "deep"))
    this.reads ??= new ReadLog()
    this.reads.add(address, seen, this.own)
  }

  private binding(cell: string, change: Omit<BindingChange, "cell">): void {
    this.guarded(() => Binding.add(this.bindings ??= [], { cell, ...change }))
  }

  /** Returns a document as the run sees it. */
  visible(key: string): Document.Document | undefined {
    if (this.own !== undefined && this.own.has(key)) return this.own.get(key)
    return this.shown?.get(key) ?? this.stage.visible(key)
  }

  private content(id: string, hash: string): Value.Value {
    this.rise(id)
    const bytes = this.blobs?.get(hash) ?? this.stage.committed.blob(hash)
    return bytes === undefined ? undefined : new Uint8Array(bytes)
  }

  /** The views of the journal are for callers outside, not for runs. */
  private refuseView(address: Address.Address): void {
    if (isView(address.id)) throw this.refuse(refused(`${address.id} is a view for the outside that runs cannot read`))
  }

  /** Raises the label: the state of a document is information about it. */
  rise(key: string): void {
    const { labels } = this.grant
    if (labels !== undefined) this.learn(labels.of(Address.ofKey(key)))
  }

  private learn(label: Label.Label): void {
    this.label = Label.join(this.label, label)
    const { labels, surface } = this.grant
    const above = surface === undefined ? undefined : labels?.above(surface, label)
    if (above !== undefined) throw this.refuse(above)
  }

  private alive(): void {
    if (this.revoked !== undefined) throw refused(this.revoked)
  }

  /** Runs a change of the draft; an error in it aborts the run. */
  guarded<A>(change: () => A): A {
    this.alive()
    try {
      return change()
    } catch (error) {
      throw this.refuse(error)
    }
  }

  private refuse(error: unknown): unknown {
    this.refusal ??= error
    return error
  }
}

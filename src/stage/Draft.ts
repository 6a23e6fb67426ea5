/**
 * Drafts: transactions of runs while they run.
 *
 * A draft logs what was read and holds all that was written and launched. It
 * changes nothing by itself: the stage merges it, or it is dropped. A draft
 * that refused something stays refused, so that code that catches the error
 * cannot go on as if nothing had happened. (Architecture, section 3.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Binding from "./Binding.ts"
import { addressOf, type Cell } from "../cell/Cell.ts"
import * as Document from "../cell/Document.ts"
import * as Label from "../cell/Label.ts"
import * as Link from "../cell/Link.ts"
import * as Value from "../cell/Value.ts"
import { adjusted, CHILDREN } from "./Children.ts"
import * as Chance from "./Chance.ts"
import type { Charter, Pieces } from "./Charter.ts"
import * as Envelope from "./Envelope.ts"
import type { BindingChange, Emission, Flows, Ledgers, OperationLaunch, Operations, Rendezvous, Report, ReportLaunch, SignalRequest } from "./Launch.ts"
import { NotProvided } from "./Launch.ts"
import * as Emitted from "./Emission.ts"
import type { Startable, Transaction } from "./Transaction.ts"
import type { Moment, View } from "./Moment.ts"
import { Own } from "./Own.ts"
import { ReadLog } from "./ReadLog.ts"
import * as Reports from "./Report.ts"
import { TransactionRefused } from "./TransactionRefused.ts"
import * as Content from "./Content.ts"
import { isView } from "./View.ts"
import * as Way from "./Way.ts"
import * as Write from "./Write.ts"
import { lengthOf } from "./Write.ts"

/** Stands for a list that nothing was put into. */
const none: Array<never> = []

/** What stands for the capture and the commit in the ids that they mint. */
const MARKS: Readonly<Record<number, string>> = { [-1]: "x", [-2]: "c" }
/** Most bytes that one run keeps with `blob`. */
const MAX_BLOB = 32 * 1_048_576
/** Most writes of one run. */
const MAX_WRITES = 100_000
/** Most signals that one run sends. */
const MAX_EMISSIONS = 10_000
/** Most characters that one run adds to the journal: what it sends, binds and returns, the digests of its content, and its documents as they were and as they are. */
const MAX_SIZE = 16 * 1_048_576

/**
 * The transaction of one run.
 *
 * @category models
 * @since 0.1.0
 */
export class Draft implements Transaction {
  readonly beat: number
  readonly now: number
  readonly envelope: Envelope.Envelope
  readonly serializable: boolean
  readonly run: number
  /** Lists are made when there is something to put into them: most runs need few. */
  writes: Array<Write.Write> = none
  /** Where the run looked, once it did. */
  reads: ReadLog | undefined
  emissions: Array<Emission> = none
  /** What it asks of operations, in order. */
  ops: Array<OperationLaunch> = none
  /** What it says went wrong. */
  reports: ReadonlyArray<ReportLaunch> = none
  /** What this run made of the documents it wrote. */
  own: Own | undefined
  bindings: Array<BindingChange> | undefined
  blobs: Map<string, Uint8Array> | undefined
  /** Bytes that it keeps with `blob`. */
  kept = 0
  /** Characters of what it sends, binds and returns. */
  launched = 0
  /** Characters of the documents that it wrote, before and after. */
  written = 0
  /** The first refusal; it outlives a catch. */
  refusal: unknown
  /** What the run was told by so far. */
  label: Label.Label
  private readonly stage: View
  readonly moment: Moment
  private readonly charter: Charter<Draft>
  private face: Ledgers | undefined
  /** Documents that only this run sees: the merge makes them anew. */
  shown: Own | undefined
  private chance: (() => number) | undefined
  /** Ids that it minted, and writes to the runtime's ledgers. */
  minted = 0
  operated = 0
  private revoked: string | undefined

  constructor(stage: View, moment: Moment, charter: Charter<Draft>) {
    this.stage = stage
    this.moment = moment
    this.beat = moment.beat
    this.now = moment.now
    this.run = charter.run
    this.envelope = charter.envelope
    this.serializable = charter.serializable
    this.label = charter.label ?? Label.none
    this.charter = charter
  }

  /** Ends the draft: whatever still holds it can use it no more. */
  revoke(why: string): void {
    this.revoked ??= why
  }

  random(): number {
    this.chance ??= Chance.make(this.moment.seed, this.run)
    return this.chance()
  }

  id(): string {
    return `${this.beat}.${this.run < 0 ? MARKS[this.run] : this.run}.${this.minted++}`
  }

  get(place: string | Cell): Value.Value {
    this.alive()
    const address = addressOf(place)
    if (address.id.charCodeAt(1) === 114) this.refuseView(address)
    return this.read(address, 0)
  }

  peek(place: string | Cell): Value.Value {
    return this.get(place)
  }

  keys(place: string | Cell): ReadonlyArray<string> | undefined {
    const value = this.get(place)
    return Value.isContainer(value) ? Object.keys(value) : undefined
  }

  list(id: string): ReadonlyArray<string> {
    this.alive()
    const address = Address.ofKey(id)
    if (address.path.length > 0) throw this.refuse(new TransactionRefused({ reason: `list needs a cell and ${id} is a place inside one` }))
    this.refuseView(address)
    this.log(address, CHILDREN)
    const names = this.stage.children(address.scope, address.id)
    const mine = this.own === undefined ? names : adjusted(names, { scope: address.scope, id: address.id, own: this.own })
    return this.shown === undefined ? mine : adjusted(mine, { scope: address.scope, id: address.id, own: this.shown })
  }

  set(place: string | Cell, value: unknown): void {
    this.alive()
    try {
      this.write(Write.set(this.settle(addressOf(place), Way.of(value)), value))
    } catch (error) {
      throw this.refuse(error)
    }
  }

  /** Writes a value that is encoded already; `undefined` deletes. */
  put(address: Address.Address, document: Document.Document | undefined): void {
    this.write({ kind: "set", address: this.settle(address, Way.ofDocument(document)), document })
  }

  /** Puts whole documents where they are named, through no link and beside any envelope: all of them, or none. */
  place(documents: ReadonlyMap<string, Document.Document | undefined>): void {
    let size = 0
    for (const [key, document] of documents) size += key.length + lengthOf(this.visible(key)) + lengthOf(document)
    this.grow(size, 0)
    for (const [key, document] of documents) this.enter({ kind: "set", address: Address.ofKey(key), document })
  }

  merge(place: string | Cell, fields: { readonly [key: string]: unknown }): void {
    this.guarded(() => {
      const address = this.settle(addressOf(place), "into")
      for (const key of Object.keys(fields)) this.write(Write.set(Address.into(address, [key]), fields[key]))
    })
  }

  append(place: string | Cell, ...items: ReadonlyArray<unknown>): void {
    this.guarded(() => {
      const canonical = Value.canonical(items).value as ReadonlyArray<Value.Value>
      this.write({ kind: "append", address: this.settle(addressOf(place), "into"), items: canonical })
    })
  }

  increment(place: string | Cell, by = 1): void {
    this.guarded(() => {
      if (!Number.isFinite(by)) throw new Value.InvalidValue({ at: addressOf(place).text, reason: `increment by ${by}, which is not a finite number` })
      this.write({ kind: "increment", address: this.settle(addressOf(place), "into"), by })
    })
  }

  delete(place: string | Cell): void {
    this.set(place, undefined)
  }

  blob(bytes: Uint8Array): string {
    return this.guarded(() => {
      if (!(bytes instanceof Uint8Array)) throw new TransactionRefused({ reason: "blob takes a Uint8Array" })
      this.blobs ??= new Map()
      const total = this.kept + bytes.length
      if (total > MAX_BLOB) throw new TransactionRefused({ reason: `${total} bytes of content in one run are more than the limit of ${MAX_BLOB}` })
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

  signal(request: SignalRequest): string {
    return this.guarded(() => {
      if (this.emissions.length >= MAX_EMISSIONS) throw new TransactionRefused({ reason: `one run sends at most ${MAX_EMISSIONS} signals` })
      const id = this.id()
      const emission = Emitted.make(id, request, this.beat)
      this.launch((emission.signal?.length ?? 0) + (emission.target?.length ?? 0) + lengthOf(emission.payload))
      if (this.emissions === none) this.emissions = [emission]
      else this.emissions.push(emission)
      return id
    })
  }

  bind(cell: string, enzyme: string, options: { readonly propagate?: boolean } = {}): void {
    this.binding(cell, { enzyme, propagate: options.propagate ?? true, tombstone: false })
  }

  unbind(cell: string, enzyme: string): void {
    this.binding(cell, { enzyme, propagate: true, tombstone: true })
  }

  start(node: Startable | string, inputs?: { readonly [name: string]: unknown }): string {
    return this.guarded(() => this.pieces.start(this, node, inputs))
  }

  stop(piece: string): void {
    this.guarded(() => this.pieces.stop(this, piece))
  }

  private get pieces(): Pieces<Draft> {
    if (this.charter.pieces === undefined) throw new NotProvided({ verb: "tx.start", service: "Scheduler" })
    return this.charter.pieces
  }

  report(report: Report): void {
    this.guarded(() => this.reports = Reports.added(this, report))
  }

  get op(): Operations { return this.ledger("op") }
  get rv(): Rendezvous { return this.ledger("rv") }
  get flow(): Flows { return this.ledger("flow") }

  get io(): never {
    throw this.refuse(new NotProvided({ verb: "tx.io", service: "Reactor" }))
  }

  /** Counts what the run launches: so many characters more. */
  launch(size: number): void {
    this.grow(0, size)
    this.launched += size
  }

  private ledger<Name extends keyof Ledgers>(name: Name): Ledgers[Name] {
    const { ledgers } = this.charter
    if (ledgers === undefined) throw this.refuse(new NotProvided({ verb: `tx.${name}`, service: "Kernel" }))
    return (this.face ??= ledgers(this))[name]
  }

  private read(address: Address.Address, hops: number): Value.Value {
    const hash = Content.hashOf(address.id)
    if (hash !== undefined) return this.content(address.id, hash)
    const document = this.visible(address.key)
    this.log(address, document)
    if (document === undefined) return undefined
    const value = address.path.length === 0 && document.plain !== undefined ? document.plain : Document.read(document, [])
    const linked = Link.along(value, address.path)
    if (linked === undefined) return address.path.length === 0 ? value : Value.at(value, address.path)
    if (hops >= Link.MAX_HOPS) throw this.refuse(new Link.LinkLoop({ address: address.text }))
    return this.read(Address.into(Link.target(linked.link), address.path.slice(linked.depth)), hops + 1)
  }

  /** Where a write really goes: links on the way are followed, and at the end too unless the link itself is meant. */
  settle(address: Address.Address, way: Way.Way, hops = 0): Address.Address {
    const document = this.visible(address.key)
    this.rise(address.key)
    if (document === undefined) return address
    const linked = Link.along(document.plain ?? Document.read(document, []), address.path)
    if (linked === undefined || Way.ends(way, address, linked)) return address
    if (hops >= Link.MAX_HOPS) throw new Link.LinkLoop({ address: address.text })
    return this.settle(Address.into(Link.target(linked.link), address.path.slice(linked.depth)), way, hops + 1)
  }

  /** Asks something of a ledger of the runtime: the writes to it, which no envelope has to allow, and, of an operation, what is numbered when the run is merged, as the run sees it till then. */
  operate(writes: ReadonlyArray<Write.Write>, launch?: { readonly op: OperationLaunch; readonly shows: ReadonlyArray<readonly [Address.Address, Document.Document]> }): void {
    if (this.operated + writes.length > MAX_WRITES) throw new TransactionRefused({ reason: `one run makes at most ${MAX_WRITES} writes to the runtime's ledgers` })
    this.operated += writes.length
    for (const write of writes) this.enter(write)
    if (launch === undefined) return
    this.shown ??= new Own()
    for (const [address, document] of launch.shows) {
      this.launch(address.key.length + document.text.length)
      this.shown.set(address.key, document)
    }
    if (this.ops === none) this.ops = [launch.op]
    else this.ops.push(launch.op)
  }

  private write(write: Write.Write): void {
    if (this.writes.length >= MAX_WRITES) throw new TransactionRefused({ reason: `one run makes at most ${MAX_WRITES} writes` })
    Envelope.check(this.envelope, write.address)
    const met = this.enter(write)
    if (this.writes === none) this.writes = [met]
    else this.writes.push(met)
  }

  private enter(write: Write.Write): Write.Write {
    const { key } = write.address
    this.rise(key)
    const before = this.visible(key)
    const met = Write.meet(before, write)
    const after = Write.apply(before, met)
    this.own ??= new Own()
    const size = this.own.has(key) ? lengthOf(after) - lengthOf(before) : key.length + lengthOf(before) + lengthOf(after)
    this.grow(size, 0)
    this.written += size
    this.own.set(key, after, met)
    return met
  }

  private grow(written: number, launched: number): void {
    const size = this.written + this.launched + written + launched
    if (size <= MAX_SIZE) return
    throw new TransactionRefused({ reason: `${size} characters of documents, signals, bindings and results in one run are more than the limit of ${MAX_SIZE}; do the work in several runs` })
  }

  private log(address: Address.Address, seen: Document.Document | undefined | typeof CHILDREN): void {
    const { labels } = this.charter
    if (labels !== undefined) this.learn(labels.at(address, seen === CHILDREN ? "children" : "deep"))
    this.reads ??= new ReadLog()
    this.reads.add(address, seen, this.own)
  }

  private binding(cell: string, change: Omit<BindingChange, "cell">): void {
    this.guarded(() => Binding.add(this.bindings ??= [], { cell, ...change }))
  }

  /** What the run sees of a document. */
  visible(key: string): Document.Document | undefined {
    if (this.own !== undefined && this.own.has(key)) return this.own.get(key)
    return this.shown?.get(key) ?? this.stage.visible(key)
  }

  private content(id: string, hash: string): Value.Value {
    this.rise(id)
    const bytes = this.blobs?.get(hash) ?? this.stage.committed.blob(hash)
    return bytes === undefined ? undefined : new Uint8Array(bytes)
  }

  /** Ledgers and receipts are views of the journal, shown to the outside and not to runs. */
  private refuseView(address: Address.Address): void {
    if (isView(address.id)) throw this.refuse(new TransactionRefused({ reason: `${address.id} is a view for the outside that runs cannot read` }))
  }

  /** What happens at a document tells something of it. */
  private rise(key: string): void {
    const { labels } = this.charter
    if (labels !== undefined) this.learn(labels.of(Address.ofKey(key)))
  }

  private learn(label: Label.Label): void {
    this.label = Label.join(this.label, label)
    const { labels, surface } = this.charter
    const above = surface === undefined ? undefined : labels!.above(surface, label)
    if (above !== undefined) throw this.refuse(above)
  }

  private alive(): void {
    if (this.revoked !== undefined) throw new TransactionRefused({ reason: this.revoked })
  }

  /** Does what changes the draft: whatever is refused there aborts the run. */
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

/**
 * The cleared view: a space as a reader with a clearance sees it.
 *
 * A reader sees all addresses that its clearance admits. For any other address the
 * answer is "withheld". That answer depends on the address alone, so it reveals no
 * content. Properties of the whole space, such as beat numbers, do not reach readers.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Address from "../../cell/Address.ts"
import * as Label from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import * as OutgoingSignal from "../../stage/OutgoingSignal.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import { Disclosure } from "./Disclosure.ts"
import { asRefusal, type ReadError, type SignalError } from "./Expected.ts"
import type { LiveQueries } from "./LiveQueries.ts"
import type { ReaderState } from "./ReaderState.ts"
import * as Queries from "./Queries.ts"
import * as Receipts from "../beat/step/Receipts.ts"
import * as OwnId from "../model/OwnId.ts"
import type { HandlingError, Receipt } from "../model/Receipt.ts"
import * as Signal from "../model/Signal.ts"
import type { CellRequest, KeyPage, NamePage, Page } from "./Pages.ts"
import type { PostedSignal, Reader, ReaderHears, Seen, ShownPage, ShownReceipt, Space, Viewer, Waits } from "./Space.ts"
import { type CellHeld, SignalBeyond, SignalReserved, Withheld } from "../model/SpaceError.ts"
import * as WaitingList from "./WaitingList.ts"

/** The members of the state of a space that cleared views use. */
export type State = Pick<LiveState, "clock" | "documents" | "enzymes" | "hash" | "host" | "labels" | "nodes" | "settings" | "store">

/** Most denials that a space remembers. */
export const MAX_DENIALS = 400

/** The beginning of the signals of the runtime. Their handlers trust them: one completes a rendezvous without its token. */
const RUNTIME = "/CEP:"

/** The ends of events that no enzyme took, and no durable run heard. */
const UNHEARD: ReadonlySet<Receipt["status"]> = new Set(["cycle", "no-match"])

const nothing = (): void => {}

/** The parts of an open space that a cleared view shows. */
export interface Dependencies {
  readonly state: State
  readonly readerState: ReaderState
  readonly contents: Pick<Space, "blobPart">
  readonly lists: Pick<Space, "cells" | "list" | "names"> & {
    /** The waiting list, a page at a time, as far as a condition admits it. */
    readonly queued: (
      page: Page<number>,
      admits: (pending: Signal.PendingSignal) => boolean
    ) => Effect.Effect<WaitingList.FoundPage, ReadError>
  }
  readonly queries: Pick<LiveQueries, "pull" | "watch">
  readonly receipts: Pick<Space, "receipts"> & {
    readonly targetOf: (receipt: Receipt) => Receipts.Target
  }
  readonly signals: Pick<Space, "post">
}

type Denied = ReadError | Withheld

/**
 * One reader's view of a space.
 */
export class ClearedView implements Reader {
  private readonly deps: Dependencies
  private readonly clearance: Viewer
  private readonly disclosure: Disclosure

  constructor(deps: Dependencies, clearance: Viewer) {
    this.deps = deps
    this.clearance = clearance
    this.disclosure = new Disclosure(deps.state, clearance)
  }

  private get atoms(): Label.Label {
    const { atoms } = this.clearance
    return atoms === "all" ? this.deps.state.labels?.top ?? Label.none : atoms
  }

  /** The value at an address with settled sources. An unsettled value would reveal demand by others. */
  get(text: string, { wait }: Waits = {}): Effect.Effect<Value, Denied | CellHeld> {
    const { state, queries } = this.deps
    return Effect.gen({ self: this }, function*() {
      yield* this.admit(text)
      const { label, value } = yield* queries.pull(text, {
        admits: (address) => this.mayKnow(address.key),
        see: () => Queries.readWithLabel(state, text, this.disclosure),
        wait: wait ?? state.settings.limits.pullMillis
      })
      // A link may lead to a withheld place.
      return Label.isWithin(label, this.atoms) ? value : yield* this.denied(text)
    })
  }

  /** The names below a cell, except withheld ones. */
  list(id: string): Effect.Effect<ReadonlyArray<string>, ReadError> {
    return Effect.map(this.deps.lists.list(id), (names) => this.known(id, names))
  }

  below(id: string, { after, ...page }: CellRequest): Effect.Effect<KeyPage, ReadError> {
    const { lists, readerState: { cursor } } = this.deps
    return Effect.flatMap(this.from(after), (from) => Effect.map(lists.cells(id, { ...page, after: from }), ({ cells, next }) => ({
      keys: cells.flatMap(({ key }) => this.mayKnow(key) ? [key] : []),
      next: next === undefined ? undefined : cursor.ofKey(next)
    })))
  }

  names(id: string, { after, limit }: Page): Effect.Effect<NamePage, ReadError> {
    const { lists, readerState: { cursor } } = this.deps
    return Effect.flatMap(this.from(after), (from) => Effect.map(lists.names(id, { after: from, limit }), ({ names, next }) => ({
      names: this.known(id, names),
      next: next === undefined ? undefined : cursor.ofKey(next)
    })))
  }

  /** The key of a cursor, which may stand behind a withheld key, so that it is no key. */
  private from(after: string | undefined): Effect.Effect<string | undefined, ReadError> {
    return this.looked(() => after === undefined || after.startsWith("/") ? after : this.deps.readerState.cursor.key(after))
  }

  /** Fails with `Withheld` unless the clearance admits the address. */
  admit(text: string): Effect.Effect<void, Denied> {
    return Effect.flatMap(this.looked(() => Queries.watchable(text)), ({ key }) => this.mayKnow(key) ? Effect.void : this.denied(text))
  }

  /** The values at an address, from now on or after a cursor. */
  watch(text: string, last?: string): Stream.Stream<Seen, Denied> {
    const { queries, readerState: { cursor } } = this.deps
    const after = last === undefined ? undefined : cursor.beat(last)
    return Stream.unwrap(Effect.map(this.admit(text), () =>
      Stream.map(queries.watch(text, { after }), (observation) => cursor.seen(observation))))
  }

  /** The receipt of an event, as far as the clearance admits it; `undefined` otherwise. Withheld events make no own id ambiguous. */
  receipt(text: string): Effect.Effect<ShownReceipt | undefined, ReadError> {
    return Effect.flatMap(this.deps.receipts.receipts(text), (receipts) =>
      this.looked(() => OwnId.only(text, receipts.flatMap((receipt) => this.isSentBeyond(receipt) ? [] : this.shown(receipt) ?? []))))
  }

  /** Whether an event has a target beyond the addresses and scopes of the view, or one that is not known any more. */
  private isSentBeyond(receipt: Receipt): boolean {
    const { scopes, within } = this.clearance
    if (within === undefined && scopes === undefined) return false
    const sent = this.deps.receipts.targetOf(receipt)
    return sent.is === "unknown" || (sent.target !== undefined && this.disclosure.isBeyond(Address.parse(sent.target)))
  }

  /** Sends a signal in the reader's name. */
  signal(request: PostedSignal): ReturnType<Reader["signal"]> {
    return Effect.callback((resume) => {
      this.post(request, { accepted: (accepted) => resume(Effect.succeed(accepted)), fail: (failure) => resume(Effect.fail(failure)) })
    })
  }

  /** The same for hot paths. */
  post(request: PostedSignal, { accepted, fail, settled }: ReaderHears): () => void {
    const refused = this.refusalOf(request)
    if (refused !== undefined) {
      fail(refused)
      return nothing
    }
    let [isDurable, isWithheld] = [false, false]
    const ended = (receipt: Receipt): void => {
      const shown = this.shown(receipt)
      if (shown === undefined && !isDurable) isWithheld = true
      else settled?.(shown)
    }
    return this.deps.signals.post({ ...request, principal: this.principal }, {
      accepted: ({ duplicate, id }) => {
        isDurable = true
        accepted?.({ id, duplicate })
        if (isWithheld) settled?.(undefined)
      },
      ...settled && { settled: ended },
      fail
    })
  }

  /** The refusal of a signal to an address beyond the view, of one that readers may not send, and of a label beyond the clearance. */
  private refusalOf({ label, signal = "", target }: PostedSignal): SignalError | SignalBeyond | SignalReserved | undefined {
    const to = String(target ?? signal)
    try {
      if (this.leadsBeyond(to)) return new SignalBeyond({ address: Queries.cellOf(to), reader: this.clearance.name })
    } catch (failure) {
      return asRefusal(failure)
    }
    if (this.isReserved(String(signal))) return new SignalReserved({ signal, reader: this.clearance.name })
    // Atoms beyond the clearance are refused like unknown ones, so their existence is not revealed.
    return label === undefined || Label.isWithin(label, this.atoms) ? undefined : OutgoingSignal.labelRefusal(label)
  }

  /** Whether readers must not send a signal, because its handlers trust it: one of the runtime, or of a plugin that reserves it. */
  private isReserved(signal: string): boolean {
    const { reserved = [] } = this.deps.state.settings
    return signal.startsWith(RUNTIME) || reserved.some((beginning) => signal.startsWith(beginning))
  }

  /**
   * Whether an address is not within the addresses and scopes of the view, or a link along it leads beyond them. It is decided by the
   * state at the arrival of a signal, and before a cell beyond is read, so that the answer tells nothing of it.
   *
   * @throws InvalidAddress
   */
  private leadsBeyond(text: string): boolean {
    const { clearance: { scopes, within }, deps: { state }, disclosure } = this
    if (within === undefined && scopes === undefined) return false
    if (disclosure.isBeyond({ id: Queries.cellOf(text), scope: Address.SPACE })) return true
    const address = Address.parse(text)
    if (disclosure.isBeyond(address)) return true
    for (const hop of Queries.hops(state, address)) if (disclosure.isBeyond(hop)) return true
    return false
  }

  blobPart(hash: string, part: number): ReturnType<Reader["blobPart"]> {
    const address = `/cas/${hash}`
    return this.mayKnow(address) ? this.deps.contents.blobPart(hash, part) : this.denied(address)
  }

  /** The waiting list after a cursor: the signals and attempts whose labels the clearance admits. */
  waiting({ after, limit }: Page): Effect.Effect<ShownPage, ReadError> {
    const { lists, readerState: { cursor } } = this.deps
    const { atoms } = this
    const admits = (pending: Signal.PendingSignal): boolean => {
      const { target } = pending.signal
      return Label.isWithin(Signal.toldBy(pending), atoms) && (target === undefined || this.mayKnow(target))
    }
    const from = after === undefined ? undefined : cursor.beat(after)
    return Effect.map(lists.queued({ after: from, limit }, admits), ({ found, next }) =>
      ({ waiting: found.map(WaitingList.readerRow), next: next === undefined ? undefined : cursor.of(next) }))
  }

  private get principal(): string {
    return `reader ${this.clearance.name}`
  }

  /** The receipt is pending until the last attempt is over, also a withheld one: the time of the end is no secret. */
  private shown(receipt: Receipt): ShownReceipt | undefined {
    const { atoms } = this
    const { id, label, own, status } = receipt
    if (!Label.isWithin(label ?? Label.none, atoms)) return undefined
    const hearsAbove = this.mayBeHeardAbove(receipt)
    const handlings = hearsAbove ? receipt.handlings.filter(({ run }) => run === undefined) : receipt.handlings
    const open = handlings.filter((handling) => Label.isWithin(handling.label ?? Label.none, atoms))
    // Sorted, so that their positions do not reveal when withheld handlings ended.
    const names = handlings.filter((handling) => !open.includes(handling)).map(({ enzyme }) => enzyme).sort()
    const withheld = names.map((enzyme) => ({ enzyme, outcome: "withheld" as const }))
    const shown = open.map(({ enzyme, error, outcome, value }) => ({ enzyme, outcome, value, ...errorOf(error) }))
    const isHidden = hearsAbove && handlings.length === 0 && status !== "discarded"
    const over = withheld.length === 0 && !isHidden ? status : open.length === 0 ? "withheld" : Receipts.statusOf(open)
    return { id, ...OwnId.ownField(own), status: status === "pending" ? status : over, handlings: [...shown, ...withheld] }
  }

  /** Whether the target of an event is above the clearance, and its receipt would tell whether a durable run hears signals there. */
  private mayBeHeardAbove(receipt: Receipt): boolean {
    const { clearance, deps: { receipts, state: { labels } } } = this
    const { handlings, status } = receipt
    if (labels === undefined || clearance.atoms === "all") return false
    if (!UNHEARD.has(status) && handlings.every(({ run }) => run === undefined)) return false
    const sent = receipts.targetOf(receipt)
    if (sent.is === "unknown") return true
    return sent.target !== undefined && !Label.isWithin(labels.of(Address.parse(sent.target)), this.atoms)
  }

  /** The names below a cell that the clearance admits. */
  private known(id: string, names: ReadonlyArray<string>): ReadonlyArray<string> {
    const { id: folder, scope } = Address.ofKey(id)
    return names.filter((name) => this.mayKnow(Address.make(`${folder === "/" ? "" : folder}/${name}`, { scope }).key))
  }

  private mayKnow(key: string): boolean {
    return Label.isWithin(this.disclosure.of(Address.ofKey(key)), this.atoms)
  }

  private denied(address: string): Effect.Effect<never, Withheld> {
    const { readerState: { denials }, state } = this.deps
    return Effect.suspend(() => {
      const { name, of } = this.clearance
      // The list tells which readers ask for more than they may; strangers would push them out of it.
      if (of === "everybody") return Effect.fail(new Withheld({ address, reader: undefined }))
      denials.push({ at: state.host.now() - state.clock.shifted, reader: name, address })
      if (denials.length > MAX_DENIALS) denials.shift()
      return Effect.fail(new Withheld({ address, reader: name }))
    })
  }

  private looked<A>(look: () => A): Effect.Effect<A, ReadError> {
    return Effect.try({ try: look, catch: Queries.asReadError })
  }
}

/** An error without its place: a reader sees no code of modules. */
const errorOf = (error: HandlingError | undefined): { readonly error?: HandlingError } =>
  error === undefined ? {} : { error: { tag: error.tag, code: error.code, message: error.message } }

/**
 * The transaction of a durable run: one object over all segments of its body.
 *
 * In a live segment it passes each call to the draft of the segment, and logs it. In a recorded segment it answers from
 * the log, and touches neither cells nor the world. Between segments it refuses each call.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import { addressOf, type Place, textAt } from "../cell/Cell.ts"
import * as Document from "../cell/Document.ts"
import { pathOf, type Sent, type Signal } from "../cell/Signal.ts"
import type { Declared } from "../cell/Type.ts"
import type { Value } from "../cell/Value.ts"
import * as Content from "../stage/Content.ts"
import { Calls } from "../stage/Calls.ts"
import type { Draft } from "../stage/Draft.ts"
import type { EventEnd } from "../stage/EventEnd.ts"
import type { IoResult } from "../stage/Io.ts"
import type { Delay, HeardSignal, PendingResult, Report, SignalRequest } from "../stage/Launch.ts"
import { cancellation } from "../stage/Launches.ts"
import type { Ledgers } from "../stage/Ledgers.ts"
import * as Semantics from "../stage/Semantics.ts"
import { TransactionRefused } from "../stage/TransactionRefused.ts"
import type { Startable, Transaction } from "../stage/Transaction.ts"
import type { Heard } from "../stage/Typed.ts"
import * as Answer from "./Answer.ts"
import { Cancellations } from "./Cancellations.ts"
import type { Kind } from "./EarlierRead.ts"
import { type AwaitedObject, Handle, type HandleFollower, type HandleOwner } from "./Handle.ts"
import { lastRead } from "./LastRead.ts"
import { OpenHandles } from "./OpenHandles.ts"
import * as Pairs from "./Pairs.ts"
import { isWhole, Reads } from "./Reads.ts"
import * as RequestCall from "./RequestCall.ts"
import { ForeignAwait, RunDiverged } from "./RunError.ts"
import * as SentEvent from "./SentEvent.ts"
import { dueOf, shown as slept } from "./SleepDue.ts"
import type { ContentSource, RecordedSegment } from "./RecordedSegment.ts"
import { type Call, type Step, textOf } from "./Step.ts"
import * as WriteCall from "./WriteCall.ts"

/**
 * The transaction of one durable run.
 */
export class DurableTransaction extends Calls implements Transaction, HandleOwner {
  /** The number of the segment in progress, or of the next one. */
  segment = 0
  /** The calls of the live segment. */
  calls: Array<Call> = []
  /** The open handles, by number. */
  readonly handles = new OpenHandles()
  readonly reads = new Reads()
  readonly cancellations = new Cancellations()
  /** The first call that the log does not have, or that was made outside the segments. */
  failure: RunDiverged | ForeignAwait | undefined
  private lastCall: Call | undefined
  private straying: ((stray: ForeignAwait) => void) | undefined
  private draft: Draft | undefined
  private recorded: RecordedSegment | undefined
  private made = 0
  /** The signals that the run hears. */
  readonly pairs = new Pairs.Pairs()
  /** The semantics of the beat in which the run began. */
  semantics = Semantics.NEWEST
  /** Called with each signal that the run begins to hear after an await, in development. */
  late: ((pair: Pairs.Pair) => void) | undefined
  /** The number of requests so far. It is part of their idempotency keys. */
  private requests = 0
  /** How often the run was started anew. It is part of the idempotency keys, too. */
  anew = 0
  /** Follows the handles of a body that has fibers. */
  follower: HandleFollower | undefined
  private readonly oid: string

  constructor(oid: string) {
    super()
    this.oid = oid
  }

  /** Has the run hear the signals that its enzyme declares. */
  declare(declared: ReadonlyArray<Pairs.Pair>): void {
    for (const pair of declared) this.pairs.hear(pair)
  }

  /** Begins a live segment. */
  begin(draft: Draft): void {
    this.draft = draft
    this.calls = []
    this.straying = undefined
    this.pairs.begin()
    this.reads.begin(draft)
  }

  /** Begins a recorded segment. */
  repeat(step: Step, contentOf: ContentSource): void {
    this.recorded = { step, contentOf, next: 0 }
  }

  /** Ends the segment. A recorded one has to have made all its calls. */
  end(): void {
    const { recorded, segment } = this
    const missed = recorded?.step.calls[recorded.next]
    if (missed !== undefined) this.failure ??= new RunDiverged({ segment, expected: textOf(missed), actual: "no further call" })
    if (recorded !== undefined) this.reads.restore(recorded.step.left ?? [], segment)
    this.lastCall = (recorded?.step.calls ?? this.calls).at(-1)
    this.draft = undefined
    this.recorded = undefined
    this.segment++
  }

  /** Whether a segment is in progress. */
  get isActive(): boolean {
    return this.draft !== undefined || this.recorded !== undefined
  }

  get beat(): number {
    return this.clock.beat
  }

  get now(): number {
    return this.clock.now
  }

  private get clock(): { readonly beat: number; readonly now: number } {
    const clock = this.draft ?? this.recorded?.step
    if (clock === undefined) throw this.stray("it read the clock")
    return clock
  }

  random(): number {
    return this.call("random", "", (draft) => draft.random()) as number
  }

  id(): string {
    return this.call("id", "", (draft) => draft.id()) as string
  }

  protected valueAt(place: Place): Value {
    return this.read("get", place)
  }

  protected glance(place: Place): Value {
    return this.read("peek", place)
  }

  protected keysAt(place: Place): ReadonlyArray<string> | undefined {
    const at = textAt(place)
    if (this.recorded !== undefined) {
      const [, , value, reached = at] = this.next(this.recorded, "keys", at)
      return this.met("keys", addressOf(reached), value) as ReadonlyArray<string> | undefined
    }
    const draft = this.live("keys", at)
    const value = Object.freeze(draft.keys(place)) as Value
    const { address } = lastRead(draft, at)
    const isLinked = address.text !== at && isWhole(draft)
    this.calls.push(isLinked ? ["keys", at, value, address.text] : value === undefined ? ["keys", at] : ["keys", at, value])
    return this.met("keys", address, value) as ReadonlyArray<string> | undefined
  }

  listed(id: string): ReadonlyArray<string> {
    const names = this.call("list", id, (draft) => draft.listed(id) as Value)
    return this.met("names", Address.ofKey(id), names) as ReadonlyArray<string>
  }

  set(place: Place, value: unknown): void { this.write(WriteCall.set(place, value)) }
  merge(place: Place, fields: { readonly [key: string]: unknown }): void { this.write(WriteCall.merge(place, fields)) }
  append(place: Place, ...items: ReadonlyArray<unknown>): void { this.write(WriteCall.append(place, items)) }
  increment(place: Place, by?: number): void { this.write(WriteCall.increment(place, by)) }
  delete(place: Place): void { this.write(WriteCall.remove(place)) }

  blob(bytes: Uint8Array): string {
    return this.call("blob", "", (draft) => draft.blob(bytes)) as string
  }

  send(request: SignalRequest, declared?: Declared): string {
    return this.call("signal", request.signal ?? request.target ?? "", (draft) => draft.send(request, declared)) as string
  }

  bind(cell: Place, enzyme: string, options?: { readonly propagate?: boolean }): void {
    this.call("bind", textAt(cell), (draft) => void draft.bind(cell, enzyme, options))
  }

  unbind(cell: Place, enzyme: string): void {
    this.call("unbind", textAt(cell), (draft) => void draft.unbind(cell, enzyme))
  }

  start(node: Startable | string, inputs?: { readonly [name: string]: unknown }): string {
    return this.call("start", typeof node === "string" ? node : node.name, (draft) => draft.start(node, inputs)) as string
  }

  stop(piece: string): void {
    this.call("stop", piece, (draft) => void draft.stop(piece))
  }

  report(report: Report): void {
    this.call("report", report.topic, (draft) => void draft.report(report))
  }

  sleep(delay: Delay): PendingResult<void> {
    const handle = this.await("sleep", slept(delay), (draft) =>
      draft.guarded(() => ({ kind: "sleep", due: dueOf(delay, draft) })))
    return handle as PendingResult<unknown> as PendingResult<void>
  }

  hear(signal: Sent, target: Place): void {
    if (!Semantics.follows(this, "hearsByName")) return
    const pairOf = () => Pairs.make(pathOf(signal), textAt(target), "tx.hear")
    this.call("hear", `${pathOf(signal)} ${textAt(target)}`, (draft) => draft.guarded(() => {
      const pair = pairOf()
      if (this.segment > 0 && this.pairs.numberOf(pair) === undefined) this.late?.(pair)
    }))
    this.pairs.hear(pairOf())
  }

  waitForSignal<A>(signal: Signal<A, object>, target: Place): PendingResult<Heard<A>>
  waitForSignal(signal: Sent, target: Place): PendingResult<HeardSignal>
  waitForSignal(signal: Sent, target: Place): PendingResult<HeardSignal> {
    const pairOf = () => Pairs.make(pathOf(signal), textAt(target), "tx.waitForSignal")
    const handle = this.await("waitForSignal", `${pathOf(signal)} ${textAt(target)}`, (draft) =>
      draft.guarded(() => this.pairs.awaited(pairOf(), this)))
    this.pairs.wait(this.pairs.hear(pairOf()))
    return handle as PendingResult<unknown> as PendingResult<HeardSignal>
  }

  waitForEvent(id: string): PendingResult<EventEnd> {
    const handle = this.await("waitForEvent", String(id), (draft) => draft.guarded(() => SentEvent.awaited(draft, id, this.oid)))
    return handle as PendingResult<unknown> as PendingResult<EventEnd>
  }

  /** Drops a handle that is of no use any more, so that it begins no segment. */
  forget({ number }: Handle): void {
    if (!this.handles.has(number)) return
    this.call("forget", String(number), () => undefined)
    this.handles.take(number)
  }

  private await(name: string, at: string, make: (draft: Draft) => AwaitedObject): Handle {
    const awaited = this.call(name, at, (draft) => make(draft) as unknown as Value) as unknown as AwaitedObject
    const handle = Handle.pending(this.made++, awaited, this)
    this.handles.add(handle)
    this.follower?.made(handle)
    return handle
  }

  /** The body awaits a handle. */
  listen(handle: Handle): void {
    if (!this.isActive) this.stray("it awaited a handle outside a segment")
    if (this.handles.await(handle)) this.follower?.awaited(handle)
  }

  /** The body cancels a handle. A request ends with its record, and no segment begins for it. */
  cancel(handle: Handle): boolean {
    const { awaited, number } = handle
    if (!this.handles.has(number)) return false
    this.call("cancel", String(number), (draft) => {
      if (awaited.kind === "request") draft.operate([], cancellation(awaited.rid))
    })
    this.handles.cancel(number)
    if (awaited.kind === "signal") this.pairs.unwait(awaited.pair)
    handle.settle(handle.cancelled)
    return true
  }

  private read(name: "get" | "peek", place: Place): Value {
    const at = textAt(place)
    const { recorded } = this
    if (recorded !== undefined) {
      const [, , value, reached = at] = this.next(recorded, name, at)
      const hash = Content.hashOf(reached)
      if (hash !== undefined) return value === undefined ? undefined : this.content(recorded, hash)
      return this.met("value", addressOf(reached), value)
    }
    const draft = this.live(name, at)
    const value = draft[name](place)
    const { address, document } = lastRead(draft, at)
    if (Content.hashOf(address.id) !== undefined) {
      // Content never changes, and a step that names it keeps it. So the log holds no copy.
      this.calls.push(value === undefined ? [name, at] : [name, at, true, address.id])
      return value
    }
    // The body may change a rich value, and the log keeps its own.
    const kept = document !== undefined && Document.isRich(document) ? Document.read(document, address.path) : value
    this.met("value", address, kept)
    if (address.text !== at) this.calls.push([name, at, kept, address.text])
    else this.calls.push(kept === undefined ? [name, at] : [name, at, kept])
    return value
  }

  /** Notes a read for later segments. Content never changes, and a log of the first rules does not have the names that its run left. */
  private met(kind: Kind, address: Address.Address, value: Value): Value {
    const isLeftOut = (kind !== "value" && !Semantics.follows(this, "earlierReads")) || Content.hashOf(address.id) !== undefined
    if (!isLeftOut) this.reads.add({ kind, address, value, segment: this.segment, writes: this.draft?.writes.length ?? 0 })
    return value
  }

  private content({ contentOf }: RecordedSegment, hash: string): Value {
    const bytes = contentOf(hash)
    if (bytes !== undefined) return new Uint8Array(bytes)
    const diverged = { segment: this.segment, expected: `the content ${hash}`, actual: "a read of content that is gone" }
    throw this.failure ??= new RunDiverged(diverged)
  }

  private write(call: WriteCall.WriteCall): void {
    const { recorded, segment } = this
    const { at, name } = call
    if (recorded !== undefined) return this.reads.wrote(WriteCall.recorded(call, this.next(recorded, name, at)), segment)
    const draft = this.live(name, at)
    const first = draft.writes.length
    call.act(draft)
    this.reads.wrote(draft.writes, segment, first)
    draft.guarded(() => this.reads.check(draft, first, segment))
    this.calls.push(isWhole(draft) ? WriteCall.logged(call, draft.writes[first]) : [name, at])
  }

  /** The verbs of a ledger. Each verb is one call. */
  ledger<Name extends keyof Ledgers>(ledger: Name): Ledgers[Name] {
    return new Proxy({} as Ledgers[Name], {
      get: (_, verb) => {
        if (ledger === "io" && (verb === "request" || verb === "fetch")) return this.request.bind(this, verb)
        return (...args: ReadonlyArray<unknown>) => {
          const at = typeof args[0] === "string" ? args[0] : ""
          return this.call(`${ledger}.${String(verb)}`, at, (draft) => {
            const act = (draft[ledger] as unknown as Readonly<Record<string | symbol, (...args: ReadonlyArray<unknown>) => Value>>)[verb]
            if (act === undefined) throw new TransactionRefused({ reason: `tx.${ledger} has no verb ${String(verb)}` })
            return act(...args)
          })
        }
      }
    })
  }

  /** Makes a request. One without a signal is a handle. */
  private request(verb: RequestCall.Verb, ...given: ReadonlyArray<unknown>): Handle | string {
    const step = this.requests++
    const { abort, args, at, isAwaited } = RequestCall.make(verb, given)
    const send = (draft: Draft): string => {
      draft.owner = { oid: this.oid, step: this.anew === 0 ? step : `${step} anew ${this.anew}` }
      const face = draft.io as unknown as Readonly<Record<typeof verb, (...args: ReadonlyArray<unknown>) => string>>
      return face[verb](...args)
    }
    if (!isAwaited) return this.call(`io.${verb}`, at, send) as string
    const handle = this.await(`io.${verb}`, at, (draft) => ({ kind: "request", rid: send(draft) }))
    if (verb === "fetch") handle.shown = (result) => Answer.of(result as unknown as IoResult, (address) => this.get(address))
    if (abort !== undefined) RequestCall.follow(abort, handle)
    return handle
  }

  /** Makes a call of a live segment, or answers it from the log. The body cannot change its result, which is in the log. */
  private call(name: string, at: string, live: (draft: Draft) => Value | void): Value {
    const { recorded } = this
    if (recorded !== undefined) return this.next(recorded, name, at)[2]
    const draft = this.live(name, at)
    const value = Object.freeze(live(draft)) as Value
    this.calls.push(value === undefined ? [name, at] : [name, at, value])
    return value
  }

  private next(recorded: RecordedSegment, name: string, at: string): Call {
    const { segment } = this
    const call = recorded.step.calls[recorded.next++]
    if (this.failure === undefined && call !== undefined && call[0] === name && call[1] === at) return call
    const expected = call === undefined ? "no further call" : textOf(call)
    throw this.failure ??= new RunDiverged({ segment, expected, actual: textOf([name, at]) })
  }

  private live(name: string, at: string): Draft {
    if (this.draft === undefined) throw this.stray(`it called ${textOf([name, at])} outside a segment`)
    return this.draft
  }

  /** The body went on without its segment: nothing that it does from now on counts. */
  stray(reason: string): ForeignAwait | RunDiverged {
    if (this.failure !== undefined) return this.failure
    const stray = new ForeignAwait({ reason, last: this.last })
    this.failure = stray
    this.straying?.(stray)
    return stray
  }

  /** Calls back when the body continues outside a segment, until the next one takes it. */
  whenStray(tell: ((stray: ForeignAwait) => void) | undefined): void {
    this.straying = tell
    if (this.failure instanceof ForeignAwait) tell?.(this.failure)
  }

  /** The last recorded step. */
  private get last(): string {
    const { lastCall, segment } = this
    if (segment === 0) return "It has no recorded step yet"
    const call = lastCall === undefined ? "has no call" : `ends with ${textOf(lastCall)}`
    return `Its last recorded step is step ${segment - 1}, which ${call}`
  }
}

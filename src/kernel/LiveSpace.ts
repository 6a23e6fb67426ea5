/**
 * A space that is open: its face over its body.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as EffectQueue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import * as Value from "../cell/Value.ts"
import { LinkLoop } from "../cell/Link.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import { Draft } from "../stage/Draft.ts"
import { InvalidSignal } from "../stage/Emission.ts"
import * as Envelope from "../stage/Envelope.ts"
import { NotProvided } from "../stage/Launch.ts"
import { Stage } from "../stage/Stage.ts"
import * as Write from "../stage/Write.ts"
import type { Body } from "./Body.ts"
import type { Beat } from "./Commit.ts"
import type { Answer, Control } from "./Control.ts"
import { Entrance } from "./Entrance.ts"
import type { Waiter } from "./Group.ts"
import { Group } from "./Group.ts"
import * as Ledger from "./Ledger.ts"
import * as Receipts from "./Receipts.ts"
import type { Accepted, ControlError, Observation, PostedSignal, ReadError, Receipt, SignalError, Space } from "./Space.ts"
import { IdReused, InboxFull, SpaceStopped, WriteRefused } from "./SpaceError.ts"

/** Values that a slow observer may lag behind before older ones are dropped. */
const LAG = 1024

const reader = Envelope.make([], false)

/**
 * The space over a body, and how to close it.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveSpace implements Space {
  readonly name: string
  private readonly body: Body
  private readonly group: Group
  private readonly entrance: Entrance
  private readonly settlers = new Map<string, Set<(receipt: Receipt) => void>>()
  private readonly watchers = new Map<string, Set<(beat: number, document: Document.Document | undefined) => void>>()
  private readonly listeners = new Set<(beat: number) => void>()

  constructor(body: Body, turn: (run: () => void) => void, stopped: (error: SpaceStopped) => void) {
    this.name = body.space
    this.body = body
    this.group = new Group(body, turn, { published: (beat) => this.published(beat), stopped })
    this.entrance = new Entrance(body)
  }

  /** Why it stopped, where it did. */
  get error(): SpaceStopped | undefined {
    return this.group.error
  }

  close(reason: string): void {
    this.group.stop(new SpaceStopped({ space: this.name, reason }))
  }

  signal(posted: PostedSignal): Effect.Effect<Accepted, SignalError> {
    return Effect.callback<Accepted, SignalError>((resume) => this.post(posted, {
      accepted: (accepted) => resume(Effect.succeed(accepted)),
      fail: (error) => resume(Effect.fail(error))
    }))
  }

  /** Takes a signal without Effect's machinery; one of the two is called once. */
  post(posted: PostedSignal, to: { readonly accepted: (accepted: Accepted) => void; readonly fail: (error: SignalError) => void }): void {
    if (this.group.error !== undefined) return to.fail(this.group.error)
    let entered
    try {
      entered = this.entrance.enter(posted)
    } catch (error) {
      return to.fail(asRefusal(error))
    }
    if (entered.kind === "known") {
      const { id } = entered
      return this.group.await({ open: () => to.accepted({ id, beat: this.captured(id), duplicate: true }), fail: to.fail })
    }
    const { pending } = entered
    this.group.accept(pending, { open: () => to.accepted({ id: pending.signal.id, beat: pending.beat, duplicate: false }), fail: to.fail })
  }

  handled(posted: PostedSignal): Effect.Effect<Receipt, SignalError> {
    return Effect.flatMap(this.signal(posted), ({ id }) => this.landing(id))
  }

  receipt(id: string): Effect.Effect<Receipt | undefined, ReadError> {
    return this.durably(() => this.find(id))
  }

  settled(id: string): Effect.Effect<Receipt | undefined, ReadError> {
    return Effect.flatMap(this.receipt(id), (receipt) => receipt?.status === "pending" ? this.landing(id) : Effect.succeed(receipt))
  }

  set(address: string, value: unknown): Effect.Effect<number, ControlError> {
    return this.control(() => {
      const place = Address.parse(address)
      if (Envelope.isReserved(place.id)) {
        throw new WriteRefused({ address, reason: "it belongs to the runtime. Use the verb that is made for it" })
      }
      return (answer) => ({ kind: "set", write: Write.set(place, value), answer })
    })
  }

  bind(cell: string, enzyme: string, options: { readonly propagate?: boolean } = {}): Effect.Effect<number, ControlError> {
    return this.binding(cell, enzyme, { propagate: options.propagate ?? true, tombstone: false })
  }

  unbind(cell: string, enzyme: string): Effect.Effect<number, ControlError> {
    return this.binding(cell, enzyme, { propagate: true, tombstone: true })
  }

  start(): Effect.Effect<string, NotProvided> {
    return Effect.fail(new NotProvided({ verb: "space.start", service: "Scheduler" }))
  }

  readonly step: Space["step"] = Effect.callback((resume) => {
    this.group.step((beat) => resume(Effect.succeed(beat)), (error) => resume(Effect.fail(error)))
  })

  readonly idle: Space["idle"] = Effect.callback((resume) => {
    this.group.idle({ open: () => resume(Effect.void), fail: (error) => resume(Effect.fail(error)) })
  })

  get(address: string): Effect.Effect<Value.Value, ReadError> {
    return this.durably(() => this.read(address))
  }

  list(id: string): Effect.Effect<ReadonlyArray<string>, ReadError> {
    return this.durably(() => this.draft().list(id))
  }

  below(id: string, page: { readonly after?: string; readonly limit: number }): Effect.Effect<ReadonlyArray<string>, ReadError> {
    return this.durably(() => this.body.store.below(id, page))
  }

  watch(text: string): Stream.Stream<Observation, ReadError> {
    return Stream.callback<Observation, ReadError>((queue) =>
      Effect.gen({ self: this }, function*() {
        const address = yield* Effect.try({ try: () => Address.parse(text), catch: asReadError })
        let last: string | undefined
        const tell = (beat: number, document: Document.Document | undefined): void => {
          const value = Document.read(document, address.path)
          const seen = value === undefined ? "" : Document.encode(value).text
          if (seen === last) return
          last = seen
          EffectQueue.offerUnsafe(queue, { beat, value })
        }
        const watchers = this.watchers.get(address.key) ?? new Set()
        this.watchers.set(address.key, watchers)
        watchers.add(tell)
        yield* Effect.addFinalizer(() => Effect.sync(() => {
          watchers.delete(tell)
          if (watchers.size === 0) this.watchers.delete(address.key)
        }))
        yield* this.durably(() => tell(this.group.durable, this.body.documents.read(address.key)))
        return yield* Effect.never
      }), { bufferSize: LAG, strategy: "sliding" })
  }

  pull(address: string): Effect.Effect<Value.Value, ReadError> {
    return this.get(address)
  }

  readonly head: Space["head"] = Effect.sync(() => this.group.durable)

  journal(beat: number): ReturnType<Space["journal"]> {
    return this.durably(() => this.body.store.entry(beat))
  }

  readonly beats: Space["beats"] = Stream.callback<number>((queue) =>
    Effect.gen({ self: this }, function*() {
      const tell = (beat: number): void => void EffectQueue.offerUnsafe(queue, beat)
      this.listeners.add(tell)
      yield* Effect.addFinalizer(() => Effect.sync(() => this.listeners.delete(tell)))
      return yield* Effect.never
    }), { bufferSize: LAG, strategy: "sliding" })

  readonly content: Space["content"] = Effect.sync(() => {
    const writer = this.body.store.writeBlob()
    return {
      writer,
      store: (hash) => Effect.callback<void, SpaceStopped>((resume) => {
        writer.finish(hash)
        this.group.await({ open: () => resume(Effect.void), fail: (error) => resume(Effect.fail(error)) })
      })
    }
  })

  blob(hash: string): Effect.Effect<Uint8Array | undefined, ReadError> {
    return this.durably(() => this.body.store.blob(hash))
  }

  /** Tells who waits for it that a beat is durable. */
  private published(beat: Beat): void {
    if (this.settlers.size > 0) {
      for (const flight of beat.landed) {
        const settlers = this.settlers.get(flight.signal.id)
        if (settlers === undefined) continue
        this.settlers.delete(flight.signal.id)
        const receipt = this.whole(flight.signal.id, Receipts.ofFlight(flight), flight.captured === beat.number)
        for (const settle of settlers) settle(receipt)
      }
    }
    if (this.watchers.size > 0) {
      for (const { address, after } of beat.changes) {
        for (const tell of this.watchers.get(address.key) ?? []) tell(beat.number, after)
      }
    }
    for (const tell of this.listeners) tell(beat.number)
  }

  /** A receipt from memory where all of it is there; what was handled before a restart stands in the journal only. */
  private whole(id: string, receipt: Receipt, isWhole: boolean): Receipt {
    return isWhole ? receipt : this.find(id) ?? receipt
  }

  /** Waits for the receipt of an event that was accepted. */
  private landing(id: string): Effect.Effect<Receipt, SpaceStopped> {
    return Effect.callback<Receipt, SpaceStopped>((resume) => {
      if (this.group.error !== undefined) return resume(Effect.fail(this.group.error))
      const known = this.body.inbox.waiting.has(id) || !this.group.isDurable ? undefined : this.find(id)
      if (known !== undefined) return resume(Effect.succeed(known))
      const settlers = this.settlers.get(id) ?? new Set()
      this.settlers.set(id, settlers)
      const settle = (receipt: Receipt): void => resume(Effect.succeed(receipt))
      settlers.add(settle)
      return Effect.sync(() => {
        settlers.delete(settle)
        if (settlers.size === 0 && this.settlers.get(id) === settlers) this.settlers.delete(id)
      })
    })
  }

  private find(id: string): Receipt | undefined {
    const { inbox, store } = this.body
    const isOpen = inbox.waiting.has(id) || inbox.flights.has(id)
    return Receipts.find(store, id, isOpen) ?? (isOpen ? { id, status: "pending", beat: undefined, handlings: [] } : undefined)
  }

  private captured(id: string): number | undefined {
    return this.body.inbox.flights.get(id)?.captured ?? Receipts.find(this.body.store, id, false)?.beat
  }

  private read(text: string): Value.Value {
    const address = Address.parse(text)
    if (!Ledger.isView(address.id)) return this.draft().get(text)
    const label = (name: string): string => this.body.enzymes.label(name)
    const source = { store: this.body.store, shown: this.body.settings.ledgers, label, receipt: (id: string) => this.find(id) }
    return Value.at(Ledger.read(source, address.id), address.path)
  }

  /** A draft that reads committed state and writes nothing. */
  private draft(): Draft {
    const { beat, clock } = this.body.store.head()
    const moment = { beat, now: clock, seed: "", hash: this.body.hash }
    return new Draft(new Stage(this.body.documents), moment, { run: 0, envelope: reader, serializable: false })
  }

  /** Answers what can be seen now, once it is durable. */
  private durably<A>(see: () => A): Effect.Effect<A, ReadError> {
    return Effect.callback<A, ReadError>((resume) => {
      const { error } = this.group
      if (error !== undefined) return resume(Effect.fail(error))
      let seen: A
      try {
        seen = see()
      } catch (error) {
        return resume(Effect.fail(asReadError(error)))
      }
      const waiter: Waiter = { open: () => resume(Effect.succeed(seen)), fail: (error) => resume(Effect.fail(error)) }
      if (this.group.isDurable) waiter.open()
      else this.group.await(waiter)
    })
  }

  private binding(cell: string, enzyme: string, how: { readonly propagate: boolean; readonly tombstone: boolean }): Effect.Effect<number, ControlError> {
    return this.control(() => {
      const names = Name.split(cell)
      if (typeof names === "string") throw new Address.InvalidAddress({ text: cell, reason: names })
      const unnamable = Name.refusal(enzyme)
      if (unnamable !== undefined) throw new WriteRefused({ address: cell, reason: `"${enzyme}" names no enzyme: ${unnamable}` })
      return (answer) => ({ kind: "bind", change: { cell, enzyme, ...how }, answer })
    })
  }

  /** Hands control input to the next beat; answers that beat's number when it is durable. */
  private control(make: () => (answer: Answer) => Control): Effect.Effect<number, ControlError> {
    return Effect.callback<number, ControlError>((resume) => {
      if (this.group.error !== undefined) return resume(Effect.fail(this.group.error))
      const { inbox, settings: { limits } } = this.body
      if (inbox.controls.length >= limits.inboxSignals) {
        return resume(Effect.fail(new InboxFull({ space: this.name, limit: `${limits.inboxSignals} control inputs` })))
      }
      try {
        const answer: Answer = (answer) => resume(typeof answer === "number" ? Effect.succeed(answer) : Effect.fail(answer))
        inbox.controls.push(make()(answer))
      } catch (error) {
        return resume(Effect.fail(asControlError(error)))
      }
      // The answer comes from the beat; the gate is only told that there is something to do.
      this.group.wake()
    })
  }
}

const asRefusal = (error: unknown): SignalError => {
  if (
    error instanceof InvalidSignal || error instanceof Address.InvalidAddress || error instanceof Value.InvalidValue ||
    error instanceof IdReused || error instanceof InboxFull
  ) return error
  throw error
}

const asControlError = (error: unknown): ControlError => {
  if (error instanceof Address.InvalidAddress || error instanceof Value.InvalidValue || error instanceof WriteRefused) return error
  throw error
}

const asReadError = (error: unknown): ReadError => {
  if (error instanceof Address.InvalidAddress || error instanceof PersistenceError || error instanceof LinkLoop) return error
  throw error
}

/**
 * Signals posted to an open space: admitted, made durable, and answered.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { PendingSignal } from "../model/Signal.ts"
import { asRefusal, type SignalError } from "../view/Expected.ts"
import type { Accepted, PostedSignal, PostHears } from "../view/Space.ts"
import { Admission, type AdmissionResult } from "./Admission.ts"
import type { Peer } from "./Delivery.ts"
import type { EventReceipts } from "./EventReceipts.ts"

const nothing = (): void => {}

/** The dependencies of posts. */
interface Dependencies {
  readonly barrier: Pick<OutputBarrier, "accept" | "error" | "whenDurable">
  readonly receipts: EventReceipts
  /** Called on each post. */
  readonly used: () => void
}

/**
 * The signals posted to one space.
 */
export class SignalPosts implements Peer {
  private readonly admission: Admission
  private readonly deps: Dependencies

  constructor(state: ConstructorParameters<typeof Admission>[0], deps: Dependencies) {
    this.admission = new Admission(state)
    this.deps = deps
  }

  signal(posted: PostedSignal): Effect.Effect<Accepted, SignalError> {
    return Effect.callback<Accepted, SignalError>((resume) => {
      this.post(posted, { accepted: (accepted) => resume(Effect.succeed(accepted)), fail: (error) => resume(Effect.fail(error)) })
    })
  }

  handled(posted: PostedSignal): Effect.Effect<Receipt, SignalError> {
    return Effect.callback<Receipt, SignalError>((resume) => {
      const fail = (error: SignalError): void => resume(Effect.fail(error))
      const cancel = this.post(posted, { settled: (receipt) => resume(Effect.succeed(receipt)), fail })
      return Effect.sync(cancel)
    })
  }

  post(posted: PostedSignal, hears: PostHears): () => void {
    this.deps.used()
    return this.take(() => this.admission.enter(posted), hears)
  }

  arrive(from: string, { signal }: PendingSignal, hears: PostHears): void {
    this.take(() => this.admission.arrive(from, signal), hears)
  }

  private take(enter: () => AdmissionResult, { accepted, fail, settled }: PostHears): () => void {
    const { barrier, receipts } = this.deps
    let entered: AdmissionResult
    try {
      if (barrier.error !== undefined) throw barrier.error
      entered = enter()
    } catch (error) {
      fail(asRefusal(error))
      return nothing
    }
    if (entered.kind === "known") {
      const { id } = entered
      let cancel = nothing
      barrier.whenDurable(() => {
        accepted?.({ id, beat: receipts.captured(id), duplicate: true })
        if (settled !== undefined) cancel = receipts.onReceipt(id, { settled, fail })
      }, fail)
      return () => cancel()
    }
    const { pending } = entered
    const { id } = pending.signal
    // A waiter registered before the beat gets the receipt from memory, and is told of a stop.
    const cancel = settled === undefined ? nothing : receipts.add(id, settled, fail)
    const open = (): void => accepted?.({ id, beat: pending.beat, duplicate: false })
    barrier.accept(pending, { open, fail: settled === undefined ? fail : nothing })
    return cancel
  }
}

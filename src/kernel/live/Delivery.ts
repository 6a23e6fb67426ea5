/**
 * The delivery of signals between spaces.
 *
 * A space reaches another one of its kernel directly. Where each space has a process of its own, the host reaches the
 * others with {@link RemotePeers}, and the receiver takes the signals with `Kernel.receive`.
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import { failure } from "../model/Failure.ts"
import { PendingSignal, type DeliveryRefusal } from "../model/Signal.ts"

/** The callbacks of a delivery. */
export interface DeliveryCallbacks {
  readonly accepted: () => void
  readonly fail: (error: unknown) => void
}

/** A space that receives signals from another one. */
export interface Peer {
  /** Receives a signal of the space with the origin `from`. `accepted` is called when it is durable. */
  readonly arrive: (from: string, pending: PendingSignal, hears: DeliveryCallbacks) => void
}

/** Resolves a space by name: opened, or created if the configuration permits. */
export type ResolvePeer = (space: string) => Effect.Effect<Peer, PersistenceError>

/**
 * The reach to spaces outside this kernel. By default all spaces belong to one kernel.
 */
export const RemotePeers = Context.Reference<ResolvePeer | undefined>("systole/kernel/RemotePeers", { defaultValue: () => undefined })

/**
 * Sends signals in order, up to the first refusal. Returns the error of each sent signal; `undefined` if accepted.
 */
export const hand = (from: string, batch: ReadonlyArray<PendingSignal>, peer: Peer): Promise<ReadonlyArray<unknown>> => {
  const answers: Array<Promise<unknown>> = []
  let refused = false
  for (const pending of batch) {
    if (refused) break
    answers.push(new Promise((resolve) => {
      const fail = (error: unknown): void => {
        refused = true
        resolve(error)
      }
      try {
        peer.arrive(from, pending, { accepted: () => resolve(undefined), fail })
      } catch (error) {
        fail(error)
      }
    }))
  }
  return Promise.all(answers)
}

/**
 * Delivers signals as the texts of their rows. Returns the refusal of each signal, or `null`, up to the first refusal.
 */
export const receive = async (from: string, rows: ReadonlyArray<string>, peer: Peer): Promise<ReadonlyArray<DeliveryRefusal | null>> => {
  const answers = await hand(from, rows.map((text, seq) => PendingSignal.fromRow({ seq, text })), peer)
  return answers.map((error) => error === undefined ? null : refusalOf(error))
}

/**
 * The refusal in the form that a dead letter keeps.
 */
export const refusalOf = (error: unknown): DeliveryRefusal => {
  const { code, message, tag } = failure(error) as DeliveryRefusal
  return { tag, code, message }
}

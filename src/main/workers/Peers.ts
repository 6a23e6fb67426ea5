/**
 * The spaces of other objects, as receivers of signals.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../../cell/Redacted.ts"
import type { DeliveryCallbacks, Peer, ResolvePeer } from "../../kernel/live/Delivery.ts"
import type { PendingSignal } from "../../kernel/model/Signal.ts"
import type { Env, Refusal } from "./Platform.ts"

/** The objects of all spaces, and the right to send to them. */
interface Sender {
  readonly spaces: Env["SPACES"]
  /** The proof of this application, for `arrive`. */
  readonly proof: Redacted.Redacted
}

/** A signal with the callbacks of its delivery. */
interface Letter {
  readonly pending: PendingSignal
  readonly hears: DeliveryCallbacks
}

/**
 * Resolves a space to its object. An object is called only when there are signals for it.
 */
export const make = (sender: Sender): ResolvePeer => (space) => Effect.succeed(new RemotePeer(sender, space))

/** The space of another object. All signals of one turn travel in one call. */
class RemotePeer implements Peer {
  private readonly sender: Sender
  private readonly space: string
  private letters: Array<Letter> = []

  constructor(sender: Sender, space: string) {
    this.sender = sender
    this.space = space
  }

  arrive(from: string, pending: PendingSignal, hears: DeliveryCallbacks): void {
    if (this.letters.length === 0) queueMicrotask(() => void this.send(from))
    this.letters.push({ pending, hears })
  }

  private async send(from: string): Promise<void> {
    const { proof, spaces } = this.sender
    const { letters } = this
    this.letters = []
    try {
      const rows = letters.map(({ pending }) => pending.text)
      const answers = await spaces.getByName(this.space).arrive({ proof: Redacted.value(proof), from, rows })
      letters.forEach(({ hears }, i) => {
        const answer = answers[i]
        if (answer === null) hears.accepted()
        else hears.fail(answer === undefined ? new Error("a signal before it was refused") : asError(answer))
      })
    } catch (failure) {
      for (const { hears } of letters) hears.fail(failure)
    }
  }
}

/** The refusal of another object as an error with its tag and code. */
const asError = ({ code, message, tag }: Refusal): Error => Object.assign(new Error(message), { _tag: tag, code })

/**
 * The messages of an open connection, on their way into a space.
 *
 * @module
 */
import type { Channel } from "systole"
import * as Body from "../channel/Body.ts"
import * as Deadline from "../http/Deadline.ts"
import type { Duplex } from "./Duplex.ts"
import type { Reader } from "./Messages.ts"
import * as Wait from "./Wait.ts"

/** The most messages that a space takes at once. */
const BATCH = 256

/** The messages of a connection as signals. */
export interface Inbound {
  readonly space: string
  readonly signal: string
  /** Whether a message is a text, or bytes. */
  readonly as: "text" | "bytes"
}

/** The parts that the messages of a connection pass. */
export interface Parts {
  readonly ingress: Channel.Ingress
  readonly inbound: Inbound
  readonly reader: Reader
  readonly duplex: Pick<Duplex, "pause" | "resume">
  /** The beginning of the ids of its signals. */
  readonly id: string
  readonly sleep: Wait.World["sleep"]
  /** Aborted when the channel closes. */
  readonly signal: AbortSignal
  /** Ends the connection. */
  readonly fail: (error: unknown) => void
}

/**
 * Takes the messages of one connection in their order. While a space takes some, the other side is held back.
 */
export class Arriving {
  private readonly parts: Parts
  /** The number of the newest message. */
  private n = 0
  private draining: Promise<void> | undefined
  private isDraining = false
  private isBroken = false
  private isTold = false

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Adds bytes as they arrive. */
  add(bytes: Uint8Array): void {
    if (this.isBroken) return
    if (!this.parts.reader.push(bytes)) this.tell("a datagram is longer than maxMessage, or too many wait")
    if (!this.isDraining) this.draining = this.drain()
  }

  /** Resolves once the whole messages that arrived are taken. */
  async taken(): Promise<void> {
    await this.draining
  }

  private async drain(): Promise<void> {
    const { duplex, fail } = this.parts
    this.isDraining = true
    duplex.pause()
    try {
      for (let batch = this.batch(); batch.length > 0; batch = this.batch()) await this.take(batch)
    } catch (error) {
      this.isBroken = true
      fail(error)
    } finally {
      this.isDraining = false
      duplex.resume()
    }
  }

  /** The next messages as signals: one that is no message ends the connection after them. */
  private batch(): ReadonlyArray<Channel.InboundSignal> {
    const { id, inbound: { as, signal }, reader } = this.parts
    const signals: Array<Channel.InboundSignal> = []
    while (signals.length < BATCH) {
      const message = reader.next(signals.length === 0)
      if (message === undefined) return signals
      this.n += 1
      const payload = as === "bytes" ? { data: message } : { text: Body.textOf(message) }
      if ("text" in payload && payload.text === undefined) this.tell("a message is no UTF-8")
      else signals.push({ id: `${id}:${this.n}`, signal, payload: payload as Channel.InboundSignal["payload"] })
    }
    return signals
  }

  /** Has the space take signals. A full one gets them again later, with the same ids. */
  private async take(batch: ReadonlyArray<Channel.InboundSignal>): Promise<void> {
    const { inbound: { space }, ingress, signal, sleep } = this.parts
    let wait = Wait.FIRST
    for (let left = batch; left.length > 0;) {
      const { refused, taken } = await Deadline.orAborted(ingress.take(space, left), signal)
      left = left.slice(taken)
      if (taken > 0) wait = Wait.FIRST
      if (refused === undefined) continue
      if (refused.then === "close") throw refused.error
      this.tell(refused.error.reason)
      if (refused.then === "drop") left = left.slice(1)
      else {
        await sleep(wait, signal)
        wait = Wait.after(wait)
      }
    }
  }

  /** Reports trouble with messages, once for each connection. */
  private tell(trouble: string): void {
    if (this.isTold) return
    this.isTold = true
    const { id, inbound: { space }, ingress } = this.parts
    ingress.report("io/inbound", `messages of the connection ${id} for the space ${space} wait or are dropped: ${trouble}`)
  }
}

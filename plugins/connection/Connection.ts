/**
 * A connection that a channel keeps open: it opens again after each end, and its messages become signals.
 *
 * @module
 */
import { Channel } from "systole"
import * as Deadline from "../http/Deadline.ts"
import { Arriving, type Inbound } from "./Arriving.ts"
import type { Dial, Duplex } from "./Duplex.ts"
import * as Messages from "./Messages.ts"
import * as Wait from "./Wait.ts"

/** The longest time of an opening, in milliseconds. */
const OPENING = 30_000

/** A connection of a channel. */
export interface Settings {
  /** The id of the channel. */
  readonly channel: string
  readonly dial: Dial
  readonly form: Messages.Form | undefined
  readonly inbound: Inbound | undefined
  /** The most bytes of a message. */
  readonly limit: number
  readonly world: Wait.World
}

/** The code or the name of an error, without its message, which may hold anything. */
const nameOf = (error: unknown): string => {
  if (error instanceof Channel.ChannelError) return error.reason
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === "string" ? code : String(name ?? "an unknown error")
}

/** An open connection, and the end that this side gives it. */
interface Opened {
  readonly duplex: Duplex
  /** Ends it for a reason of this side. */
  readonly fail: (error: unknown) => void
}

/** A send that waits for the next opening. */
type Waiter = (opened: Opened) => void

/**
 * A connection, opened from `begin` or the first `send` on until `close`.
 */
export class Connection {
  private readonly settings: Settings
  private readonly ending = new AbortController()
  private readonly waiters = new Set<Waiter>()
  private opened: Opened | undefined
  /** The time of the newest opening; `undefined` while an attempt has not led to one. */
  private openedAt: number | undefined
  private ingress: Channel.Ingress | undefined
  private running: Promise<void> | undefined
  /** Writes go out in the order of their jobs. */
  private last: Promise<unknown> = Promise.resolve()

  constructor(settings: Settings) {
    this.settings = settings
  }

  begin(ingress: Channel.Ingress): void {
    this.ingress = ingress
    this.running ??= this.run()
  }

  async close(): Promise<void> {
    this.ending.abort(Channel.fail("io/cancelled", "the channel is closed", { errno: -125 }))
    await this.running
  }

  /**
   * Sends a message once the connection is open and the ones before it are written. A write that is aborted ends the connection,
   * since a part of the message may be on its way.
   */
  send(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    this.running ??= this.run()
    const before = this.last
    const sent = this.sendAfter(before, bytes, signal)
    this.last = Promise.allSettled([before, sent])
    return sent
  }

  private async sendAfter(before: Promise<unknown>, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    await Deadline.orAborted(before, signal)
    const opened = await this.open(signal)
    const abort = (): void => opened.fail(signal.reason)
    signal.addEventListener("abort", abort, { once: true })
    try {
      await opened.duplex.write(bytes)
    } finally {
      signal.removeEventListener("abort", abort)
    }
  }

  private open(signal: AbortSignal): Promise<Opened> {
    if (this.opened !== undefined) return Promise.resolve(this.opened)
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.waiters.delete(take)
        reject(signal.reason)
      }
      const take: Waiter = (opened) => {
        signal.removeEventListener("abort", abort)
        resolve(opened)
      }
      if (signal.aborted) return abort()
      signal.addEventListener("abort", abort, { once: true })
      this.waiters.add(take)
    })
  }

  /** Opens the connection again and again. The wait doubles, unless the last opening held for longer. */
  private async run(): Promise<void> {
    const { channel, world } = this.settings
    const { signal } = this.ending
    let wait = Wait.FIRST
    let isTold = false
    while (!signal.aborted) {
      this.openedAt = undefined
      const error = await this.once().catch((failure: unknown) => failure)
      if (signal.aborted) return
      // A dial may take longer than the wait, and is no opening.
      if (this.openedAt !== undefined && world.elapsed() - this.openedAt > wait) [wait, isTold] = [Wait.FIRST, false]
      if (!isTold) {
        this.ingress?.report("io/connection", `the connection of the channel ${channel} is not open: ${nameOf(error)}`)
        isTold = true
      }
      await world.sleep(wait, signal).catch(() => undefined)
      wait = Wait.after(wait)
    }
  }

  /** One opening, until its end. Returns or throws the reason of the end. */
  private async once(): Promise<unknown> {
    const { dial, inbound, world } = this.settings
    const { ingress, ending: { signal } } = this
    if (inbound !== undefined && ingress !== undefined && !await Deadline.orAborted(ingress.admits(inbound.space), signal)) {
      return Channel.fail("io/held", `its space ${inbound.space} is detached, or is being imported`)
    }
    const duplex = await dial(AbortSignal.any([signal, AbortSignal.timeout(OPENING)]))
    this.openedAt = world.elapsed()
    let failure: unknown
    const fail = (error: unknown): void => {
      failure ??= error
      // What is sent from now on waits for the next opening.
      this.opened = undefined
      duplex.close()
    }
    const end = (): void => fail(signal.reason)
    signal.addEventListener("abort", end, { once: true })
    try {
      const messages = this.arriving(duplex, fail)
      const closed = new Promise<unknown>((resolve) => duplex.hear({ data: (bytes) => messages?.add(bytes), closed: resolve }))
      if (signal.aborted) end()
      this.opened = { duplex, fail }
      for (const take of this.waiters) take(this.opened)
      this.waiters.clear()
      const error = await closed
      this.opened = undefined
      // The messages that arrived whole are taken before those of the next opening.
      await messages?.taken()
      return failure ?? error ?? Channel.fail("io/closed", "the other side closed it")
    } finally {
      signal.removeEventListener("abort", end)
    }
  }

  /** The messages of an opening; `undefined` if none is wanted. */
  private arriving(duplex: Duplex, fail: (error: unknown) => void): Arriving | undefined {
    const { channel, form = "lines", inbound, limit, world: { draw, sleep } } = this.settings
    const { ending: { signal }, ingress } = this
    if (inbound === undefined || ingress === undefined) return undefined
    return new Arriving({ ingress, inbound, duplex, fail, sleep, signal, id: `${channel}:${draw()}`, reader: Messages.reader(form, limit) })
  }
}

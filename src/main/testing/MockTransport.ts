/**
 * The transport `mock`: lines within one process, with the losses, delays and ends of a script.
 *
 * @module
 */
import * as Transport from "../../federation/Transport.ts"

/** The fate of frames, each by its number in its direction of a line, from 1. */
export interface MockScript {
  /** Whether the frame is lost. */
  readonly isLost?: (n: number) => boolean
  /** The turns after which it arrives; 1 unless given. One that is due before an earlier one waits for it. */
  readonly delay?: (n: number) => number
  /** Whether an attempt to send is refused as full, by the number of the attempt. There is room again at the next turn. */
  readonly isFull?: (attempt: number) => boolean
  /** Whether the line is reset after it. */
  readonly isReset?: (n: number) => boolean
  /** Begins each turn of the network; by default it follows by itself. A test that calls `turn` gives none. */
  readonly next?: (turn: () => void) => void
}

/** An event on its way to one side. */
interface Due {
  readonly turn: number
  readonly run: () => void
}

/** One side of a line. */
class Side implements Transport.Line {
  other: Side | undefined
  on: Transport.Callbacks | undefined
  isOpen = true
  private sent = 0
  private attempts = 0
  private readonly network: MockNetwork

  constructor(network: MockNetwork) {
    this.network = network
  }

  async send(frame: Uint8Array, mode: Transport.Mode): Promise<"sent" | "full"> {
    const { network, other } = this
    const { delay, isFull, isLost, isReset } = network.script
    if (!this.isOpen) throw Transport.refuse("closed", "the line is closed")
    if (frame.length > MAX_FRAME) throw Transport.refuse("frame", `the frame has ${frame.length} bytes, and the limit is ${MAX_FRAME}`)
    if (isFull?.(++this.attempts) === true) {
      network.soon(() => this.tell("backpressure", "the script refuses it"))
      network.soon(() => this.tell("ready_rx", "the script has room"), 2)
      return "full"
    }
    const n = ++this.sent
    const bytes = frame.slice()
    if (isLost?.(n) !== true) network.soon(() => other?.take(bytes, mode), delay?.(n) ?? 1)
    if (isReset?.(n) === true) {
      network.soon(() => this.end("the script resets it"))
      network.soon(() => other?.end("the script resets it"))
    }
    return "sent"
  }

  close(): void {
    const { network, other } = this
    this.isOpen = false
    network.soon(() => other?.end("the other side closed it"))
  }

  private take(bytes: Uint8Array, mode: Transport.Mode): void {
    if (!this.isOpen) return
    const limit = this.on?.limit?.() ?? MAX_FRAME
    if (bytes.length <= limit) return this.on?.frame(bytes, mode)
    this.isOpen = false
    this.network.soon(() => this.other?.end("the other side closed it"))
    this.on?.event("fatal", "a frame is longer than its limit")
  }

  private tell(kind: "backpressure" | "ready_rx", detail: string): void {
    if (this.isOpen) this.on?.event(kind, detail)
  }

  end(detail: string): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.on?.event("reset", detail)
  }
}

/** The most bytes of a frame. */
const MAX_FRAME = 1_048_576

const caps = ["ordered", "local_ipc", "unreliable"] as const

/**
 * A network of one process. Its transports open lines to the places at which one of them listens, such as `mock:a`.
 *
 * @example A frame that is lost
 * ```ts
 * import { MockNetwork } from "systole/testing"
 *
 * const network = new MockNetwork({ isLost: (n) => n === 1 })
 * const transport = network.transport()
 * const arrived: Array<number> = []
 * const event = () => {}
 * await transport.listen?.("mock:a", () => ({ frame: ([first = 0]) => arrived.push(first), event }))
 * const line = await transport.open({ peer: "a", url: "mock:a", signal: new AbortController().signal }, { frame: () => {}, event })
 * for (const each of [1, 2]) await line.send(new Uint8Array([each]), "data")
 * await network.quiet
 * if (arrived.join() !== "2") throw new Error("the first frame is lost")
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export class MockNetwork {
  readonly script: MockScript
  private readonly places = new Map<string, { readonly accept: (line: Side) => Transport.Callbacks; readonly sides: Set<Side> }>()
  private due: Array<Due> = []
  private now = 0
  private isTurning = false
  private waiters: Array<() => void> = []

  constructor(script: MockScript = {}) {
    this.script = script
  }

  /** The transport: `mock`, or `mock-sync` without the asynchronous capabilities. */
  transport(id: "mock" | "mock-sync" = "mock"): Transport.Transport {
    return {
      id,
      caps: id === "mock" ? [...caps, ...Transport.asynchronous] : caps,
      maxFrame: MAX_FRAME,
      hosts: ["node", "deno", "bun", "workers"],
      open: ({ signal, url }, on) => this.open(url, signal, on),
      listen: (url, accept) => this.listen(url, accept)
    }
  }

  /** Resolves once nothing is on its way. */
  get quiet(): Promise<void> {
    return this.due.length === 0 ? Promise.resolve() : new Promise((resolve) => this.waiters.push(resolve))
  }

  /** Runs one turn: all that is due arrives, in the order in which it was sent. */
  turn(): void {
    this.now += 1
    const due = this.due.filter(({ turn }) => turn <= this.now)
    this.due = this.due.filter(({ turn }) => turn > this.now)
    for (const { run } of due) run()
    if (this.due.length === 0) for (const waiter of this.waiters.splice(0)) waiter()
  }

  /** Runs a call some turns from now, and after all that was due before. */
  soon(run: () => void, turns = 1): void {
    const last = this.due.at(-1)?.turn ?? 0
    this.due.push({ turn: Math.max(last, this.now + turns), run })
    this.go()
  }

  /** Turns by itself until nothing is due. */
  private go(): void {
    const { next = (turn) => queueMicrotask(turn) } = this.script
    if (this.isTurning) return
    this.isTurning = true
    next(() => {
      this.isTurning = false
      this.turn()
      if (this.due.length > 0) this.go()
    })
  }

  private async open(url: string, signal: AbortSignal, on: Transport.Callbacks): Promise<Transport.Line> {
    signal.throwIfAborted()
    const place = this.places.get(url)
    if (place === undefined) throw Transport.refuse("url", `nobody listens at ${url}`)
    const [near, far] = [new Side(this), new Side(this)]
    Object.assign(near, { on, other: far })
    Object.assign(far, { other: near })
    far.on = place.accept(far)
    place.sides.add(far)
    return near
  }

  private async listen(url: string, accept: (line: Transport.Line) => Transport.Callbacks): Promise<Transport.Listening> {
    if (this.places.has(url)) throw Transport.refuse("url", `${url} is taken`)
    const sides = new Set<Side>()
    this.places.set(url, { accept, sides })
    return {
      url,
      close: async () => {
        this.places.delete(url)
        for (const side of sides) side.close()
      }
    }
  }
}

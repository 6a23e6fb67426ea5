/**
 * The contract of transports, for the author of one: a list of tests, bound to no test runner.
 *
 * @module
 */
import * as Transport from "../../../federation/Transport.ts"
import { holds, same } from "./Check.ts"
import type { ContractTest } from "./PersistenceContract.ts"

/** The transport under test. */
export interface TransportPlace {
  /** Makes the transport, which listens, too. */
  readonly transport: () => Transport.Transport
  /** A place at which nothing listens, for each call another one or one whose port the host chooses. */
  readonly url: () => string
  /** A place at which nothing will listen, to which no line opens. */
  readonly absent: string
}

/** The frames and events of one side. */
class Heard implements Transport.Callbacks {
  readonly frames: Array<Uint8Array> = []
  readonly events: Array<string> = []
  most: number | undefined
  private waiters: Array<() => void> = []

  readonly frame = (bytes: Uint8Array): void => {
    this.frames.push(bytes)
    this.wake()
  }

  readonly event = (kind: string): void => {
    this.events.push(kind)
    this.wake()
  }

  readonly limit = (): number => this.most ?? Number.MAX_SAFE_INTEGER

  /** Resolves once a condition holds. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.waiters.push(resolve))
  }

  private wake(): void {
    for (const waiter of this.waiters.splice(0)) waiter()
  }
}

/** A line between two sides of one transport. */
interface Pair {
  readonly transport: Transport.Transport
  readonly listening: Transport.Listening
  readonly near: Transport.Line
  readonly far: Transport.Line
  readonly nearHeard: Heard
  readonly farHeard: Heard
}

const none = (): AbortSignal => new AbortController().signal

const paired = async ({ transport: make, url }: TransportPlace, body: (pair: Pair) => Promise<void>): Promise<void> => {
  const transport = make()
  if (transport.listen === undefined) throw new Error("the contract needs a transport that listens")
  const [nearHeard, farHeard] = [new Heard(), new Heard()]
  let taken: (line: Transport.Line) => void = () => {}
  const accepted = new Promise<Transport.Line>((resolve) => { taken = resolve })
  const listening = await transport.listen(url(), (line) => {
    taken(line)
    return farHeard
  })
  const near = await transport.open({ peer: "other", url: listening.url, signal: none() }, nearHeard)
  try {
    await body({ transport, listening, near, far: await accepted, nearHeard, farHeard })
  } finally {
    near.close("the test is over")
    await listening.close()
  }
}

const codeOf = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    await call()
    return "resolved"
  } catch (error) {
    return error instanceof Transport.TransportRefused ? error.code : "an error of the host"
  }
}

/** A frame whose bytes follow from its size and a seed. */
const frameOf = (size: number, seed: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed) & 255)

const sizes = [0, 1, 3, 4, 5, 255, 4096, 65_535, 65_537]

const tests: Readonly<Record<string, (pair: Pair) => Promise<void>>> = {
  "a line carries frames of each size both ways, in order and unchanged": async ({ far, farHeard, near, nearHeard, transport }) => {
    const frames = [...sizes, transport.maxFrame].map(frameOf)
    for (const [from, to] of [[near, farHeard], [far, nearHeard]] as const) {
      for (const frame of frames) {
        while (await from.send(frame, "data") === "full") await Promise.resolve()
        await to.until(() => to.frames.length > frames.indexOf(frame))
      }
      same(to.frames, frames, "the frames")
    }
  },
  "the bytes of a frame are the sender's again once it is sent": async ({ farHeard, near }) => {
    const frame = frameOf(1000, 1)
    await near.send(frame, "data")
    frame.fill(0)
    await farHeard.until(() => farHeard.frames.length === 1)
    same(farHeard.frames, [frameOf(1000, 1)], "the frames")
  },
  "a frame above maxFrame is refused, and the line goes on": async ({ farHeard, near, transport }) => {
    same(await codeOf(() => near.send(new Uint8Array(transport.maxFrame + 1), "data")), "transport/frame", "the refusal")
    await near.send(frameOf(3, 1), "data")
    await farHeard.until(() => farHeard.frames.length === 1)
    same(farHeard.frames, [frameOf(3, 1)], "the frames")
  },
  "a newest value is refused by a reliable transport alone": async ({ farHeard, near, transport }) => {
    const isReliable = transport.caps.includes("reliable")
    same(await codeOf(() => near.send(frameOf(1, 1), "upd_latest")), isReliable ? "transport/mode" : "resolved", "the refusal")
    if (!isReliable) await farHeard.until(() => farHeard.frames.length === 1)
  },
  "a side that closes hears nothing more, the other one hears of it once, and neither sends": async (pair) => {
    const { far, farHeard, near, nearHeard } = pair
    near.close("done")
    await farHeard.until(() => farHeard.events.length > 0)
    same(farHeard.events, ["reset"], "the events of the other side")
    for (const line of [near, far]) same(await codeOf(() => line.send(frameOf(1, 1), "data")), "transport/closed", "the refusal")
    same([nearHeard.events, nearHeard.frames.length], [[], 0], "the events of the side that closed")
  },
  "a frame above the limit of the receiver ends the line, before it is whole": async ({ farHeard, near, nearHeard }) => {
    farHeard.most = 4096
    await near.send(frameOf(4096, 1), "data")
    await farHeard.until(() => farHeard.frames.length === 1)
    await near.send(frameOf(4097, 1), "data")
    await farHeard.until(() => farHeard.events.length > 0)
    same([farHeard.events, farHeard.frames.length], [["fatal"], 1], "the receiver")
    await nearHeard.until(() => nearHeard.events.includes("reset"))
  },
  "a place that closes ends its lines and opens no more": async ({ farHeard, listening, nearHeard, transport }) => {
    await listening.close()
    await nearHeard.until(() => nearHeard.events.includes("reset"))
    const opening = () => transport.open({ peer: "other", url: listening.url, signal: none() }, new Heard())
    holds(await codeOf(opening) !== "resolved", "no line opens to it")
    holds(farHeard.frames.length === 0, "no frame arrives")
  },
  "a full line takes nothing of a frame, and has room again": async ({ farHeard, near, nearHeard, transport }) => {
    if (!transport.caps.includes("reliable")) return
    const sent: Array<Uint8Array> = []
    let answer: "sent" | "full" = "sent"
    for (let n = 0; answer === "sent" && n < 10_000; n++) {
      const frame = frameOf(60_000, n)
      answer = await near.send(frame, "data")
      if (answer === "sent") sent.push(frame)
    }
    same(answer, "full", "the answer of a line with more than it holds")
    await nearHeard.until(() => nearHeard.events.includes("ready_rx"))
    same(nearHeard.events, ["backpressure", "ready_rx"], "the events")
    const last = frameOf(10, 7)
    same(await near.send(last, "data"), "sent", "the answer of a line with room")
    await farHeard.until(() => farHeard.frames.length === sent.length + 1)
    same(farHeard.frames.map(({ length }) => length), [...sent, last].map(({ length }) => length), "the sizes of the frames")
    same(farHeard.frames.at(-2), sent.at(-1), "the last frame before")
  }
}

/**
 * The tests that each transport passes, for any test runner.
 *
 * @example Of the mock
 * ```ts
 * import { MockNetwork, transportContract } from "systole/testing"
 *
 * const network = new MockNetwork()
 * for (const { run } of transportContract({ transport: () => network.transport(), url: () => "mock:a", absent: "mock:none" })) await run()
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const transportContract = (place: TransportPlace): ReadonlyArray<ContractTest> => [
  ...Object.entries(tests).map(([name, body]) => ({ name, run: () => paired(place, body) })),
  {
    name: "no line opens where nothing listens, nor once its opening is aborted",
    run: async () => {
      const transport = place.transport()
      const to = { peer: "other", url: place.absent }
      holds(await codeOf(() => transport.open({ ...to, signal: none() }, new Heard())) !== "resolved", "nothing listens there")
      holds(await codeOf(() => transport.open({ ...to, signal: AbortSignal.abort() }, new Heard())) !== "resolved", "it is aborted")
    }
  }
]

/**
 * The network between the hosts of a world: it loses calls and answers, repeats and delays them.
 *
 * @module
 */
import { Effect } from "effect"
import type { Kernel } from "systole"
import type { DeliveryCallbacks, Peer } from "../../src/kernel/live/Delivery.ts"
import type { PendingSignal } from "../../src/kernel/model/Signal.ts"
import type { Outgoing } from "./Bank.ts"
import * as Random from "../support/Random.ts"
import type { WorldClock } from "./WorldClock.ts"

/** The bad fates of a call. */
export const faults = ["is lost", "is answered in vain", "arrives twice", "is late"] as const
export type Fault = typeof faults[number]

type Fate = Fault | "arrives"

/** The host that takes a call. */
export interface Receiver {
  readonly kernel: Kernel["Service"] | undefined
  /** Calls back when its process ends. */
  readonly whenDead: (tell: () => void) => void
}

/** The bad fates that calls have, and the count of each. */
interface Setting extends Outgoing {
  readonly seed: number
  readonly faults: ReadonlyArray<Fault>
}

/** The network of a world. */
export class Network {
  /** Whether each call arrives, because the faults are over. */
  isWell = false
  private readonly clock: WorldClock
  private readonly random: Random.Random

  private readonly fates: ReadonlyArray<Fate>
  private readonly setting: Setting

  constructor(clock: WorldClock, setting: Setting) {
    this.clock = clock
    this.setting = setting
    this.fates = ["arrives", "arrives", "arrives", ...setting.faults]
    this.random = Random.make(setting.seed)
  }

  /** The spaces that are cut off: the time of the end, and the fate of calls until then. */
  private readonly cuts = new Map<string, { readonly until: number; readonly fate: Fault }>()

  /** Cuts a space off from the others for a while, in one direction. */
  cut(space: string, until: number, fate: "is lost" | "is answered in vain"): void {
    this.cuts.set(space, { until, fate })
  }

  private fateOf(space: string): Fate {
    if (this.isWell) return "arrives"
    const cut = this.cuts.get(space)
    return cut !== undefined && cut.until > this.clock.elapsed ? cut.fate : Random.pick(this.random, this.fates)
  }

  /** A space behind the network. `host` is that of the space at the time of a call. */
  peer(space: string, host: () => Receiver): Peer {
    let letters: Array<{ readonly pending: PendingSignal; readonly hears: DeliveryCallbacks }> = []
    return {
      arrive: (from, pending, hears) => {
        const sender = from.split("@", 1)[0] ?? from
        if (this.setting.isDetached(sender)) this.setting.wrong(`${sender} is detached, and sends ${pending.signal.id} to ${space}`)
        if (letters.length === 0) {
          queueMicrotask(() => {
            const sent = letters
            letters = []
            this.send(sent, this.fateOf(space), (rows) => {
              const { kernel, whenDead } = host()
              if (kernel === undefined) return Promise.reject(new Error("the host is down"))
              const broken = new Promise<never>((_, reject) => whenDead(() => reject(new Error("the connection broke"))))
              return Promise.race([Effect.runPromise(kernel.receive(space, from, rows)), broken])
            })
          })
        }
        letters.push({ pending, hears })
      }
    }
  }

  private send(
    letters: ReadonlyArray<{ readonly pending: PendingSignal; readonly hears: DeliveryCallbacks }>,
    fate: Fate,
    call: (rows: ReadonlyArray<string>) => Promise<ReadonlyArray<{ readonly code: string } | null>>
  ): void {
    const rows = letters.map(({ pending }) => pending.text)
    this.setting.count(`network ${fate}`)
    const fail = (error: unknown): void => letters.forEach(({ hears }) => hears.fail(error))
    const answer = (answers: ReadonlyArray<{ readonly code: string } | null>): void =>
      letters.forEach(({ hears }, i) => {
        const each = answers[i]
        if (each === null) hears.accepted()
        else hears.fail(each === undefined ? new Error("a signal before it was refused") : Object.assign(new Error(each.code), each))
      })
    if (fate === "is lost") return void this.clock.at(this.clock.elapsed + 1000, () => fail(new Error("the call was lost")))
    if (fate === "is late") return void this.clock.at(this.clock.elapsed + 1 + this.random(3000), () => void call(rows).then(answer, fail))
    if (fate === "arrives twice") void call(rows).catch(() => {})
    void call(rows).then(fate === "is answered in vain" ? () => fail(new Error("the answer was lost")) : answer, fail)
  }
}

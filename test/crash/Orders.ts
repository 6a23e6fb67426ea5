/**
 * The caller that cancels the durable runs of orders, and the check of their calls: no attempt of a request begins once the beat that
 * ended the request is durable. One that was on its way then may still arrive.
 *
 * @module
 */
import type { Server } from "../scripts/Server.ts"
import type { CountingServer, Moment } from "./CountingServer.ts"
import * as Project from "./OrderProject.ts"

/** The part of a row of `GET …/runs` that names its order. */
interface RunRow {
  readonly oid: string
  readonly enzyme: string
  readonly state: string
  readonly awaits?: ReadonlyArray<{ readonly object: string }>
}

const numberOf = ({ awaits = [] }: RunRow): number | undefined => {
  const place = awaits.map(({ object }) => /\/data\/orders\/(\d+)$/.exec(object)?.[1]).find((n) => n !== undefined)
  return place === undefined ? undefined : Number(place)
}

const letterOf = (n: number): string => `order run/cancelled /signals/order/${n}/${Project.kindOf(n)}`

const ask = async <A>(url: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: A }> => {
  const response = await fetch(url, init)
  return { status: response.status, body: await response.json() as A }
}

/** The orders of one space, by the numbers of their events. */
export class Orders {
  /** The moments at which the cancellations of the orders were known to be durable. */
  private readonly ends = new Map<number, Moment>()
  private readonly asked = new Set<number>()
  private readonly refused: Array<string> = []
  private heard: () => void = () => {}
  private readonly partner: CountingServer
  private readonly space: string

  constructor(partner: CountingServer, space: string) {
    this.partner = partner
    this.space = space
  }

  /** Whether an order of these events waits for its cancellation, or will. */
  areAwaited(events: ReadonlySet<number>): boolean {
    return [...events].some((n) => Project.kindOf(n) !== undefined && Project.followerOf(n) === undefined && !this.ends.has(n))
  }

  /** Waits for the next cancellation. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.heard = resolve
    })
  }

  /** Cancels a share of the orders that wait, until the server ends. */
  async cancelSome(server: Server, draw: (bound: number) => number): Promise<void> {
    const isRunning = (): boolean => server.process.exitCode === null && server.process.signalCode === null
    try {
      while (isRunning()) await this.cancel(server, () => draw(2) === 0)
    } catch (error) {
      if (!(error instanceof TypeError)) this.refused.push(String(error))
    }
  }

  /** Cancels the chosen ones of the orders that wait. Returns how many there are. */
  async cancel(server: Server, isChosen: () => boolean): Promise<number> {
    let count = 0
    for (const [oid, n] of await this.waiting(server)) {
      count++
      if (!isChosen()) continue
      this.asked.add(n)
      const run = `${server.url}${this.space}/runs/${oid}`
      const { status } = await ask(`${run}/cancel${Project.kindOf(n) === "now" ? "?now" : ""}`, { method: "POST" })
      // Another cancellation was before.
      if (status !== 200 && status !== 409) this.refused.push(`the cancellation of order ${n} was answered ${status}`)
      while ((await ask<{ readonly cancel?: string }>(run)).body.cancel !== undefined) continue
      if (!this.ends.has(n)) this.ends.set(n, this.partner.now)
      this.heard()
    }
    return count
  }

  /** The runs that wait for nothing but their cancellation. */
  private async waiting(server: Server): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>()
    for (let after: string | null = ""; after !== null;) {
      const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`
      const { body } = await ask<{ readonly runs: ReadonlyArray<RunRow>; readonly next: string | null }>(
        `${server.url}${this.space}/runs?limit=100${query}`
      )
      for (const run of body.runs) {
        const n = run.enzyme === "order" && run.state === "waiting" ? numberOf(run) : undefined
        if (n !== undefined) found.set(run.oid, n)
      }
      after = body.next
    }
    return found
  }

  /** The number of cancelled orders. */
  get cancelled(): number {
    return this.ends.size
  }

  /** The dead letters of the cancelled orders: enzyme, code and signal. */
  get letters(): ReadonlyArray<string> {
    return Array.from(this.ends.keys(), letterOf)
  }

  /** The dead letters of all orders whose cancellation was asked for, even if no answer came. */
  get possibleLetters(): ReadonlyArray<string> {
    return Array.from(this.asked, letterOf)
  }

  /** The faults of the cancellations, and of the calls after the end of each order. */
  get faults(): ReadonlyArray<string> {
    const faults = [...this.refused]
    for (const [path, { moments }] of this.partner.calls) {
      const [opcode = "", n = ""] = path.split("/")
      if (![...Project.REFUSED, ...Project.UNANSWERED].includes(opcode)) continue
      const follower = Project.followerOf(Number(n))
      const end = follower === undefined ? this.ends.get(Number(n)) : this.partner.calls.get(follower)?.moments[0]
      const after = end === undefined ? [] : moments.filter(({ call }) => call >= end.call)
      const isOnItsWay = after.length === 1 && after[0]?.life === end?.life
      if (after.length > 0 && !isOnItsWay) faults.push(`${path} was called ${after.length} times after its end`)
    }
    return faults
  }
}

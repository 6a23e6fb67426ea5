/**
 * A ledger in memory whose server outlives the process of a wake: an event that it accepted is handled, also if the process is
 * killed meanwhile. A run takes some calls of the ledger.
 *
 * @module
 */
import { Clock, Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type SpaceClient, type LedgerFailed } from "../../plugins/agent/order/SpaceClient.ts"
import type { Order } from "../../plugins/agent/order/Order.ts"
import * as Orders from "../../plugins/agent/order/Order.ts"
import * as Record from "../../plugins/agent/order/Record.ts"
import type * as Random from "../support/Random.ts"

/** A program that was started: the attempt, and the time of its order. */
export interface Start extends Pick<Order, "action" | "occurrence" | "attempt"> {
  readonly at: number
  readonly digest: string
}

/** An event that the server has accepted, and that has not ended. */
interface Job {
  readonly id: string
  readonly order: Order
  /** The calls of the ledger until its run begins, and then those until its end. */
  left: number
  begun: Record.Record | undefined
}

export class FaultySpaceClient {
  readonly cells = new Map<string, unknown>()
  readonly starts: Array<Start> = []
  /** Runs while a program runs. */
  during: () => Effect.Effect<void> = () => Effect.void
  /** Whether a program fails. */
  isFailing = (): boolean => this.draw(5) === 0
  private readonly ids = new Set<string>()
  private jobs: ReadonlyArray<Job> = []
  /** The clock of the space, which never goes back. */
  private clock = 0
  private readonly draw: Random.Random

  constructor(draw: Random.Random) {
    this.draw = draw
  }

  private readonly now = Effect.map(Clock.currentTimeMillis, (host) => {
    this.clock = Math.max(this.clock, host)
    return this.clock
  })

  private isPermitted({ id, order }: Job): boolean {
    if (!isDeepStrictEqual(this.cells.get(Orders.permit(order.file, order.action)), order)) return false
    const record = Record.read(this.cells.get(Record.cell(order.file, order.action)))
    return !Record.isOf(record, order) || record.event === id
  }

  private readonly begin = Effect.fnUntraced({ self: this }, function*(this: FaultySpaceClient, job: Job) {
    const { action, at = 0, attempt, attempts, digest = "", file, occurrence, pendings } = job.order
    if (!this.isPermitted(job)) return false
    this.starts.push({ action, at, attempt, digest, occurrence })
    const startedAt = yield* this.now
    job.begun = { action, event: job.id, occurrence, attempt, attempts, pendings, at, digest, startedAt, status: "running" }
    this.cells.set(Record.cell(file, action), job.begun)
    job.left = 1 + this.draw(4)
    yield* this.during()
    return true
  })

  private readonly end = Effect.fnUntraced({ self: this }, function*(this: FaultySpaceClient, { begun, id, order }: Job) {
    const cell = Record.cell(order.file, order.action)
    const last = Record.read(this.cells.get(cell))
    if (begun === undefined || last?.event !== id || last.status !== "running") return
    const finishedAt = yield* this.now
    const end = this.isFailing()
      ? { status: "failed" as const, failure: { code: "agent/exit", message: "exit code 1" } }
      : { status: "completed" as const, result: "exit 0" }
    this.cells.set(cell, { ...begun, finishedAt, ...end })
  })

  /** The server goes on by one step. */
  readonly tick = Effect.fnUntraced({ self: this }, function*(this: FaultySpaceClient) {
    for (const job of this.jobs) {
      if (--job.left > 0) continue
      if (job.begun === undefined && (yield* this.begin(job))) continue
      yield* this.end(job)
      this.jobs = this.jobs.filter((each) => each !== job)
    }
  })

  private list(cell: string): ReadonlyArray<string> {
    return [...this.cells.keys()].filter((each) => each.startsWith(`${cell}/`)).map((each) => each.slice(cell.length + 1)).sort()
  }

  /** The ledger as a process sees it. `before` runs before each call, and may kill the process. */
  service(before: (call: string) => void): SpaceClient["Service"] {
    const call = <A>(name: string, run: () => A): Effect.Effect<A, LedgerFailed> => Effect.suspend(() => {
      before(name)
      return Effect.as(this.tick(), undefined).pipe(Effect.map(run))
    })
    return {
      queries: Effect.succeed(["/signals/agent/shell"]),
      get: (cell) => call("get", () => structuredClone(this.cells.get(cell))),
      all: (cell) => call("all", () => this.list(cell).map((name) => structuredClone(this.cells.get(`${cell}/${name}`)))),
      list: (cell) => call("list", () => this.list(cell)),
      set: (cell, value) => call("set", () => void this.cells.set(cell, structuredClone(value))),
      remove: (cell) => call("remove", () => void this.cells.delete(cell)),
      changed: () => Effect.suspend(() => {
        before("changed")
        return this.tick()
      }),
      send: ({ id, payload }) => Effect.gen({ self: this }, function*() {
        yield* call("send", () => undefined)
        if (!this.ids.has(id)) this.jobs = [...this.jobs, { id, order: payload as Order, left: this.draw(3), begun: undefined }]
        this.ids.add(id)
        while (this.jobs.some((job) => job.id === id)) yield* call("sent", () => undefined)
        return "handled" as const
      })
    }
  }
}

/**
 * Random histories of a space: signals, beats, power cuts and disk faults in any
 * order, checked against a reference model of the handlings.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Event, PostedSignal, Settings, Space, Transaction } from "systole"
import { defaults, Fatal, Retry } from "systole"
import * as Random from "../support/Random.ts"
import { enzyme, turns } from "./TestSpace.ts"
import * as TestMachine from "./TestMachine.ts"

/** The instructions in the payload of an event. */
interface Work {
  readonly n: number
  /** The number of failing attempts before the first success. */
  readonly fails: number
  /** True if the run aborts its beat instead. */
  readonly fatal: boolean
  /** True if the run writes the document that all such runs write. */
  readonly hot: boolean
  /** The delay in beats of the signal that the run sends; negative for none. */
  readonly sends: number
}

const LANES = 3

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const perform = (tx: Transaction, { attempt, params, payload }: Event): unknown => {
  const work = payload as Work
  if (work.fatal) return new Fatal({ reason: "as asked" })
  if (attempt <= work.fails) return new Retry({ reason: "as asked" })
  tx.increment(`/data/done/${work.n}`)
  tx.append(`/data/order/${params["lane"]}`, work.n)
  if (work.hot) tx.set("/data/hot", work.n)
  if (work.sends >= 0) tx.signal({ signal: "/signals/child", payload: work.n, at: { beats: work.sends } })
  return work.n
}

const enzymes = [
  // Every third run is asynchronous, so that faults occur while a beat is in progress.
  enzyme(
    "work",
    (tx, event) => (event.payload as Work).n % 3 === 0 ? turn().then(() => perform(tx, event)) : perform(tx, event),
    { query: "/signals/work/:lane", onFatal: "continue" }
  ),
  enzyme("loose", (_, { attempt, payload }) => attempt <= (payload as Work).fails * 2 ? new Retry({ reason: "slow" }) : undefined, {
    query: "/signals/work/:lane",
    order: "loose"
  }),
  enzyme("child", (tx, { payload }) => tx.increment(`/data/done/${payload}c`))
]

/** One history, from its seed. */
class RandomHistory {
  private readonly machine: TestMachine.TestMachine
  private readonly draw: (bound: number) => number
  private readonly settings: Partial<Settings>
  private space: Space
  private posted: Array<{ readonly work: Work; readonly lane: number; readonly signal: PostedSignal; id: string | undefined }> = []

  constructor(machine: TestMachine.TestMachine, space: Space, origin: { readonly seed: number; readonly settings: Partial<Settings> }) {
    this.machine = machine
    this.space = space
    this.draw = Random.make(origin.seed)
    this.settings = origin.settings
  }

  private readonly beat = Effect.suspend(() => this.settings.pace === "demand" ? turns(2) : Effect.ignore(this.space.step))

  private make() {
    const { draw } = this
    const lane = draw(LANES)
    const work: Work = {
      n: this.posted.length, fails: draw(4) === 0 ? 1 + draw(2) : 0, fatal: draw(12) === 0, hot: draw(3) === 0, sends: draw(6) - 2
    }
    const id = draw(2) === 0 ? { id: `caller-${work.n}` } : {}
    const made = {
      work, lane, signal: { signal: `/signals/work/${lane}`, payload: work, ...id } as PostedSignal, id: undefined as string | undefined
    }
    this.posted.push(made)
    return made
  }

  private readonly post = Effect.fnUntraced(function*(this: RandomHistory) {
    const made = this.make()
    made.id = (yield* this.space.signal(made.signal)).id
  })

  private readonly repeat = Effect.fnUntraced(function*(this: RandomHistory) {
    const known = this.posted.filter(({ id, signal }) => id !== undefined && signal.id !== undefined)
    const again = known[this.draw(Math.max(1, known.length))]
    if (again === undefined) return
    const answer = yield* this.space.signal(again.signal)
    assert.isTrue(answer.duplicate)
    assert.strictEqual(answer.id, again.id)
  })

  /** Cuts the power while a signal, a beat or both are in progress. */
  private readonly cut = Effect.fnUntraced(function*(this: RandomHistory) {
    const made = this.make()
    const signal = yield* Effect.forkChild(Effect.result(this.space.signal(made.signal)), { startImmediately: true })
    if (this.draw(2) === 0) yield* Effect.forkChild(this.beat, { startImmediately: true })
    yield* turns(this.draw(6))
    this.space = yield* this.machine.boot(enzymes, this.settings)
    yield* turns()
    const answer = signal.pollUnsafe()
    if (answer !== undefined) {
      const result = yield* Fiber.join(signal)
      if (result._tag === "Success") made.id = result.success.id
    }
  })

  /** Fails a flush; the kernel reopens the space. */
  private readonly fault = Effect.fnUntraced(function*(this: RandomHistory) {
    this.machine.breakDisk(true)
    yield* Effect.flip(this.space.signal(this.make().signal))
    this.machine.breakDisk(false)
    this.space = yield* this.machine.open
  })

  /** Performs `length` random steps, then runs beats until the space is idle. */
  readonly run = Effect.fnUntraced(function*(this: RandomHistory, length: number) {
    for (let i = 0; i < length; i++) {
      const kind = this.draw(12)
      if (kind < 5) yield* this.post()
      else if (kind < 9) yield* this.beat
      else if (kind === 9) yield* this.repeat()
      else if (kind === 10) yield* this.cut()
      else yield* this.fault()
      if (this.draw(4) === 0) yield* TestClock.adjust(this.draw(30))
      // The wakes of a kernel that was cut off would run early, too.
      if (this.settings.pace === "manual" && this.draw(8) === 0) yield* this.machine.clock.set(this.draw(40_000) - 20_000)
    }
    // A host that is a little behind is waited for.
    yield* this.beat
    yield* TestClock.adjust(defaults.behindMillis)
    for (let i = 0; i < 60 + 4 * this.posted.length; i++) {
      yield* TestClock.adjust(10)
      yield* this.beat
    }
    yield* this.space.idle
  })

  /** Asserts that each accepted event was handled exactly once, in the order of its lane, and each other event at most once. */
  readonly check = Effect.fnUntraced(function*(this: RandomHistory) {
    const { space } = this
    for (const { id, work } of this.posted) {
      const done = (yield* space.get(`/data/done/${work.n}`)) ?? 0
      const sent = (yield* space.get(`/data/done/${work.n}c`)) ?? 0
      assert.strictEqual(sent, work.sends < 0 ? 0 : done as number, `what ${work.n} sent`)
      if (id === undefined) {
        assert.isAtMost(done as number, 1, `${work.n} was not accepted`)
        continue
      }
      assert.strictEqual(done, work.fatal ? 0 : 1, `${work.n} as ${id}`)
      const receipt = yield* space.receipt(id)
      assert.strictEqual(receipt?.status, work.fatal ? "dead" : "handled", `${work.n} as ${id}`)
      assert.deepStrictEqual(receipt?.handlings.map(({ enzyme }) => enzyme).toSorted(), ["loose", "work"])
    }
    for (let lane = 0; lane < LANES; lane++) {
      const order = ((yield* space.get(`/data/order/${lane}`)) ?? []) as ReadonlyArray<number>
      assert.deepStrictEqual(order, order.toSorted((a, b) => a - b), `lane ${lane}`)
    }
  })
}

/** Runs one history of `length` steps and checks its outcome. */
export const check = (seed: number, length: number, pace: Settings["pace"]) =>
  Effect.scoped(Effect.gen(function*() {
    const machine = yield* TestMachine.make
    // Every other history runs with low limits, so that signals and state spill to the store.
    const limits = seed % 2 === 0
      ? defaults
      : { ...defaults, captureSignals: 3, captureBytes: 200, groupBeats: 2, residentBytes: 2000, backoffBeats: 3 }
    const settings = { tempo: 10, pace, limits }
    const history = new RandomHistory(machine, yield* machine.boot(enzymes, settings), { seed, settings })
    yield* history.run(length)
    yield* history.check()
  }))

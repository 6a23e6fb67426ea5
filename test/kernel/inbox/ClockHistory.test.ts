import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Space } from "systole"
import * as Random from "../../support/Random.ts"
import * as Trials from "../../support/Trials.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { enzyme, replays, turns } from "../TestSpace.ts"

const BEHIND = 5000
const START = 1_000_000
const tempo = 100

/** Sends signals after a wait, from a beat, and notes the dates of their runs. */
const enzymes = [
  enzyme("send", (tx, { payload }) => {
    const { at, n } = payload as { readonly n: number; readonly at: { readonly ms: number } }
    tx.set(`/data/begun/${n}`, tx.now)
    tx.signal({ signal: "/signals/come", payload: n, at })
  }),
  enzyme("come", (tx, { payload }) => tx.set(`/data/came/${payload}`, tx.now))
]

/** A wait of the model: the clock at which it ends. */
interface Wait {
  readonly n: number
  readonly due: number
}

/** The reference model: the clock of a space, over a host that is set at random. */
class ClockModel {
  host = START
  ahead = 0
  /** As the newest beat captured it. A restart of a space without waits forgets the rest. */
  captured = 0
  shifted = 0
  offset = 0
  /** The clock of the newest beat or wait. */
  newest = 0
  readonly waits: Array<Wait> = []

  /** The clock: it waits for a host that is a little behind, and else goes on. */
  get now(): number {
    const now = this.host + this.ahead
    if (now >= this.newest - BEHIND) return now
    this.ahead += this.newest - now
    this.offset = this.ahead - this.shifted
    return this.newest
  }

  reset(): number {
    const { now, offset } = this
    this.newest = Math.max(this.newest, now)
    this.shifted += this.offset
    this.offset = 0
    return offset
  }
}

const opened = (machine: RestartableKernel.RestartableKernel) =>
  Effect.flatMap(machine.boot({ tempo, pace: "demand" }), (kernel) => kernel.space("home"))

class History {
  readonly model = new ClockModel()
  private readonly machine: RestartableKernel.RestartableKernel
  private readonly draw: (bound: number) => number
  private space: Space
  private n = 0
  private beat = -1
  readonly met = new Set<string>()

  constructor(machine: RestartableKernel.RestartableKernel, space: Space, draw: (bound: number) => number) {
    this.machine = machine
    this.space = space
    this.draw = draw
  }

  private readonly settle = Effect.fnUntraced(function*(this: History) {
    yield* turns(4)
    const beat = yield* this.space.head
    const row = yield* this.space.journal(beat)
    if (beat > this.beat && this.model.now > 0) this.model.captured = this.model.ahead
    this.beat = beat
    this.model.newest = Math.max(this.model.newest, row?.clock ?? 0)
  })

  private readonly send = Effect.fnUntraced(function*(this: History) {
    const { draw, model } = this
    const n = this.n++
    const ms = draw(3) === 0 ? draw(200_000) : draw(3000)
    const isInBeats = draw(2) === 0
    const at = isInBeats ? { beats: Math.ceil(ms / tempo) } : { ms }
    const length = isInBeats ? Math.ceil(ms / tempo) * tempo : ms
    const { newest } = model
    if (draw(2) === 0) {
      yield* this.space.handled({ signal: "/signals/send", payload: { n, at } })
      yield* this.settle()
      const begun = (yield* this.space.get(`/data/begun/${n}`)) as number
      // A beat is never before the newest one.
      assert.strictEqual(begun, Math.max(model.now, newest) - model.shifted, `${n}`)
      model.waits.push({ n, due: begun + model.shifted + length })
    } else {
      const { now } = model
      yield* this.space.signal({ signal: "/signals/come", payload: n, at })
      model.newest = Math.max(model.newest, now)
      model.waits.push({ n, due: now + length })
    }
  })

  private readonly pass = Effect.fnUntraced(function*(this: History) {
    const ms = this.draw(4) === 0 ? this.draw(100_000) : this.draw(2000)
    this.model.host += ms
    yield* TestClock.adjust(ms)
  })

  private readonly set = Effect.fnUntraced(function*(this: History) {
    const { draw } = this
    const size = [BEHIND - 1, 2 * BEHIND, 50_000, 40_000_000][draw(4)]!
    const by = (draw(2) === 0 ? 1 : -1) * draw(size)
    this.met.add(by < -BEHIND ? "far back" : by < 0 ? "back" : "ahead")
    this.model.host += by
    yield* this.machine.clock.set(by)
  })

  private readonly boot = Effect.fnUntraced(function*(this: History) {
    this.space = yield* opened(this.machine)
    this.model.ahead = this.model.captured
    this.model.offset = this.model.ahead - this.model.shifted
  })

  private readonly reset = Effect.fnUntraced(function*(this: History) {
    const expected = this.model.reset()
    if (expected > 0) this.met.add("reset")
    const { offset } = yield* this.space.control.resetClock()
    assert.strictEqual(offset, expected)
  })

  /** Asserts that the waits that are due are over, and no other ones. */
  private readonly check = Effect.fnUntraced(function*(this: History) {
    const { model, space } = this
    yield* turns(4)
    yield* this.settle()
    const { now } = model
    for (const { due, n } of model.waits) {
      const came = (yield* space.get(`/data/came/${n}`)) !== undefined
      if (due <= now) assert.isTrue(came, `${n} is due at ${due}, and it is ${now}`)
      if (due > Math.max(now, model.newest)) assert.isFalse(came, `${n} is due at ${due}, and it is ${now}`)
    }
    const { date, host, offset } = yield* space.control.clock
    assert.deepStrictEqual({ date, host, offset }, { date: now - model.shifted, host: model.host, offset: model.offset })
  })

  readonly run = Effect.fnUntraced(function*(this: History, length: number) {
    for (let i = 0; i < length; i++) {
      const kind = this.draw(12)
      if (kind < 4) yield* this.send()
      else if (kind < 8) yield* this.pass()
      else if (kind < 10) yield* this.set()
      else if (kind === 10) yield* this.boot()
      else yield* this.reset()
      yield* this.check()
    }
    yield* replays(this.space)
  })
}

describe("The clock of a space, in any order of waits, restarts, resets, and steps of the host's clock both ways", () => {
  it.effect("ends each wait when the reference model says so, and replays", () =>
    Effect.gen(function*() {
      const met = new Set<string>()
      yield* TestClock.adjust(START)
      for (const seed of Trials.seeds(48, { from: 1, least: 6, always: [60, 76] })) {
        const history = Effect.scoped(Effect.gen(function*() {
          const machine = yield* RestartableKernel.make(enzymes)
          yield* machine.clock.set(START - (yield* machine.clock.now))
          const space = yield* opened(machine)
          const history = new History(machine, space, Random.make(seed))
          yield* history.run(40)
          for (const kind of history.met) met.add(kind)
        }))
        yield* history.pipe(
          Effect.catchDefect((defect) => Effect.die(new Error(`seed ${seed}: ${(defect as Error).message}`, { cause: defect })))
        )
      }
      assert.deepStrictEqual([...met].toSorted(), ["ahead", "back", "far back", "reset"])
    }))
})

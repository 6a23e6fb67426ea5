import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Space } from "systole"
import * as FinishedRecords from "../../support/FinishedRecords.ts"
import * as Random from "../../support/Random.ts"
import * as SetClock from "../../support/SetClock.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import * as Trials from "../../support/Trials.ts"
import * as RestartableKernel from "../RestartableKernel.ts"
import { replays, turns } from "../TestSpace.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The time since a record of the model was finished. */
interface Aged {
  age: number
  /** The part of the newest jump that may still become age. */
  owed: number
}

/** A note of a beat about its clock. */
type Noted = readonly [verb: string, millis: number]

/** The reference model: ages grow with the clock, and those of a jump once it is confirmed. */
class AgeModel {
  readonly kept = new Map<string, Aged>()
  readonly met = new Set<string>()
  private readonly finishedMillis: number
  private newest: number | undefined
  private jumpedAt = -Infinity
  private offset = 0
  private shifted = 0

  constructor(finishedMillis: number) {
    this.finishedMillis = finishedMillis
  }

  /** A beat at a clock, which finished these records. */
  beat(clock: number, noted: ReadonlyArray<Noted>, names: ReadonlyArray<string>): void {
    const passed = clock - (this.newest ?? clock)
    const isJump = noted.some(([verb]) => verb === "jump" || verb === "sleep")
    if (isJump) assert.isAbove(passed, DAY)
    if (clock >= this.jumpedAt + DAY) this.settle("confirmed", (aged) => aged.age += aged.owed)
    for (const aged of this.kept.values()) {
      if (isJump) aged.owed = passed
      else aged.age += passed
    }
    if (isJump) this.jumpedAt = clock
    for (const [verb, millis] of noted) {
      if (verb === "ahead") this.ahead(millis)
      else if (verb === "reset") this.reset()
      else this.met.add(verb)
    }
    for (const [name, { age }] of this.kept) {
      if (age < this.finishedMillis) continue
      this.kept.delete(name)
      this.met.add("expired")
    }
    for (const name of names) this.kept.set(name, { age: 0, owed: 0 })
    this.newest = clock
  }

  private settle(how: string, use: (aged: Aged) => void): void {
    for (const aged of this.kept.values()) {
      if (aged.owed === 0) continue
      this.met.add(how)
      use(aged)
      aged.owed = 0
    }
  }

  /** The host went back: so much of the jump did not pass. */
  private ahead(millis: number): void {
    const back = millis - this.shifted - this.offset
    for (const aged of this.kept.values()) {
      if (aged.owed > 0) this.met.add("taken back")
      aged.owed = Math.max(0, aged.owed - back)
    }
    this.offset += back
  }

  private reset(): void {
    if (this.offset === 0) this.settle("reset", () => {})
    this.shifted += this.offset
    this.offset = 0
  }
}

/** A random life: the space works, sleeps with and without its process, and the clock of its host is set at random. */
const live = Effect.fnUntraced(function*(seed: number, met: Set<string>) {
  const draw = Random.make(seed)
  const machine = yield* RestartableKernel.make([FinishedRecords.finish], undefined, SetClock.make({ isMonotonic: true }))
  yield* TestClock.adjust(DAY)
  const finishedMillis = [HOUR, 20 * HOUR, 3 * DAY, 10 * DAY][draw(4)]!
  const limits = { ...TestKernel.settings.limits, finishedMillis }
  const settings = { tempo: 100, pace: "demand", limits, retention: { journalMillis: 1000 * DAY } } as const
  const boot = Effect.flatMap(machine.boot(settings), (kernel) => kernel.space("home"))
  const model = new AgeModel(finishedMillis)
  const time = () => [draw(HOUR), draw(DAY), DAY + draw(2 * DAY), draw(15 * DAY)][draw(4)]!
  let space: Space = yield* boot
  let seen = -1
  for (let move = 0; move < 40; move++) {
    const kind = draw(10)
    if (kind < 2) yield* TestClock.adjust(time())
    else if (kind < 4) yield* machine.clock.set((draw(2) === 0 ? 1 : -1) * (5000 + time()))
    else if (kind < 7) {
      if (draw(4) === 0) yield* machine.clock.set((draw(2) === 0 ? 1 : -1) * (5000 + time()))
      yield* TestClock.adjust(time())
      space = yield* boot
    } else if (kind === 7) yield* space.control.resetClock()
    const name = `${move}`
    if (draw(3) > 0) yield* space.handled({ signal: "/signals/finish", payload: name })
    yield* turns(4)
    const head = yield* space.head
    for (let beat = seen + 1; beat <= head; beat++) {
      const { clock, text } = (yield* space.journal(beat))!
      const { control = [] } = JSON.parse(text.split("\n")[0]!) as {
        readonly control?: ReadonlyArray<readonly [kind: string, verb: string, millis: number]>
      }
      const noted = control.flatMap(([kind, verb, millis]): ReadonlyArray<Noted> => kind === "clock" ? [[verb, millis]] : [])
      model.beat(clock, noted, text.includes("/signals/finish") ? [name] : [])
    }
    seen = head
    assert.deepStrictEqual(yield* FinishedRecords.kept(space), [...model.kept.keys()].toSorted(), `after move ${move}`)
  }
  for (const event of model.met) met.add(event)
  yield* replays(space)
})

describe("Finished records, in any order of work, sleeps, restarts, resets, and steps of the host's clock both ways", () => {
  it.effect("expire by the confirmed clock of the reference model, and replay", () =>
    Effect.gen(function*() {
      const met = new Set<string>()
      for (const seed of Trials.seeds(48, { from: 1, least: 8 })) {
        yield* Effect.scoped(live(seed, met)).pipe(
          Effect.catchCause((cause) => Effect.die(new Error(`seed ${seed}`, { cause })))
        )
      }
      assert.deepStrictEqual([...met].toSorted(), ["confirmed", "expired", "jump", "reset", "sleep", "taken back"])
    }))
})

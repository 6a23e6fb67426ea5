import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Kernel, Retry } from "systole"
import * as Document from "../../../src/cell/Document.ts"
import type { Value } from "../../../src/cell/Value.ts"
import { execute, Schedules } from "../../../src/kernel/beat/command/Schedules.ts"
import * as SchedulePlan from "../../../src/kernel/model/SchedulePlan.ts"
import * as Signal from "../../../src/kernel/model/Signal.ts"
import * as Write from "../../../src/stage/write/Write.ts"
import * as SqliteFolder from "../../persistence/SqliteFolder.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, replays, turns } from "../TestSpace.ts"
import { demand, HOUR, scheduled } from "./ScheduledEnzyme.ts"

/** The plan of a schedule as earlier versions wrote it: its newest event is open, and known by its signal and due time. */
const earlier = { schedule: "every 1m", next: 120_000, last: 60_000 }

const enzymes = (version: number) => ({
  scheduleVersion: version,
  all: () => [{ id: "tick", name: "tick", enzyme: { query: "/signals/tick", schedule: { every: "1m" } } }],
  leftOut: () => []
})

/** The parts of a space with that plan. */
const stateOf = (plan: object) => ({
  space: "home",
  clock: { shifted: 0 },
  documents: { children: () => ["tick"], read: () => Document.encode(plan as Value) },
  enzymes: enzymes(1),
  mode: { gated: false },
  settings: { limits: { scheduleMillis: 1, captureSignals: 100 } }
}) as unknown as Parameters<Schedules["nextDue"]>[0]

const sent = (id: string, due: number): Signal.Signal =>
  Signal.make({ id, signal: "/signals/tick", target: undefined, payload: Document.encode({ due }), at: undefined }, {
    origin: "run", depth: 0, expected: 2, to: undefined
  })

describe("a plan of an earlier version", () => {
  it("waits for its open event, and goes on by its end", () => {
    const schedules = new Schedules()
    const [event, other] = [sent("1.due.0", 60_000), sent("1.due.1", 30_000)]
    const state = stateOf(earlier)
    for (const signal of [event, other]) schedules.restore(signal)
    assert.isUndefined(schedules.nextDue(state))
    schedules.committed({ completed: [{ signal: other }, { signal: event }] as never, queued: [] })
    assert.strictEqual(schedules.nextDue(state), 120_000)
    const [queued] = schedules.commands(state, 120_000)
    assert.deepInclude(queued?.command, { event: { signal: "/signals/tick", due: 120_000, named: true } })
  })

  it("is written as before by a command of the journal that does not name its event", () => {
    for (const [named, event] of [[{}, undefined], [{ named: true }, "7.due.3"]] as const) {
      const written: Array<Write.Write> = []
      const due = { signal: "/signals/tick", due: 60_000, ...named }
      execute({ kind: "schedule", enzyme: "tick", plan: earlier, event: due }, {
        draft: { operate: (writes: ReadonlyArray<Write.Write>) => void written.push(...writes) },
        transaction: { moment: { beat: 7 }, unawaited: 3, send: () => {} },
        state: { number: () => 1 }
      } as unknown as Parameters<typeof execute>[1])
      assert.deepStrictEqual(written, [
        Write.set(SchedulePlan.addressOf("tick"), event === undefined ? earlier : { ...earlier, event })
      ])
    }
  })
})

describe("a schedule", () => {
  it.effect("is kept with its waits in a file of SQLite, over kernels that end", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const { log, made } = scheduled({ every: "1h" })
      const retry = new Retry({ reason: "not yet", after: "90m" })
      const late = enzyme("late", (_, { attempt }) => attempt === 1 ? retry : void log.push("late"))
      const lived = <A, E>(life: (kernel: Kernel["Service"]) => Effect.Effect<A, E>) =>
        Effect.gen(function*() {
          const kernel = yield* Kernel
          yield* kernel.register(made)
          yield* kernel.register(late)
          yield* kernel.resume
          yield* turns()
          return yield* life(kernel)
        }).pipe(Effect.provide(TestKernel.layer({ ...demand, first: "home" }, SqliteFolder.layerIn(folder))))
      yield* lived((kernel) => Effect.flatMap(kernel.space("home"), (space) => space.signal({ signal: "/signals/late" })))
      yield* TestClock.adjust(2 * HOUR)
      yield* lived((kernel) => Effect.gen(function*() {
        const space = yield* kernel.space("home")
        yield* space.idle
        yield* replays(space)
      }))
      // A replay runs them once more.
      assert.deepStrictEqual([...new Set(log)].sort(), [`${2 * HOUR}: ${HOUR} ${3 * HOUR}`, "late"])
    })))
})

/**
 * A watchdog in memory, for tests that end a process and start the next.
 *
 * @module
 */
import { Effect, Fiber } from "effect"
import type { Event, Space, Transaction } from "systole"
import * as RunBoard from "../../src/kernel/watchdog/RunBoard.ts"
import * as Watchdog from "../../src/kernel/watchdog/Watchdog.ts"
import type { WatchdogHost } from "../../src/kernel/watchdog/WatchdogHost.ts"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"

/** The watchdog records of successive processes over one data folder. */
export interface TestWatchdog {
  /** Starts the next process and returns its watchdog. */
  readonly start: () => WatchdogHost
  /** Ends the process by its watchdog, and marks the blamed runs. */
  readonly bark: () => void
  /** Ends the process during the run of a node. */
  readonly mark: (space: string, beat: number, node: string) => void
  /** Ends the process cleanly. */
  readonly close: () => void
  /** The marks of a space. */
  readonly marks: (space: string) => ReadonlyArray<RunBoard.Mark>
  /** The number of durable writes of marks. */
  readonly notes: () => number
}

export const make = (): TestWatchdog => {
  const marks = new Map<string, ReadonlyArray<RunBoard.Mark>>()
  let begun = new Map<string, number>()
  let board = new RunBoard.RunBoard()
  let notes = 0
  return {
    start: () => {
      const began = begun
      begun = new Map()
      board = new RunBoard.RunBoard()
      return {
        board,
        // The thread never returns from a run that never returns.
        afterTurn: () => {},
        recordOf: (space) => ({ marks: marks.get(space) ?? [], began: began.get(space) }),
        begin: (space, head) => void begun.set(space, head),
        close: (space) => {
          began.delete(space)
          begun.delete(space)
        },
        note: (space, noted) => {
          if (noted.length > 0) notes++
          marks.set(space, noted)
        }
      }
    },
    bark: () => {
      for (const run of RunBoard.blame(board.runs())) marks.set(run.space, RunBoard.mark(run, marks.get(run.space) ?? []))
    },
    mark: (space, beat, node) => void marks.set(
      space,
      RunBoard.mark(
        { place: 0, progress: 0, limitMs: 0, space, beat, enzyme: "", event: "", node, hasReturned: false },
        marks.get(space) ?? []
      )
    ),
    close: () => {
      begun = new Map()
    },
    marks: (space) => marks.get(space) ?? [],
    notes: () => notes
  }
}

const never = () => new Promise<void>(() => {})

/** An enzyme that never returns for the payload `poison`, and counts other payloads. */
const counting = (name: string, poison: string, options = {}) =>
  enzyme(
    name,
    (tx: Transaction, { payload }: Event) => payload === poison ? never() : tx.increment(`/data/${name}/${String(payload)}`),
    { query: "/signals/s/:n", limitMs: 3_600_000, ...options }
  )

/** Runs beats until the blocked run has started. */
export const reached = (space: Space) => Effect.gen(function*() {
  const fiber = yield* Effect.forkChild(Effect.exit(steps(space, 100)), { startImmediately: true })
  yield* Effect.promise(async () => {
    for (let i = 0; i < 400; i++) await new Promise<void>((resolve) => void setImmediate(resolve))
  })
  yield* Fiber.interrupt(fiber)
})

/** Successive processes over one store, which are ended by the watchdog or by the test. */
export const processes = (poison: string, options = {}) => Effect.gen(function*() {
  const machine = yield* TestMachine.make
  const ends = make()
  const start = () => Effect.provideService(
    machine.boot([counting("poisoned", poison, options), counting("other", "nothing")]),
    Watchdog.CurrentWatchdog,
    Watchdog.make(ends.start())
  )
  return { ends, machine, reach: reached, start }
})

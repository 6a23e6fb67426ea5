/**
 * Effects as bodies of durable runs: their clock, their chance and their tasks are those of the segments.
 *
 * `Effect.sleep`, time-outs and schedules are sleeps of the run. All tasks of the fibers run as microtasks, so a segment
 * ends when the microtask queue is empty.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import type { RunScope } from "../registry/RunScope.ts"
import * as Semantics from "../stage/Semantics.ts"
import type { DurableTransaction } from "./DurableTransaction.ts"
import type { Handle, HandleFollower } from "./Handle.ts"

/** The host of a segment. */
export interface SegmentHost {
  /** Runs a function at the next macrotask. */
  readonly turn: (run: () => void) => void
  readonly scope: RunScope
  /** The context of the Effects of runs. */
  readonly runs: Context.Context<never>
}

/**
 * Starts an Effect over the transaction of a run. The promise rejects with the failure of the Effect.
 */
export const start = (effect: Effect.Effect<unknown, unknown>, tx: DurableTransaction, host: SegmentHost): Promise<unknown> => {
  const { runs, scope: { inside } } = host
  const nextDoubleUnsafe = (): number => tx.random()
  const nextIntUnsafe = (): number => Math.floor((tx.random() - 0.5) * 2 ** 53)
  const body = effect.pipe(
    Effect.provideService(Clock.Clock, clockOf(tx)),
    Effect.provideService(Random.Random, { nextIntUnsafe, nextDoubleUnsafe }),
    Effect.provideService(Scheduler.Scheduler, new Scheduler.MixedScheduler("sync", microtask(inside)))
  )
  if (Semantics.follows(tx, "fibersCancelRequests")) tx.follower = new FiberFollower()
  return Effect.runPromiseExitWith(runs)(body).then((exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    tx.cancellations.endEffect(exit.cause)
    throw Cause.squash(exit.cause)
  })
}

/**
 * Cancels a request with the fiber that awaits it. Code after an await of its own is in no fiber: then it is the fiber that made
 * the request. One without either is loose, since nobody knows whose interruption leaves it behind.
 */
class FiberFollower implements HandleFollower {
  private readonly makers = new WeakMap<Handle, Fiber.Fiber<unknown, unknown>>()

  made(handle: Handle): void {
    const fiber = Fiber.getCurrent()
    if (fiber !== undefined && handle.awaited.kind === "request") this.makers.set(handle, fiber)
  }

  awaited(handle: Handle): void {
    if (handle.awaited.kind !== "request") return
    const fiber = Fiber.getCurrent() ?? this.makers.get(handle)
    const stop = fiber?.addObserver((exit) => {
      if (Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) handle.cancel()
    })
    if (stop === undefined) handle.isLoose = true
    else Promise.prototype.then.call(handle, stop, stop)
  }
}

/** Schedules a task as a microtask in the scope of runs. */
const microtask = (inside: SegmentHost["scope"]["inside"]) => (task: () => void): () => void => {
  let isCancelled = false
  void Promise.resolve().then(() => isCancelled || inside(task))
  return () => {
    isCancelled = true
  }
}

/** The clock of the segments; its sleeps are handles. */
const clockOf = (tx: DurableTransaction): Clock.Clock => {
  const nanos = (): bigint => BigInt(tx.now) * 1_000_000n
  return {
    currentTimeMillisUnsafe: () => tx.now,
    currentTimeMillis: Effect.sync(() => tx.now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => sleep(tx, Duration.toMillis(duration))
  }
}

/** A sleep that an interruption drops. */
const sleep = (tx: DurableTransaction, millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const handle = tx.sleep(millis) as unknown as Handle
    handle.then(() => resume(Effect.void), (error: unknown) => resume(Effect.die(error)))
    return Effect.sync(() => tx.forget(handle))
  })

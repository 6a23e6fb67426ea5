/**
 * Runs Effects for code of the host that awaits promises: with the context of the runtime, until its scope ends.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import type { Hold } from "../../kernel/model/Fibers.ts"
import { RequestRefused } from "./Problem.ts"

/** The choices of a run: `signal` interrupts it. */
interface Options {
  readonly signal?: AbortSignal | undefined
}

/** The choices of a run without a waiter. */
interface Background extends Options {
  /** Receives its failure. */
  readonly failed: (failure: unknown) => void
}

/** The failure of an Effect whose client is gone. No answer to it is read. */
export const gone = new Error("The client of the request is gone")

/** The refusal of a request that the runtime ends before, or while it is in progress. */
export const closed = new RequestRefused({
  code: "runtime/closed",
  reason: "The runtime has ended. Start it again, and send the request then"
})

/** The failure of a request. Only its own signal and the end of the runtime interrupt its Effects. */
export const failureOf = (cause: Cause.Cause<unknown>, signal: AbortSignal | undefined): unknown => {
  if (!Cause.hasInterruptsOnly(cause)) return Cause.squash(cause)
  return signal?.aborted === true ? gone : closed
}

/** Leaves a fiber to its own end. */
const free: Hold = () => {}

/** Runs Effects with one context. */
export class Runner {
  private readonly context: Context.Context<never>
  private readonly hold: Hold

  /** `hold` ends the fibers that are left at the end of a scope. */
  constructor(context: Context.Context<never>, hold: Hold = free) {
    this.context = context
    this.hold = hold
  }

  /** A runner of Effects in a span. */
  under(span: Tracer.AnySpan): Runner {
    return new Runner(Context.add(this.context, Tracer.ParentSpan, span), this.hold)
  }

  /** Rejects with the failure of the Effect; see {@link failureOf}. */
  async promise<A, E>(effect: Effect.Effect<A, E>, options: Options = {}): Promise<A> {
    const exit = await this.exit(effect, options)
    if (Exit.isSuccess(exit)) return exit.value
    throw failureOf(exit.cause, options.signal)
  }

  exit<A, E>(effect: Effect.Effect<A, E>, options: Options = {}): Promise<Exit.Exit<A, E>> {
    return new Promise((resolve) => this.fork(effect, options).addObserver(resolve))
  }

  /** Starts a fiber, which ends by itself, with `signal` or with the runtime. */
  fork<A, E>(effect: Effect.Effect<A, E>, { signal }: Options = {}): Fiber.Fiber<A, E> {
    const fiber = Effect.runForkWith(this.context)(effect, signal === undefined ? {} : { signal })
    this.hold(fiber)
    return fiber
  }

  /** Starts a fiber whose end has no waiter. A failure is handed on, unless the fiber was interrupted. */
  background<A, E>(effect: Effect.Effect<A, E>, { failed, ...options }: Background): Fiber.Fiber<A, E> {
    const fiber = this.fork(effect, options)
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) failed(Cause.squash(exit.cause))
    })
    return fiber
  }

  /** The time in milliseconds since 1970. */
  now(): number {
    return Context.get(this.context, Clock.Clock).currentTimeMillisUnsafe()
  }
}

/** A runner without a runtime, for a host without one. */
export const detached = new Runner(Context.empty())

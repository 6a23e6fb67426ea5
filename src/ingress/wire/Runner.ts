/**
 * Runs Effects for code of the host that awaits promises, with the context of the runtime.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"

/** The choices of a run: `signal` interrupts it. */
interface Options {
  readonly signal?: AbortSignal | undefined
}

/** Runs Effects with one context. */
export class Runner {
  private readonly context: Context.Context<never>

  constructor(context: Context.Context<never>) {
    this.context = context
  }

  /** A runner whose Effects are in a span. */
  under(span: Tracer.AnySpan): Runner {
    return new Runner(Context.add(this.context, Tracer.ParentSpan, span))
  }

  promise<A, E>(effect: Effect.Effect<A, E>, { signal }: Options = {}): Promise<A> {
    return Effect.runPromiseWith(this.context)(effect, signal === undefined ? {} : { signal })
  }

  exit<A, E>(effect: Effect.Effect<A, E>, { signal }: Options = {}): Promise<Exit.Exit<A, E>> {
    return Effect.runPromiseExitWith(this.context)(effect, signal === undefined ? {} : { signal })
  }

  /** Starts a fiber, which ends by itself or with `signal`. */
  fork<A, E>(effect: Effect.Effect<A, E>, { signal }: Options = {}): Fiber.Fiber<A, E> {
    return Effect.runForkWith(this.context)(effect, signal === undefined ? {} : { signal })
  }

  /** The time in milliseconds since 1970. */
  now(): number {
    return Context.get(this.context, Clock.Clock).currentTimeMillisUnsafe()
  }
}

/** A runner without the context of a runtime. */
export const detached = new Runner(Context.empty())

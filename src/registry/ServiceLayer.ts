/**
 * The layers of services: each is built once for a runtime, under the rules of runs.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import { CurrentRunScope, type RunScope } from "./RunScope.ts"
import { ServiceRefused } from "./Services.ts"

/** A layer of services: it takes none of its surroundings. */
export type ServiceLayer = Layer.Layer<never, unknown>

/** The services of a built layer. */
export interface Provided {
  readonly context: Context.Context<never>
  /** Ends the layer once no run uses it, after the beats in progress. It waits for none of them. */
  readonly retire: Effect.Effect<void>
}

/** A layer with its provider in words, and the most milliseconds that it may take. */
export interface Request {
  readonly label: string
  readonly layer: ServiceLayer
  readonly millis: number
}

/** Schedules a task as a microtask in the scope of runs. */
const microtask = ({ inside }: RunScope) => (task: () => void): () => void => {
  let isCancelled = false
  void Promise.resolve().then(() => isCancelled || inside(task))
  return () => {
    isCancelled = true
  }
}

/** Builds a layer in the scope of runs, so that time, chance and I/O are refused to it as they are to runs. */
const built = (layer: ServiceLayer, scope: Scope.Scope, runs: RunScope): Effect.Effect<Context.Context<never>, unknown> =>
  Effect.callback((resume) => {
    const building = Effect.flatMap(Scope.fork(scope), (own) =>
      Effect.onExit(Layer.buildWithScope(layer, own), (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit)))
    const context = Context.make(Scheduler.Scheduler, new Scheduler.MixedScheduler("sync", microtask(runs)))
    runs.begins()
    const fiber = runs.inside(() => Effect.runForkWith(context)(building))
    let isOver = false
    const end = (): void => {
      if (!isOver) runs.ends(fiber)
      isOver = true
    }
    fiber.addObserver((exit) => {
      end()
      resume(exit)
    })
    // A layer that ignores its interruption delays no other one.
    return Effect.sync(() => {
      end()
      fiber.interruptUnsafe()
    })
  })

const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/**
 * Builds the layer of a provider, until the scope closes.
 */
export const build = Effect.fnUntraced(function*(
  { label, layer, millis }: Request
): Effect.fn.Return<Context.Context<never>, ServiceRefused, Scope.Scope> {
  const building = built(layer, yield* Effect.scope, yield* CurrentRunScope)
  return yield* building.pipe(
    // The memory of layers is of the build, and no service.
    Effect.map(Context.omit(Layer.CurrentMemoMap)),
    Effect.catchCause((cause) => {
      const reason = `its layer fails: ${reasonOf(cause)}`
      return Effect.fail(new ServiceRefused({ code: "service/failed", label, reason, cause: Cause.squash(cause) }))
    }),
    Effect.timeoutOrElse({
      duration: millis,
      orElse: () => {
        const reason = `its layer is not built within ${millis} ms. Await there only what ends, or raise limits.serviceMillis`
        return Effect.fail(new ServiceRefused({ code: "service/timeout", label, reason }))
      }
    })
  )
})

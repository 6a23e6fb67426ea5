/**
 * The guards of runs, for hosts with `AsyncLocalStorage`: Node, Deno, Bun, and Workers with the flag `nodejs_als`.
 *
 * They replace the host's time, chance, timers and network for the life of the process. A run that calls one of them, also after an
 * await, is refused; all other code calls through. While no run is in progress, a guard costs one comparison.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks"
import { CurrentRunScope, type RunScope } from "../registry/RunScope.ts"

/**
 * A run called a function whose result is not in the journal. `place` is that of the call, if the host tells it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AroundTheRuntime extends Data.TaggedError("AroundTheRuntime")<{
  readonly used: string
  readonly instead: string
  readonly place: string | undefined
}> {
  readonly code = "run/nondeterministic"
  override get message() {
    const at = this.place === undefined ? "" : ` at ${this.place}`
    return `A run called ${this.used}${at}, which no replay can repeat. ${this.instead}`
  }
}

/** The choices of a host. */
export interface Options {
  /** The place in the code of a module from which an error comes, such as `enzymes/greet.ts:12:7`. */
  readonly placeOf?: (error: unknown) => string | undefined
  /** Refuses functions of `Math` whose last digits differ between engines, too. */
  readonly isDevelopment?: boolean
}

const time = "Use tx.now, the captured clock of the beat"
const chance = "Use tx.random() or tx.id()"
const later = "Use tx.sleep in an enzyme with durable: true, or send a signal with at: { ms } and go on when it comes"
const limit = "Use timeoutMs of the request, or race it with tx.sleep in an enzyme with durable: true"
const outside = "Use tx.io.fetch, or do it outside of the runtime and send its result as a signal"
const arithmetic = "Its last digits differ between engines; use + - * / and Math.sqrt, or do it outside the beat"

/** An object with guarded functions, the prefix of their names, and the replacement. */
type Guarded = readonly [owner: object | undefined, prefix: string, members: ReadonlyArray<string>, instead: string]

const { AbortSignal, Date: HostDate, Math: HostMath, crypto, performance } = globalThis

/** The objects that some hosts have. */
const { Temporal, scheduler } = globalThis as { readonly Temporal?: { readonly Now: object }; readonly scheduler?: object }

/** The functions that a run must not call. */
const refused: ReadonlyArray<Guarded> = [
  [HostDate, "Date.", ["now"], time],
  [Temporal?.Now, "Temporal.Now.", ["instant", "plainDateISO", "plainDateTimeISO", "plainTimeISO", "zonedDateTimeISO"], time],
  [performance, "performance.", ["now"], time],
  [HostMath, "Math.", ["random"], chance],
  [crypto, "crypto.", ["randomUUID", "getRandomValues"], chance],
  [globalThis, "", ["setTimeout", "setInterval", "setImmediate"], later],
  [scheduler, "scheduler.", ["wait", "postTask"], later],
  [AbortSignal, "AbortSignal.", ["timeout"], limit],
  [globalThis, "", ["fetch"], outside]
]

/** Those that only development refuses: they are the same on each run of one host. */
const inexact: Guarded = [
  HostMath,
  "Math.",
  [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2",
    "pow", "sin", "sinh", "tan", "tanh"
  ],
  arithmetic
]

/** The rules for a run. */
type Rules = "production" | "development"

type Call = (...args: ReadonlyArray<unknown>) => unknown

/** The rules of the run to which the code in progress belongs; `undefined` for all other code. */
const current = new AsyncLocalStorage<Rules | undefined>()

/** The calls of runs in progress, and the runs that go on by themselves. */
let running = 0

let placeOf: RunScope["placeOf"] = () => undefined

/** The most lines of the stack of a refused call. */
const LINES = 30

/** Refuses a call of a guard, if code of a run makes it. */
const check = (guard: Call, used: string, instead: string): void => {
  if (current.getStore() === undefined) return
  const { stackTraceLimit } = Error
  const stack: { stack?: string } = {}
  Error.stackTraceLimit = LINES
  Error.captureStackTrace(stack, guard)
  Error.stackTraceLimit = stackTraceLimit
  throw new AroundTheRuntime({ used, instead, place: placeOf(stack) })
}

/** Makes a function of a host refuse the calls of runs. */
const guard = ([owner, prefix, members, instead]: Guarded, by?: Rules): void => {
  for (const member of members) {
    const original = (owner as Readonly<Record<string, unknown>> | undefined)?.[member]
    if (owner === undefined || typeof original !== "function") continue
    const used = `${prefix}${member}()`
    const guarded = function(this: unknown, ...args: ReadonlyArray<unknown>): unknown {
      if (running !== 0 && (by === undefined || current.getStore() === by)) check(guarded, used, instead)
      return Reflect.apply(original as Call, this, args)
    }
    resemble(guarded, original)
    put(owner, member, guarded)
  }
}

/** Gives a guard the properties of what it guards, such as its name. */
const resemble = (guarded: object, original: object): void =>
  void Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))

/** Puts a guard into its place, unless a program has fixed what is there. */
const put = (owner: object, member: string, guarded: object): void =>
  void Reflect.defineProperty(owner, member, { value: guarded, configurable: true, writable: true })

/** Guards the present time of `Date`, as a function and as a class. A date of a given time is one of the host's own. */
const guardDate = (): void => {
  const guarded = function(...args: ReadonlyArray<unknown>): unknown {
    if (running !== 0 && (args.length === 0 || new.target === undefined)) check(guarded as Call, "new Date()", time)
    if (new.target === undefined) return HostDate()
    if ((new.target as unknown) === guarded) return new HostDate(...args as [number])
    return Reflect.construct(HostDate, args, new.target) as unknown
  }
  resemble(guarded, HostDate)
  put(globalThis, "Date", guarded)
  put(HostDate.prototype, "constructor", guarded)
}

let isInstalled = false

/**
 * Installs the guards, which let all calls through that no kernel with {@link layer} makes in a run. A host does so before it loads
 * modules, so that none of them keeps an unguarded function.
 *
 * @category combinators
 * @since 0.1.0
 */
export const install = (): void => {
  if (isInstalled) return
  isInstalled = true
  for (const guarded of refused) guard(guarded)
  guard(inexact, "development")
  guardDate()
}

/** Enters a scope. A resource has its scope at hand, so this costs a fraction of `AsyncLocalStorage.run`. */
const entry = (rules: Rules | undefined): <A>(call: () => A) => A => {
  const resource = current.run(rules, () => new AsyncResource("systole.run", { requireManualDestroy: true }))
  return (call) => resource.runInAsyncScope(call)
}

const scopeOf = (rules: Rules): RunScope => {
  const enter = entry(rules)
  return {
    inside: (run) => {
      running++
      try {
        return enter(run)
      } finally {
        running--
      }
    },
    outside: entry(undefined),
    begins: () => void running++,
    ends: () => void running--,
    placeOf: (error) => placeOf(error)
  }
}

/**
 * Guards the runs of the kernels that are composed with this layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.sync(CurrentRunScope, () => {
    install()
    if (options.placeOf !== undefined) placeOf = options.placeOf
    return scopeOf(options.isDevelopment === true ? "development" : "production")
  })

/**
 * The guards of runs over the functions that all hosts have, for hosts with `AsyncLocalStorage`: Node, Deno, Bun, and Workers with
 * the flag `nodejs_als`. `RunGuards.ts` adds those of Node, Deno and Bun.
 *
 * They replace the host's time, chance, timers and network for the life of the process (`GuardedCalls.ts`). A run that
 * calls one of them, also after an await, is refused; all other code calls through. While no run is in progress, a guard costs
 * one comparison.
 *
 * It imports no Effect, because a Worker installs the guards before it loads anything else.
 *
 * @module
 */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks"
import type { RunScope } from "../../registry/RunScope.ts"
import { type Calls, ofGlobals, time } from "./GuardedCalls.ts"

/** A refused call: the function, what to use instead, and the place of the call if the host tells it. */
export interface RefusedCall extends Pick<Calls, "instead"> {
  readonly used: string
  readonly place: string | undefined
}

/** The rules for a run. */
export interface Rules {
  /** Whether functions of `Math` whose last digits differ between engines are refused, too. */
  readonly isDevelopment: boolean
  /** The place in the code of a module from which an error comes, such as `enzymes/greet.ts:12:7`. */
  readonly placeOf: (error: unknown) => string | undefined
  readonly failure: (refused: RefusedCall) => Error
}

const { Date: HostDate } = globalThis

type Call = (...args: ReadonlyArray<unknown>) => unknown

/** The rules of the run to which the code in progress belongs; `undefined` for all other code. */
const current = new AsyncLocalStorage<Rules | undefined>()

/** The calls of runs in progress, and the runs that go on by themselves. */
let running = 0

/** Ends the runs that nothing can resume: their bodies are garbage. */
const abandoned = typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<undefined>(() => void running--)

/** The number of runs under way in this process. While it is 0, a guard costs one comparison. */
export const underWay = (): number => running

/** The most lines of the stack of a refused call. */
const LINES = 30

/** The first line of a stack that leads into the host. */
const ofHost = /^\s*at .*\b(?:node|ext|internal|native|bun):/

/** Refuses a call of a guard, if code of a run makes it. */
const check = (guard: Call, { used, instead, isHosts = false }: Refusal): void => {
  const rules = current.getStore()
  if (rules === undefined) return
  const { stackTraceLimit } = Error
  const stack: { stack?: string } = {}
  Error.stackTraceLimit = LINES
  Error.captureStackTrace(stack, guard)
  Error.stackTraceLimit = stackTraceLimit
  if (isHosts && ofHost.test(stack.stack?.split("\n", 2)[1] ?? "")) return
  throw rules.failure({ used, instead, place: outside(() => rules.placeOf(stack)) })
}

/** The call that a guard refuses. */
interface Refusal extends Pick<Calls, "instead" | "isHosts"> {
  readonly used: string
}

/** Makes the functions of an object refuse the calls of runs. */
const guard = ({ instead, isHosts = false, isInexact = false, members, owner, prefix }: Calls): void => {
  if (owner === undefined) return
  for (const member of members) {
    const refusal = { used: /^[A-Z]/.test(member) ? `new ${prefix}${member}()` : `${prefix}${member}()`, instead, isHosts }
    replace(owner, member, (original) => {
      const guarded = function(this: unknown, ...args: ReadonlyArray<unknown>): unknown {
        if (running !== 0 && (!isInexact || current.getStore()?.isDevelopment === true)) check(guarded, refusal)
        if (new.target === undefined) return Reflect.apply(original, this, args)
        return Reflect.construct(original, args, (new.target as unknown) === guarded ? original : new.target) as unknown
      }
      resemble(guarded, original)
      return guarded
    })
  }
}

/** Replaces a function of a host, which may load it at its first use. */
const replace = (owner: object, member: string, make: (original: Call) => Call): void => {
  const { get } = Reflect.getOwnPropertyDescriptor(owner, member) ?? {}
  if (get === undefined) {
    const original = (owner as Readonly<Record<string, unknown>>)[member]
    if (typeof original === "function") put(owner, member, make(original as Call))
    return
  }
  const load = (): unknown => {
    const original: unknown = Reflect.apply(get, owner, [])
    if (typeof original !== "function") return original
    const made = make(original as Call)
    put(owner, member, made)
    return made
  }
  const set = (value: object): void => {
    put(owner, member, value)
  }
  void Reflect.defineProperty(owner, member, { get: load, set, configurable: true })
}

/** Gives a guard the properties of what it guards, such as its name. */
const resemble = (guarded: object, original: object): void =>
  void Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))

/** Puts a guard into its place, unless a program has fixed what is there. */
const put = (owner: object, member: string, guarded: object): void => {
  const { configurable = true } = Reflect.getOwnPropertyDescriptor(owner, member) ?? {}
  void Reflect.defineProperty(owner, member, { value: guarded, configurable, writable: true })
}

/** Guards the present time of `Date`, as a function and as a class. A date of a given time is one of the host's own. */
const guardDate = (): void => {
  const guarded = function(...args: ReadonlyArray<unknown>): unknown {
    if (running !== 0 && (args.length === 0 || new.target === undefined)) check(guarded as Call, { used: "new Date()", instead: time })
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
 * Installs the guards, which let all calls through that no kernel with {@link scopeOf} makes in a run. A host does so before it loads
 * modules, so that none of them keeps an unguarded function. Answers whether this call installed them.
 */
export const install = (ofHost: () => ReadonlyArray<Calls> = () => []): boolean => {
  if (isInstalled) return false
  isInstalled = true
  for (const calls of [...ofGlobals(), ...ofHost()]) guard(calls)
  guardDate()
  return true
}

/** The entry into a scope. A resource has its scope at hand, so this costs a fraction of `AsyncLocalStorage.run`. */
const entry = (rules: Rules | undefined): AsyncResource =>
  current.run(rules, () => new AsyncResource("systole.run", { requireManualDestroy: true }))

/** Calls a function of the host out of the scope of runs, from wherever. It is for rare calls, such as those of a watchdog. */
export const outside = <A>(act: () => A): A => current.run(undefined, act)

/**
 * The scope of the runs of a kernel, with its rules.
 */
export const scopeOf = (rules: Rules): RunScope => {
  // A resource of a Worker belongs to the request in which it was made, as the kernel does.
  const [runs, host] = [entry(rules), entry(undefined)]
  return {
    inside: (run) => {
      running++
      try {
        return runs.runInAsyncScope(run)
      } finally {
        running--
      }
    },
    outside: (act) => host.runInAsyncScope(act),
    reading: (read) => running === 0 || current.getStore() === undefined ? read() : host.runInAsyncScope(read),
    begins: () => void running++,
    mayNeverEnd: (body) => void abandoned?.register(body, undefined, body),
    ends: (body) => {
      abandoned?.unregister(body)
      running--
    },
    placeOf: rules.placeOf
  }
}

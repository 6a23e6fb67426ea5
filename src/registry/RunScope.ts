/**
 * The scope of runs: which code on this host is that of a run.
 *
 * A host that knows it refuses to a run what no replay can repeat: time, chance, timers and the network of the host. A run is in
 * scope from its call to its end, over its awaits, and so is all that it starts.
 *
 * @module
 */
import * as Context from "effect/Context"

/** The scope of runs on a host. */
export interface RunScope {
  /** Calls a function of a run, in scope. */
  readonly inside: <A>(run: () => A) => A
  /** Calls a function of the host out of scope, from wherever. */
  readonly outside: <A>(act: () => A) => A
  /** The same for a function that only reads, such as a clock, and starts nothing. It costs a fraction of `outside`. */
  readonly reading: <A>(read: () => A) => A
  /** A run that has returned continues by itself, until `ends`. */
  readonly begins: () => void
  /** The body of a run may be dropped while it waits. Then its run ends once nothing can resume it. */
  readonly mayNeverEnd: (body: object) => void
  readonly ends: (body: object) => void
  /** The place in the code of a module that raised an error, such as `enzymes/greet.ts:12:7`, if the host reports it. */
  readonly placeOf: (error: unknown) => string | undefined
}

const call = <A>(run: () => A): A => run()
const nothing = (): void => {}

/** The scope on a host without guards. */
export const withoutGuards: RunScope = {
  inside: call,
  outside: call,
  reading: call,
  begins: nothing,
  mayNeverEnd: nothing,
  ends: nothing,
  placeOf: () => undefined
}

/**
 * The scope of the runs of a kernel; without guards by default.
 */
export const CurrentRunScope = Context.Reference<RunScope>("systole/registry/RunScope", { defaultValue: () => withoutGuards })

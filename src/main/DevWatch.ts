/**
 * The development check for nondeterministic calls in a run: host time, randomness, timers and network.
 *
 * It replaces these functions for the life of the process. They throw during the synchronous part of a run and work
 * normally otherwise. Calls after the first `await` of a run are not detected. Calls inside an Effect are not detected
 * either, because an Effect uses the clock and the random generator of the beat.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import { RunWatch, type Watch } from "../kernel/watchdog/RunWatch.ts"

/**
 * A run called a function whose result is not in the journal.
 *
 * @category errors
 * @since 0.1.0
 */
export class AroundTheRuntime extends Data.TaggedError("AroundTheRuntime")<{ readonly used: string; readonly instead: string }> {
  readonly code = "run/nondeterministic"
  override get message() {
    return `A run called ${this.used}, which no replay can repeat. ${this.instead}`
  }
}

const time = "Use tx.now, the captured clock of the beat"
const chance = "Use tx.random() or tx.id()"
const later = "Send a signal with at: { ms }, and go on when it comes"
const outside = "Do it outside the beat, and send its result as a signal"
const arithmetic = "Its last digits differ between engines; use + - * / and Math.sqrt, or do it outside the beat"

/** The functions that a run must not call: their object, their names and the replacement. */
const refused: ReadonlyArray<readonly [object: object, name: string, members: ReadonlyArray<string>, instead: string]> = [
  [globalThis.Date, "Date", ["now"], time],
  [globalThis.performance, "performance", ["now"], time],
  [globalThis.Math, "Math", ["random"], chance],
  [globalThis.crypto, "crypto", ["randomUUID", "getRandomValues"], chance],
  [globalThis, "", ["setTimeout", "setInterval", "setImmediate"], later],
  [globalThis, "", ["fetch"], outside],
  [
    globalThis.Math,
    "Math",
    [
      "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2",
      "pow", "sin", "sinh", "tan", "tanh"
    ],
    arithmetic
  ]
]

let inside = false

/**
 * Checks the runs of this process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = Layer.sync(RunWatch, () => {
  install()
  return {
    enter: () => {
      inside = true
    },
    leave: () => {
      inside = false
    },
    stop
  }
})

/**
 * Stops the process in an attached debugger. `at` identifies the next run and the breakpoint.
 *
 * The whole process stops, so a breakpoint changes no run.
 */
const stop: Watch["stop"] = (at) => {
  void at
  // oxlint-disable-next-line no-debugger -- it is what a breakpoint is
  debugger
}

let installed = false

const install = (): void => {
  if (installed) return
  installed = true
  for (const [object, name, members, instead] of refused) {
    for (const member of members) {
      const used = `${name === "" ? "" : `${name}.`}${member}()`
      guard(object as Record<string, unknown>, member, new AroundTheRuntime({ used, instead }))
    }
  }
  const now = new AroundTheRuntime({ used: "new Date()", instead: time })
  globalThis.Date = new Proxy(globalThis.Date, {
    construct: (target, args, newTarget) => {
      if (inside && args.length === 0) throw now
      return Reflect.construct(target, args, newTarget) as object
    }
  })
}

const guard = (object: Record<string, unknown>, member: string, error: AroundTheRuntime): void => {
  const original = object[member]
  if (typeof original !== "function") return
  const guarded = new Proxy(original, {
    apply: (target, self, args) => {
      if (inside) throw error
      return Reflect.apply(target as (...args: ReadonlyArray<unknown>) => unknown, self, args) as unknown
    }
  })
  Object.defineProperty(object, member, { value: guarded, configurable: true, writable: true })
}

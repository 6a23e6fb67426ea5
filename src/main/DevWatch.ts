/**
 * The development check: finds out a run that reaches around the runtime for
 * time, chance, timers or the network, which no replay could repeat.
 *
 * It takes the place of those functions for as long as the process lives, and
 * refuses them while a run has the host to itself; at all other times they work
 * as ever. What a run does after its first wait is not seen, nor what it does
 * inside an Effect, which has the beat's own clock and chance. (Architecture,
 * sections 4 and 9.)
 *
 * @module
 */
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { RunWatch, type Watch } from "../kernel/watchdog/RunWatch.ts"

/**
 * A run used something that is not in the journal.
 *
 * @category errors
 * @since 0.1.0
 */
export class AroundTheRuntime extends Schema.TaggedError<AroundTheRuntime>()("AroundTheRuntime", { used: Schema.String, instead: Schema.String }) {
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

/** What is refused inside a run: where it is, its names, and what to do instead. */
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
    ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh"],
    arithmetic
  ]
]

let inside = false

/**
 * Watches the runs of this process.
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
    rechecks: true,
    stop
  }
})

/** Stops the process where a debugger is attached to it: `at` says which run comes next, and why. All else stands still as well, so nothing changes by it. */
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
    for (const member of members) guard(object as Record<string, unknown>, member, new AroundTheRuntime({ used: `${name === "" ? "" : `${name}.`}${member}()`, instead }))
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

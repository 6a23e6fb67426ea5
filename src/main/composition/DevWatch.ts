/**
 * The watch of a development host: breakpoints of nodes, the places of errors in receipts, and stricter guards of runs.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { CurrentRunWatch, type RunWatch } from "../../kernel/watchdog/RunWatch.ts"
import * as RunGuards from "../guard/RunGuards.ts"
import * as SourceMaps from "../module/SourceMaps.ts"

/**
 * Stops the process in an attached debugger. `at` identifies the next run and the breakpoint.
 *
 * The whole process stops, so a breakpoint changes no run.
 */
const stop: RunWatch["stop"] = (at) => {
  void at
  // oxlint-disable-next-line no-debugger -- it is what a breakpoint is
  debugger
}

/**
 * Watches the runs of a development host.
 */
export const layer = (options: Omit<RunGuards.Options, "isDevelopment"> = {}): Layer.Layer<never> =>
  Layer.merge(Layer.succeed(CurrentRunWatch, { stop, placeOf: SourceMaps.place }), RunGuards.layer({ ...options, isDevelopment: true }))

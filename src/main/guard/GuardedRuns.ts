/**
 * The guards of runs as a layer, and the failure of a run that one of them refuses.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import { CurrentRunScope } from "../../registry/RunScope.ts"
import * as GlobalGuards from "./GlobalGuards.ts"

/**
 * A run called a function whose result is not in the journal. `place` is that of the call, if the host tells it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AroundTheRuntime extends Data.TaggedError("AroundTheRuntime")<GlobalGuards.RefusedCall> {
  readonly code = "run/nondeterministic"
  override get message() {
    const at = this.place === undefined ? "" : ` at ${this.place}`
    return `A run called ${this.used}${at}, which no replay can repeat. ${this.instead}`
  }
}

/** The choices of a host. */
export interface Options extends Partial<Omit<GlobalGuards.Rules, "failure">> {}

/**
 * Guards the runs of the kernels that are composed with this layer.
 */
export const layer = ({ isDevelopment = false, placeOf = () => undefined }: Options = {}): Layer.Layer<never> =>
  Layer.sync(CurrentRunScope, () => {
    GlobalGuards.install()
    return GlobalGuards.scopeOf({ isDevelopment, placeOf, failure: (refused) => new AroundTheRuntime(refused) })
  })

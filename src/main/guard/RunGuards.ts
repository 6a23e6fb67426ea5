/**
 * The guards of runs on Node, Deno and Bun: those of all hosts, and over the files, the commands and the modules of these.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import * as GlobalGuards from "./GlobalGuards.ts"
import * as GuardedRuns from "./GuardedRuns.ts"
import * as HostCalls from "./HostCalls.ts"

export { AroundTheRuntime, type Options } from "./GuardedRuns.ts"

/**
 * Installs the guards, which let all calls through that no kernel with {@link layer} makes in a run. A host does so before it loads
 * modules, so that none of them keeps an unguarded function.
 *
 * @category combinators
 * @since 0.1.0
 */
export const install = (): void => {
  if (GlobalGuards.install(HostCalls.all)) HostCalls.passOn()
}

/**
 * Guards the runs of the kernels that are composed with this layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: GuardedRuns.Options = {}): Layer.Layer<never> => Layer.suspend(() => {
  install()
  return GuardedRuns.layer(options)
})

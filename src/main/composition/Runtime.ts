/**
 * The composition of a runtime: Kernel over Registry, Scheduler, Reactor and Persistence.
 *
 * Each of them is a layer, and a composition root chooses it: a host here, a
 * test in `testing/`.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { KernelSettings } from "../../kernel/model/Limits.ts"
import type { Pacemaker } from "../../kernel/model/Pacemaker.ts"
import { Kernel } from "../../kernel/space/Kernel.ts"
import type { KernelSlice } from "../../kernel/api/Slice.ts"
import type { Config } from "../../loader/Config.ts"
import type { Hash } from "../../persistence/Hash.ts"
import type { Persistence } from "../../persistence/Persistence.ts"
import type { Reactor } from "../../reactor/Reactor.ts"
import { Registry, SystemGrants } from "../../registry/Registry.ts"
import { Scheduler } from "../../scheduler/Scheduler.ts"

/**
 * The services of a runtime, each with the services that it takes.
 */
export interface Services<E = never> {
  /** Opens spaces and registers modules. */
  readonly kernel: Layer.Layer<Kernel, never, Registry | Scheduler | Reactor | Persistence | Pacemaker | Hash>
  /** Finds the enzymes of a signal. */
  readonly registry: Layer.Layer<Registry>
  /** Makes the graphs of spaces. */
  readonly scheduler: Layer.Layer<Scheduler>
  /** Executes the requests of spaces to the world. */
  readonly reactor: Layer.Layer<Reactor>
  /** Opens the stores of spaces. */
  readonly persistence: Layer.Layer<Persistence, E, Hash>
  /** Time, chance and turns of the host. */
  readonly pacemaker: Layer.Layer<Pacemaker>
}

/**
 * The kernel over its services.
 */
export const compose = <E>({ kernel, pacemaker, persistence, reactor, registry, scheduler }: Services<E>): Layer.Layer<Kernel, E, Hash> =>
  kernel.pipe(Layer.provide([registry, scheduler, reactor, persistence, pacemaker]))

/** The parts of a runtime that a host chooses. */
interface Host<E> extends Pick<Services<E>, "persistence" | "reactor" | "pacemaker"> {
  readonly slices: ReadonlyArray<KernelSlice>
}

/**
 * The kernel of a configuration with its slices, over the persistence, the reactor and the pacemaker of a host.
 */
export const layer = <E>(config: Config, { slices, ...host }: Host<E>): Layer.Layer<Kernel, E, Hash> =>
  compose({
    kernel: Kernel.layer(slices),
    registry: Registry.layer,
    scheduler: Scheduler.layer({ check: config.check === true }),
    ...host
  }).pipe(Layer.provide([Layer.succeed(KernelSettings, config.kernel), Layer.succeed(SystemGrants, new Set(config.system))]))

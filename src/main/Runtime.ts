/**
 * The kernel with all that is the same on each host.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { Kernel } from "../kernel/space/Kernel.ts"
import { KernelSettings } from "../kernel/model/Limits.ts"
import type { Pacemaker } from "../kernel/model/Pacemaker.ts"
import type { Config } from "../loader/Config.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { Persistence } from "../persistence/Persistence.ts"
import { Registry, SystemGrants } from "../registry/Registry.ts"

/**
 * The kernel of a configuration, over the services of a host.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E>(config: Config, host: Layer.Layer<Persistence | Pacemaker, E, Hash>): Layer.Layer<Kernel, E, Hash> =>
  Kernel.layer.pipe(
    Layer.provide(Registry.layer),
    Layer.provide([host, Layer.succeed(KernelSettings, config.kernel), Layer.succeed(SystemGrants, new Set(config.system))])
  )

/**
 * Keeps the bundler running between tests, by a module host that never ends: the process of the bundler ends with the last
 * module host of its own, and a start costs as much as a build.
 *
 * @module
 */
import { Effect, Layer, Scope } from "effect"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"

const host = HostModules.layer(import.meta.dirname).pipe(Layer.provide(HostHash.layer))

await Effect.runPromise(Layer.buildWithScope(host, Effect.runSync(Scope.make())))

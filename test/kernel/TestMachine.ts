/**
 * A machine with one space and one memory store that survives a restart of the kernel.
 * A test can delay its flushes, fail them, or cut the power.
 *
 * @module
 */
import { Context, Deferred, Effect, Latch, Layer, type Scope } from "effect"
import type { Batch, Enzyme, NodeDefinition, Settings, Space } from "systole"
import {
  Kernel, KernelSettings, MemoryStore, Persistence, PersistenceError, Reactor, Registry, Scheduler, Slices, StoreUnavailable
} from "systole"
import { present } from "../support/Present.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as SetClock from "../support/SetClock.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A module, and the digest of its code. */
export interface Versioned {
  readonly module: Enzyme.Enzyme | NodeDefinition
  readonly hash: string
  readonly file?: string
  /** True for a module that is registered as left out and handles no signals. */
  readonly leftOut?: boolean
}

/** A file whose module fails to load. */
export interface Broken {
  readonly broken: string
}

type Module = Enzyme.Enzyme | NodeDefinition | Versioned | Broken

/** One store, and the kernels that run over it one after another. */
export interface TestMachine {
  /** Starts a kernel over the durable state. The previous kernel is fenced off, as by a power cut. */
  readonly boot: (modules: ReadonlyArray<Module>, settings?: Partial<Settings>) => Effect.Effect<Space, PersistenceError>
  /** Takes a node out of the newest kernel, or a module into it. */
  readonly unregister: (node: NodeDefinition) => Effect.Effect<void>
  readonly register: (module: Module) => Effect.Effect<void>
  /** The space of the newest kernel, reopened if it had stopped. */
  readonly open: Effect.Effect<Space, PersistenceError>
  /** The spaces of the newest kernel that stopped. */
  readonly stops: Kernel["Service"]["stops"]
  /** Delays each flush until `release`. */
  readonly hold: Effect.Effect<void>
  readonly release: Effect.Effect<void>
  /** Completes when a flush is delayed. */
  readonly held: Effect.Effect<void>
  /** Makes each later flush fail, or succeed again. */
  readonly breakDisk: (broken: boolean) => void
  /** Makes each later read from the store fail, or succeed again. */
  readonly breakReads: (broken: boolean) => void
  /** The clock of its host. */
  readonly clock: SetClock.SetClock
  /** The number of successful flushes. */
  readonly flushes: () => number
  /** The number of documents read from the store. */
  readonly reads: () => number
  /** The number of stored node observations. */
  readonly observations: () => number
}

/** A machine whose store is in memory. */
export const make: Effect.Effect<TestMachine, never, Scope.Scope> = Effect.gen(function*() {
  const scope = yield* Effect.scope
  const clock = SetClock.make()
  const context = yield* Layer.build(Layer.fresh(Layer.mergeAll(MemoryStore.layer, HashLayer.layer, clock.layer)))
  const memory = Context.get(context, Persistence)
  const gate = yield* Latch.make(true)
  let arrived = yield* Deferred.make<void>()
  let broken = false
  /** The number of power cuts. A store handle opened before the last cut fails to write. */
  let power = 0
  let unreadable = false
  let flushes = 0
  let observations = 0
  let reads = 0
  let newest: Kernel["Service"] | undefined
  const wrapped: Persistence["Service"] = {
    ...memory,
    open: (name, options) =>
      Effect.map(memory.open(name, options), (store) => {
        const born = power
        const failure = new PersistenceError({
          reason: new StoreUnavailable({ space: name, place: "memory", detail: "the disk is broken" })
        })
        const flush = Effect.gen(function*() {
          yield* Deferred.succeed(arrived, undefined)
          yield* Latch.await(gate)
          if (broken || born !== power) return yield* failure
          yield* store.flush
          flushes++
        })
        return new Proxy(store, {
          get: (target, key) => {
            if (key === "flush") return flush
            if (key === "append") {
              return (batch: Batch) => {
                observations += batch.observations.length
                target.append(batch)
              }
            }
            if (key === "read" && !unreadable) {
              return (address: string) => {
                reads++
                return target.read(address)
              }
            }
            if (unreadable && (key === "read" || key === "receipts")) return () => { throw failure }
            const value: unknown = Reflect.get(target, key, target)
            return typeof value === "function" ? value.bind(target) : value
          }
        })
      })
  }
  const boot: TestMachine["boot"] = Effect.fn("TestMachine.boot")(function*(modules, settings = {}) {
    power++
    clock.forget()
    const layer = Layer.fresh(Kernel.layer(Slices.all).pipe(
      Layer.provide(Layer.succeed(Persistence, wrapped)),
      Layer.provide(Layer.succeedContext(context)),
      Layer.provide([Layer.fresh(Registry.layer), Scheduler.layer(), Reactor.none]),
      Layer.provide(Layer.succeed(KernelSettings, { ...TestKernel.settings, ...settings }))
    ))
    const kernel = Context.get(yield* Layer.buildWithScope(layer, scope), Kernel)
    for (const module of modules) yield* registerIn(kernel, module)
    newest = kernel
    return yield* kernel.space("machine")
  })
  return {
    boot,
    unregister: (node) => Effect.suspend(() => Effect.orDie(newest!.unregister(node))),
    register: (module) => Effect.suspend(() => registerIn(newest!, module)),
    open: Effect.suspend(() => newest!.space("machine")),
    stops: Effect.suspend(() => present(newest).stops),
    hold: Effect.andThen(Effect.map(Deferred.make<void>(), (next) => { arrived = next }), Latch.close(gate)),
    release: Effect.asVoid(Latch.open(gate)),
    held: Effect.suspend(() => Deferred.await(arrived)),
    breakDisk: (on) => { broken = on },
    breakReads: (on) => { unreadable = on },
    clock,
    flushes: () => flushes,
    reads: () => reads,
    observations: () => observations
  }
})

const registerIn = (kernel: Kernel["Service"], module: Module): Effect.Effect<void> => {
  if ("broken" in module) return kernel.breaks(module.broken)
  if (!("module" in module)) return Effect.orDie(kernel.register(module))
  const { file, hash, leftOut, module: made } = module
  const code = { hash, ...file === undefined ? {} : { file } }
  return Effect.orDie(leftOut === true && made._tag === "Enzyme" ? kernel.leaveOut(made, code) : kernel.register(made, code))
}

/**
 * Several spaces over one memory store that survives a restart of the kernel.
 * A test can delay or fail the flushes of each space.
 *
 * @module
 */
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import type { Enzyme, NodeDefinition, Settings, SpaceStore } from "systole"
import {
  Kernel, KernelSettings, MemoryStore, Persistence, PersistenceError, Reactor, Registry, Scheduler, Slices, StoreUnavailable
} from "systole"
import * as HashLayer from "../support/HashLayer.ts"
import * as SetClock from "../support/SetClock.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** One store for all spaces, and the kernels that run over it one after another. */
export interface RestartableKernel {
  /** Starts a kernel over the durable state. The previous kernel is cut off, as by a power cut. */
  readonly boot: (settings?: Partial<Settings>) => Effect.Effect<Kernel["Service"]>
  /** Changes the store of a space before the next `boot`. */
  readonly edit: (space: string, change: (store: SpaceStore) => void) => Effect.Effect<void>
  /** Delays each flush of a space until `release`. */
  readonly hold: (space: string) => Effect.Effect<void>
  readonly release: (space: string) => Effect.Effect<void>
  /** Makes each later flush of a space fail, or succeed again. */
  readonly breakDisk: (space: string, broken: boolean) => void
  /** Makes each later opening of a space fail, or succeed again. */
  readonly breakOpening: (space: string, broken: boolean) => void
  /** Makes each later removal of a space fail, or succeed again. */
  readonly breakRemoval: (space: string, broken: boolean) => void
  /** Makes each later read of the time of a space's next work fail, or succeed again. */
  readonly breakDue: (space: string, broken: boolean) => void
  /** The clock of the host. */
  readonly clock: SetClock.SetClock
  /** The spaces that the newest kernel opened, in order. */
  readonly openings: () => ReadonlyArray<string>
  /** The spaces that are open now. */
  readonly open: () => ReadonlySet<string>
  /** The highest number of spaces open at once. */
  readonly most: () => number
}

const trouble = (space: string) =>
  new PersistenceError({ reason: new StoreUnavailable({ space, place: "memory", detail: "the disk is broken" }) })

/** A store whose kernels register these modules. */
export const make = (
  modules: ReadonlyArray<Enzyme.Enzyme | NodeDefinition>,
  reactor: Layer.Layer<Reactor> = Reactor.none,
  clock = SetClock.make()
): Effect.Effect<RestartableKernel, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const context = yield* Layer.build(Layer.fresh(Layer.mergeAll(MemoryStore.layer, HashLayer.layer, clock.layer)))
    const memory = Context.get(context, Persistence)
    const gates = new Map<string, Latch.Latch>()
    const broken = new Set<string>()
    const unreadable = new Set<string>()
    const timeless = new Set<string>()
    const kept = new Set<string>()
    let life = 0
    let openings: Array<string> = []
    let open = new Set<string>()
    let most = 0
    const opened = (name: string, own: number) => Effect.acquireRelease(
      Effect.sync(() => {
        if (own !== life) return
        openings.push(name)
        open.add(name)
        most = Math.max(most, open.size)
      }),
      () => Effect.sync(() => void (own === life && open.delete(name)))
    )
    const gate = (space: string): Latch.Latch => {
      const known = gates.get(space) ?? Latch.makeUnsafe(true)
      gates.set(space, known)
      return known
    }
    /** The store as one kernel sees it. After a power cut its flushes never complete. */
    const disk = (own: number): Persistence["Service"] => ({
      ...memory,
      remove: (name) => kept.has(name) ? trouble(name) : memory.remove(name),
      due: (name) => timeless.has(name) ? trouble(name) : memory.due(name),
      open: (name, options) =>
        Effect.map(Effect.tap(unreadable.has(name) ? trouble(name) : memory.open(name, options), opened(name, own)), (store) => {
          const flush = Effect.gen(function*() {
            yield* Latch.await(gate(name))
            if (own !== life) return yield* Effect.never
            if (broken.has(name)) return yield* trouble(name)
            return yield* store.flush
          })
          return new Proxy(store, {
            get: (target, key) => {
              const value: unknown = key === "flush" ? flush : Reflect.get(target, key, target)
              return typeof value === "function" ? value.bind(target) : value
            }
          })
        })
    })
    return {
      boot: Effect.fn("RestartableKernel.boot")(function*(settings = {}) {
        clock.forget()
        openings = []
        open = new Set()
        most = 0
        const layer = Layer.fresh(Kernel.layer(Slices.all).pipe(
          Layer.provide(Layer.succeed(Persistence, disk(++life))),
          Layer.provide(Layer.succeedContext(context)),
          Layer.provide([Layer.fresh(Registry.layer), Scheduler.layer(), reactor]),
          Layer.provide(Layer.succeed(KernelSettings, { ...TestKernel.settings, ...settings }))
        ))
        const kernel = Context.get(yield* Layer.buildWithScope(layer, scope), Kernel)
        for (const module of modules) yield* Effect.orDie(kernel.register(module))
        return kernel
      }),
      edit: (space, change) =>
        Effect.scoped(Effect.flatMap(memory.open(space, { create: false }), (store) => {
          change(store)
          return store.flush
        })).pipe(Effect.orDie),
      hold: (space) => Effect.asVoid(Latch.close(gate(space))),
      release: (space) => Effect.asVoid(Latch.open(gate(space))),
      breakOpening: (space, isBroken) => void (isBroken ? unreadable.add(space) : unreadable.delete(space)),
      breakRemoval: (space, isBroken) => void (isBroken ? kept.add(space) : kept.delete(space)),
      breakDue: (space, isBroken) => void (isBroken ? timeless.add(space) : timeless.delete(space)),
      breakDisk: (space, on) => void (on ? broken.add(space) : broken.delete(space)),
      clock,
      openings: () => openings,
      open: () => open,
      most: () => most
    }
  })

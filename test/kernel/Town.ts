/**
 * A town for tests: several spaces over one store that outlives their kernels,
 * and of each space's flush a test can say whether it ends.
 *
 * @module
 */
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import type { Enzyme, Settings } from "systole"
import { Kernel, KernelSettings, MemoryStore, Persistence, PersistenceError, Registry, StoreUnavailable } from "systole"
import * as HashLayer from "../support/HashLayer.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as TestPacemaker from "../support/TestPacemaker.ts"

/** One store for all spaces, and how to start what runs over it. */
export interface Town {
  /** Starts a kernel over what is durable. One that ran before is cut off, as when the power goes. */
  readonly boot: (settings?: Partial<Settings>) => Effect.Effect<Kernel["Service"]>
  /** Lets no flush of a space end. */
  readonly hold: (space: string) => Effect.Effect<void>
  readonly release: (space: string) => Effect.Effect<void>
  /** Has each flush of a space fail from now on, or succeed again. */
  readonly breakDisk: (space: string, broken: boolean) => void
  /** The spaces that the newest kernel opened, in order, and those of them that are open. */
  readonly openings: () => ReadonlyArray<string>
  readonly open: () => ReadonlySet<string>
  /** The most that were open at once. */
  readonly most: () => number
}

/** A town in which these enzymes are registered. */
export const make = (enzymes: ReadonlyArray<Enzyme.Enzyme>): Effect.Effect<Town, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const context = yield* Layer.build(Layer.fresh(Layer.mergeAll(MemoryStore.layer, HashLayer.layer, TestPacemaker.layer)))
    const memory = Context.get(context, Persistence)
    const gates = new Map<string, Latch.Latch>()
    const broken = new Set<string>()
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
    /** The disk as one life of the machine sees it: what is cut off sees nothing any more. */
    const disk = (own: number): Persistence["Service"] => ({
      ...memory,
      open: (name, options) =>
        Effect.map(Effect.tap(memory.open(name, options), opened(name, own)), (store) => {
          const flush = Effect.gen(function*() {
            yield* Latch.await(gate(name))
            if (own !== life) return yield* Effect.never
            if (broken.has(name)) return yield* new PersistenceError({ reason: new StoreUnavailable({ space: name, place: "memory", detail: "the disk is broken" }) })
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
      boot: Effect.fn("Town.boot")(function*(settings = {}) {
        openings = []
        open = new Set()
        most = 0
        const layer = Layer.fresh(Kernel.layer.pipe(
          Layer.provide(Layer.succeed(Persistence, disk(++life))),
          Layer.provide(Layer.succeedContext(context)),
          Layer.provide(Layer.fresh(Registry.layer)),
          Layer.provide(Layer.succeed(KernelSettings, { ...TestKernel.settings, ...settings }))
        ))
        const kernel = Context.get(yield* Layer.buildWithScope(layer, scope), Kernel)
        for (const enzyme of enzymes) yield* Effect.orDie(kernel.register(enzyme))
        return kernel
      }),
      hold: (space) => Effect.asVoid(Latch.close(gate(space))),
      release: (space) => Effect.asVoid(Latch.open(gate(space))),
      breakDisk: (space, on) => void (on ? broken.add(space) : broken.delete(space)),
      openings: () => openings,
      open: () => open,
      most: () => most
    }
  })

/**
 * The kernel: spaces, opened on demand.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { CurrentReporter } from "../diagnostic/Reporter.ts"
import { Hash } from "../persistence/Hash.ts"
import { Persistence } from "../persistence/Persistence.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import { InvalidEnzyme } from "../registry/Enzyme.ts"
import { type Definition as NodeDefinition, InvalidNode } from "../scheduler/Definition.ts"
import { Modules } from "../scheduler/Modules.ts"
import { type Code, NotRegistered, Registry } from "../registry/Registry.ts"
import { expected } from "./Expected.ts"
import * as Journal from "./Journal.ts"
import { KernelSettings } from "./Limits.ts"
import { LiveSpace } from "./LiveSpace.ts"
import { Pacemaker } from "./Pacemaker.ts"
import { Recall } from "./Recall.ts"
import * as Recovery from "./Recovery.ts"
import { RunWatch } from "./RunWatch.ts"
import type { Space } from "./Space.ts"
import { type Stop, Stops } from "./Stops.ts"
import { CurrentWatchdog } from "./Watchdog.ts"

/** An enzyme, with the digest of the module it came from. */
export interface Registration {
  readonly enzyme: Enzyme
  readonly hash: string | undefined
}

/**
 * Opens spaces, and registers the enzymes that react in them.
 *
 * A space is opened when it is first asked for, and stays open until the layer's
 * scope closes. One that stopped because its store failed is opened again from
 * what is durable when it is next asked for.
 *
 * @category services
 * @since 0.1.0
 */
export class Kernel extends Context.Service<Kernel, {
  /** The space of this name; `create` makes it where there is none. */
  readonly space: (name: string, options?: { readonly create?: boolean }) => Effect.Effect<Space, PersistenceError>
  /** The space of this name where it is open, which costs nothing to ask. */
  readonly opened: (name: string) => Space | undefined
  /** The names of all spaces. */
  readonly spaces: Effect.Effect<ReadonlyArray<string>, PersistenceError>
  /** The spaces that stopped by themselves or could not be opened, until they open again. */
  readonly stops: Effect.Effect<ReadonlyArray<Stop>>
  /** Takes an enzyme or a node in, from the next capture of each space on; `code` is the module it came from. */
  readonly register: (module: Enzyme | NodeDefinition, code?: Code) => Effect.Effect<void, InvalidEnzyme | InvalidNode>
  readonly unregister: (module: Enzyme | NodeDefinition) => Effect.Effect<void, NotRegistered>
  /** Has an enzyme known and take nothing: what it alone would take is held until it is registered. */
  readonly leaveOut: (enzyme: Enzyme, code?: Code) => Effect.Effect<void, InvalidEnzyme>
  /** The modules of a file failed to load: the enzymes that it brought when a space last ran are left out there. */
  readonly breaks: (file: string) => Effect.Effect<void>
  /** A file that failed before is gone or loads: nothing is left out for it any more. */
  readonly mends: (file: string) => Effect.Effect<void>
  readonly enzymes: Effect.Effect<ReadonlyArray<Registration>>
}>()("systole/kernel/Kernel") {
  static readonly layer: Layer.Layer<Kernel, never, Persistence | Hash | Pacemaker | Registry> = Layer.effect(
    Kernel,
    Effect.gen(function*() {
      const persistence = yield* Persistence
      const registry = yield* Registry
      const settings = yield* KernelSettings
      const hash = yield* Hash
      const pacemaker = yield* Pacemaker
      const scope = yield* Effect.scope
      const open = new Map<string, LiveSpace>()
      const opening = yield* Semaphore.make(1)
      const nodes = new Modules()
      const stops = new Stops()
      const host = { now: pacemaker.now, wake: pacemaker.wake, watch: yield* RunWatch }
      const parts: Recovery.Parts = { registry, nodes, settings, hash, pacemaker, recall: yield* Recall, reporter: yield* CurrentReporter, watchdog: yield* CurrentWatchdog, host, held: new Set(settings.held) }

      const start = Effect.fn("Kernel.open")(function*(name: string, create: boolean): Effect.fn.Return<LiveSpace, PersistenceError> {
        const known = running(open, name)
        if (known !== undefined) return known
        const own = yield* Scope.fork(scope)
        const close = (exit: Exit.Exit<unknown, unknown>) => Scope.close(own, exit)
        const space = yield* persistence.open(name, { create, retention: settings.retention, digest: (text) => hash.hex(Journal.hashed(text)) }).pipe(
          Scope.provide(own),
          Effect.flatMap((store) => Effect.try({
            try: () => new LiveSpace(Recovery.recover(store, parts), {
              turn: pacemaker.turn,
              reach: find,
              stopped: (error) => {
                open.delete(name)
                if (error !== undefined) stops.stopped(error, store.place)
                Effect.runFork(close(Exit.void))
              }
            }),
            catch: expected(PersistenceError)
          })),
          Effect.tapError((error) => Effect.sync(() => stops.refused(name, error))),
          Effect.onError((cause) => close(Exit.failCause(cause)))
        )
        open.set(name, space)
        if (space.error === undefined) stops.opened(name)
        return space
      })

      const find = (name: string, create = settings.create === "on-demand"): Effect.Effect<LiveSpace, PersistenceError> => {
        const known = running(open, name)
        return known !== undefined ? Effect.succeed(known) : Semaphore.withPermits(opening, 1)(start(name, create))
      }

      const wake = (): void => {
        for (const space of open.values()) space.wake()
      }

      yield* Effect.addFinalizer(() => Effect.sync(() => {
        for (const space of open.values()) space.close("the runtime is closing")
      }))

      return Kernel.of({
        space: (name, options) => find(name, options?.create),
        opened: (name) => running(open, name),
        spaces: persistence.spaces,
        stops: Effect.sync(() => stops.all),
        ...registrar({ registry, nodes, wake }),
        enzymes: Effect.sync(() => registry.all().map(({ code, enzyme }) => ({ enzyme, hash: code?.hash })))
      })
    })
  )
}

const running = (open: ReadonlyMap<string, LiveSpace>, name: string): LiveSpace | undefined => {
  const space = open.get(name)
  return space?.error === undefined ? space : undefined
}

/** Takes modules in and out; a node may have something to do in a space that is still. */
const registrar = ({ nodes, registry, wake }: {
  readonly registry: Registry["Service"]
  readonly nodes: Modules
  readonly wake: () => void
}): Pick<Kernel["Service"], "register" | "unregister" | "leaveOut" | "breaks" | "mends"> => ({
  register: (module, code) => Effect.try({
    try: () => {
      if (module._tag === "Enzyme") registry.register(module, code)
      else nodes.register(module, code)
      // An enzyme alone gives a space that is still nothing to do, unless something is held.
      if (module._tag !== "Enzyme" || registry.leavesOut) wake()
    },
    catch: expected<InvalidEnzyme | InvalidNode>(InvalidEnzyme, InvalidNode)
  }),
  leaveOut: (enzyme, code) => Effect.try({ try: () => registry.leaveOut(enzyme, code), catch: expected(InvalidEnzyme) }),
  breaks: (file) => Effect.sync(() => registry.breaks(file)),
  mends: (file) => Effect.sync(() => {
    registry.mends(file)
    wake()
  }),
  unregister: (module) => Effect.try({
    try: () => {
      if (module._tag === "Enzyme") return registry.unregister(module)
      if (!nodes.unregister(module)) throw new NotRegistered({ name: module.name })
      wake()
    },
    catch: expected(NotRegistered)
  })
})

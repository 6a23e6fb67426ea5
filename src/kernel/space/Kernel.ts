/**
 * The kernel: spaces, opened on demand.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentReporter } from "../../diagnostic/Reporter.ts"
import { Hash } from "../../persistence/Hash.ts"
import { Persistence } from "../../persistence/Persistence.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import { InvalidEnzyme } from "../../registry/Enzyme.ts"
import { type Definition as NodeDefinition, InvalidNode } from "../../scheduler/Definition.ts"
import { Modules } from "../../scheduler/Modules.ts"
import { type Code, NotRegistered, Registry } from "../../registry/Registry.ts"
import { expected } from "../view/Expected.ts"
import { KernelSettings } from "../model/Limits.ts"
import { Pacemaker } from "../model/Pacemaker.ts"
import { Recall } from "../model/Recall.ts"
import type * as Recovery from "./Recovery.ts"
import { RunWatch } from "../watchdog/RunWatch.ts"
import type { Space } from "../view/Space.ts"
import { Spaces } from "./Spaces.ts"
import { type Stop, Stops } from "../model/Stops.ts"
import { CurrentWatchdog } from "../watchdog/Watchdog.ts"

/** An enzyme, with the digest of the module it came from. */
export interface Registration {
  readonly enzyme: Enzyme
  readonly hash: string | undefined
}

/**
 * Opens spaces, and registers the enzymes that react in them.
 *
 * A space is opened when it is asked for, and when its moment has come. Where too
 * many are open, those close that are not in use; a `Space` opens again by itself
 * when it is used. One that stopped because its store failed is opened again from
 * what is durable when the kernel is next asked for it.
 *
 * @category services
 * @since 0.1.0
 */
export class Kernel extends Context.Service<Kernel, {
  /** The space of this name; `create` makes it where there is none. */
  readonly space: (name: string, options?: { readonly create?: boolean }) => Effect.Effect<Space, PersistenceError>
  /** The space of this name where it is open, which costs nothing to ask. */
  readonly opened: (name: string) => Space | undefined
  /** The names of all spaces; none of them is opened. */
  readonly spaces: Effect.Effect<ReadonlyArray<string>, PersistenceError>
  /** The spaces that stopped by themselves or could not be opened, until they open again. */
  readonly stops: Effect.Effect<ReadonlyArray<Stop>>
  /** Reads when each space next has something to do, and has it opened then: at once, in the background, where it is due. */
  readonly resume: Effect.Effect<void, PersistenceError>
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
      const nodes = new Modules()
      const stops = new Stops()
      const host = { now: pacemaker.now, wake: pacemaker.wake, watch: yield* RunWatch }
      const parts: Recovery.Parts = {
        registry, nodes, settings, hash, pacemaker, host, held: new Set(settings.held),
        recall: yield* Recall, reporter: yield* CurrentReporter, watchdog: yield* CurrentWatchdog
      }
      const spaces = new Spaces({ persistence, parts, stops, scope: yield* Effect.scope })
      yield* Effect.addFinalizer(() => Effect.sync(() => spaces.close()))

      return Kernel.of({
        space: (name, { create = settings.create === "on-demand" } = {}) => Effect.map(spaces.find(name, create), ({ handle }) => handle),
        opened: (name) => spaces.opened(name)?.handle,
        spaces: persistence.spaces,
        stops: Effect.sync(() => stops.all),
        resume: spaces.resume,
        ...registrar({ registry, nodes, wake: () => spaces.wake() }),
        enzymes: Effect.sync(() => registry.all().map(({ code, enzyme }) => ({ enzyme, hash: code?.hash })))
      })
    })
  )
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

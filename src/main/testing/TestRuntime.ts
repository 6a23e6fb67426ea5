/**
 * The runtime that tests run on: the memory store, a pacemaker under the test
 * clock, beats that run by hand, and the idempotency check.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentReporter, Reporter } from "../../diagnostic/Reporter.ts"
import { defaults, KernelSettings, type Settings } from "../../kernel/model/Limits.ts"
import type { Pacemaker } from "../../kernel/model/Pacemaker.ts"
import { Kernel } from "../../kernel/space/Kernel.ts"
import type { Hash } from "../../persistence/Hash.ts"
import * as MemoryStore from "../../persistence/memory/MemoryStore.ts"
import type { Persistence } from "../../persistence/Persistence.ts"
import { Registry } from "../../registry/Registry.ts"
import { CurrentRunScope, withoutGuards } from "../../registry/RunScope.ts"
import { Reactor } from "../../reactor/Reactor.ts"
import { Scheduler } from "../../scheduler/Scheduler.ts"
import * as CallPlace from "../guard/CallPlace.ts"
import * as PureHash from "../host/PureHash.ts"
import * as RunGuards from "../guard/RunGuards.ts"
import * as Runtime from "../composition/Runtime.ts"
import * as Slices from "../composition/Slices.ts"
import * as TestPacemaker from "./TestPacemaker.ts"

/**
 * The settings of a test: tempo 0, beats by hand, a space is created by its first use, and it does not boot.
 *
 * @category references
 * @since 0.1.0
 */
export const settings: Settings = {
  tempo: 0,
  pace: "manual",
  ledgers: true,
  create: "on-demand",
  open: 1000,
  boot: false,
  retention: {},
  limits: defaults
}

/**
 * The nodes that a test expects to fail the idempotency check: name and place, such as `"count /data/count"`, in the
 * order of their reports. A node without a place is its name.
 *
 * @category references
 * @since 0.1.0
 */
export const Unstable = Context.Reference<ReadonlyArray<string>>("systole/testing/Unstable", { defaultValue: () => [] })

/** The choices of a test. Each service that is named replaces the one of the test runtime. */
export interface Options<E = never> extends Partial<Runtime.Services<E>> {
  readonly settings?: Partial<Settings>
  readonly hash?: Layer.Layer<Hash>
}

/** Collects the nodes that fail the idempotency check. The end of the scope fails where they differ from {@link Unstable}. */
const checked = Layer.effect(CurrentReporter, Effect.gen(function*() {
  const [expected, outer] = [yield* Unstable, yield* CurrentReporter]
  const found: Array<string> = []
  yield* Effect.addFinalizer(() => Effect.sync(() => {
    if (found.join("\n") === expected.join("\n")) return
    const [made, awaited] = [JSON.stringify(found), JSON.stringify(expected)]
    throw new Error(`The second run of these nodes made something else: ${made}; the test expects ${awaited}`)
  }))
  return new Reporter((told) => {
    if (told.topic === "node/unstable") found.push(nameOf(told.origin.name, told.subject))
    outer.report(told)
  })
}))

/** The guards of a host, unless the test has others. */
const guarded = Layer.unwrap(Effect.map(CurrentRunScope, (scope) =>
  scope === withoutGuards ? RunGuards.layer({ placeOf: CallPlace.find }) : Layer.succeed(CurrentRunScope, scope)))

const nameOf = (node: string, place: unknown): string =>
  place === undefined ? node : `${node} ${String(place instanceof Object && "text" in place ? place.text : place)}`

/**
 * A kernel for a test, with its services. Flushed data lives as long as the persistence of the layer. Nodes are checked
 * for idempotency unless the test names a scheduler.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E = never>(options: Options<E> = {}): Layer.Layer<Kernel | Persistence | Pacemaker | Registry | Hash, E> => {
  const { hash = PureHash.layer, settings: changed, ...named } = options
  const services: Runtime.Services<E> = {
    kernel: Kernel.layer(Slices.all),
    registry: Registry.layer,
    scheduler: Scheduler.layer({ check: true }),
    reactor: Reactor.none,
    persistence: MemoryStore.layer,
    pacemaker: TestPacemaker.layer,
    ...named
  }
  const { pacemaker, persistence, registry } = services
  const kernel = Runtime.compose(services).pipe(Layer.provide([checked, guarded]))
  return Layer.mergeAll(kernel, persistence, pacemaker, registry).pipe(
    Layer.provideMerge([hash, Layer.succeed(KernelSettings, { ...settings, ...changed })])
  )
}

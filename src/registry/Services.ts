/**
 * Services of enzymes: what the Effect of a run takes from the plugins of its runtime.
 *
 * An enzyme names the keys of its services. Before it is registered it is bound to their providers, so that each of its Effects
 * has exactly these services. A run that returns another value pays nothing for them.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Transaction } from "../stage/Transaction.ts"
import { type Enzyme, Event } from "./Enzyme.ts"

/** The module of a plugin with services. */
export interface ServiceCode {
  /** The name of the plugin. */
  readonly plugin: string
  /** The digest of the module. */
  readonly hash: string
  /** The text of the module, if it can be restored later. */
  readonly text: string | undefined
}

/** The services of one layer. */
export interface Provider {
  /** The provider in words, such as `the plugin "pricing"`. */
  readonly label: string
  /** Its module, if it has one. */
  readonly code: ServiceCode | undefined
  readonly context: Context.Context<never>
}

/**
 * Services are refused. `label` names their provider, or the enzyme that takes them.
 *
 * - `service/failed`: the layer of a plugin fails.
 * - `service/timeout`: the layer is not built within the limit `serviceMillis`.
 * - `service/taken`: another plugin provides one of the services.
 * - `service/absent`: no plugin provides a service that an enzyme takes.
 *
 * @category errors
 * @since 0.2.0
 */
export class ServiceRefused extends Data.TaggedError("ServiceRefused")<{
  readonly code: "service/failed" | "service/timeout" | "service/taken" | "service/absent"
  readonly label: string
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message() {
    return `The services of ${this.label} are refused: ${this.reason}`
  }
}

/** A bound enzyme, and the providers of its services. */
export interface BoundEnzyme {
  readonly enzyme: Enzyme
  readonly services: ReadonlyArray<Provider>
}

/** The enzymes of which others are bound. */
const origins = new WeakMap<Enzyme, Enzyme>()

/** The refusal of an enzyme that takes services and is bound to none; `undefined` for any other. */
export const unbound = (enzyme: Enzyme): ServiceRefused | undefined =>
  enzyme.services.length === 0 || origins.has(enzyme) ? undefined : absent(enzyme, enzyme.services)

const absent = ({ name }: Enzyme, services: ReadonlyArray<string>): ServiceRefused => {
  const names = services.map((service) => JSON.stringify(service)).join(", ")
  const reason = `no plugin provides ${names}. Add a plugin whose services have what it takes`
  return new ServiceRefused({ code: "service/absent", label: `enzyme "${name}"`, reason })
}

/** The keys of the services of a provider, in code-unit order. */
export const provided = ({ context }: Provider): ReadonlyArray<string> => [...context.mapUnsafe.keys()].sort()

/** The provider of a service; `undefined` for none. */
export const providerOf = (key: string, providers: ReadonlyArray<Provider>): Provider | undefined =>
  providers.find(({ context }) => context.mapUnsafe.has(key))

/**
 * Gives an enzyme its services. One that is bound already gets those of these providers in place of its own.
 *
 * @throws ServiceRefused
 */
export const bind = (given: Enzyme, providers: ReadonlyArray<Provider>): BoundEnzyme => {
  const enzyme = origins.get(given) ?? given
  if (enzyme.services.length === 0) return { enzyme, services: [] }
  const missing: Array<string> = []
  const used = new Set<Provider>()
  const services = new Map<string, unknown>()
  for (const key of enzyme.services) {
    const provider = providerOf(key, providers)
    if (provider === undefined) missing.push(key)
    else {
      used.add(provider)
      services.set(key, provider.context.mapUnsafe.get(key))
    }
  }
  if (missing.length > 0) throw absent(enzyme, missing)
  const context = Context.makeUnsafe<never>(services)
  const run: Enzyme["run"] = (tx, event) => {
    const result = enzyme.run(tx, event)
    return Effect.isEffect(result) ? Effect.provideContext(result as Effect.Effect<unknown, unknown>, context) : result
  }
  const bound: Enzyme = Object.freeze({ ...enzyme, run })
  origins.set(bound, enzyme)
  return { enzyme: bound, services: [...used] }
}

/**
 * The result of a run. An Effect gets its transaction and its event as services; any other value is returned as it is.
 */
export const inRun = (result: unknown, tx: Transaction, event: Event): unknown => {
  if (!Effect.isEffect(result)) return result
  const context = Context.makeUnsafe<never>(new Map<string, unknown>([[Transaction.key, tx], [Event.key, event]]))
  return Effect.provideContext(result as Effect.Effect<unknown, unknown>, context)
}

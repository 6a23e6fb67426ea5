/**
 * Plugins: modules that provide parts of a runtime.
 *
 * A plugin may provide persistence, channels, services and enzymes, and add commands, settings and reserved signals. The built-in
 * plugins are loaded in the same way.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SliceName } from "../ledger/SliceTable.ts"
import type { Hash } from "../persistence/Hash.ts"
import type { ContentStore } from "../persistence/LargeContent.ts"
import type { Provider as TransportProvider } from "../federation/Transport.ts"
import type { Persistence } from "../persistence/Persistence.ts"
import type { PersistenceError } from "../persistence/PersistenceError.ts"
import type { Definition as ChannelDefinition, HostName } from "../reactor/Channel.ts"
import type { Enzyme } from "../registry/Enzyme.ts"

/** The settings of a persistence provider. */
export interface PersistenceSettings {
  /** The folder for the data of all spaces. */
  readonly folder: string
  /** The options of this provider in the configuration. */
  readonly options: Readonly<Record<string, unknown>>
}

/** The settings of a channel provider. */
export interface ChannelSettings {
  /** The id of the channel in the configuration. */
  readonly id: string
  /** The folder of the project. */
  readonly root: string
  /** The folder for the data of all spaces. */
  readonly folder: string
  /** The host of the runtime. */
  readonly host: HostName
  /** The options of this provider in the configuration. The provider validates them, and throws for invalid ones. */
  readonly options: Readonly<Record<string, unknown>>
}

/** The settings of a provider of a content store. */
export interface ContentSettings extends ChannelSettings {
  /** The bindings of a Worker; none on other hosts. */
  readonly bindings: Readonly<Record<string, unknown>>
}

/** Makes a channel. */
export type ChannelProvider = (settings: ChannelSettings) => ChannelDefinition

/**
 * A plugin's definition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plugin {
  readonly _tag: "Plugin"
  /** The name by which a configuration selects the plugin. */
  readonly name: string
  /** The version of the plugin. */
  readonly version: string
  /** The services that the plugin provides. */
  readonly provides: {
    readonly persistence?: (settings: PersistenceSettings) => Layer.Layer<Persistence, PersistenceError, Hash>
    /** Makes the store of content that is too large for the store of its space. */
    readonly content?: (settings: ContentSettings) => ContentStore
    /** The providers of channels, by the names with which a configuration selects them. */
    readonly channels?: { readonly [name: string]: ChannelProvider }
    /** The providers of transports of federation, by the ids of the transports. Two plugins cannot provide one id. */
    readonly transports?: { readonly [id: string]: TransportProvider }
  }
  /** The enzymes that the plugin registers. */
  readonly enzymes: ReadonlyArray<Enzyme>
  /**
   * The commands that it adds to the command line: the module of each, relative to the file of the plugin. Its default export is what
   * `defineCommand` of `systole/cli` returns, with the same name. It is imported when the command is called.
   */
  readonly commands: { readonly [name: string]: string }
  /**
   * The schema of its part of `systole.config.ts`: the field with the name of the plugin. A project without this field has no
   * settings of the plugin. A build contains them as JSON.
   */
  readonly settings: Schema.Codec<unknown, unknown> | undefined
  /** The beginnings of signals that readers must not send, because its enzymes trust them, such as `/signals/billing/`. */
  readonly reserved: ReadonlyArray<string>
  /**
   * A layer with loggers, a tracer or an exporter of metrics, for the logs, spans and metrics of the runtime and of its enzymes. A layer
   * that fails is reported (`telemetry/failed`) and left out. No replay depends on it.
   */
  readonly telemetry: Layer.Layer<never, unknown> | undefined
  /** The slices of the runtime that its enzymes cannot do without, such as `"requests"`. */
  readonly needs: ReadonlyArray<SliceName>
  /**
   * The services of enzymes: a layer that takes none of its surroundings. It is built once for each runtime, and ends with it.
   *
   * Services are code of runs. The layer and its services take time, chance and data from the run alone, give the same results to the
   * same calls, and keep no state between runs. What differs by environment goes through a channel. The journal names the module of
   * the plugin, so that a replay uses the services that ran.
   */
  readonly services: Layer.Layer<never, unknown> | undefined
}

/** The fields of a plugin that its definition may leave out. */
type Optional = "enzymes" | "commands" | "settings" | "reserved" | "telemetry" | "needs" | "services"

/**
 * The definition of a plugin.
 *
 * @category models
 * @since 0.2.0
 */
export interface Definition extends Omit<Plugin, "_tag" | "provides" | Optional>, Partial<Pick<Plugin, "provides" | Optional>> {}

/**
 * A plugin's definition is invalid. `reason` names the first problem.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidPlugin extends Data.TaggedError("InvalidPlugin")<{ readonly name: string; readonly reason: string }> {
  readonly code = "plugin/invalid"
  override get message() {
    return `Plugin "${this.name}" is refused: ${this.reason}`
  }
}

/** The beginning of signals: a path of whole segments below `/signals/`. */
const beginningOfSignals = /^\/signals\/(?:[A-Za-z0-9_-]{1,100}\/){1,10}$/

const pluginName = /^[a-z0-9][a-z0-9_-]{0,62}$/

const isRecord = (providers: unknown): boolean =>
  typeof providers === "object" && providers !== null &&
  Object.entries(providers).every(([name, provider]) => pluginName.test(name) && typeof provider === "function")

/** The providers of each kind. */
const provided: Readonly<Record<string, (provider: unknown) => boolean>> = {
  persistence: (provider) => typeof provider === "function",
  content: (provider) => typeof provider === "function",
  channels: isRecord,
  transports: isRecord
}

/**
 * Creates a plugin from its definition.
 *
 * @throws InvalidPlugin
 * @example Persistence of one's own
 * ```ts
 * import { MemoryStore, Plugin } from "systole"
 *
 * export default Plugin.make({
 *   name: "forgetful",
 *   version: "1.0.0",
 *   provides: { persistence: () => MemoryStore.layer }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (definition: Definition): Plugin => {
  const { commands = {}, enzymes = [], name, needs = [], provides, reserved = [], services, settings, telemetry, version } = definition
  const refuse = (reason: string) => new InvalidPlugin({ name: String(name), reason })
  if (!pluginName.test(name)) throw refuse("its name may hold a-z, 0-9, _ and -, and begins with a letter or a digit")
  if (typeof version !== "string" || version === "") throw refuse("it has no version")
  for (const [kind, provider] of Object.entries(provides ?? {})) {
    const isProvider = Object.hasOwn(provided, kind) ? provided[kind] : undefined
    if (isProvider === undefined) throw refuse(`it provides "${kind}", which this runtime has no place for`)
    if (!isProvider(provider)) throw refuse(`its "${kind}" is not a function or a record of functions`)
  }
  for (const [command, module] of Object.entries(commands)) {
    if (!pluginName.test(command)) throw refuse(`its command "${command}" is no name of a-z, 0-9, _ and -`)
    if (typeof module !== "string" || module === "") throw refuse(`its command "${command}" has no module: write its path`)
  }
  if (settings !== undefined && !Schema.isSchema(settings)) throw refuse("its settings are no Schema")
  const isServing = services === undefined || Layer.isLayer(services)
  if (!isServing) throw refuse("its services are no Layer; give one such as Layer.succeed(Key, …)")
  if (telemetry !== undefined && !Layer.isLayer(telemetry)) throw refuse("its telemetry is no Layer; give one such as Logger.layer([…])")
  const vague = reserved.find((beginning) => !beginningOfSignals.test(beginning))
  if (vague !== undefined) throw refuse(`it reserves ${JSON.stringify(vague)}; write a beginning such as "/signals/${name}/"`)
  const own = { commands, settings, reserved, telemetry, needs, services }
  return Object.freeze({ _tag: "Plugin", name, version, provides: provides ?? {}, enzymes, ...own })
}

/**
 * Tests whether a module's export is a plugin.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (value: unknown): value is Plugin =>
  typeof value === "object" && value !== null && (value as { readonly _tag?: unknown })._tag === "Plugin"

/**
 * The configuration of a project: what its `systole.config.ts` exports.
 *
 * Every field has a default, so that a project needs a configuration only for
 * what it wants otherwise.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Value } from "../cell/Value.ts"
import * as Limits from "../kernel/Limits.ts"

/** The file that holds a project's configuration. */
export const FILE = "systole.config.ts"

/**
 * Renders a page of HTML from what cells hold. `get` answers `undefined` where there is no such cell or space.
 *
 * @category models
 * @since 0.1.0
 */
export type Page = (cells: { readonly get: (space: string, address: string) => Promise<Value> }) => string | Promise<string>

const Page = Schema.declare((value): value is Page => typeof value === "function", { expected: "a function that renders a page" })
const PagePath = Schema.String.pipe(Schema.check(Schema.isPattern(/^\/(?!v1(?:\/|$)|livez$|readyz$)[A-Za-z0-9_/.-]*$/)))

const count = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })))
const folders = Schema.Array(Schema.NonEmptyString)
const ModuleName = Schema.String.pipe(Schema.check(Schema.isPattern(/^[a-z0-9][a-z0-9_-]{0,62}$/)))
const Options = Schema.Record(Schema.String, Schema.Unknown)

const Definition = Schema.Struct({
  enzymes: Schema.optionalKey(folders),
  plugins: Schema.optionalKey(folders),
  persistence: Schema.optionalKey(Schema.Union([ModuleName, Schema.Struct({ use: ModuleName, options: Schema.optionalKey(Options) })])),
  data: Schema.optionalKey(Schema.NonEmptyString),
  host: Schema.optionalKey(Schema.NonEmptyString),
  port: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 65535 })))),
  token: Schema.optionalKey(Schema.String.pipe(Schema.check(Schema.isPattern(/^[\x21-\x7e]{16,512}$/, {
    message: "a token has 16 to 512 visible ASCII characters"
  })))),
  tempo: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 86_400_000 })))),
  ledgers: Schema.optionalKey(Schema.Boolean),
  boot: Schema.optionalKey(Schema.Boolean),
  check: Schema.optionalKey(Schema.Boolean),
  system: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  spaces: Schema.optionalKey(Schema.Struct({ create: Schema.Literals(["on-demand", "explicit"]) })),
  pages: Schema.optionalKey(Schema.Record(PagePath, Page)),
  retention: Schema.optionalKey(Schema.Struct({
    journalMillis: Schema.optionalKey(count),
    journalBytes: Schema.optionalKey(count),
    receiptMillis: Schema.optionalKey(count),
    contentMillis: Schema.optionalKey(count)
  })),
  limits: Schema.optionalKey(Schema.Struct({
    inboxSignals: Schema.optionalKey(count),
    inboxBytes: Schema.optionalKey(count),
    backlogSignals: Schema.optionalKey(count),
    backlogBytes: Schema.optionalKey(count),
    captureSignals: Schema.optionalKey(count),
    captureBytes: Schema.optionalKey(count),
    groupBeats: Schema.optionalKey(count),
    groupBytes: Schema.optionalKey(count),
    groupMillis: Schema.optionalKey(count),
    groupTurns: Schema.optionalKey(count),
    hops: Schema.optionalKey(count),
    backoffBeats: Schema.optionalKey(count),
    residentBytes: Schema.optionalKey(count),
    replayBeats: Schema.optionalKey(count),
    pastBytes: Schema.optionalKey(count)
  }))
})

/**
 * What a project writes: folders of modules, the persistence plugin, the address to listen on, how spaces beat.
 *
 * @category models
 * @since 0.1.0
 */
export type Definition = typeof Definition.Type

/**
 * A configuration with everything in its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Config {
  /** Folders of enzyme modules, seen from the project. */
  readonly enzymes: ReadonlyArray<string>
  readonly plugins: ReadonlyArray<string>
  /** The plugin that provides persistence, and what it is told. */
  readonly persistence: { readonly use: string; readonly options: Readonly<Record<string, unknown>> }
  /** The folder for the data of all spaces, seen from the project. */
  readonly data: string
  readonly host: string
  readonly port: number
  /** What callers have to show as a bearer token. */
  readonly token: string | undefined
  /** Whether a run that reaches around the runtime for time, chance or the outside is refused; `dev` does so unless it is told not to. */
  readonly check: boolean | undefined
  /** What the project itself says about the creation of spaces. */
  readonly create: Limits.Settings["create"] | undefined
  readonly kernel: Limits.Settings
  /** The names of enzymes that may write the runtime's own cells. */
  readonly system: ReadonlyArray<string>
  /** Pages of HTML by their paths. */
  readonly pages: Readonly<Record<string, Page>>
}

/**
 * The configuration does not fit.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidConfig extends Schema.TaggedError<InvalidConfig>()("InvalidConfig", { reason: Schema.String }) {
  readonly code = "config/invalid"
  override get message() {
    return `The configuration is refused: ${this.reason}. See to ${FILE}`
  }
}

const decodeDefinition = Schema.decodeUnknownEffect(Definition, { onExcessProperty: "error" })

/**
 * The configuration that a module's export stands for; `undefined` stands for all defaults.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = (definition: unknown): Effect.Effect<Config, InvalidConfig> =>
  decodeDefinition(definition ?? {}).pipe(
    Effect.mapError((error) => new InvalidConfig({ reason: error.message.replaceAll(/\s+/g, " ") })),
    Effect.filterOrFail(
      ({ boot }) => boot !== false,
      () => new InvalidConfig({ reason: "boot is false, and a new space always boots: its dossier tells when it could begin. Leave boot out, or say true" })
    ),
    Effect.map(withDefaults),
    Effect.filterOrFail(
      (config) => isLoopback(config.host) || config.token !== undefined,
      ({ host }) => new InvalidConfig({ reason: `host "${host}" can be reached from other machines, and there is no token. Set a token, or use host "127.0.0.1"` })
    )
  )

const withDefaults = (definition: Definition): Config => {
  const { persistence = "sqlite" } = definition
  return {
    enzymes: definition.enzymes ?? ["enzymes"],
    plugins: definition.plugins ?? ["plugins"],
    persistence: typeof persistence === "string" ? { use: persistence, options: {} } : { use: persistence.use, options: persistence.options ?? {} },
    data: definition.data ?? ".data",
    host: definition.host ?? "127.0.0.1",
    port: definition.port ?? 4200,
    token: definition.token,
    check: definition.check,
    create: definition.spaces?.create,
    system: definition.system ?? [],
    pages: definition.pages ?? {},
    kernel: {
      tempo: definition.tempo ?? 100,
      pace: "demand",
      ledgers: definition.ledgers ?? true,
      create: definition.spaces?.create ?? "explicit",
      boot: true,
      retention: definition.retention ?? {},
      limits: { ...Limits.defaults, ...definition.limits }
    }
  }
}

/**
 * Whether an address can be reached from this machine alone.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)

/**
 * A definition as it stands, with its type checked where it is written.
 *
 * @example A project that keeps everything in memory
 * ```ts
 * import { defineConfig } from "systole"
 *
 * export default defineConfig({ persistence: "memory", spaces: { create: "on-demand" } })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const defineConfig = (definition: Definition): Definition => definition

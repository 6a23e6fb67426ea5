/**
 * The configuration of a project: the default export of its `systole.config.ts`.
 *
 * Every field has a default, so a project configures only the differences.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Label from "../cell/Label.ts"
import * as Redacted from "../cell/Redacted.ts"
import * as Fault from "../contract/Fault.ts"
import * as SliceTable from "../ledger/SliceTable.ts"
import * as Limits from "../kernel/model/Limits.ts"
import { isSpaceName } from "../persistence/SpaceName.ts"
import * as ChannelLabels from "../reactor/ChannelLabels.ts"
import type { Settings as ChannelSettings } from "../reactor/Channel.ts"
import { InvalidLabels, Labels } from "../stage/Labels.ts"
import * as AccessSettings from "./AccessSettings.ts"
import * as BackupSettings from "./BackupSettings.ts"
import * as DurationField from "./DurationField.ts"
import { InvalidConfig } from "./InvalidConfig.ts"
import * as InvalidFields from "./InvalidFields.ts"
import * as Page from "./Page.ts"
import type { Plugin } from "./Plugin.ts"
import type { ChannelOptions, ContentOptions, PluginChoice, PluginSettings, SecretPlace, StoreOptions } from "./PluginOptions.ts"
import * as Secrets from "./Secrets.ts"
import * as Webhook from "./Webhook.ts"
import { MAX_WAIT } from "../stage/Due.ts"
import * as Times from "../time/Duration.ts"

export { FILE, InvalidConfig } from "./InvalidConfig.ts"

const PagePath = Schema.String.pipe(Schema.check(Schema.isPattern(/^\/(?!v1(?:\/|$)|livez$|readyz$)[A-Za-z0-9_/.-]*$/)))

const Hook = Schema.declare((value): value is Webhook.Webhook => value instanceof Webhook.Webhook, { expected: "a webhook(…)" })

const count = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })))

/** The longest idle time of spaces: a year, in milliseconds. */
const MAX_IDLE = 31_536_000_000

const millis = DurationField.of("milliseconds", [1, Number.MAX_SAFE_INTEGER])

/** A limit that is a time may be given as one. */
type LimitField<Name> = Schema.optionalKey<Name extends `${string}Millis` ? typeof millis : typeof count>

const limitFields = Limits.each((_, name) => Schema.optionalKey(name.endsWith("Millis") ? millis : count)) as {
  readonly [Name in Limits.LimitName]: LimitField<Name>
}

const folders = Schema.Array(Schema.NonEmptyString)
const ModuleName = Schema.String.pipe(Schema.check(Schema.isPattern(/^[a-z0-9][a-z0-9_-]{0,62}$/)))
const SpaceName = Schema.String.pipe(Schema.check(Schema.makeFilter(isSpaceName, { expected: "the name of a space, such as \"home\"" })))
const Atoms = Schema.Array(Schema.String)
const Token = Schema.String.pipe(Schema.check(Schema.isPattern(Secrets.TOKEN, { message: Secrets.FORM })))
const Secret = Schema.Union([Schema.Struct({ env: Schema.NonEmptyString }), Schema.Struct({ file: Schema.NonEmptyString })])
const Options = Schema.Record(Schema.String, Schema.Unknown)

const fields = {
  enzymes: Schema.optionalKey(folders),
  plugins: Schema.optionalKey(folders),
  without: Schema.optionalKey(Schema.Array(Schema.Literals(SliceTable.names))),
  persistence: Schema.optionalKey(Schema.Union([ModuleName, Schema.Struct({ use: ModuleName, options: Schema.optionalKey(Options) })])),
  content: Schema.optionalKey(Schema.Union([ModuleName, Schema.Struct({ use: ModuleName, options: Schema.optionalKey(Options) })])),
  channels: Schema.optionalKey(Schema.Record(ModuleName, Schema.Union([
    ModuleName,
    Schema.Struct({
      use: ModuleName,
      options: Schema.optionalKey(Options),
      budget: Schema.optionalKey(DurationField.of("beats", [1, MAX_WAIT])),
      clearance: Schema.optionalKey(Atoms),
      label: Schema.optionalKey(Atoms),
      telemetry: Schema.optionalKey(ModuleName)
    })
  ]))),
  reactor: Schema.optionalKey(Schema.Literals(["native", "sync"])),
  data: Schema.optionalKey(Schema.NonEmptyString),
  host: Schema.optionalKey(Schema.NonEmptyString),
  port: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 65535 })))),
  token: Schema.optionalKey(Token),
  tempo: Schema.optionalKey(DurationField.of("milliseconds", [0, 86_400_000])),
  ledgers: Schema.optionalKey(Schema.Boolean),
  boot: Schema.optionalKey(Schema.Boolean),
  check: Schema.optionalKey(Schema.Boolean),
  isolation: Schema.optionalKey(Schema.Literals(["snapshot", "serializable"])),
  system: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  spaces: Schema.optionalKey(Schema.Struct({
    create: Schema.optionalKey(Schema.Literals(["on-demand", "explicit"])),
    open: Schema.optionalKey(count),
    idleMillis: Schema.optionalKey(DurationField.of("milliseconds", [1000, MAX_IDLE])),
    first: Schema.optionalKey(SpaceName)
  })),
  pages: Schema.optionalKey(Schema.Record(PagePath, Page.Page)),
  ingress: Schema.optionalKey(Schema.Record(PagePath, Hook)),
  access: Schema.optionalKey(AccessSettings.Fields),
  key: Schema.optionalKey(Secret), backup: Schema.optionalKey(BackupSettings.Fields),
  origins: Schema.optionalKey(AccessSettings.Origins),
  labels: Schema.optionalKey(Schema.Struct({
    cells: Schema.Record(Schema.String, Atoms),
    declassify: Schema.optionalKey(Schema.Record(ModuleName, Atoms)),
    readers: Schema.optionalKey(Schema.Record(ModuleName, Schema.Struct({ token: Schema.optionalKey(Token), clearance: Atoms })))
  })),
  retention: Schema.optionalKey(Schema.Struct({
    journalMillis: Schema.optionalKey(millis),
    journalBytes: Schema.optionalKey(count),
    receiptMillis: Schema.optionalKey(millis),
    contentMillis: Schema.optionalKey(millis)
  })),
  limits: Schema.optionalKey(Schema.Struct(limitFields))
}

/**
 * The names of the fields of the runtime. A plugin with settings has the field of its name.
 */
export const FIELDS: ReadonlyArray<string> = [...Object.keys(fields), "environments"]

/** The plugins whose settings are a part of the configuration, by their names. */
export type Parts = Readonly<Record<string, Pick<Plugin, "needs" | "settings">>>

/** Plugins with settings by their names. The first of two counts, since the other one is refused. */
export const partsOf = (plugins: ReadonlyArray<Plugin>): Parts =>
  Object.fromEntries(plugins.toReversed().filter(({ settings }) => settings !== undefined).map((plugin) => [plugin.name, plugin]))

/** The schema of a definition with the parts of plugins. Their types are unknown here. */
const schemaOf = (parts: Parts) => {
  const own = Object.entries(parts).flatMap(([name, { settings }]) =>
    settings === undefined || FIELDS.includes(name) ? [] : [[name, Schema.optionalKey(settings)]])
  const all = { ...Object.fromEntries(own) as object, ...fields }
  return Schema.Struct({ ...all, environments: Schema.optionalKey(Schema.Record(ModuleName, Schema.Struct(all))) })
}

/** A definition as it is decoded: its options are unknown, because it is decoded without their plugins. */
type Decoded = ReturnType<typeof schemaOf>["Type"]

/** The fields of a configuration or of one of its environments. */
type Fields = Omit<Decoded, "environments">

/** The same fields with plugins and their options by their types. */
interface TypedFields extends Omit<Fields, "persistence" | "content" | "channels">, Partial<PluginSettings> {
  readonly persistence?: PluginChoice<StoreOptions>
  readonly content?: PluginChoice<ContentOptions>
  readonly channels?: Readonly<Record<string, PluginChoice<ChannelOptions, ChannelSettings>>>
}

/**
 * The configuration as a project writes it. Every field is optional.
 */
export interface Definition extends TypedFields {
  /** Other values for some fields, by the name of an environment. */
  readonly environments?: Readonly<Record<string, TypedFields>>
}

/**
 * A decoded configuration with its tokens: every field is present.
 */
export interface Config extends Secrets.Secured<Settings> {}

/**
 * A decoded configuration before the check of its tokens.
 */
export interface Settings extends Secrets.TokenSettings {
  /** The settings of plugins, by their names. */
  readonly parts: Readonly<Record<string, unknown>>
  /** Folders of enzyme modules, relative to the project. */
  readonly enzymes: ReadonlyArray<string>
  /** Folders of plugin modules, relative to the project. */
  readonly plugins: ReadonlyArray<string>
  /** The slices of the runtime that the project is without. */
  readonly without: ReadonlyArray<SliceTable.SliceName>
  /** The plugin that provides persistence, and its options. */
  readonly persistence: { readonly use: string; readonly options: Readonly<Record<string, unknown>> }
  /** The plugin that stores content beyond 32 MiB, and its options; `undefined` without one. */
  readonly content: { readonly use: string; readonly options: Readonly<Record<string, unknown>> } | undefined
  /** The channels by their ids: the provider, its options, and the settings of the channel. */
  readonly channels: Readonly<Record<string, ChannelConfig>>
  /** `native` (default): beats go on while requests are in progress. `sync`: the next beat of a space waits for them. */
  readonly reactor: "native" | "sync"
  /** The folder for the data of all spaces, relative to the project. */
  readonly data: string
  /** The port to listen on; 0 selects a free one. */
  readonly port: number
  /** Whether a run that bypasses the runtime for time, randomness or I/O is refused. By default only `dev` refuses it. */
  readonly check: boolean | undefined
  /** The project's own setting for the creation of spaces. */
  readonly create: Limits.Settings["create"] | undefined
  /** The limits of the kernel. */
  readonly kernel: Limits.Settings
  /** The names of enzymes that may write the runtime's own cells. */
  readonly system: ReadonlyArray<string>
  /** Pages of HTML by their paths. */
  readonly pages: Page.Pages
  /** Webhooks by their paths. */
  readonly ingress: Readonly<Record<string, Webhook.Webhook>>
  /** The credentials that are accepted beside the tokens. */
  readonly access: AccessSettings.AccessSettings
  /** The place of the key of this node, which signs the frames that it makes; `undefined` without one. */
  readonly key: SecretPlace | undefined
  /** Scheduled backups; `undefined` without any. */
  readonly backup: BackupSettings.BackupSettings | undefined
  /** The origins of the pages of other sites that may read answers. */
  readonly origins: ReadonlyArray<string>
  /** The names of the enzymes to disable at this start. */
  readonly disabled: ReadonlyArray<string>
}

/** A channel: the name of its provider, the provider's options, and its settings. */
export interface ChannelConfig extends ChannelSettings {
  readonly use: string
  readonly options: Readonly<Record<string, unknown>>
}

const decoderOf = (parts: Parts) => Schema.decodeUnknownEffect(schemaOf(parts), { errors: "all", onExcessProperty: "error" })

/** The decoder of a configuration without settings of plugins. */
const decodePlain = decoderOf({})

/**
 * The names of the fields of a definition that the runtime does not have: parts of plugins, or mistakes.
 */
export const foreignFields = (definition: unknown): ReadonlyArray<string> => {
  const { environments, ...base } = Object(definition ?? {}) as { readonly environments?: unknown }
  const all = [base, ...Object.values(Object(environments ?? {}) as object).map((fields) => Object(fields ?? {}) as object)]
  return [...new Set(all.flatMap((fields) => Object.keys(fields)))].filter((name) => !FIELDS.includes(name))
}

/** The selection of a configuration: its environment, and the variables of the process with its tokens. */
export interface Selection {
  /** The name of one of the configured environments; the base without one. */
  readonly environment?: string | undefined
  /** The environment variables; see {@link Secrets.withTokens}. */
  readonly variables?: Secrets.Variables
  /** The plugins whose settings the definition may have. */
  readonly parts?: Parts
  /** Whether the project is to be served, so that none of its tokens and secrets may be missing; so it is unless told. */
  readonly isServed?: boolean | undefined
}

/**
 * Decodes a module's export; `undefined` gives all defaults.
 */
export const decode = (
  definition: unknown,
  { isServed = true, variables = {}, ...selection }: Selection = {}
): Effect.Effect<Config, InvalidConfig> =>
  Effect.flatMap(settings(definition, selection), (settings) => withSecrets(settings, variables, isServed))

/**
 * Settings with the tokens of environment variables, see {@link Secrets.withTokens}, and the secrets of webhooks.
 */
export const withSecrets = (settings: Settings, variables: Secrets.Variables, isServed = true): Effect.Effect<Config, InvalidConfig> =>
  Effect.try({
    try: () => {
      const hooks = Object.entries(settings.ingress).map(([path, hook]) =>
        [path, Webhook.withSecrets(path, hook, { variables, isServed })] as const)
      return { ...Secrets.withTokens(settings, variables, isServed), ingress: Object.fromEntries(hooks) }
    },
    catch: (error) => error as InvalidConfig
  })

/**
 * Decodes a module's export without a check of its tokens, which a build leaves to the start.
 */
export const settings = (
  definition: unknown,
  { environment, parts = {} }: Omit<Selection, "isServed" | "variables"> = {}
): Effect.Effect<Settings, InvalidConfig> =>
  checkRetired(definition).pipe(
    Effect.andThen((Object.keys(parts).length === 0 ? decodePlain : decoderOf(parts))(definition ?? {})),
    Effect.mapError((error) => error instanceof InvalidConfig ? error : InvalidFields.refusal(Fault.of(error.issue, definition))),
    Effect.flatMap((decoded) => chosen(decoded, environment)),
    Effect.filterOrFail(
      ({ boot }) => boot !== false,
      () => refuse("boot is false, and a new space always boots: its dossier tells when it could begin. Leave boot out, or say true")
    ),
    Effect.map((fields) => withDefaults(fields, parts)),
    Effect.tap((config) => Effect.try({ try: () => checkLabels(config), catch: (error) => refuse((error as Error).message) })),
    Effect.tap((config) => checkSlices(config, parts)),
    Effect.tap(AccessSettings.checkPublic)
  )

/** The fields of one environment. Each replaces the field of the base as a whole. */
const chosen = ({ environments = {}, ...base }: Decoded, name: string | undefined): Effect.Effect<Fields, InvalidConfig> => {
  if (name === undefined) return Effect.succeed(base)
  const own = Object.hasOwn(environments, name) ? environments[name] : undefined
  if (own !== undefined) return Effect.succeed({ ...base, ...own })
  const names = Object.keys(environments)
  const there = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`
  return Effect.fail(refuse(`there is no environment "${name}": ${there}. Name one of them, or add environments: { "${name}": { … } }`))
}

const refuse = (reason: string) => new InvalidConfig({ reason })

/** Refuses the field `features`: each runtime has all slices unless it is without some. */
const checkRetired = (definition: unknown): Effect.Effect<void, InvalidConfig> => {
  const { environments = {}, ...base } = (definition ?? {}) as { readonly environments?: object }
  const isThere = [base, ...Object.values(environments)].some((fields: unknown) => Object.hasOwn(Object(fields) as object, "features"))
  return isThere
    ? Effect.fail(refuse(`there is no field features: all parts of the runtime are in by default. Leave it out; without: ["${
      SliceTable.names.join("\", \"")}"] leaves out those that it names`))
    : Effect.void
}

/** Refuses to leave out a slice that another one needs, or the configuration itself. */
const checkSlices = ({ channels, parts: own, without }: Settings, parts: Parts): Effect.Effect<void, InvalidConfig> => {
  const isOut = (name: string): boolean => (without as ReadonlyArray<string>).includes(name)
  for (const name of SliceTable.names) {
    const missing = SliceTable.places[name].needs?.find(isOut)
    if (missing === undefined || isOut(name)) continue
    return Effect.fail(refuse(`without has "${missing}", and ${name} cannot do without it. Add "${name}" to without, or take both out`))
  }
  const users = Object.keys(own).flatMap((name) => parts[name]?.needs.map((slice) => [name, slice] as const) ?? [])
  const [user, slice] = [...Object.keys(channels).length > 0 ? [["channels", "requests"] as const] : [], ...users]
    .find(([, slice]) => isOut(slice)) ?? []
  return user === undefined
    ? Effect.void
    : Effect.fail(refuse(`without has "${slice}", and ${user} of the configuration cannot do without it. Take it out`))
}

/** Checks the label rules, and that they contain all atoms in use. A mistyped atom would hide too much or too little. */
const checkLabels = ({ channels, kernel: { labels: rules = { cells: {}, declassify: {} } }, readers }: Settings): void => {
  const { top } = new Labels(rules)
  const given = [
    ...Object.entries(rules.declassify),
    ...readers.map(({ atoms, name }) => [name, atoms] as const),
    ...Object.entries(channels).map(([id, channel]) => [`channel ${id}`, ChannelLabels.atomsOf(channel)] as const)
  ]
  for (const [who, atoms] of given) {
    const unknown = atoms.find((atom) => !top.includes(atom))
    if (unknown === undefined) continue
    throw new InvalidLabels({ reason: `"${who}" is given the atom ${JSON.stringify(unknown.slice(0, 100))}, and no cell has it` })
  }
  // The rules of the channels, which the kernel adds, count toward the limit.
  new Labels(ChannelLabels.added(rules, Object.entries(channels)))
}

/** A plugin and its options. */
const chosenPlugin = (named: string | { readonly use: string; readonly options?: Readonly<Record<string, unknown>> }) =>
  typeof named === "string" ? { use: named, options: {} } : { use: named.use, options: named.options ?? {} }

const withDefaults = (definition: Fields, parts: Parts): Settings => {
  const { persistence = "sqlite" } = definition
  const given = definition as Readonly<Record<string, unknown>>
  return {
    parts: Object.fromEntries(Object.keys(parts).flatMap((name) => given[name] === undefined ? [] : [[name, given[name]]])),
    enzymes: definition.enzymes ?? ["enzymes"],
    plugins: definition.plugins ?? ["plugins"],
    without: definition.without ?? [],
    persistence: chosenPlugin(persistence),
    content: definition.content === undefined ? undefined : chosenPlugin(definition.content),
    channels: Object.fromEntries(Object.entries(definition.channels ?? {}).map(([id, channel]) =>
      [id, typeof channel === "string" ? { use: channel, options: {} } : { ...channel, options: channel.options ?? {} }])),
    reactor: definition.reactor ?? "native",
    data: definition.data ?? ".data",
    host: definition.host ?? "127.0.0.1",
    port: definition.port ?? 4200,
    token: Redacted.given(definition.token),
    check: definition.check,
    create: definition.spaces?.create,
    system: definition.system ?? [],
    pages: definition.pages ?? {},
    ingress: definition.ingress ?? {},
    access: AccessSettings.withDefaults(definition.access ?? {}),
    key: definition.key,
    backup: definition.backup && BackupSettings.withDefaults(definition.backup),
    origins: definition.origins ?? [],
    disabled: [],
    readers: Object.entries(definition.labels?.readers ?? {})
      .map(([name, { clearance, token }]) => ({ name, atoms: Label.make(clearance), ...token && { token: Redacted.make(token) } })),
    kernel: {
      tempo: Times.amountOf(definition.tempo ?? 100),
      pace: "demand",
      ledgers: definition.ledgers ?? true,
      create: definition.spaces?.create ?? "explicit",
      open: definition.spaces?.open ?? Limits.OPEN,
      idleMillis: definition.spaces?.idleMillis === undefined ? undefined : Times.amountOf(definition.spaces.idleMillis),
      first: definition.spaces?.first,
      boot: true,
      retention: DurationField.inMillis(definition.retention ?? {}),
      isolation: definition.isolation ?? "snapshot",
      labels: definition.labels && { cells: definition.labels.cells, declassify: definition.labels.declassify ?? {} },
      limits: { ...Limits.defaults, ...DurationField.inMillis(definition.limits ?? {}) }
    }
  }
}

/**
 * Returns a definition unchanged, and checks its type where it is written.
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

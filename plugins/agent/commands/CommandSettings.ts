/**
 * The settings of an agent: flags come before variables, and variables before the configuration of the project.
 *
 * @module
 */
import * as EffectConfig from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AgentSettings } from "systole"
import { CliFailure, exits, Flag, pluginSettings } from "systole/cli"
import * as Settings from "../wake/Settings.ts"

/** The flags of all commands of the agent. */
export const flags = {
  heartbeat: Flag.String("heartbeat").pipe(Flag.withDescription("The control file; default heartbeat.md"), Flag.optional),
  space: Flag.String("space").pipe(Flag.withDescription("The space of the ledger; default agent"), Flag.optional),
  profile: Flag.String("profile").pipe(Flag.withDescription("A profile of the configuration"), Flag.optional)
}

/** The flags of commands that take a file in a cell, too. */
export const cellFlags = {
  ...flags,
  cell: Flag.String("cell").pipe(
    Flag.withDescription("A control file in a cell of the space, such as /data/agent/files/heartbeat.md; also with --server"),
    Flag.optional
  )
}

/** The values of {@link flags}. */
export interface Flags {
  readonly heartbeat: Option.Option<string>
  readonly space: Option.Option<string>
  readonly profile: Option.Option<string>
}

/** The values of {@link cellFlags}. */
export interface CellFlags extends Flags {
  readonly cell: Option.Option<string>
}

/** The settings of an agent, with the place of its file and its ledger. */
export interface ResolvedSettings {
  readonly file: string
  readonly space: string
  readonly settings: Settings.Settings
}

/** The settings, and their variables. */
const names = ["file", "space", ...Settings.names] as const

const variable = (name: string): Effect.Effect<string | undefined> => {
  const key = `HEARTBEAT_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`
  return Effect.orElseSucceed(
    Effect.map(EffectConfig.option(EffectConfig.NonEmptyString(key)), Option.getOrUndefined),
    () => undefined
  )
}

const refuse = ({ name, remedy, value }: Settings.Misfit): CliFailure =>
  new CliFailure({
    exit: exits.usage,
    code: "agent/setting",
    message: `The setting ${name} is ${JSON.stringify(value.slice(0, 100))}, which is not valid. ${remedy}`
  })

const settingsOf = (texts: Settings.Texts): Effect.Effect<Settings.Settings, CliFailure> => {
  const found = Settings.parse(texts)
  return found._tag === "Success" ? Effect.succeed(found.success) : Effect.fail(refuse(found.failure))
}

/** The fields of a profile as texts. */
const textsOf = (fields: AgentSettings = {}): Settings.Texts =>
  Object.fromEntries(names.flatMap((name) => fields[name] === undefined ? [] : [[name, String(fields[name])]]))

/**
 * Resolves the settings of a command.
 */
export const resolve = Effect.fn("CommandSettings.resolve")(function*(flags: Flags) {
  const agent = (yield* pluginSettings("agent")) ?? {}
  const profile = Option.getOrUndefined(flags.profile) ?? (yield* variable("profile"))
  const profiles = agent.profiles ?? {}
  if (profile !== undefined && !Object.hasOwn(profiles, profile)) {
    const known = Object.keys(profiles).join(", ")
    const remedy = known === "" ? "The configuration has no profiles" : `The profiles are ${known}`
    return yield* refuse({ name: "profile", value: profile, remedy })
  }
  const variables: { [name: string]: string } = {}
  for (const name of names) {
    const value = yield* variable(name)
    if (value !== undefined) variables[name] = value
  }
  const texts: Settings.Texts = { ...textsOf(agent), ...profile === undefined ? {} : textsOf(profiles[profile]), ...variables }
  return {
    file: Option.getOrElse(flags.heartbeat, () => texts["file"] ?? "heartbeat.md"),
    space: Option.getOrElse(flags.space, () => texts["space"] ?? "agent"),
    settings: yield* settingsOf(texts)
  } satisfies ResolvedSettings as ResolvedSettings
})

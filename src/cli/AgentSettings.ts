/**
 * The settings of an agent: flags come before variables, and variables before the configuration of the project.
 *
 * @module
 */
import * as EffectConfig from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"
import * as Duration from "../agent/Duration.ts"
import * as Settings from "../agent/Settings.ts"
import * as Zone from "../agent/Zone.ts"
import type { Config } from "../loader/Config.ts"
import { CliFailure, exits } from "./CliFailure.ts"
import * as DataFolder from "./DataFolder.ts"

/** The flags of all commands of the agent. */
export const flags = {
  heartbeat: Flag.String("heartbeat").pipe(Flag.withDescription("The control file; default heartbeat.md"), Flag.optional),
  space: Flag.String("space").pipe(Flag.withDescription("The space of the ledger; default agent"), Flag.optional),
  profile: Flag.String("profile").pipe(Flag.withDescription("A profile of the configuration"), Flag.optional)
}

/** The values of {@link flags}. */
export interface Flags {
  readonly heartbeat: Option.Option<string>
  readonly space: Option.Option<string>
  readonly profile: Option.Option<string>
}

/** The settings of an agent, with the place of its file and its ledger. */
export interface Resolved {
  readonly file: string
  readonly space: string
  readonly settings: Settings.Settings
}

/** The fields of the configuration as texts, by name. */
type Texts = Readonly<{ [name: string]: string | undefined }>

/** The settings, and their variables. */
const names = ["file", "space", "timezone", "timeout", "attempts", "budget", "reset", "maxConcurrent", "approval"] as const

const variable = (name: string): Effect.Effect<string | undefined> => {
  const key = `HEARTBEAT_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`
  return Effect.orElseSucceed(
    Effect.map(EffectConfig.option(EffectConfig.NonEmptyString(key)), Option.getOrUndefined),
    () => undefined
  )
}

const refuse = (name: string, value: string, remedy: string): CliFailure =>
  new CliFailure({
    exit: exits.usage,
    code: "agent/setting",
    message: `The setting ${name} is ${JSON.stringify(value.slice(0, 100))}, which is not valid. ${remedy}`
  })

/** Reads one setting, or fails with the remedy. */
const parsed = <A>(texts: Texts, name: string, { absent, parse, remedy }: {
  readonly absent: A
  readonly parse: (text: string) => A | undefined
  readonly remedy: string
}): Effect.Effect<A, CliFailure> => {
  const text = texts[name]
  if (text === undefined) return Effect.succeed(absent)
  const value = parse(text)
  return value === undefined ? Effect.fail(refuse(name, text, remedy)) : Effect.succeed(value)
}

const DURATION = "Write one such as 30s, 5m or 1h"

const minuteOf = (text: string): number | undefined => {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hour === undefined ? undefined : Number(hour) * 60 + Number(minute)
}

const settingsOf = Effect.fnUntraced(function*(texts: Texts) {
  const { defaults } = Settings
  const zone = yield* parsed(texts, "timezone", {
    absent: defaults.defaults.zone,
    parse: (text) => Zone.isZone(text) ? text : undefined,
    remedy: "Write a name of IANA, such as Europe/Vienna"
  })
  const timeout = yield* parsed(texts, "timeout", { absent: defaults.defaults.timeout, parse: Duration.parse, remedy: DURATION })
  const attempts = yield* parsed(texts, "attempts", {
    absent: defaults.defaults.attempts,
    parse: (text) => /^[1-9]\d?$|^100$/.test(text) ? Number(text) : undefined,
    remedy: "Write a number from 1 to 100"
  })
  const budget = yield* parsed(texts, "budget", { absent: defaults.budget, parse: Duration.parse, remedy: DURATION })
  const reset = yield* parsed(texts, "reset", { absent: defaults.reset, parse: minuteOf, remedy: "Write a time of day such as 04:00" })
  const maxConcurrent = yield* parsed(texts, "maxConcurrent", {
    absent: defaults.maxConcurrent,
    parse: (text) => /^[1-9]\d?$/.test(text) ? Number(text) : undefined,
    remedy: "Write a number from 1 to 99"
  })
  const approval = yield* parsed<Settings.Settings["approval"]>(texts, "approval", {
    absent: defaults.approval, parse: (text) => text === "hold" || text === "none" ? text : undefined, remedy: "Write hold or none"
  })
  const chosen = { defaults: { ...defaults.defaults, zone, timeout, attempts }, budget, reset, maxConcurrent, approval }
  return chosen satisfies Settings.Settings as Settings.Settings
})

/** The fields of a profile as texts. */
const textsOf = (fields: Config["agent"] = {}): Texts =>
  Object.fromEntries(names.flatMap((name) => fields[name] === undefined ? [] : [[name, String(fields[name])]]))

/**
 * The configuration with an agent, so that its types of actions are loaded.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withAgent = (config: Config): Config => ({ ...config, agent: config.agent ?? {} })

/**
 * Resolves the settings of a command.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolve = Effect.fn("AgentSettings.resolve")(function*(flags: Flags) {
  const { agent = {} } = yield* DataFolder.config
  const profile = Option.getOrUndefined(flags.profile) ?? (yield* variable("profile"))
  const profiles = agent.profiles ?? {}
  if (profile !== undefined && !Object.hasOwn(profiles, profile)) {
    const known = Object.keys(profiles).join(", ")
    return yield* refuse("profile", profile, known === "" ? "The configuration has no profiles" : `The profiles are ${known}`)
  }
  const variables: { [name: string]: string } = {}
  for (const name of names) {
    const value = yield* variable(name)
    if (value !== undefined) variables[name] = value
  }
  const texts: Texts = { ...textsOf(agent), ...profile === undefined ? {} : textsOf(profiles[profile]), ...variables }
  return {
    file: Option.getOrElse(flags.heartbeat, () => texts["file"] ?? "heartbeat.md"),
    space: Option.getOrElse(flags.space, () => texts["space"] ?? "agent"),
    settings: yield* settingsOf(texts)
  } satisfies Resolved as Resolved
})

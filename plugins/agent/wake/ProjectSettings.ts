/**
 * The settings of the agent in `systole.config.ts`.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { PluginSettings } from "systole"

const Duration = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[1-9]\d{0,8}(?:ms|s|m|h|d)$/, { message: "a duration is a whole number with ms, s, m, h or d" }))
)

const ProfileName = Schema.String.pipe(Schema.check(Schema.isPattern(/^[a-z0-9][a-z0-9_-]{0,62}$/)))

const fields = {
  file: Schema.optionalKey(Schema.NonEmptyString),
  space: Schema.optionalKey(Schema.NonEmptyString),
  timezone: Schema.optionalKey(Schema.NonEmptyString),
  timeout: Schema.optionalKey(Duration),
  attempts: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 100 })))),
  budget: Schema.optionalKey(Duration),
  reset: Schema.optionalKey(Schema.String.pipe(
    Schema.check(Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { message: "a time of day is HH:MM" }))
  )),
  maxConcurrent: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 99 })))),
  approval: Schema.optionalKey(Schema.Literals(["hold", "none"]))
}

/** The field `agent` of a configuration. */
export const ProjectSettings: Schema.Codec<PluginSettings["agent"]> = Schema.Struct({
  ...fields,
  profiles: Schema.optionalKey(Schema.Record(ProfileName, Schema.Struct(fields)))
})

/**
 * The field `backup` of the configuration: scheduled backups.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Times from "../time/Duration.ts"
import * as DurationField from "./DurationField.ts"
import type { SecretPlace } from "./PluginOptions.ts"

/** The least time between two backups, in milliseconds: 10 seconds. */
const LEAST = 10_000

const time = (least: number) => DurationField.of("milliseconds", [least, Times.MAX_DURATION])

/** Whether a place is a folder, and not that of another system, such as `s3:bucket`. A letter before a colon is a drive. */
const isFolder = (place: string): boolean => place !== "" && !/^[a-z][a-z0-9+.-]+:/i.test(place)

const Recipient = Schema.String.check(Schema.isPattern(/^age1[0-9a-z]{10,4000}$/, { message: "a recipient of age, such as \"age1…\"" }))
const Recipients = Schema.Union([
  Recipient,
  Schema.Struct({ env: Schema.NonEmptyString }),
  Schema.Struct({ file: Schema.NonEmptyString })
])

/** The schema of the field. */
export const Fields = Schema.Struct({
  every: time(LEAST),
  to: Schema.String.check(Schema.makeFilter(isFolder, {
    expected: "a folder: a channel has no list of its files. Copy the folder with a tool of the other place"
  })),
  full: Schema.optionalKey(time(LEAST)),
  keep: Schema.optionalKey(time(LEAST)),
  encrypt: Schema.optionalKey(Schema.Union([Recipients, Schema.Array(Recipients).check(Schema.isMinLength(1), Schema.isMaxLength(20))]))
})

/** The settings of scheduled backups, with times in milliseconds. */
export interface BackupSettings {
  /** The time between two backups of a space. */
  readonly every: number
  /** The folder, relative to the project. */
  readonly to: string
  /** The age of a snapshot from which on the next backup is another one. */
  readonly full: number
  /** The time for which each state stays available. */
  readonly keep: number
  /** The recipients of the encryption, or their places; none without one. */
  readonly encrypt: ReadonlyArray<string | SecretPlace>
}

/** The settings of a field. */
export const withDefaults = ({ encrypt = [], every, full = "1d", keep = "30d", to }: typeof Fields.Type): BackupSettings => ({
  every: Times.amountOf(every),
  to,
  full: Times.amountOf(full),
  keep: Times.amountOf(keep),
  encrypt: Array.isArray(encrypt) ? encrypt as ReadonlyArray<string | SecretPlace> : [encrypt as string | SecretPlace]
})

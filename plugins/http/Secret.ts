/**
 * Secrets of a channel: an option names the variable or the file that has one.
 *
 * Neither a secret nor a part of it is ever in a message: it travels hidden, and nothing prints it.
 *
 * @module
 */
import { type Plugin, Redacted, type SecretPlace } from "systole"
import * as Fields from "../channel/Fields.ts"

/** The place of a secret. */
export type Secret = SecretPlace

const isSecret = (value: unknown): value is Secret => {
  if (typeof value !== "object" || value === null) return false
  const [[kind, name] = [], ...others] = Object.entries(value)
  return others.length === 0 && (kind === "env" || kind === "file") && typeof name === "string" && name !== ""
}

/** An option that names a secret. */
export const field: Fields.Field<Secret> = Fields.guard(`{ env: "VARIABLE" } or { file: "path" }`, isSecret)

/** The place of a secret, for messages. */
export const placeOf = (secret: Secret): string => "env" in secret ? `the variable ${secret.env}` : `the file ${secret.file}`

/** An option of a channel. */
export interface SecretOption {
  readonly plugin: string
  readonly option: string
  readonly settings: Plugin.ChannelSettings & Fields.Owner
}

/** Workers may have no process, and then no environment. */
interface Host {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> }
}

/** The refusal of a secret, which tells its place. */
export const refusal = ({ option, plugin, settings }: SecretOption, problem: string): Plugin.InvalidPlugin =>
  Fields.refusal(plugin, settings, `its field "${option}" ${problem}`)

/**
 * Reads a secret.
 *
 * @throws InvalidPlugin if the variable or the file is missing
 */
export const read = (secret: Secret, asked: SecretOption): Redacted.Redacted => {
  if ("env" in secret) {
    const value = (globalThis as Host).process?.env?.[secret.env]
    if (value === undefined || value === "") throw refusal(asked, `names ${placeOf(secret)}, which is not set`)
    return Redacted.make(value)
  }
  try {
    const path = process.getBuiltinModule("node:path").resolve(asked.settings.root, secret.file)
    return Redacted.make(process.getBuiltinModule("node:fs").readFileSync(path, "utf8"))
  } catch (error) {
    const { code = "no files on this host" } = error as { readonly code?: string }
    throw refusal(asked, `names ${placeOf(secret)}, which cannot be read (${code})`)
  }
}

/**
 * The options of a bucket with the S3 protocol, which the channel `s3` and the content store `bucket` share.
 *
 * @module
 */
import { type Plugin, Redacted } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Options from "../http/Options.ts"
import * as Secret from "../http/Secret.ts"
import * as TargetUrl from "../http/TargetUrl.ts"
import type { Bucket } from "./Bucket.ts"
import type * as Signature from "./Signature.ts"

/** The longest prefix, in bytes. With the name of a space and a key it stays below the 1,024 bytes of S3. */
const PREFIX = 256

/** A text whose segments stay in the bucket: a URL has no place for `.` and `..`. */
export const segments = (bytes: number) =>
  Fields.guard(`a text of at most ${bytes} bytes without a segment . or ..`, (value): value is string => {
    if (Fields.text(bytes).read(value) === undefined) return false
    return !(value as string).split("/").some((segment) => segment === "." || segment === "..")
  })

const isBucket = (value: unknown): value is string => typeof value === "string" && /^[a-z0-9][a-z0-9._-]{1,62}$/i.test(value)

const isRegion = (value: unknown): value is string => typeof value === "string" && /^[a-z0-9-]{1,64}$/.test(value)

/** The fields of the options. */
export const fields = {
  timeoutMs: Options.fields.timeoutMs,
  jobs: Options.fields.jobs,
  ca: Options.fields.ca,
  cert: Options.fields.cert,
  key: Options.fields.key,
  endpoint: Fields.guard("an origin such as https://s3.eu-central-1.amazonaws.com, without a path", (value): value is string =>
    typeof value === "string" && TargetUrl.isOrigin(value)),
  bucket: Fields.optional(Fields.guard("the name of a bucket", isBucket)),
  region: Fields.or(Fields.guard("a region such as eu-central-1", isRegion), "auto"),
  accessKeyId: Secret.field,
  secretAccessKey: Secret.field,
  prefix: Fields.or(segments(PREFIX), "")
}

/** A plugin that opens a bucket, its settings, the most bytes of an object that it reads, and the longest wait for an attempt. */
interface Configured {
  readonly plugin: string
  readonly settings: Plugin.ChannelSettings
  readonly maxBytes: number
  readonly maxRetryAfterMs?: number
}

const credentialsOf = (
  { accessKeyId, region, secretAccessKey }: Fields.Of<typeof fields>,
  { plugin, settings }: Pick<Configured, "plugin" | "settings">
): Signature.Credentials => {
  const read = (secret: Secret.Secret, option: string): string => {
    const asked = { plugin, option, settings }
    const value = Redacted.value(Secret.read(secret, asked)).trim()
    if (value === "") throw Secret.refusal(asked, `names ${Secret.placeOf(secret)}, whose text is empty`)
    return value
  }
  return { accessKeyId: read(accessKeyId, "accessKeyId"), secretAccessKey: Redacted.make(read(secretAccessKey, "secretAccessKey")), region }
}

/**
 * The bucket of decoded options, and the parts of a definition of a channel that follow from them.
 *
 * @throws InvalidPlugin
 */
export const open = (
  configured: Configured,
  options: Fields.Of<typeof fields>,
  world: Options.World
): { readonly bucket: Bucket; readonly shown: Options.Common["shown"] } => {
  const { maxBytes, maxRetryAfterMs = 0, plugin, settings } = configured
  const { now = Date.now } = world
  const { bucket: name, endpoint, prefix } = options
  const { host, port } = TargetUrl.targetOf(new URL(endpoint))
  const allow = [`${host.includes(":") ? `[${host}]` : host}:${port}`]
  const { client, shown } = Options.common({ plugin, settings, ...world }, { ...options, allow, deny: [], maxRetryAfterMs })
  const base = name === undefined ? endpoint : `${endpoint}/${name}`
  return { bucket: { client, credentials: credentialsOf(options, configured), base, prefix, maxBytes, now }, shown }
}

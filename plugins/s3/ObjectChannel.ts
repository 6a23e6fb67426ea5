/**
 * The channel `s3`.
 *
 * @module
 */
import { Channel, type Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Operations from "../channel/Operations.ts"
import * as Content from "../http/Content.ts"
import * as FetchRequest from "../http/FetchRequest.ts"
import * as HeaderField from "../http/HeaderField.ts"
import type * as HttpClient from "../http/HttpClient.ts"
import * as Options from "../http/Options.ts"
import * as Secret from "../http/Secret.ts"
import * as Status from "../http/Status.ts"
import * as TargetUrl from "../http/TargetUrl.ts"
import { header, type Transport } from "../http/Transport.ts"
import * as Bucket from "./Bucket.ts"
import * as Signature from "./Signature.ts"

/** The longest key and prefix, in bytes. With the name of a space they stay below the 1,024 bytes of S3. */
const KEY = 512
const PREFIX = 256

/** The largest body of an object that passes through a space by default, in bytes: 32 MiB. */
const MAX_BYTES = 33_554_432

/** The longest life of a presigned URL, in seconds: the 7 days of the protocol. */
const SECONDS = 604_800

/** The most bytes of a failure that are read for its code. */
const MAX_FAILURE = 65_536

/** A text whose segments stay in the bucket: a URL has no place for `.` and `..`. */
const segments = (bytes: number) =>
  Fields.guarded(`a text of at most ${bytes} bytes without a segment . or ..`, (value): value is string => {
    if (Fields.text(bytes).read(value) === undefined) return false
    return !(value as string).split("/").some((segment) => segment === "." || segment === "..")
  })

const key = Fields.guarded(`a key of 1 to ${KEY} bytes without a segment . or ..`, (value): value is string =>
  value !== "" && segments(KEY).read(value) !== undefined)

const isBody = (value: unknown): value is string | Uint8Array => typeof value === "string" || value instanceof Uint8Array

const isType = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 256 && HeaderField.isLine(value)

const isBucket = (value: unknown): value is string => typeof value === "string" && /^[a-z0-9][a-z0-9._-]{1,62}$/i.test(value)

const isRegion = (value: unknown): value is string => typeof value === "string" && /^[a-z0-9-]{1,64}$/.test(value)

/** The fields of the options. */
const optionFields = {
  timeoutMs: Options.fields.timeoutMs,
  jobs: Options.fields.jobs,
  ca: Options.fields.ca,
  cert: Options.fields.cert,
  key: Options.fields.key,
  endpoint: Fields.guarded("an origin such as https://s3.eu-central-1.amazonaws.com, without a path", (value): value is string =>
    typeof value === "string" && TargetUrl.isOrigin(value)),
  bucket: Fields.optional(Fields.guarded("the name of a bucket", isBucket)),
  region: Fields.or(Fields.guarded("a region such as eu-central-1", isRegion), "auto"),
  accessKeyId: Secret.field,
  secretAccessKey: Secret.field,
  prefix: Fields.or(segments(PREFIX), ""),
  maxBytes: Fields.or(Fields.count(1, FetchRequest.MOST_BYTES), MAX_BYTES)
}

type Given = { readonly body: string | Uint8Array | undefined; readonly content: string | undefined }

/** The bytes of an object that is put. */
const bytesOf = async ({ body, content }: Given, job: Channel.Job): Promise<Uint8Array> => {
  if ((body === undefined) === (content === undefined)) throw Fields.invalid(job, "give either body or content")
  if (body !== undefined) return typeof body === "string" ? new TextEncoder().encode(body) : body
  const bytes = await job.content(content ?? "")
  if (bytes === undefined) throw Channel.fail("io/absent", `the space has no content ${content}`, { errno: -2 })
  return bytes
}

/** The type and the tag of an object, as its answer tells them. */
const describe = ({ headers }: HttpClient.Exchange) => {
  const [type, etag] = [header(headers, "content-type"), header(headers, "etag")]
  return { ...type === undefined ? {} : { type }, ...etag === undefined ? {} : { etag } }
}

/** The code of a failure, such as `NoSuchKey`. The answer to `HEAD` has none. */
const codeOf = async ({ body }: HttpClient.Exchange): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_FAILURE) break
  }
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1]
}

/** Fails unless the status is a success. An absent object is told by `false`, if `absent` has its code. */
const isFound = async (answer: HttpClient.Exchange, absent: ReadonlyArray<string | undefined>): Promise<boolean> => {
  const { status, url } = answer
  if (Status.isOk(status)) return true
  const code = await codeOf(answer)
  if (status === 404 && absent.includes(code)) return false
  const named = code === undefined ? "" : ` (${code})`
  throw Status.failure("s3/status", status, `${url.origin} answered with ${status}${named}, and 2xx is expected`)
}

const about = ({ key }: { readonly key: string }) => JSON.stringify(key)

const put = (bucket: Bucket.Bucket) =>
  Operations.operation({
    repeatable: true,
    fields: {
      key,
      body: Fields.optional(Fields.guarded("a text or bytes", isBody)),
      content: Fields.optional(Fields.address),
      type: Fields.or(Fields.guarded("a media type such as image/png", isType), "application/octet-stream")
    },
    about,
    execute: async ({ key, type, ...given }, job) => {
      const body = await bytesOf(given, job)
      const read = async (answer: HttpClient.Exchange) => {
        await isFound(answer, [])
        const { etag } = describe(answer)
        return { value: { key, bytes: body.length, ...etag === undefined ? {} : { etag } }, bytes: body.length }
      }
      return Bucket.exchange(bucket, job, { key, method: "PUT", headers: [["content-type", type]], body, read })
    }
  })

const get = (bucket: Bucket.Bucket) =>
  Operations.operation({
    repeatable: true,
    fields: { key, maxBytes: Fields.optional(Fields.count(0, FetchRequest.MOST_BYTES)) },
    about,
    execute: ({ key, maxBytes = bucket.maxBytes }, job) => {
      if (maxBytes > bucket.maxBytes) {
        throw Fields.invalid(job, `maxBytes is ${maxBytes}, and the limit of the channel is ${bucket.maxBytes}`)
      }
      const read = async (answer: HttpClient.Exchange) => {
        if (!await isFound(answer, ["NoSuchKey"])) return { value: { key, found: false }, bytes: 0 }
        const head = { key, found: true, ...describe(answer) }
        const room = Operations.INLINE - JSON.stringify({ ...head, body: "" }).length
        const taken = await Content.take({ headers: answer.headers, body: answer.body, limit: maxBytes, room, keep: job.keep })
        return { value: { ...head, ...taken }, bytes: taken.bytes }
      }
      return Bucket.exchange(bucket, job, { key, method: "GET", read })
    }
  })

/** An operation that asks for a key alone. The answer has no body. */
const bare = (
  bucket: Bucket.Bucket,
  method: "HEAD" | "DELETE",
  read: (answer: HttpClient.Exchange, key: string) => Promise<{ readonly key: string }>
) =>
  Operations.operation({
    repeatable: true,
    fields: { key },
    about,
    execute: ({ key }, job) =>
      Bucket.exchange(bucket, job, { key, method, read: async (answer) => ({ value: await read(answer, key), bytes: 0 }) })
  })

const head = (bucket: Bucket.Bucket) =>
  bare(bucket, "HEAD", async (answer, key) => {
    if (!await isFound(answer, [undefined])) return { key, found: false }
    const length = header(answer.headers, "content-length")
    return { key, found: true, ...length === undefined ? {} : { bytes: Number(length) }, ...describe(answer) }
  })

const remove = (bucket: Bucket.Bucket) =>
  bare(bucket, "DELETE", async (answer, key) => {
    await isFound(answer, ["NoSuchKey"])
    return { key }
  })

const presign = (bucket: Bucket.Bucket) =>
  Operations.operation({
    repeatable: true,
    fields: { key, method: Fields.oneOf("GET", "PUT"), seconds: Fields.count(1, SECONDS) },
    about,
    execute: async ({ key, method, seconds }, job) => {
      const now = bucket.now()
      const url = await Signature.presign(bucket.credentials, { method, url: Bucket.urlOf(bucket, job, key), seconds }, now)
      // The signature has whole seconds.
      return { value: { key, url, until: (Math.floor(now / 1000) + seconds) * 1000 }, bytes: 0 }
    }
  })

/** The time of the host, and its connections. A test gives its own. */
export interface World {
  readonly transport?: Transport
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

const credentialsOf = (
  { accessKeyId, region, secretAccessKey }: Fields.Of<typeof optionFields>,
  settings: Plugin.ChannelSettings
): Signature.Credentials => {
  const read = (secret: Secret.Secret, option: string): string => {
    const asked = { plugin: "s3", option, settings }
    const value = Secret.read(secret, asked).trim()
    if (value === "") throw Secret.refused(asked, `names ${Secret.placeOf(secret)}, whose text is empty`)
    return value
  }
  return { accessKeyId: read(accessKeyId, "accessKeyId"), secretAccessKey: read(secretAccessKey, "secretAccessKey"), region }
}

/**
 * The definition of the channel.
 *
 * @throws InvalidPlugin
 * @category constructors
 * @since 0.1.0
 */
export const define = (settings: Plugin.ChannelSettings, { now = Date.now, transport }: World = {}): Channel.Definition => {
  const options = Fields.options("s3", optionFields, settings)
  const { bucket: name, endpoint, maxBytes, prefix, timeoutMs } = options
  const { host, port } = TargetUrl.targetOf(new URL(endpoint))
  const allow = [`${host.includes(":") ? `[${host}]` : host}:${port}`]
  const { client, shown } = Options.common({ plugin: "s3", settings, transport }, { ...options, allow, deny: [] })
  const base = name === undefined ? endpoint : `${endpoint}/${name}`
  const bucket: Bucket.Bucket = { client, credentials: credentialsOf(options, settings), base, prefix, maxBytes, timeoutMs, now }
  const operations = {
    s3_put: put(bucket),
    s3_get: get(bucket),
    s3_head: head(bucket),
    s3_delete: remove(bucket),
    s3_presign: presign(bucket)
  }
  return { provider: "s3", hosts: ["node", "deno", "bun", "workers"], ...shown, target: base, ...Operations.channel(operations) }
}

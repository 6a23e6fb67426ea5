/**
 * The channel `s3`.
 *
 * @module
 */
import { Channel, type ChannelOptions, type Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Operations from "../channel/Operations.ts"
import * as Content from "../http/Content.ts"
import * as FetchRequest from "../http/FetchRequest.ts"
import * as HeaderField from "../http/HeaderField.ts"
import type * as HttpClient from "../http/HttpClient.ts"
import * as Options from "../http/Options.ts"
import { header } from "../http/Transport.ts"
import * as Answers from "./Answers.ts"
import * as Bucket from "./Bucket.ts"
import * as BucketOptions from "./BucketOptions.ts"
import * as Signature from "./Signature.ts"

/** The longest key, in bytes. */
const KEY = 512

/** The largest body of an object that passes through a space by default, in bytes: 32 MiB. */
const MAX_BYTES = 33_554_432

/** The longest life of a presigned URL, in seconds: the 7 days of the protocol. */
const SECONDS = 604_800

const key = Fields.guard(`a key of 1 to ${KEY} bytes without a segment . or ..`, (value): value is string =>
  value !== "" && BucketOptions.segments(KEY).read(value) !== undefined)

const isBody = (value: unknown): value is string | Uint8Array => typeof value === "string" || value instanceof Uint8Array

const isType = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 256 && HeaderField.isLine(value)

const mostBytes = Fields.or(Fields.count(1, FetchRequest.MOST_BYTES), MAX_BYTES)

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

const about = ({ key }: { readonly key: string }) => JSON.stringify(key)

const put = (bucket: Bucket.Bucket) =>
  Operations.operation({
    repeatable: true,
    fields: {
      key,
      body: Fields.optional(Fields.guard("a text or bytes", isBody)),
      content: Fields.optional(Fields.address),
      type: Fields.or(Fields.guard("a media type such as image/png", isType), "application/octet-stream")
    },
    about,
    execute: async ({ key, type, ...given }, job) => {
      const body = await bytesOf(given, job)
      const read = async (answer: HttpClient.Exchange) => {
        await Answers.isFound(answer, [])
        const { etag } = describe(answer)
        return { value: { key, bytes: body.length, ...etag === undefined ? {} : { etag } }, bytes: body.length }
      }
      const url = Bucket.urlOf(bucket, job, key)
      return Bucket.exchange(bucket, job.signal, { url, method: "PUT", headers: [["content-type", type]], body, read })
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
        if (!await Answers.isFound(answer, ["NoSuchKey"])) return { value: { key, found: false }, bytes: 0 }
        const head = { key, found: true, ...describe(answer) }
        const room = Operations.INLINE - JSON.stringify({ ...head, body: "" }).length
        const taken = await Content.take({ headers: answer.headers, body: answer.body, limit: maxBytes, room, keep: job.keep })
        return { value: { ...head, ...taken }, bytes: taken.bytes }
      }
      return Bucket.exchange(bucket, job.signal, { url: Bucket.urlOf(bucket, job, key), method: "GET", read })
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
    execute: ({ key }, job) => {
      const url = Bucket.urlOf(bucket, job, key)
      return Bucket.exchange(bucket, job.signal, { url, method, read: async (answer) => ({ value: await read(answer, key), bytes: 0 }) })
    }
  })

const head = (bucket: Bucket.Bucket) =>
  bare(bucket, "HEAD", async (answer, key) => {
    if (!await Answers.isFound(answer, [undefined])) return { key, found: false }
    const length = header(answer.headers, "content-length")
    return { key, found: true, ...length === undefined ? {} : { bytes: Number(length) }, ...describe(answer) }
  })

const remove = (bucket: Bucket.Bucket) =>
  bare(bucket, "DELETE", async (answer, key) => {
    await Answers.isFound(answer, ["NoSuchKey"])
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

/**
 * The definition of the channel.
 *
 * @throws InvalidPlugin
 */
export const define = (settings: Plugin.ChannelSettings, world: Options.World = {}): Channel.Definition => {
  const { maxRetryAfterMs: longest } = Options.fields
  const fields = { ...BucketOptions.fields, maxBytes: mostBytes, maxRetryAfterMs: longest } satisfies Fields.For<ChannelOptions["s3"]>
  const { maxBytes, maxRetryAfterMs, ...options } = Fields.options("s3", fields, settings)
  const { bucket, shown } = BucketOptions.open({ plugin: "s3", settings, maxBytes, maxRetryAfterMs }, options, world)
  const operations = {
    s3_put: put(bucket),
    s3_get: get(bucket),
    s3_head: head(bucket),
    s3_delete: remove(bucket),
    s3_presign: presign(bucket)
  }
  return {
    provider: "s3",
    hosts: ["node", "deno", "bun", "workers"],
    ...shown,
    timeoutMs: options.timeoutMs,
    target: bucket.base,
    ...Operations.channel(operations)
  }
}

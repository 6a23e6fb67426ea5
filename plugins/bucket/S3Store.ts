/**
 * A content store in a bucket with the S3 protocol.
 *
 * @module
 */
import { md5 } from "@noble/hashes/legacy.js"
import { Channel, type ContentOptions, type ContentStore, type Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Deadline from "../http/Deadline.ts"
import type * as HttpClient from "../http/HttpClient.ts"
import type * as Options from "../http/Options.ts"
import * as Answers from "../s3/Answers.ts"
import * as Bucket from "../s3/Bucket.ts"
import * as BucketOptions from "../s3/BucketOptions.ts"
import * as ContentFields from "./ContentFields.ts"
import * as S3Documents from "./S3Documents.ts"

const optionFields = {
  ...BucketOptions.fields,
  maxBytes: ContentFields.maxBytes
} satisfies Fields.For<Exclude<ContentOptions["bucket"], { readonly binding: string }>>

/** The most bytes of an answer: one object of 4 MiB, or one page. */
const MOST = 4_194_304

/** The attempts of a request whose failure may be over soon. Each is repeatable. */
const ATTEMPTS = 3

/** The body of an answer. */
const bytesOf = async ({ body, url }: HttpClient.Exchange): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MOST) throw Channel.fail("io/too-large", `${url.origin} answered with more than ${MOST} bytes, the size of a part`)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** The codes of failures of one object in a deletion that may be over soon. */
const PASSING: ReadonlySet<string> = new Set(["InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown"])

/** Fails if an answer of a deletion names objects that are still there: a success of the whole may have failures of some. */
const checkDeleted = (xml: string, { origin }: URL): void => {
  const left = S3Documents.failuresIn(xml)
  const [first] = left
  if (first === undefined) return
  const retryable = left.some(({ code }) => PASSING.has(code))
  const also = left.length === 1 ? "" : ` and ${left.length - 1} more`
  throw Channel.fail("s3/undeleted", `${origin} did not delete the object ${first.name} (${first.code})${also}`, { retryable })
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Repeats a request after a failure that may be over soon. */
const repeated = async <A>(run: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof Channel.ChannelError && error.retryable)) throw error
    }
  }
}

/**
 * The content store in a bucket.
 *
 * @throws InvalidPlugin
 */
export const make = (settings: Plugin.ContentSettings, world: Options.World = {}): ContentStore => {
  const { maxBytes, ...options } = Fields.options("bucket", optionFields, settings)
  const { bucket } = BucketOptions.open({ plugin: "bucket", settings, maxBytes: MOST }, options, world)
  const { base, prefix } = bucket
  const { timeoutMs } = options
  const exchange = <A>(request: Bucket.ObjectRequest<A>) =>
    repeated(() => Deadline.run(timeoutMs, (signal) => Bucket.exchange(bucket, signal, request)))
  const urlOf = (key: string) => {
    const [space = "", ...rest] = key.split("/")
    return Bucket.urlOf(bucket, { space }, rest.join("/"))
  }
  const textOf = async (answer: HttpClient.Exchange) => {
    await found([])(answer)
    return new TextDecoder().decode(await bytesOf(answer))
  }
  const found = (absent: ReadonlyArray<string>) => (answer: HttpClient.Exchange) => Answers.isFound(answer, absent)
  return {
    place: base,
    maxBytes,
    put: async (key, body) => void await exchange({ url: urlOf(key), method: "PUT", body, read: found([]) }),
    get: (key) => exchange({
      url: urlOf(key),
      method: "GET",
      read: async (answer) => await found(["NoSuchKey"])(answer) ? bytesOf(answer) : undefined
    }),
    delete: async (keys) => {
      if (keys.length === 0) return
      const body = new TextEncoder().encode(S3Documents.deletion(keys.map((key) => `${prefix}${key}`)))
      const read = async (answer: HttpClient.Exchange) => checkDeleted(await textOf(answer), answer.url)
      // Every store with the protocol knows this digest, and some no newer one.
      const headers = [["content-md5", base64(md5(body))], ["content-type", "application/xml"]] as const
      await exchange({ url: `${base}/?delete=`, method: "POST", headers, body, read })
    },
    list: (below, after) => {
      const url = new URL(`${base}/`)
      const query = { "list-type": "2", "max-keys": String(ContentFields.PAGE), prefix: `${prefix}${below}` }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      if (after !== "") url.searchParams.set("start-after", `${prefix}${after}`)
      return exchange({ url: url.href, method: "GET", read: async (answer) => S3Documents.page(await textOf(answer), prefix) })
    }
  }
}

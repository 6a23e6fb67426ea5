/**
 * A content store in a bucket with the S3 protocol.
 *
 * @module
 */
import { Channel, type ContentStore, type Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import type * as HttpClient from "../http/HttpClient.ts"
import * as Answers from "../s3/Answers.ts"
import * as Bucket from "../s3/Bucket.ts"
import * as BucketOptions from "../s3/BucketOptions.ts"
import * as ContentFields from "./ContentFields.ts"

const optionFields = { ...BucketOptions.fields, maxBytes: ContentFields.maxBytes }

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

/** The characters of the entities of XML that have a name. */
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

/** A text of XML without its entities, which a prefix may need. */
const plain = (text: string): string =>
  text.replaceAll(/&(#x?)?([0-9a-z]{1,7});/gi, (entity, mark: string | undefined, name: string) =>
    mark === undefined ? NAMED[name] ?? entity : String.fromCodePoint(Number.parseInt(name, mark === "#" ? 10 : 16)))

/** The objects of a list in XML, by their keys after the prefix of the configuration. */
const listedIn = (xml: string, prefix: string) =>
  [...xml.matchAll(/<Contents>([^]*?)<\/Contents>/g)].flatMap(([, object = ""]) => {
    const name = plain(/<Key>([^<]*)<\/Key>/.exec(object)?.[1] ?? "")
    const modified = Date.parse(/<LastModified>([^<]*)<\/LastModified>/.exec(object)?.[1] ?? "")
    return !name.startsWith(prefix) || Number.isNaN(modified) ? [] : [{ key: name.slice(prefix.length), modified }]
  })

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
 * @category constructors
 * @since 0.1.0
 */
export const make = (settings: Plugin.ContentSettings, world: BucketOptions.World = {}): ContentStore => {
  const { maxBytes, ...options } = Fields.options("bucket", optionFields, settings)
  const { bucket } = BucketOptions.open({ plugin: "bucket", settings, maxBytes: MOST }, options, world)
  const { base, prefix } = bucket
  const { signal } = new AbortController()
  const exchange = <A>(request: Bucket.ObjectRequest<A>) => repeated(() => Bucket.exchange(bucket, { signal }, request))
  const urlOf = (key: string) => {
    const [space = "", ...rest] = key.split("/")
    return Bucket.urlOf(bucket, { space }, rest.join("/"))
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
    delete: async (key) => void await exchange({ url: urlOf(key), method: "DELETE", read: found(["NoSuchKey"]) }),
    list: (below, after) => {
      const url = new URL(`${base}/`)
      const query = { "list-type": "2", "max-keys": String(ContentFields.PAGE), prefix: `${prefix}${below}` }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      if (after !== "") url.searchParams.set("start-after", `${prefix}${after}`)
      return exchange({
        url: url.href,
        method: "GET",
        read: async (answer) => {
          await found([])(answer)
          const xml = new TextDecoder().decode(await bytesOf(answer))
          return { objects: listedIn(xml, prefix), more: /<IsTruncated>true<\/IsTruncated>/.test(xml) }
        }
      })
    }
  }
}

/**
 * A bucket: the URLs of its objects, and signed requests to it.
 *
 * @module
 */
import type { Channel } from "systole"
import * as HttpClient from "../http/HttpClient.ts"
import type { Headers } from "../http/Transport.ts"
import * as Signature from "./Signature.ts"

/** A configured bucket. */
export interface Bucket {
  readonly client: HttpClient.HttpClient
  readonly credentials: Signature.Credentials
  /** The URL before the names of objects, without a slash at its end. */
  readonly base: string
  readonly prefix: string
  /** The most bytes of an object that is read. */
  readonly maxBytes: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Headers that a proxy may change on the way, so no signature covers them. A body arrives in the size in which it is stored. */
const unsigned: Headers = [["accept-encoding", "identity"], ["user-agent", "systole"]]

/** A request to a URL of the bucket, and the reader of its answer. */
export interface ObjectRequest<A> {
  readonly url: string
  readonly method: string
  readonly headers?: Headers
  readonly body?: Uint8Array
  readonly read: (answer: HttpClient.Exchange) => Promise<A>
}

/** The characters that `encodeURIComponent` leaves, and a signature encodes. */
const encoded = (segment: string): string =>
  encodeURIComponent(segment).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * The URL of an object of a space.
 */
export const urlOf = ({ base, prefix }: Pick<Bucket, "base" | "prefix">, { space }: Pick<Channel.Job, "space">, key: string): string =>
  `${base}/${`${prefix}${space}/${key}`.split("/").map(encoded).join("/")}`

/**
 * Sends a signed request, and reads its answer.
 *
 * @throws ChannelError, or an error of the host
 */
export const exchange = async <A>(bucket: Bucket, signal: AbortSignal, request: ObjectRequest<A>): Promise<A> => {
  const { body, headers = [], method, read, url } = request
  const signed = await Signature.sign(bucket.credentials, { method, url, headers, body }, bucket.now())
  // A redirect to another region or host would carry a signature that is not valid there.
  const outgoing = { url, method, headers: [...signed, ...unsigned], body, redirect: "error" } as const
  const answer = await HttpClient.exchange(bucket.client, outgoing, signal)
  try {
    return await read(answer)
  } finally {
    answer.close()
  }
}

/**
 * AWS Signature Version 4 for the service `s3`.
 *
 * @module
 */
import { AwsV4Signer } from "aws4fetch"
import { Redacted } from "systole"
import type { Headers } from "../http/Transport.ts"

/** The key of an account. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  readonly region: string
}

/** The key as the signer takes it. */
const shownTo = ({ secretAccessKey, ...credentials }: Credentials) =>
  ({ ...credentials, secretAccessKey: Redacted.value(secretAccessKey) })

/** A request to sign. The names of its headers are in lower case. */
export interface UnsignedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
}

/** A time in milliseconds since 1970, in the form `20130524T000000Z`. */
const dateOf = (millis: number): string => new Date(millis).toISOString().replaceAll(/[:-]|\.\d{3}/g, "")

const sha256 = async (bytes: Uint8Array): Promise<string> =>
  Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)), (byte) =>
    byte.toString(16).padStart(2, "0")).join("")

/**
 * The headers of a request, signed together with its body.
 */
export const sign = async (credentials: Credentials, { body, headers, method, url }: UnsignedRequest, millis: number): Promise<Headers> => {
  const digest = await sha256(body ?? new Uint8Array())
  const signer = new AwsV4Signer({
    ...shownTo(credentials),
    service: "s3",
    method,
    url,
    headers: [...headers.map(([name, value]): [string, string] => [name, value]), ["x-amz-content-sha256", digest]],
    datetime: dateOf(millis)
  })
  const signed = await signer.sign()
  return [...signed.headers]
}

/**
 * A URL with which anybody can do one method until its seconds are over.
 */
export const presign = async (
  credentials: Credentials,
  { method, seconds, url }: { readonly method: string; readonly url: string; readonly seconds: number },
  millis: number
): Promise<string> => {
  const expiring = new URL(url)
  expiring.searchParams.set("X-Amz-Expires", String(seconds))
  const query = { method, url: expiring.href, signQuery: true, datetime: dateOf(millis) }
  const signer = new AwsV4Signer({ ...shownTo(credentials), service: "s3", ...query })
  return (await signer.sign()).url.href
}

/**
 * Digests and their texts, at once: what a run computes over data, such as the signature of a request.
 *
 * `crypto.subtle` answers with a promise of the host, which a durable run cannot await.
 *
 * @module
 */
import { hmac as hmacOf } from "@noble/hashes/hmac.js"
import { sha256 as sha256Of } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** Bytes, or a text as UTF-8. */
export type Data = string | Uint8Array

/** The form of a digest: hexadecimal digits in lower case, base64 with padding, or its 32 bytes. */
export type Form = "hex" | "base64" | "bytes"

/** A digest in a form. */
export type Formed<F extends Form> = F extends "bytes" ? Uint8Array : string

const bytesOf = (data: Data): Uint8Array => typeof data === "string" ? utf8ToBytes(data) : data

const formed = <F extends Form>(bytes: Uint8Array, form: F): Formed<F> => {
  const result = form === "bytes" ? bytes : form === "hex" ? bytesToHex(bytes) : base64(bytes)
  return result as Formed<F>
}

/**
 * The SHA-256 of data.
 *
 * @example
 * ```ts
 * import { sha256 } from "systole"
 *
 * if (!sha256("order 7").startsWith("0fc8")) throw new Error("not the digest of this order")
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const sha256 = <F extends Form = "hex">(data: Data, form: F = "hex" as F): Formed<F> => formed(sha256Of(bytesOf(data)), form)

/**
 * The HMAC of data with SHA-256 and a key.
 *
 * @category getters
 * @since 0.1.0
 */
export const hmac = <F extends Form = "hex">(key: Data, data: Data, form: F = "hex" as F): Formed<F> =>
  formed(hmacOf(sha256Of, bytesOf(key), bytesOf(data)), form)

/** The most bytes that become characters at once. */
const CHUNK = 8192

/**
 * Data as base64, with padding.
 *
 * @category getters
 * @since 0.1.0
 */
export const base64 = (data: Data): string => {
  const bytes = bytesOf(data)
  let text = ""
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text)
}

/**
 * Secrets and signatures of webhooks, as Standard Webhooks defines them.
 *
 * @module
 */

/** The bytes of a secret. */
export type Key = Uint8Array<ArrayBuffer>

const PREFIX = "whsec_"

/** The length of a secret in bytes. */
const MIN_BYTES = 24
const MAX_BYTES = 64

const base64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Reads a secret: `whsec_` and 24 to 64 bytes in base64. `undefined` for any other text. */
export const parse = (text: string): Key | undefined => {
  const encoded = text.trim()
  const body = encoded.slice(PREFIX.length)
  if (!encoded.startsWith(PREFIX) || !base64.test(body) || body.length % 4 === 1) return undefined
  const bytes = Uint8Array.from(atob(body.replace(/={1,2}$/, "")), (char) => char.charCodeAt(0))
  return bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES ? bytes : undefined
}

/** The parts of a message that are signed. */
export interface SignedParts {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The signature of a message with one secret: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. */
export const sign = async (secret: Key, { body, id, timestamp }: SignedParts): Promise<string> => {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${timestamp}.${body}`))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
}

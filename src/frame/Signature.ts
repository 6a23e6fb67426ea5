/**
 * Keys of nodes, and signatures of the roots of frames: Ed25519 of WebCrypto, which every host has.
 *
 * A signature tells who made a frame. Without one, its root alone tells that it is whole.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "../cell/Redacted.ts"

/** A public key: `ed25519:` and its 32 bytes in base64url. */
export type PublicKey = `ed25519:${string}`

/** A signature of a root: the public key, and 64 bytes in base64url. */
export interface Signature {
  readonly key: PublicKey
  readonly value: string
}

/** A key that signs. Its secret cannot be read from it. */
export interface Signer {
  readonly key: PublicKey
  /** The signature of a root of 64 hexadecimal digits. */
  readonly sign: (root: string) => Promise<Signature>
}

/**
 * A text is no secret key. The message does not contain it.
 */
export class InvalidKey extends Data.TaggedError("InvalidKey")<{ readonly place: string }> {
  readonly code = "key/invalid"
  override get message() {
    return `${this.place} has no secret key of a node. Make one with systole key new`
  }
}

/** The key with which this host signs its frames; `undefined` where the configuration names none. */
export const CurrentSigner = Context.Reference<Signer | undefined>("systole/frame/Signer", { defaultValue: () => undefined })

const ALGORITHM = "Ed25519"
const SECRET = /^syskey_([A-Za-z0-9_-]{43})$/
const PUBLIC = /^ed25519:([A-Za-z0-9_-]{43})$/
const VALUE = /^[A-Za-z0-9_-]{86}$/

/** The bytes before the 32 of a secret in its form PKCS #8 (RFC 8410), which WebCrypto imports. */
const PKCS8 = Uint8Array.from([0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20])

/** The signed bytes. Their first line tells a root from other texts that this key signs. */
const signedOf = (root: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(`systole frame\n${root}`)

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0))

/** Whether a text is a public key by its form. */
export const isPublicKey = (text: unknown): text is PublicKey => typeof text === "string" && PUBLIC.test(text)

/** Whether a value is a signature by its form. */
export const isSignature = (value: unknown): value is Signature => {
  const { key, value: text } = (typeof value === "object" && value !== null ? value : {}) as Partial<Signature>
  return isPublicKey(key) && typeof text === "string" && VALUE.test(text)
}

/**
 * The secret key of 32 random bytes: one line of text for a file of the owner alone, or for a variable of the environment.
 */
export const secretOf = (seed: Uint8Array): Redacted.Redacted => Redacted.make(`syskey_${base64url(seed)}`)

/**
 * The key that signs with a secret. `place` is told in a refusal. Fails with `key/invalid` for another text.
 */
export const signer = (secret: Redacted.Redacted, place: string): Effect.Effect<Signer, InvalidKey> =>
  Effect.gen(function*() {
    const [, text] = SECRET.exec(Redacted.value(secret).trim()) ?? []
    if (text === undefined) return yield* new InvalidKey({ place })
    const form = new Uint8Array(PKCS8.length + 32)
    form.set(PKCS8)
    form.set(bytesOf(text), PKCS8.length)
    const [own, name] = yield* Effect.promise(() => imported(form))
    const key: PublicKey = `ed25519:${name}`
    const sign = async (root: string): Promise<Signature> =>
      ({ key, value: base64url(new Uint8Array(await crypto.subtle.sign(ALGORITHM, own, signedOf(root)))) })
    return { key, sign }
  })

/** The secret as a key of WebCrypto whose bytes cannot be exported, and its public key in base64url. */
const imported = async (form: Uint8Array<ArrayBuffer>): Promise<readonly [CryptoKey, string]> => {
  const take = (isReadable: boolean) => crypto.subtle.importKey("pkcs8", form, ALGORITHM, isReadable, ["sign"])
  const [own, readable] = [await take(false), await take(true)]
  const { x = "" } = await crypto.subtle.exportKey("jwk", readable)
  return [own, x]
}

/** Whether a signature is of this root and of its key. */
export const isOf = async ({ key, value }: Signature, root: string): Promise<boolean> => {
  const jwk = { kty: "OKP", crv: ALGORITHM, x: PUBLIC.exec(key)?.[1] ?? "" }
  try {
    const own = await crypto.subtle.importKey("jwk", jwk, ALGORITHM, false, ["verify"])
    return await crypto.subtle.verify(ALGORITHM, own, bytesOf(value), signedOf(root))
  } catch {
    // Not every text of 43 characters is a point of the curve.
    return false
  }
}

/**
 * The verification of JSON Web Tokens by `jose`, which only a project that accepts them loads.
 *
 * @module
 */
import { createLocalJWKSet } from "jose/jwks/local"
import { createRemoteJWKSet, customFetch } from "jose/jwks/remote"
import { jwtVerify } from "jose/jwt/verify"
import * as Redacted from "../cell/Redacted.ts"
import { MAX_TOLERANCE, type Settings, TOLERANCE } from "../contract/Jwt.ts"
import type { Keys, JwtVerification, Verifier, VerifierParts } from "./JwtSet.ts"
import * as Duration from "../time/Duration.ts"

/** The age at which keys are loaded anew, and the longest one in milliseconds: the address of the keys may fail meanwhile. */
export const KEYS_AGE = 600_000
export const MAX_KEYS_AGE = 3_600_000

/** The least time between two loads of keys for tokens with an unknown key, in milliseconds. */
export const COOLDOWN = 30_000

/** The time after a failed load in which no other one begins, in milliseconds: without known keys, and with some that go on. */
export const KEYS_RETRY = 5000
export const KEYS_RETRY_KNOWN = 30_000

/** The longest load of keys, in milliseconds, and its most bytes. */
export const KEYS_MILLIS = 5000
export const KEYS_BYTES = 262_144

/** Keys cannot be loaded. */
class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable"
}

/** A key cannot be used. */
class KeyUnusable extends Error {
  override readonly name = "KeyUnusable"
}

/** The text of an answer with at most {@link KEYS_BYTES}. @throws KeysUnavailable */
const limited = async (response: Response): Promise<Response> => {
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  let size = 0
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>> | null)?.getReader()
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    size += read.value.length
    if (size > KEYS_BYTES) {
      await reader?.cancel()
      throw new KeysUnavailable(`the key set has more than ${KEYS_BYTES} bytes`)
    }
    chunks.push(read.value)
  }
  return new Response(new Blob(chunks), { status: response.status })
}

/** The keys at an address. */
const remote = (url: string, { fetch, now }: VerifierParts): Keys => {
  let [failed, revision, text]: [number, number, string] = [-Infinity, 0, ""]
  const load = async (address: string, init: RequestInit): Promise<Response> => {
    if (Math.abs(now() - failed) < KEYS_RETRY) throw new KeysUnavailable(`the last load of ${address} failed, and the next one waits`)
    try {
      return await limited(await fetch(address, init))
    } catch (failure) {
      failed = now()
      throw failure
    }
  }
  const set = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: MAX_KEYS_AGE, cooldownDuration: COOLDOWN, timeoutDuration: KEYS_MILLIS, [customFetch]: load
  })
  let loaded = -Infinity
  const noted = (): void => {
    const current = JSON.stringify(set.jwks())
    if (current !== text) revision++
    text = current
  }
  let begun = -Infinity
  /** Whether a load is under way. One whose request was dropped is given up. */
  const isLoading = (): boolean => Math.abs(now() - begun) < 2 * KEYS_MILLIS
  const reload = async (): Promise<void> => {
    begun = now()
    try {
      await set.reload()
      loaded = now()
      noted()
    } catch (failure) {
      failed = now()
      throw failure instanceof KeysUnavailable ? failure : new KeysUnavailable(String(failure))
    } finally {
      begun = -Infinity
    }
  }
  return {
    get revision() {
      return revision
    },
    get isFresh() {
      const age = Math.abs(now() - loaded)
      // One request at a time waits for newer keys, and the others go on with those that are known.
      return age < KEYS_AGE || (age < MAX_KEYS_AGE && (isLoading() || Math.abs(now() - failed) < KEYS_RETRY_KNOWN))
    },
    refresh: async () => {
      try {
        await reload()
      } catch (failure) {
        // Keys that are known go on for a while.
        if (!(Math.abs(now() - loaded) < MAX_KEYS_AGE)) throw failure
        return failure
      }
      return undefined
    },
    find: async (header, token) => {
      try {
        const key = await set(header, token)
        noted()
        return key
      } catch (failure) {
        const { code } = failure as { readonly code?: unknown }
        if (code === "ERR_JWKS_NO_MATCHING_KEY" || code === "ERR_JWKS_MULTIPLE_MATCHING_KEYS") throw failure
        throw failure instanceof KeysUnavailable ? failure : new KeysUnavailable(String(failure))
      }
    }
  }
}

const local = (jwks: Exclude<Settings["jwks"], string>): Keys => {
  const set = createLocalJWKSet(jwks as never)
  return { revision: 0, isFresh: true, refresh: async () => undefined, find: set }
}

/** The reasons of refusals, by the codes of `jose`. */
const reasons: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm is none of the configuration",
  ERR_JWKS_NO_MATCHING_KEY: "no key of its issuer fits it",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "several keys of its issuer fit it, and it names none",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature does not fit"
}

/** The codes of `jose` for faults of tokens. Its other errors are faults of keys, or of the host. */
const OF_TOKENS = /^ERR_JW[ST]|^ERR_JWKS|^ERR_JOSE_(?:ALG|NOT)/

/** @throws KeysUnavailable */
const refusalOf = (failure: unknown): JwtVerification => {
  if (failure instanceof KeysUnavailable) throw failure
  const { claim, code = "" } = failure as { readonly code?: string; readonly claim?: string }
  if (!OF_TOKENS.test(code)) {
    const trouble = new KeyUnusable(`a key of the issuer of JWTs cannot be used: ${String(failure)}`)
    return { refused: "wrong", reason: "the key of its issuer that it names cannot be used", trouble }
  }
  if (code === "ERR_JWT_EXPIRED") return { refused: "expired", reason: "it is expired" }
  const reason = code === "ERR_JWT_CLAIM_VALIDATION_FAILED" ? `its claim ${claim} does not fit` : reasons[code] ?? "it is malformed"
  return { refused: "wrong", reason }
}

/**
 * The verifier of the tokens of an issuer.
 */
export const make = (settings: Settings, parts: VerifierParts): Verifier => {
  const { algorithms, audience, issuer, jwks, tolerance = TOLERANCE } = settings
  const keys = typeof jwks === "string" ? remote(jwks, parts) : local(jwks)
  const options = {
    algorithms: [...algorithms], audience: typeof audience === "string" ? audience : [...audience], issuer,
    clockTolerance: Math.min(Duration.amountOf(tolerance, 1000), MAX_TOLERANCE), requiredClaims: ["exp", "sub"]
  }
  return {
    keys,
    verify: async (jwt) => {
      try {
        const { payload } = await jwtVerify(Redacted.value(jwt), keys.find as never, { ...options, currentDate: new Date(parts.now()) })
        return { claims: payload }
      } catch (failure) {
        return refusalOf(failure)
      }
    }
  }
}

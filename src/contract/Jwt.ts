/**
 * JSON Web Tokens (RFC 7519) of an issuer, as a configuration declares them.
 *
 * @module
 */
import * as Redacted from "../cell/Redacted.ts"
import type { Verb } from "./Endpoint.ts"

/** The algorithms of signatures: those with public keys alone, so that who verifies a token cannot make one. */
export const algorithms = [
  "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"
] as const

/** The claims of a verified token. Its issuer gives others. */
export interface Claims extends Readonly<Record<string, unknown>> {
  readonly iss: string
  readonly sub: string
  /** Seconds since 1970. */
  readonly exp: number
}

/** The scope that the claims of a token give: that of a token with a scope, and with the same limits. */
export interface Scope {
  readonly verbs: ReadonlyArray<Verb>
  readonly spaces?: ReadonlyArray<string>
  readonly prefixes?: ReadonlyArray<string>
  readonly clearance?: ReadonlyArray<string>
  /** The scope of cells that it knows beside what the whole space shares, such as `user:42`; all scopes unless given. */
  readonly scope?: string
}

/** The JSON Web Tokens that are accepted. */
export interface Settings {
  /** The claim `iss`. */
  readonly issuer: string
  /** The claim `aud`, or several of which a token has one. */
  readonly audience: string | ReadonlyArray<string>
  readonly algorithms: ReadonlyArray<(typeof algorithms)[number]>
  /** The address of the key set of the issuer, or its public keys. */
  readonly jwks: string | { readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>> }
  /** The most seconds by which the clocks differ, up to 300, or as a time such as `"1m"`; 60 unless given. */
  readonly tolerance?: number | string
  /** The scope of the claims; `undefined` refuses the token. */
  readonly claims: (claims: Claims) => Scope | undefined
}

/** The tolerance unless given, and the largest one, in seconds. */
export const TOLERANCE = 60
export const MAX_TOLERANCE = 300

/** The most keys of a configuration. */
export const MAX_KEYS = 100

/** The longest token, in characters. */
export const MAX_LENGTH = 8192

const FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** The text that a request shows as a bearer; empty for any other credential. */
export const textIn = (headers: Headers): Redacted.Redacted => {
  const header = headers.get("authorization") ?? ""
  return Redacted.make(header.slice(0, 7).toLowerCase() === "bearer " ? header.slice(7).trim() : "")
}

/** Whether a text is in the form of a token, however long. */
export const isFormed = (text: Redacted.Redacted): boolean => FORM.test(Redacted.value(text))

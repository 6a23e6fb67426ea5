/**
 * The set of JSON Web Tokens of a host with the clock of a test.
 *
 * @module
 */
import type * as Jwt from "../../src/contract/Jwt.ts"
import { JwtSet } from "../../src/access/JwtSet.ts"
import * as Redacted from "../../src/cell/Redacted.ts"
import * as JwtVerifier from "../../src/access/JwtVerifier.ts"
import { AUDIENCE, ISSUER } from "./Issuer.ts"

const reads = (): Jwt.Scope => ({ verbs: ["read"] })

/** Settings whose tokens read, unless others are given. */
export const settings = (jwks: Jwt.Settings["jwks"], other: Partial<Jwt.Settings> = {}): Jwt.Settings =>
  ({ issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256"], jwks, claims: reads, ...other })

/** The set of a host with the clock of the test, and the failures that it told. */
export const make = (given: Jwt.Settings) => {
  const told: Array<string> = []
  const set = new JwtSet({
    settings: given, verifier: JwtVerifier.make, now: Date.now,
    fetch: (url, init) => fetch(url, init), report: (failure) => told.push(String(failure))
  })
  const code = async (jwt: string): Promise<string> => {
    const checked = await set.check(Redacted.make(jwt))
    return "refused" in checked ? checked.refused.code : checked.token.id
  }
  return { code, set, told }
}

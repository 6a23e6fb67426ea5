/**
 * The JSON Web Tokens of a host.
 *
 * @module
 */
import * as Jwt from "../../contract/Jwt.ts"
import { JwtSet, type Parts } from "../../access/JwtSet.ts"
import type { Bearer } from "../../ingress/access/Access.ts"

/**
 * The decision on JSON Web Tokens; `undefined` without any. `verifier` loads the library with the first of them.
 */
export const bearer = (
  settings: Jwt.Settings | undefined,
  parts: Pick<Parts, "report" | "verifier">
): Bearer | undefined => {
  if (settings === undefined) return undefined
  const { fetch } = globalThis
  const set = new JwtSet({ settings, ...parts, fetch: (url, init) => fetch(url, init), now: Date.now })
  return shownTo(set)
}

/**
 * The decision of a set on the token that a request shows.
 */
export const shownTo = (set: Pick<JwtSet, "check" | "known">): Bearer => ({ headers }, isSpent) => {
  const text = Jwt.textIn(headers)
  const token = set.known(text)
  if (token !== undefined) return { token }
  return Jwt.isFormed(text) ? set.check(text, isSpent) : undefined
}

/** The verifier, loaded when it is first needed. */
export const verifier: Parts["verifier"] = async (settings, parts) => (await import("../../access/JwtVerifier.ts")).make(settings, parts)

/** The module of the verifier in a Worker that accepts no such tokens, without the library. */
export const NO_VERIFIER = "export const make = undefined"

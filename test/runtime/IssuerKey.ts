/**
 * The settings of JSON Web Tokens, with the public key of their issuer in a binding of a Worker.
 *
 * @module
 */
import type { Settings } from "../../src/contract/Jwt.ts"
import type { Env } from "../../src/main/workers/index.ts"

/** Accepts the tokens of the issuer, with the scope that a function gives. */
export const accepting = (env: Env, claims: Settings["claims"]): Settings => {
  const { KEY } = env as Env & { readonly KEY: string }
  const jwks = { keys: [JSON.parse(KEY) as Readonly<Record<string, unknown>>] }
  return { issuer: "https://issuer.example", audience: "systole", algorithms: ["ES256"], jwks, claims }
}

/**
 * A Worker that accepts the JSON Web Tokens of an issuer, and limits requests without a credential.
 *
 * @module
 */
import { Enzyme } from "systole"
import { type Env, make } from "../../src/main/workers/index.ts"

const visit = Enzyme.make({ name: "visit", query: "/signals/visit", run: (tx) => tx.increment("/data/visits") })

/** The binding with the public key of the issuer. */
const keyOf = (env: Env): Readonly<Record<string, unknown>> =>
  JSON.parse((env as Env & { readonly KEY: string }).KEY) as Readonly<Record<string, unknown>>

export const { Directory, Space, handler } = make({
  manifest: { "enzymes/visit.ts": { module: visit, hash: "1" } },
  config: (env) => ({
    spaces: { create: "on-demand" },
    access: {
      rates: { address: { requests: 3, seconds: 3600 } },
      jwt: {
        issuer: "https://issuer.example",
        audience: "systole",
        algorithms: ["ES256"],
        jwks: { keys: [keyOf(env)] },
        claims: ({ sub }) => ({ verbs: ["read"], spaces: ["shop"], prefixes: [`/data/${sub}`] })
      }
    }
  })
})

export default handler

/**
 * The scopes of tokens with which tests walk all routes. A Worker reads them, too, for the claims of its JSON Web Tokens.
 *
 * @module
 */
import { type Verb, verbs } from "../../src/contract/Endpoint.ts"

/** The scope of a token. */
export interface Scope {
  readonly verbs: ReadonlyArray<Verb>
  readonly spaces?: ReadonlyArray<string>
  readonly prefixes?: ReadonlyArray<string>
  readonly clearance?: ReadonlyArray<string>
  /** Of JSON Web Tokens alone. */
  readonly scope?: string
}

export const scopes: ReadonlyArray<Scope> = [
  ...verbs.map((verb) => ({ verbs: [verb] })),
  { verbs },
  { verbs, spaces: ["shop"] },
  { verbs: ["read", "signal"], spaces: ["shop"] },
  { verbs: ["read", "signal"], prefixes: ["/data/orders"] },
  { verbs: ["read", "signal"], spaces: ["shop"], prefixes: ["/data/orders", "/signals/count"] },
  { verbs: ["read"], prefixes: ["/data/orders"], clearance: [] },
  { verbs: ["read", "signal"], clearance: ["salary"] },
  { verbs: ["signal"], clearance: [] }
]

/** The scopes of JSON Web Tokens. */
export const ofJwts: ReadonlyArray<Scope> = [
  ...scopes,
  { verbs: ["read", "signal"], scope: "user:42" },
  { verbs, scope: "user:42" },
  { verbs: ["read"], spaces: ["shop"], prefixes: ["/data/orders"], scope: "user:42" }
]

export const ROOT = "the-operators-own-token"
export const READER = "the-token-of-the-page"

/** The settings of the walked hosts. */
export const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  access: { public: ["GET /v1/spaces/shop/cells/data/menu/**"] },
  labels: { cells: { "/data/pay/**": ["salary"] }, readers: { web: { token: READER, clearance: [] } } }
}

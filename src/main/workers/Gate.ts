/**
 * The gate of a Worker: who may call it, from its tokens alone.
 *
 * The Worker in front needs no more for a request to a space, so that it begins without the runtime.
 *
 * @module
 */
import { Rates } from "../../access/Rates.ts"
import { Sessions } from "../../access/Sessions.ts"
import { TokenSet } from "../../access/TokenSet.ts"
import * as Redacted from "../../cell/Redacted.ts"
import * as Access from "../../ingress/access/Access.ts"
import * as Cors from "../../ingress/access/Cors.ts"
import * as PublicAccess from "../../ingress/access/PublicAccess.ts"
import type * as RateLimit from "../../ingress/access/RateLimit.ts"
import { SessionAccess } from "../../ingress/access/SessionAccess.ts"
import { InvalidConfig } from "../../loader/InvalidConfig.ts"
import type { Outside } from "../../loader/Outside.ts"
import * as Secrets from "../../loader/Secrets.ts"
import { hash } from "../../persistence/PureSha256.ts"
import type { Env } from "./Platform.ts"
import * as Handed from "./Handed.ts"
import * as TokenObject from "./TokenObject.ts"

/** The decisions on callers. */
export interface Gate {
  readonly access: Access.Decide
  /** Whether JSON Web Tokens are accepted, which the runtime in front verifies. */
  readonly hasJwt: boolean
  /** The limits of the rate of requests, in each isolate. */
  readonly rates: RateLimit.Parts
  /** The decision that the Worker in front handed to an object. */
  readonly bearer: Access.Bearer
  readonly tokens: TokenSet
  readonly sessions: SessionAccess
  /** The answers to pages of other sites, if the configuration has some. */
  readonly cors: Cors.Cors | undefined
  /** Whether a request is one of a webhook, which its signature admits. */
  readonly isHook: (request: Request) => boolean
  /** The proof with which the objects of this application call each other. It follows from the token. */
  readonly proof: Redacted.Redacted
}

/** The part of the settings with the tokens of the Worker. */
type Admitted = Secrets.Secured<Outside & Pick<Secrets.TokenSettings, "token" | "host">>

/**
 * The gate of a Worker with these tokens. Without a token, it has to be declared public.
 *
 * @throws InvalidConfig
 */
export const make = (admitted: Admitted, isPublic: boolean, env: Pick<Env, "DIRECTORY">): Gate => {
  const { hasJwt, hooks, origins, public: open, rates, readers, token } = admitted
  if (token === undefined && !isPublic) {
    throw new InvalidConfig({
      reason: "a Worker can be reached by everybody, and there is no token. Set the secret SYSTOLE_TOKEN, which wrangler dev takes " +
        "from .dev.vars. To do without, set the variable SYSTOLE_PUBLIC=true of a build, or public: true of an entry of your own"
    })
  }
  const secret = token === undefined ? null : Redacted.value(token)
  const proof = Redacted.make(hash.hex(JSON.stringify(["systole/object", secret])))
  const tokens = new TokenSet({ store: TokenObject.storeOf(env, proof), hash, now: Date.now, report: print })
  const rules = { token, readers, loopback: false }
  const sessions = new SessionAccess(rules, hash, { sessions: new Sessions({ set: tokens, draw, root: token }), tokens })
  const bearer = Handed.bearer(proof)
  return {
    access: Access.make(rules, hash, { set: tokens, sessions, bearer, reads: PublicAccess.make(open) }),
    bearer,
    hasJwt,
    rates: {
      rates: new Rates(rates, Date.now),
      addressOf: (request, connection) => addressOf(request, connection) ?? "unknown",
      tokens
    },
    tokens,
    sessions,
    cors: Cors.make(origins),
    isHook: (request) => hooks.length > 0 && request.method === "POST" && hooks.includes(Access.pathOf(request)),
    proof
  }
}

/** The header with the address of a caller. */
export const ADDRESS = "cf-connecting-ip"

/** The address of a caller, as the platform tells it. The Worker in front removes one that another sender wrote. */
export const addressOf: RateLimit.AddressOf = ({ headers }) => headers.get(ADDRESS) ?? undefined

/** The Worker in front has no reporter. */
const print = (failure: unknown): void => console.error(`The tokens cannot be loaded: ${String(failure).slice(0, 500)}`)

/** Random bytes of the platform. */
export const draw = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes))

/** Whether a build may be used without a token. */
export const isPublic = (env: Env): boolean => env.SYSTOLE_PUBLIC === "true"

/**
 * Settings with the tokens of a Worker's secrets.
 *
 * @throws InvalidConfig
 */
export const withSecrets = <A extends Pick<Secrets.TokenSettings, "readers">>(settings: A, env: Env) =>
  Secrets.withTokens({ ...settings, ...UNSECURED }, variablesOf(env))

/** The settings of a Worker in place of an address and a token of the configuration: its token is a secret of the platform. */
export const UNSECURED = { host: "127.0.0.1", token: undefined } as const

/** The variables and secrets of a Worker. */
export const variablesOf = (env: Env): Secrets.Variables => env as unknown as Secrets.Variables

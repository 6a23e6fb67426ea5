/**
 * The caller of a request, as its credential tells it.
 *
 * @module
 */
import type { Session } from "../../access/Sessions.ts"
import type { TokenDecision } from "../../access/TokenSet.ts"
import type * as Token from "../../access/Token.ts"
import type { Viewer } from "../../kernel/view/Space.ts"
import type { ServedRequest } from "../wire/HttpTelemetry.ts"

/** The caller of a request: a reader, one within the scope of a token, or neither for the operator. */
export interface CallerAccess {
  readonly reader?: Viewer | undefined
  readonly token?: Token.Token | undefined
  /** The digest of the secret that the request shows, if it is one of the token. */
  readonly digest?: string | undefined
  /** Decides on a JSON Web Token once more, for an answer that goes on: its key may be withdrawn meanwhile. */
  readonly again?: (() => TokenDecision | Promise<TokenDecision> | undefined) | undefined
  /** The session that the request shows in place of its credential. */
  readonly session?: Session | undefined
  /** The request, as its telemetry follows it. */
  readonly served?: ServedRequest | undefined
  /** Whether the request is answered without its credential where that has no access, so that no refusal of it counts. */
  readonly hasOther?: boolean | undefined
  /** Takes so many further requests of the caller's rate: the answer if they are too many. */
  readonly charge?: ((requests: number) => Response | undefined) | undefined
}

/**
 * The kinds of decisions: the operator, a further credential, an open path, a public read, a worker, and a refusal.
 * A rendezvous checks the token of its worker.
 */
export type Kind = "credential" | "open" | "operator" | "public" | "refused" | "worker"

/** The decision on a request: refused, or allowed for its caller. */
export interface Access extends CallerAccess {
  readonly kind: Kind
  readonly refused?: Error | undefined
  /** The id of a token that is refused. */
  readonly id?: string | undefined
  /**
   * The access without a credential, where it has some: for a request whose credential has none. A browser sends its cookie with each
   * request, so a person with a session would read less than one without.
   */
  readonly instead?: Access | undefined
}

/** The access of a checked credential. */
export const accessOf = (checked: TokenDecision): Access =>
  "refused" in checked
    ? { kind: "refused", refused: checked.refused, id: checked.id }
    : { kind: "credential", token: checked.token, digest: checked.digest }

/** The access of a request without a credential; `undefined` for one that needs one. */
export type Public = (request: Request) => Access | undefined

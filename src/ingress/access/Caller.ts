/**
 * The caller of a request, as its credential tells it.
 *
 * @module
 */
import type { Kind } from "../../access/SessionPass.ts"
import type { Credential } from "../../access/Sessions.ts"
import type { Checked } from "../../access/TokenSet.ts"
import type * as Token from "../../access/Token.ts"
import type { Viewer } from "../../kernel/view/Space.ts"
import type { Served } from "../wire/HttpTelemetry.ts"

/** The session of a request: the credential of its pass, and the use of that. */
export interface Session extends Credential {
  readonly kind: Kind
}

/** The caller of a request: a reader, one within the scope of a token, or neither for the operator. */
export interface By {
  readonly reader?: Viewer | undefined
  readonly token?: Token.Token | undefined
  /** The digest of the secret that the request shows, if it is one of the token. */
  readonly digest?: string | undefined
  /** Decides on a JSON Web Token once more, for an answer that goes on: its key may be withdrawn meanwhile. */
  readonly again?: (() => Checked | Promise<Checked> | undefined) | undefined
  /** The session that the request shows in place of its credential. */
  readonly session?: Session | undefined
  /** The request, as its telemetry follows it. */
  readonly served?: Served | undefined
}

/** The decision on a request: refused, or allowed for its caller. */
export interface Access extends By {
  readonly refused?: Error | undefined
  /** Whether the request needs no credential and has none that is accepted, so that its address counts in place of that. */
  readonly isPublic?: boolean
  /**
   * The access without a credential, where it has some: for a request whose credential has none. A browser sends its cookie with each
   * request, so a person with a session would read less than one without.
   */
  readonly instead?: Access | undefined
}

/** The access of a request without a credential; `undefined` for one that needs one. */
export type Public = (request: Request) => Access | undefined

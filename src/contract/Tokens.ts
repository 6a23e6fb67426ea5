/**
 * Endpoints of tokens: they are created, listed, rotated and revoked.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import * as Query from "./Query.ts"
import { words } from "./Words.ts"

const text = Schema.String
const count = Schema.Number
const given = Schema.optionalKey

/** The path of the list of tokens. */
export const TOKENS = "/v1/access/tokens"

/** The most entries of each list of a token: its spaces, its prefixes and the atoms of its clearance. */
export const MAX_SCOPE = 20

const scope = () => Schema.Array(Schema.NonEmptyString).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_SCOPE))

/** The scope of a token. */
const grant = () => ({
  /** The names of its spaces; all spaces without them. */
  spaces: given(scope()),
  verbs: Schema.Array(Schema.Literals(Endpoint.verbs)).check(Schema.isMinLength(1)),
  /** Addresses. It reads cells at and below them, and sends signals whose target, or whose name without one, is there. */
  prefixes: given(scope()),
  /** The atoms of labels that it may know. Without them it may know all. */
  clearance: given(Schema.Array(Schema.NonEmptyString).check(Schema.isMaxLength(MAX_SCOPE)))
})

/**
 * The body of a new token. `expires` is a duration from now of up to 366 days; 90 days unless given, or until the end of the token that
 * creates it. A later end than that is refused.
 */
export const wanted = () => Schema.Struct({ ...grant(), expires: given(text) })

/** A token without its secret. Dates are in milliseconds since 1970. */
const row = () => Schema.Struct({
  id: text,
  ...grant(),
  created: count,
  expires: count,
  /** The number of its secrets: two during a rotation. */
  secrets: count,
  revoked: given(count),
  /** The newest day of its use, such as `2026-11-27`. */
  used: given(text),
  /** The requests that this host refused since its start, by code. */
  denied: given(Schema.Record(text, count))
})

const secret = () => Schema.Struct({ id: text, token: text, expires: count })

/** The creation of a token. */
export const create = Endpoint.make("POST", TOKENS, {
  does: words(
    "Creates a token: 201 with its secret, which no later answer has. It acts in `spaces`, or in all; its `verbs` are of `read`, " +
    "`signal`, `write`, `report`, `operate`, `admin`. One with `prefixes` or a `clearance` has the verbs `read` and `signal` alone."
  ),
  body: wanted,
  answer: secret,
  status: 201,
  refusals: ["access/full", "access/invalid", "access/origin", "access/verb"],
  location: ({ id }) => `${TOKENS}/${id}`,
  verb: "admin",
  isUncached: true
})

/** The list of tokens. */
export const list = Endpoint.make("GET", TOKENS, {
  does: words(
    "The tokens by their ids, and since the start of this host: `unknown`, the refused requests that showed no token of this list, and " +
    "`jwt`, those with a JSON Web Token, by code."
  ),
  query: () => Schema.Struct({ after: Query.text(), limit: Query.limit(100, Query.MOST) }),
  answer: () => Schema.Struct({
    tokens: Schema.Array(row()), next: Query.next(text), unknown: count, jwt: given(Schema.Record(text, count))
  }),
  verb: "admin",
  isUncached: true
})

/** The revocation of a token. */
export const revoke = Endpoint.make("DELETE", `${TOKENS}/:id`, {
  does: words("Revokes a token at once, with all its secrets and streams. On Workers, objects hear of it within 10 seconds."),
  answer: () => Schema.Struct({ id: text, revoked: count }),
  refusals: ["access/absent"],
  verb: "admin"
})

const ROTATION = `${TOKENS}/:id/rotation` as const

/** The begin of a rotation. */
export const rotate = Endpoint.make("POST", ROTATION, {
  does: words("Gives a token a second secret: 201. The one before goes on until the rotation ends; an older one ends now."),
  answer: secret,
  status: 201,
  refusals: ["access/absent", "access/invalid", "access/origin", "access/verb"],
  verb: "admin",
  isUncached: true
})

/** The end of a rotation. */
export const settle = Endpoint.make("DELETE", ROTATION, {
  does: words("Ends the older secret of a token in rotation, with its sessions and streams."),
  answer: () => Schema.Struct({ id: text, secrets: count }),
  refusals: ["access/absent"],
  verb: "admin"
})

/**
 * Endpoints of sessions: a browser shows a cookie in place of a token, and a page of another site a bearer of some minutes.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import { SESSION } from "./Paths.ts"
import { words } from "./Words.ts"

const text = Schema.String
const texts = Schema.Array(text)
const given = Schema.optionalKey

/** The begin of a session. */
export const begin = Endpoint.make("POST", SESSION, {
  does: words(
    "Begins a session for the credential of the request: 201 with a cookie `HttpOnly; SameSite=Strict`, and `Secure` but on loopback. " +
    "With `?as=token` it gives a bearer of at most 15 minutes as `token` in place of the cookie, for a page of another site. With " +
    "`?as=link` it gives the path of a page as `link`, which begins a session once within 5 minutes. Each ends with its credential."
  ),
  query: () =>
    Schema.Struct({ as: given(Schema.Literals(["token", "link"]).annotate({ expected: "token or link", description: "token" })) }),
  answer: () => Schema.Struct({ expires: Schema.Number, token: given(text), link: given(text) }),
  status: 201,
  refusals: ["access/full", "access/invalid", "access/origin"],
  access: "holder",
  effect: "controls",
  isUncached: true
})

/** The session, or the credential, of a request. */
export const read = Endpoint.make("GET", SESSION, {
  does: words("The credential of the request: its name, its verbs, its scope, and the end of its session or token."),
  answer: () => Schema.Struct({
    name: text,
    verbs: texts,
    spaces: given(texts),
    prefixes: given(texts),
    clearance: given(texts),
    expires: given(Schema.Number)
  }),
  access: "holder",
  isUncached: true
})

/** The end of a session. */
export const end = Endpoint.make("DELETE", SESSION, {
  does: words(
    "Ends the session of the request, with its bearers, and removes the cookie. A bearer ends the session that it came from; one that a " +
    "token began ends itself. On Workers, objects hear of it within 10 seconds. A token goes on."
  ),
  answer: () => Schema.Struct({ ended: Schema.Boolean }),
  refusals: ["access/full", "access/origin"],
  access: "holder",
  isUncached: true
})

/**
 * The routes of sessions, and the page that begins one by a link.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Redacted from "../../cell/Redacted.ts"
import { BEARER_MILLIS, type Credential, LINK_MILLIS, type IssuedPass, endRefusals } from "../../access/Sessions.ts"
import { JWT, labelOf } from "../../access/Token.ts"
import { verbs } from "../../contract/Endpoint.ts"
import { LOGIN } from "../../contract/Paths.ts"
import * as Endpoints from "../../contract/Sessions.ts"
import * as Json from "../wire/Json.ts"
import * as RequestOrigin from "../access/RequestOrigin.ts"
import * as LoginPage from "../access/SessionLogin.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { CallerAccess } from "../access/Caller.ts"
import type { RouteTable } from "./RouteTable.ts"
import type { SessionAccess } from "../access/SessionAccess.ts"
import * as SessionCookie from "../access/SessionCookie.ts"

/** The parts of the routes. */
interface Parts {
  readonly access: SessionAccess
  /** The duration of a session in milliseconds. */
  readonly millis: number
  /** Whether the project has a page at `/`. */
  readonly hasHome: boolean
}

const elsewhere = new RequestRefused({
  code: "access/origin",
  reason: "A page of another site has no cookies here. It asks for a bearer with POST /v1/session?as=token"
})

const foreign = new RequestRefused({
  code: "access/invalid",
  reason: "A JSON Web Token begins no session: its issuer ends and renews it. Send it with each request"
})

const borrowed = new RequestRefused({
  code: "access/origin",
  reason: "A session makes no link, which would last longer than it. Ask with the token itself"
})

/** The answer with a pass. */
type Answer = ReturnType<typeof Endpoints.begin.answer>["Type"]

/** A request, its caller, and its credential. */
interface Asked {
  readonly request: Request
  readonly by: CallerAccess
  readonly credential: Credential
}

const told = <A>(ask: () => Promise<A>) => Effect.tryPromise({ try: ask, catch: (failure) => failure })

/**
 * Adds the routes to a table.
 */
export const routes = (table: RouteTable, { access, hasHome, millis }: Parts): void => {
  const { sessions } = access
  const bearer = async ({ by, credential }: Asked): Promise<Answer> => {
    const given = await redeemed(by, credential)
    const { expires, pass } = await sessions.make("bearer", given, Math.min(millis, BEARER_MILLIS))
    return { expires, token: Redacted.value(pass) }
  }
  const link = async ({ by, credential }: Asked): Promise<Answer> => {
    if (by.session !== undefined) throw borrowed
    const { expires, pass } = await sessions.make("link", credential, LINK_MILLIS)
    return { expires, link: `${LOGIN}#${Redacted.value(pass)}` }
  }
  const cookie = async ({ by, credential, request }: Asked): Promise<Response> => {
    if (RequestOrigin.originOf(request) === "other") throw elsewhere
    const made = await sessions.make("cookie", await redeemed(by, credential), millis)
    const headers = { ...Json.noStore.headers, "set-cookie": SessionCookie.header(request, made.pass, secondsOf(made, sessions.now)) }
    return Json.answer({ expires: made.expires }, { status: 201, headers })
  }
  /** A link is over with its use, and the pass that it gives lasts longer. */
  const redeemed = async ({ session, token }: CallerAccess, { digest, name, ...made }: Credential): Promise<Credential> => {
    if (session?.kind !== "link") return { digest, name, ...made }
    if (!await sessions.end(session, LINK_MILLIS)) throw endRefusals.link
    return { digest, name, until: token?.expires }
  }
  table.serve(Endpoints.begin, ({ by, query: { as }, request }) => told<Answer | Response>(async () => {
    if (by.token?.id.startsWith(JWT) === true) throw foreign
    const asked = { by, request, credential: access.credential(by) }
    return as === "token" ? bearer(asked) : as === "link" ? link(asked) : cookie(asked)
  }))
  table.serve(Endpoints.read, ({ by }) => Effect.succeed(shownOf(by, access.credential(by))))
  table.serve(Endpoints.end, ({ by: { session }, request }) => told(async () => {
    const ended = session !== undefined && await sessions.end(session, millis)
    const headers = { ...Json.noStore.headers, "set-cookie": SessionCookie.header(request) }
    return Json.answer({ ended }, { headers })
  }))
  table.open(LOGIN, () => LoginPage.answer(hasHome))
}

const secondsOf = ({ expires }: IssuedPass, now: number): number => Math.max(0, Math.floor((expires - now) / 1000))

/** A credential as its owner sees it. */
const shownOf = ({ reader, token }: CallerAccess, { name, until }: Credential) => {
  const end = until === undefined ? {} : { expires: until }
  if (token !== undefined) {
    const { clearance, id, prefixes, spaces, verbs } = token
    const scope = { ...spaces && { spaces }, ...prefixes && { prefixes }, ...clearance && { clearance } }
    return { name: labelOf(id), verbs, ...scope, ...end }
  }
  if (reader === undefined) return { name, verbs, ...end }
  return { name: reader.name, verbs: ["read", "signal"], clearance: reader.atoms === "all" ? [] : reader.atoms, ...end }
}

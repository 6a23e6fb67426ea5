/**
 * The access of a request that shows a session: in a cookie, or as a bearer.
 *
 * @module
 */
import * as Redacted from "../../cell/Redacted.ts"
import type { IsSpent } from "../../access/Rates.ts"
import * as SessionPass from "../../access/SessionPass.ts"
import { type Credential, OPERATOR, type Owner, type PassAccess, type Sessions } from "../../access/Sessions.ts"
import type { TokenSet } from "../../access/TokenSet.ts"
import { CSRF, SESSION } from "../../contract/Paths.ts"
import type { Hash } from "../../persistence/Hash.ts"
import { type Access, accessOf, type CallerAccess } from "./Caller.ts"
import type * as ConfiguredAccess from "./ConfiguredAccess.ts"
import * as RequestOrigin from "./RequestOrigin.ts"
import * as SessionCookie from "./SessionCookie.ts"
import { RequestRefused } from "../wire/Problem.ts"

/** The parts of the access of sessions. */
interface Parts {
  readonly sessions: Sessions
  readonly tokens: TokenSet
}

/** The beginning of the name of a token as a credential. */
const TOKEN = "token-"

/** The path of a request, and whether its caller has used its rate. */
interface Place {
  readonly path: string
  readonly isSpent?: IsSpent
}

const unlinked = new RequestRefused({
  code: "auth/missing",
  reason: "The request shows a link, which begins a session with POST /v1/session, once, and nothing else"
})

const foreign = new RequestRefused({
  code: "access/origin",
  reason: `The request shows a session in a cookie, and no page of this server sent it. Send the header ${CSRF}: 1, or a token in place ` +
    "of the cookie"
})

/**
 * The access of sessions, for the owners of the configuration and for tokens.
 */
export class SessionAccess {
  readonly sessions: Sessions
  private readonly tokens: TokenSet
  /** The operator and the readers, by the names of their credentials. */
  private readonly owners: ReadonlyMap<string, Owner<Access>>

  constructor({ readers = [], token }: ConfiguredAccess.Rules, hash: Pick<Hash["Service"], "hex">, { sessions, tokens }: Parts) {
    this.sessions = sessions
    this.tokens = tokens
    this.owners = new Map<string, Owner<Access>>([
      [OPERATOR, {
        digests: [hash.hex(JSON.stringify([OPERATOR, token === undefined ? null : Redacted.value(token)]))],
        access: { kind: "operator" }
      }],
      ...readers.map((reader) =>
        [`reader-${reader.name}`, { digests: [hash.hex(Redacted.value(reader.token))], access: { kind: "credential", reader } }] as const)
    ])
  }

  /** The pass that a request shows, in the place of its kind. A header goes before a cookie. */
  shown(request: Request, authorization: string | null): SessionPass.PresentedPass | undefined {
    const isInHeader = authorization !== null
    const text = isInHeader ? SessionPass.inHeader(authorization) : SessionCookie.read(request)
    const shown = text === undefined ? undefined : this.sessions.read(text)
    return shown !== undefined && isInHeader === (shown.kind !== "cookie") ? shown : undefined
  }

  /** The access of a pass that a request shows. */
  access(shown: SessionPass.PresentedPass, request: Request, { isSpent, path }: Place): Access | Promise<Access> {
    if (shown.kind === "cookie" && isDoubtful(request)) return { kind: "refused", refused: foreign }
    if (shown.kind === "link" && !(path === SESSION && request.method === "POST")) return { kind: "refused", refused: unlinked }
    const found = this.sessions.access(shown, (name) => this.owner(name), isSpent)
    const made = (found: PassAccess<Access>): Access =>
      "refused" in found ? { kind: "refused", refused: found.refused } : { ...found.owner, session: found.session }
    return found instanceof Promise ? found.then(made) : made(found)
  }

  /** The credential of a request that was let in. */
  credential({ digest = "", reader, session, token }: CallerAccess): Credential {
    if (session !== undefined) return session
    if (token !== undefined) return { name: TOKEN + token.id, digest, until: token.expires }
    const name = reader === undefined ? OPERATOR : `reader-${reader.name}`
    return { name, digest: this.owners.get(name)?.digests[0] ?? "" }
  }

  /** The owner of a credential. A name that begins with `token-` is one of the set. */
  private owner(name: string): Owner<Access> | undefined {
    if (!name.startsWith(TOKEN)) return this.owners.get(name)
    const found = this.tokens.find(name.slice(TOKEN.length))
    return found === undefined ? undefined : { digests: found.digests, access: accessOf(found) }
  }
}

/**
 * Whether a request with a cookie may come from a page of another origin that a browser takes for the same site: it changes something
 * or opens a socket, and has neither the origin of this server nor the header that such a page cannot send.
 */
const isDoubtful = (request: Request): boolean => {
  const { headers, method } = request
  const isSafe = (method === "GET" || method === "HEAD") && !RequestOrigin.isUpgrade(headers)
  if (isSafe || headers.has(CSRF)) return false
  return !(RequestOrigin.originOf(request) === "own" && SessionCookie.isSentBy(headers.get("origin") ?? "", request))
}

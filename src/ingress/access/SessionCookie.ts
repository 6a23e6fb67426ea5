/**
 * The cookie of a session.
 *
 * On a loopback address it has the port in its name, since a browser sends the cookies of all ports. Elsewhere it is bound to the
 * host: no page of a neighbouring host can set one with its name.
 *
 * A page of another port can set one with its name and a longer path. A browser sends cookies with longer paths first, and the path
 * of a session is the shortest one, so the last cookie counts.
 *
 * @module
 */
import * as Redacted from "../../cell/Redacted.ts"
import { COOKIE } from "../../contract/Paths.ts"
import * as RequestOrigin from "./RequestOrigin.ts"
import { newest } from "./Newest.ts"

/** The name of the cookie of a host, and whether that is a loopback address. */
const formOf = newest((host): { readonly name: string; readonly isLocal: boolean } => RequestOrigin.isLocal(host)
  ? { name: `systole-${/:(\d+)$/.exec(host)?.[1] ?? 80}`, isLocal: true }
  : { name: COOKIE, isLocal: false })

/**
 * The text of the cookie in a request; `undefined` without one.
 */
export const read = (request: Request): Redacted.Redacted | undefined => {
  const cookies = request.headers.get("cookie")
  if (cookies === null) return undefined
  const begin = `${formOf(RequestOrigin.hostOf(request)).name}=`
  return Redacted.given(cookies.split("; ").findLast((cookie) => cookie.startsWith(begin))?.slice(begin.length))
}

/**
 * Whether a page of this origin has the cookie of the host that a request names. A page without TLS has it on loopback alone, and
 * elsewhere somebody between may have written such a page.
 */
export const isSentBy = (origin: string, request: Request): boolean =>
  formOf(RequestOrigin.hostOf(request)).isLocal || origin.startsWith("https:")

/**
 * The header that sets the cookie for so many seconds; without a pass, it removes the cookie.
 */
export const header = (request: Request, pass?: Redacted.Redacted, seconds = 0): string => {
  const { isLocal, name } = formOf(RequestOrigin.hostOf(request))
  const text = pass === undefined ? "" : Redacted.value(pass)
  return `${name}=${text}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isLocal ? "" : "; Secure"}`
}

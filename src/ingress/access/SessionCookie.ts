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

/** The separator of cookies in a header. */
const NEXT = "; "

/** The cookie of a host: its name, the text before its value, and whether the host is a loopback address. */
const formOf = newest((host): { readonly name: string; readonly begin: string; readonly isLocal: boolean } => {
  const isLocal = RequestOrigin.isLocal(host)
  const name = isLocal ? `systole-${/:(\d+)$/.exec(host)?.[1] ?? 80}` : COOKIE
  return { name, begin: `${NEXT}${name}=`, isLocal }
})

/**
 * The text of the cookie in a request; `undefined` without one.
 */
export const read = (request: Request): Redacted.Redacted | undefined => {
  const cookies = request.headers.get("cookie")
  if (cookies === null) return undefined
  const { begin } = formOf(RequestOrigin.hostOf(request))
  const at = `${NEXT}${cookies}`.lastIndexOf(begin)
  if (at < 0) return undefined
  // The place in the header is that before which the separator was added.
  const from = at + begin.length - NEXT.length
  const to = cookies.indexOf(NEXT, from)
  return Redacted.make(to < 0 ? cookies.slice(from) : cookies.slice(from, to))
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

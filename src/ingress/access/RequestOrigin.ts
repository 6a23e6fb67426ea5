/**
 * The origin of a request, as its headers tell it: its host, the page that sent it, and whether it asks for a socket.
 *
 * @module
 */
import { newest } from "./Newest.ts"

/**
 * Whether a page of another origin sent the request. Another port is another origin.
 *
 * Top-level navigation by GET is allowed. An embedded frame is refused because of clickjacking.
 */
export const isFromElsewhere = (request: Request): boolean => {
  const { headers, method } = request
  const origin = originOf(request)
  if (origin !== undefined) return origin === "other"
  const site = headers.get("sec-fetch-site")
  if (site === null || site === "same-origin" || site === "none") return false
  const destination = headers.get("sec-fetch-dest") ?? "document"
  return !(method === "GET" && headers.get("sec-fetch-mode") === "navigate" && destination === "document")
}

/**
 * Whether the page that sent a request is of the host that it names; `undefined` if the browser does not tell.
 */
export const originOf = (request: Request): "other" | "own" | undefined => {
  const origin = request.headers.get("origin")
  if (origin === null) return undefined
  const host = `http://${hostOf(request)}`
  return URL.canParse(origin) && URL.canParse(host) && new URL(origin).host === new URL(host).host ? "own" : "other"
}

/** Whether a request asks for a WebSocket. Clients ask for other protocols, too, and go on without them. */
export const isUpgrade = (headers: Headers): boolean => headers.get("upgrade")?.toLowerCase() === "websocket"

/** The host of a request. A client with HTTP/1.0 may send no `host` header. */
export const hostOf = ({ headers, url }: Request): string => headers.get("host") ?? (URL.canParse(url) ? new URL(url).host : "")

/** Whether a host is a loopback address. */
export const isLocal = newest((host) =>
  URL.canParse(`http://${host}`) && /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i.test(host))

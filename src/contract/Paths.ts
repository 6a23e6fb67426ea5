/**
 * The paths that are known before there is a runtime: those of a Worker's gate, and of one space. This module imports no schema,
 * because the gate is loaded with each isolate, and Schema is thrice as large.
 *
 * @module
 */

/** The liveness and the readiness probe. */
export const LIVE = "/livez"
export const READY = "/readyz"

/** The OpenAPI document and the page of the reference. */
export const REFERENCE = ["/openapi.json", "/docs"] as const

/** The session of a request, and the page that begins one by a link. */
export const SESSION = "/v1/session"
export const LOGIN = `${SESSION}/login` as const

/** The header with which a request that changes something shows that it is not one of another site. */
export const CSRF = "x-systole-csrf"

/** The cookie of a session, except on a loopback address. */
export const COOKIE = "__Host-systole"

/** The list of spaces, and the path of one space. */
export const SPACES = "/v1/spaces"
export const SPACE = `${SPACES}/:space` as const

/** The report of a worker on its rendezvous. */
export const REPORT = `${SPACE}/rv/:key/report` as const

/**
 * Whether a path is one of an endpoint, whose path is a pattern such as {@link REPORT}: a parameter is a segment that is not empty,
 * and `*` is all that follows.
 */
export const isOf = (pattern: string, path: string): boolean => {
  const [wanted, given] = [pattern.split("/"), path.split("/")]
  if (wanted.at(-1) === "*") given.splice(wanted.length - 1, Infinity, given.slice(wanted.length - 1).join("/"))
  if (given.length !== wanted.length) return false
  return wanted.every((segment, i) => /^[:*]/.test(segment) ? given[i] !== "" : given[i] === segment)
}

/**
 * The segment of a path that names a space; `undefined` in a path that is not of one space.
 */
export const spaceIn = (path: string): string | undefined =>
  path.startsWith(`${SPACES}/`) ? path.slice(SPACES.length + 1).split("/", 1)[0] || undefined : undefined

/** The cell that a path names: its id, percent-decoded once, or the reason why the path names none. */
export type NamedCell = { readonly id: string } | { readonly path: string; readonly reason: string }

/**
 * The cell at the end of a path; `undefined` for a path without one.
 */
export const cellOf = (pathname: string): NamedCell | undefined => {
  const [, path] = /^\/v1\/spaces\/[^/]+\/(?:cells|locks)(\/.*)$/.exec(pathname) ?? []
  if (path === undefined) return undefined
  if (/%2f/i.test(path)) return { path, reason: "a name holds an encoded slash" }
  try {
    return { id: decodeURIComponent(path) }
  } catch {
    return { path, reason: "its percent-encoding is not UTF-8" }
  }
}

/**
 * The id of the cell at the end of a URL; `undefined` for one without a cell, and for a malformed one.
 */
export const cellIn = (url: string): string | undefined => {
  const named = URL.canParse(url) ? cellOf(new URL(url).pathname) : undefined
  return named !== undefined && "id" in named ? named.id : undefined
}

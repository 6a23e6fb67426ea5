/**
 * Errors of hosts as numbers and stable codes.
 *
 * One table serves every host and every channel, so that the same failure makes the same journal on each host. The numbers
 * are those of Linux, negative, as the ledger stores them. For the resolution of names they are those of libuv.
 *
 * @module
 */

/**
 * A host's error: its number, its code, and whether a later attempt can succeed.
 */
export interface HostError {
  readonly errno: number
  readonly code: string
  readonly retryable: boolean
}

/** The codes of this runtime, each with the names that hosts use: symbols of libuv and undici, and classes of Deno and Bun. */
const table: ReadonlyArray<readonly [code: string, retryable: boolean, names: Readonly<Record<string, number>>]> = [
  ["io/absent", false, { ENOENT: -2, NotFound: -2 }],
  ["io/denied", false, { EACCES: -13, EPERM: -1, EROFS: -30, NotCapable: -13, PermissionDenied: -13 }],
  ["io/exists", false, { EEXIST: -17, ENOTEMPTY: -39, AlreadyExists: -17 }],
  ["io/kind", false, { ENOTDIR: -20, EISDIR: -21, ELOOP: -40, NotADirectory: -20, IsADirectory: -21, FilesystemLoop: -40 }],
  ["io/invalid", false, { EINVAL: -22, EMSGSIZE: -90, ENAMETOOLONG: -36, E2BIG: -7, EXDEV: -18 }],
  ["io/space", true, { ENOSPC: -28, EDQUOT: -122, EFBIG: -27 }],
  ["io/busy", true, { EAGAIN: -11, EBUSY: -16, EMFILE: -24, ENFILE: -23, ENOMEM: -12, ETXTBSY: -26, Busy: -16, WouldBlock: -11 }],
  ["io/timeout", true, {
    ETIMEDOUT: -110, ESOCKETTIMEDOUT: -110, UND_ERR_CONNECT_TIMEOUT: -110, UND_ERR_HEADERS_TIMEOUT: -110, UND_ERR_BODY_TIMEOUT: -110,
    TimeoutError: -110, TimedOut: -110
  }],
  ["io/unreachable", true, {
    ECONNREFUSED: -111, ECONNRESET: -104, ECONNABORTED: -103, EHOSTUNREACH: -113, ENETUNREACH: -101, ENETDOWN: -100, ENXIO: -6, EPIPE: -32,
    ENOTFOUND: -3008, EAI_NONAME: -3008, EAI_NODATA: -3007, EAI_FAIL: -3004, EAI_AGAIN: -3001, UND_ERR_SOCKET: -104,
    ConnectionRefused: -111, ConnectionReset: -104, ConnectionClosed: -104,
    ConnectionAborted: -103, BrokenPipe: -32, FailedToOpenSocket: -111
  }],
  ["io/tls", false, {
    EPROTO: -71, CERT_HAS_EXPIRED: -71, CERT_NOT_YET_VALID: -71, CERT_REJECTED: -71, CERT_REVOKED: -71, CERT_SIGNATURE_FAILURE: -71,
    CERT_UNTRUSTED: -71, DEPTH_ZERO_SELF_SIGNED_CERT: -71, HOSTNAME_MISMATCH: -71, SELF_SIGNED_CERT_IN_CHAIN: -71,
    UNABLE_TO_GET_ISSUER_CERT: -71, UNABLE_TO_GET_ISSUER_CERT_LOCALLY: -71, UNABLE_TO_VERIFY_LEAF_SIGNATURE: -71
  }],
  ["io/cancelled", false, { ECANCELED: -125, ABORT_ERR: -125, AbortError: -125, Interrupted: -125 }]
]

const byName: ReadonlyMap<string, HostError> = new Map(
  table.flatMap(([code, retryable, names]) => Object.entries(names).map(([name, errno]) => [name, { errno, code, retryable }] as const))
)

/** The errors of libraries with many names: those of OpenSSL, and of the parser of HTTP. */
const families: ReadonlyArray<readonly [prefix: string, error: HostError]> = [
  ["ERR_SSL_", { errno: -71, code: "io/tls", retryable: false }],
  ["ERR_TLS_", { errno: -71, code: "io/tls", retryable: false }],
  ["HPE_", { errno: -71, code: "io/protocol", retryable: false }]
]

const byFamily = (name: string): HostError | undefined => families.find(([prefix]) => name.startsWith(prefix))?.[1]

/** The error of which the table has no name. */
const unknown: HostError = { errno: -5, code: "io/failed", retryable: false }

/** The most errors of a chain of causes. */
const CAUSES = 8

/**
 * Classifies an error of a host by its `code` or its name, or by those of its causes. An unknown error is `io/failed`.
 */
export const of = (error: unknown): HostError => {
  try {
    return known(error) ?? unknown
  } catch {
    // A thrown value may have any accessors.
    return unknown
  }
}

const known = (error: unknown): HostError | undefined => {
  let at = error
  for (let depth = 0; depth < CAUSES && typeof at === "object" && at !== null; depth++) {
    const { cause, code, name } = at as { readonly cause?: unknown; readonly code?: unknown; readonly name?: unknown }
    const found = byName.get(String(code)) ?? byFamily(String(code)) ?? byName.get(String(name))
    if (found !== undefined) return found
    at = cause
  }
  return undefined
}

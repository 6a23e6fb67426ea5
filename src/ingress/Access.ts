/**
 * Access: who may send a request, from its headers alone.
 *
 * @module
 */
import { getPath } from "hono/utils/url"
import { LIVE, READY } from "../contract/Paths.ts"
import type { Clearance } from "../kernel/view/Space.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as Guard from "./Guard.ts"
import type { RequestRefused } from "./Problem.ts"
import * as WorkerToken from "./WorkerToken.ts"

/** The decision on a request: refused, or allowed for a reader or for all other callers. */
export interface Access {
  readonly refused?: RequestRefused | undefined
  readonly reader?: Clearance | undefined
}

/** The liveness and readiness probes, open to unauthenticated callers. */
const probes: ReadonlySet<string> = new Set([LIVE, READY])

/**
 * The path of a request, with dot segments resolved. Deno passes them through, unlike the other hosts.
 *
 * @category getters
 * @since 0.1.0
 */
export const pathOf = ({ url }: Request): string =>
  getPath({ url: /\/(?:\.|%2e)/i.test(url) ? new URL(url).href : url } as Request)

/**
 * Creates the decision on requests.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (rules: Guard.Rules, hash: Hash["Service"]): (request: Request) => Access => {
  const refusal = Guard.make(rules, hash)
  const readerOf = Guard.readers(rules, hash)
  return (request) => {
    const reader = readerOf(request)
    if (reader !== undefined && !probes.has(pathOf(request))) return { reader }
    const refused = refusal(request)
    return refused === undefined || isOpen(request, refused) ? {} : { refused }
  }
}

/** Whether a request passes although the guard refused it: a probe, or a worker's report with a rendezvous token. */
const isOpen = (request: Request, { code }: RequestRefused): boolean => {
  const path = pathOf(request)
  return probes.has(path) || (code === "auth/missing" && WorkerToken.isReport(request, path))
}

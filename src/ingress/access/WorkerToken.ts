/**
 * The token with which an external worker reports on its rendezvous.
 *
 * @module
 */
import * as Redacted from "../../cell/Redacted.ts"
import * as Paths from "../../contract/Paths.ts"

/** The `authorization` header of a worker: the token of a rendezvous. */
const PROOF = /^rendezvous +([0-9a-f]{1,200})$/i

/**
 * The token that a worker shows; `undefined` for any other caller.
 */
export const of = (headers: Headers): Redacted.Redacted | undefined =>
  Redacted.given(PROOF.exec(headers.get("authorization") ?? "")?.[1])

/**
 * Whether a request is the report of a worker. Its header `authorization` is read unless it is given. The rendezvous checks its token.
 */
export const isReport = (
  { headers, method }: Request,
  path: string,
  authorization: string | null = headers.get("authorization")
): boolean => method === "POST" && PROOF.test(authorization ?? "") && Paths.isOf(Paths.REPORT, path)

/**
 * The rate of requests at the ingress: who a caller is, and the fields of its answers.
 *
 * The fields are those of the draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10).
 *
 * @module
 */
import { AccessRefused } from "../../access/AccessRefused.ts"
import type { IsSpent, Kind, Rates, Taken } from "../../access/Rates.ts"
import { JWT } from "../../access/Token.ts"
import { spaceIn } from "../../contract/Paths.ts"
import * as Access from "./Access.ts"
import * as Problem from "../wire/Problem.ts"

/** The address of a caller: of the connection, or the one that a trusted proxy tells; `undefined` within the process. */
export type AddressOf = (request: Request, connection: string | undefined) => string | undefined

/** The parts of the limit. */
export interface Parts {
  readonly rates: Rates
  readonly addressOf: AddressOf
  /** Counts a refusal under the id of a token. */
  readonly deny?: ((id: string | undefined, code: string) => void) | undefined
}

/**
 * The network of an address: the address itself, or the first half of a long one, which one caller has as a whole.
 */
export const networkOf = (address: string): string => {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  if (mapped !== undefined || address.includes(".")) return mapped ?? address
  // A double colon stands for as many zeros as are missing.
  const [before = [], after = []] = address.split("::").map((groups) => groups.split(":").filter((group) => group !== ""))
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0")
  return [...before, ...zeros, ...after].slice(0, 4).join(":")
}

/** A request with the decision on its credential. */
export interface Decided {
  readonly request: Request
  readonly access: Access.Access
  readonly connection: string | undefined
}

/** The kind of a caller, and its name; `undefined` for the operator and an open path, which have no limit. */
const callerOf = ({ addressOf }: Parts, { access, connection, request }: Decided): readonly [kind: Kind, name: string] | undefined => {
  const { isPublic = false, reader, refused, token } = access
  if (token !== undefined) return ["credential", token.id]
  if (reader !== undefined && !isPublic) return ["credential", `reader ${reader.name}`]
  const address = refused === undefined && !isPublic ? undefined : addressOf(request, connection)
  return address === undefined ? undefined : ["address", networkOf(address)]
}

/**
 * Whether the address of a request has used its rate, found out at most once.
 */
export const spentBy = ({ addressOf, rates }: Parts, request: Request, connection: () => string | undefined): IsSpent => {
  let known: boolean | undefined
  return () => {
    if (known !== undefined) return known
    const address = addressOf(request, connection())
    return known = address !== undefined && rates.isSpent("address", networkOf(address))
  }
}

/** The network of a request, if the host tells addresses. */
export const networkAt = (
  { addressOf }: { readonly addressOf?: AddressOf | undefined },
  request: Request,
  connection: string | undefined
): string | undefined => {
  const address = addressOf?.(request, connection)
  return address === undefined ? undefined : networkOf(address)
}

/** Takes a request. A space is told apart if its caller is known: a stranger may name any. */
const taken = (parts: Parts, decided: Decided): Taken | undefined => {
  const caller = callerOf(parts, decided)
  if (caller === undefined) return undefined
  const [kind, name] = caller
  // Public reads are counted apart, so that the readers of a page behind one address keep nobody's JSON Web Token from its verification.
  const strange = decided.access.isPublic === true ? "public" : ""
  return parts.rates.take(kind, name, kind === "address" ? strange : spaceIn(Access.pathOf(decided.request)) ?? "")
}

const fields = ({ kind, left, rate: { requests, seconds: window }, seconds }: Taken): ReadonlyArray<readonly [string, string]> => [
  ["ratelimit-policy", `"${kind}";q=${requests};w=${window}`],
  ["ratelimit", `"${kind}";r=${left};t=${seconds}`]
]

const over = ({ kind, rate: { requests, seconds: window }, seconds }: Taken): Response => {
  const who = { credential: "this credential in this space", address: "this address without an accepted credential" }
  const response = Problem.response(new AccessRefused(
    "access/rate",
    `There are ${requests} requests in ${window} seconds for ${who[kind]}, and all are used. Send the request again in ${seconds} seconds`
  ))
  response.headers.set("retry-after", String(seconds))
  return response
}

/** An answer with the fields of the limit. Only the answer with a socket cannot be made anew. */
const told = (response: Response, taken: Taken): Response => {
  if (response.status === 101) return response
  const answer = new Response(response.body, response)
  for (const [name, value] of fields(taken)) answer.headers.set(name, value)
  return answer
}

/**
 * Answers a request within the limit of its caller.
 */
export const within = (parts: Parts, decided: Decided, answer: () => Response | Promise<Response>): Response | Promise<Response> => {
  const result = taken(parts, decided)
  if (result === undefined) return answer()
  if (result.isOver) {
    const { refused, token } = decided.access
    // A credential that was refused is counted already.
    if (refused === undefined) parts.deny?.(token?.id.startsWith(JWT) === true ? JWT : token?.id, "access/rate")
    return told(over(result), result)
  }
  const answered = answer()
  return answered instanceof Promise ? answered.then((response) => told(response, result)) : told(answered, result)
}

/**
 * The rate of requests at the ingress: who a caller is, and the fields of its answers.
 *
 * The fields are those of the draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10).
 *
 * @module
 */
import { AccessRefused } from "../../access/AccessRefused.ts"
import type { IsSpent, Kind, RateResult, Rates } from "../../access/Rates.ts"
import type { TokenSet } from "../../access/TokenSet.ts"
import * as IpAddress from "../../cell/IpAddress.ts"
import { spaceIn } from "../../contract/Paths.ts"
import * as Access from "./Access.ts"
import * as HeaderFields from "../wire/HeaderFields.ts"
import * as Problem from "../wire/Problem.ts"

/** The address of a caller: of the connection, or the one that a trusted proxy tells; `undefined` within the process. */
export type AddressOf = (request: Request, connection: string | undefined) => string | undefined

/** The parts of the limit. */
export interface Parts {
  readonly rates: Rates
  readonly addressOf: AddressOf
  /** Counts refusals by credential. */
  readonly tokens?: Pick<TokenSet, "deny"> | undefined
}

/** The caller behind an address, in one form. A text that is no address is one caller: a host may tell none. */
export const networkOf = (text: string): string => {
  const address = IpAddress.parseEntry(text)
  return address === undefined ? text.slice(0, 100) : IpAddress.callerOf(address)
}

/** A request with the decision on its credential. */
export interface DecidedRequest {
  readonly request: Request
  readonly access: Access.Access
  readonly connection: string | undefined
}

/** The kinds of callers by those of decisions. The operator has no limit, and an open path none. */
const kinds: Readonly<Record<Access.Access["kind"], Kind | undefined>> = {
  credential: "credential", open: undefined, operator: undefined, public: "address", refused: "address", worker: "report"
}

/** The kind of a caller, and its name; `undefined` for one without a limit. */
const callerOf = (
  { addressOf, rates }: Parts,
  { access, connection, request }: DecidedRequest
): readonly [kind: Kind, name: string] | undefined => {
  const kind = kinds[access.kind]
  if (kind === undefined || !rates.has(kind)) return undefined
  if (kind === "credential") return [kind, access.token?.id ?? `reader ${access.reader?.name}`]
  const address = addressOf(request, connection)
  return address === undefined ? undefined : [kind, networkOf(address)]
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

/** Takes so many requests. A space is told apart if its caller is known: a stranger may name any. */
const taken = (parts: Parts, decided: DecidedRequest, count = 1): RateResult | undefined => {
  const caller = callerOf(parts, decided)
  if (caller === undefined) return undefined
  const [kind, name] = caller
  // Public reads are counted apart, so that the readers of a page behind one address keep nobody's JSON Web Token from its verification.
  const strange = decided.access.kind === "public" ? "public" : ""
  const space = kind === "credential" ? spaceIn(Access.pathOf(decided.request)) ?? "" : strange
  return parts.rates.takeAll({ caller: name, count, kind, space })
}

const fields = ({ kind, left, rate: { requests, seconds: window }, seconds }: RateResult): ReadonlyArray<readonly [string, string]> => [
  ["ratelimit-policy", `"${kind}";q=${requests};w=${window}`],
  ["ratelimit", `"${kind}";r=${left};t=${seconds}`]
]

const callers: Readonly<Record<Kind, string>> = {
  address: "this address without an accepted credential",
  credential: "this credential in this space",
  report: "reports from this address that are refused or in progress"
}

const over = ({ kind, rate: { requests, seconds: window }, seconds }: RateResult, count = 1): Response => {
  const limit = `There are ${requests} requests in ${window} seconds for ${callers[kind]}`
  // A batch that no full bucket holds would wait for ever.
  const isNever = count > requests
  const use = count === 1 ? "all are used" : `the batch has ${count} signals, which count as so many`
  const advice = isNever ? "Send them in smaller batches" : `Send the request again in ${seconds} seconds`
  const response = Problem.response(new AccessRefused("access/rate", `${limit}, and ${use}. ${advice}`))
  if (isNever) response.headers.delete("retry-after")
  else response.headers.set("retry-after", String(seconds))
  return response
}

/** An answer with the fields of the limit. */
const told = (response: Response, taken: RateResult): Response =>
  HeaderFields.changed(response, (headers) => {
    for (const [name, value] of fields(taken)) headers.set(name, value)
  })

/** Counts a request beyond a rate, under the code of its credential if that is refused. */
const counted = ({ tokens }: Parts, access: Access.Access): void =>
  Access.counted(tokens, access, access.refused === undefined ? "access/rate" : undefined)

/**
 * Takes the further signals of a batch, which count as so many requests: the answer if the rate of the caller does not hold them.
 */
export const chargeBatch = (parts: Parts, decided: DecidedRequest, count: number): Response | undefined => {
  const result = count < 1 ? undefined : taken(parts, decided, count)
  if (result?.isOver !== true) return undefined
  counted(parts, decided.access)
  return told(over(result, count + 1), result)
}

/**
 * Answers a request within the limit of its caller. The report of a worker counts if it is refused, and while it is in progress.
 */
export const respond = (
  parts: Parts,
  decided: DecidedRequest,
  answer: () => Response | Promise<Response>
): Response | Promise<Response> => {
  const result = taken(parts, decided)
  if (result === undefined) return answer()
  if (result.isOver) {
    counted(parts, decided.access)
    return told(over(result), result)
  }
  const settled = (response: Response): Response => {
    const isRefused = response.status >= 400 && response.status < 500
    const [kind, name = ""] = result.kind === "report" && !isRefused ? callerOf(parts, decided) ?? [] : []
    if (kind !== undefined) parts.rates.giveBack(kind, name)
    return told(response, result)
  }
  const answered = answer()
  return answered instanceof Promise ? answered.then(settled) : settled(answered)
}

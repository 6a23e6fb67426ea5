/**
 * The Worker in front of the objects: it checks credentials, and passes each request to the object of its space.
 *
 * It holds no state but the rates of callers, and wakes no object for a request that is refused. It imports no
 * runtime: a cold isolate that only passes requests on evaluates this file and the gate.
 *
 * @module
 */
import * as Decision from "../../access/Decision.ts"
import { JWT, type Token } from "../../access/Token.ts"
import type { TokenSet } from "../../access/TokenSet.ts"
import * as Jwt from "../../contract/Jwt.ts"
import { LIVE, READY, spaceIn, SPACES } from "../../contract/Paths.ts"
import * as Access from "../../ingress/access/Access.ts"
import * as Cors from "../../ingress/access/Cors.ts"
import * as EndingStream from "../../ingress/wire/EndingStream.ts"
import * as Json from "../../ingress/wire/Json.ts"
import * as Problem from "../../ingress/wire/Problem.ts"
import * as RateLimit from "../../ingress/access/RateLimit.ts"
import type { SpaceStopped } from "../../kernel/model/SpaceError.ts"
import { isSpaceName } from "../../persistence/SpaceName.ts"
import { ADDRESS, type Gate } from "./Gate.ts"
import * as Handed from "./Handed.ts"
import type { Inside } from "./Inside.ts"
import type { Env } from "./Platform.ts"

/** The parts of a Worker. */
export interface Parts {
  readonly gate: (env: Env) => Gate
  /** Opens the runtime, once per isolate. */
  readonly inside: (env: Env) => Promise<Inside>
}

/**
 * Creates the handler of requests.
 */
export const make = (parts: Parts) => async (request: Request, env: Env): Promise<Response> => {
  const answer = (request: Request): Promise<Response> => answered(parts, { request, env })
  const cors = corsOf(parts, env)
  const received = addressed(request)
  return cors === undefined ? answer(received) : Cors.wrap(cors, answer)(received)
}

/** The part of a request that its platform tells: on Cloudflare the place that received it, in a workerd of one's own the connection. */
interface Told {
  readonly colo?: unknown
  readonly clientIp?: unknown
}

/**
 * A request with the address of its sender, as Cloudflare tells it in a header. Elsewhere any sender can write that header, so it has the
 * address of the connection there, or is removed.
 */
const addressed = (request: Request & { readonly cf?: Told }): Request => {
  const { clientIp, colo } = request.cf ?? {}
  if (typeof colo === "string") return request
  if (typeof clientIp !== "string") return without(request, ADDRESS)
  const headers = new Headers(request.headers)
  headers.set(ADDRESS, clientIp)
  return new Request(request, { headers })
}

/** A request without a header. */
const without = (request: Request, name: string): Request => {
  if (!request.headers.has(name)) return request
  const headers = new Headers(request.headers)
  headers.delete(name)
  return new Request(request, { headers })
}

/** The answers to pages of other sites; none while the settings are invalid, which the answer to the request tells. */
const corsOf = ({ gate }: Parts, env: Env): Cors.Cors | undefined => {
  try {
    return gate(env).cors
  } catch {
    return undefined
  }
}

/** A request with the bindings of its Worker. */
interface Received {
  readonly request: Request
  readonly env: Env
}

const answered = async ({ gate, inside }: Parts, { env, request }: Received): Promise<Response> => {
  const path = Access.pathOf(request)
  if (path === LIVE) return Problem.unlessRead(request, path) ?? Json.answer({ status: "live" })
  if (path === READY) return Problem.unlessRead(request, path) ?? readiness({ gate, inside }, env, request)
  let access: Access.Access
  try {
    const { isHook } = gate(env)
    access = isHook(request) ? { kind: "open" } : await accessOf({ gate, inside }, env, request)
  } catch (failure) {
    return broken(failure)
  }
  const { rates } = gate(env)
  const answer = () => Access.respond(access, (access) => {
    // The object of a space decides anew on a request that everybody may send.
    const asked = access.kind === "public" ? without(request, "cookie") : request
    return dispatched({ gate, inside }, { request: asked, env, access, path })
  })
  return RateLimit.respond(rates, { request, access, connection: undefined }, answer)
}

/** A request with the decision on its credential. */
interface Admitted extends Received {
  readonly access: Access.Access
  readonly path: string
}

const dispatched = async ({ gate, inside }: Parts, { access, env, path, request }: Admitted): Promise<Response> => {
  const { hasOther = false, refused, token } = access
  if (refused !== undefined) {
    Access.counted(gate(env).tokens, access)
    return Problem.response(refused)
  }
  const named = spaceIn(path)
  const space = named === undefined ? undefined : decoded(named)
  if (space !== undefined && isSpaceName(space)) {
    const beyond = token === undefined ? undefined : Decision.beyondSpaces(token, space)
    const handed = token?.id.startsWith(JWT) === true ? Handed.withToken(request, token, gate(env).proof) : request
    const pass = async () => beyond === undefined ? forwarded({ env, inside }, space, handed) : Problem.response(beyond)
    if (token === undefined) return pass()
    const given = await pass()
    return EndingStream.whileAccepted(hasOther ? given : await counted(given, token, gate(env).tokens), access.again)
  }
  try {
    const { answer } = await inside(env)
    return await answer({ request, by: space === undefined ? access : {}, misnamed: space })
  } catch (failure) {
    if (Problem.isReported(failure)) await report({ env, inside }, failure)
    return Problem.response(failure)
  }
}

/** The decision on a request. The runtime decides on a JSON Web Token; no other credential opens it. */
const accessOf = async ({ gate, inside }: Parts, env: Env, request: Request): Promise<Access.Access> => {
  const { access, hasJwt, rates } = gate(env)
  const isSpent = RateLimit.spentBy(rates, request, nowhere)
  const decided = await access(request, isSpent)
  if (decided.refused === undefined || !hasJwt || !Jwt.isFormed(Jwt.textIn(request.headers))) return decided
  const { bearer } = await inside(env)
  const checked = await bearer?.(request, isSpent)
  return checked === undefined ? decided : { ...Access.accessOf(checked), again: () => bearer?.(request) }
}

/** The platform tells no address of a connection. */
const nowhere = (): undefined => undefined

/** Answers and prints a failure of a Worker without a gate or a runtime, which has no reporter. */
const broken = (failure: unknown): Response => {
  console.error(failure instanceof Error ? failure.message : String(failure))
  return Problem.response(failure)
}

/** The answer of the readiness probe. It names the part that fails, and the log says why. Only the operator wakes an object. */
const readiness = async ({ gate, inside }: Parts, env: Env, { headers, url }: Request): Promise<Response> => {
  let part = "settings"
  try {
    const list = new Request(new URL(`${SPACES}?limit=1`, url), { headers })
    if ((await gate(env).access(list)).kind !== "operator") return Json.answer({ status: "ready" })
    part = "runtime"
    const { answer } = await inside(env)
    part = "directory"
    if ((await answer({ request: list, by: {}, misnamed: undefined })).ok) return Json.answer({ status: "ready" })
  } catch (failure) {
    broken(failure)
  }
  return Json.answer({ status: "failing", part }, { status: 503, headers: { "cache-control": "no-store" } })
}

/**
 * Reports a failure to the runtime. Without a runtime it is printed.
 */
export const report = ({ env, inside }: Scene, failure: unknown, space?: string): Promise<void> =>
  inside(env).then((runtime) => runtime.report(failure, space), () => void broken(failure))

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The bindings of a request, and the runtime for a failure. */
export interface Scene extends Pick<Parts, "inside"> {
  readonly env: Env
}

/** Counts the refusal of a token by its object. */
const counted = async (response: Response, { id }: Token, tokens: TokenSet): Promise<Response> => {
  if (response.status !== 403) return response
  const { code } = await response.clone().json().catch(() => ({})) as { readonly code?: unknown }
  if (typeof code === "string") tokens.deny(id, code)
  return response
}

/** Passes a request to the object of a space. The platform resets an object with a failed commit, and rejects its calls. */
const forwarded = async ({ env, inside }: Scene, space: string, request: Request): Promise<Response> => {
  try {
    return await env.SPACES.getByName(space).fetch(request)
  } catch (failure) {
    await report({ env, inside }, failure, space)
    const stopped: Pick<SpaceStopped, "code" | "space"> = { code: "space/stopped", space }
    return Problem.response(Object.assign(new Error("its object was reset"), stopped))
  }
}

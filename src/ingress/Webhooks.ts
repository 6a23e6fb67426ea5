/**
 * The webhooks of the configuration: a verified request becomes a signal.
 *
 * They need no token, since their signatures prove who sent them. On Workers, the Worker in front verifies a request, so that none
 * without a signature wakes an object.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Signal from "../cell/Signal.ts"
import * as Fault from "../contract/Fault.ts"
import * as OwnId from "../kernel/model/OwnId.ts"
import type { PostedSignal } from "../kernel/view/Space.ts"
import { type Body as HookBody, verify, type Webhook } from "../loader/Webhook.ts"
import * as Access from "./access/Access.ts"
import * as Body from "./wire/Body.ts"
import { RequestRefused } from "./wire/Problem.ts"

/** The answer to a request; `undefined` for one of no webhook. */
export type Answer = (request: Request) => Promise<Response> | undefined

/** Takes a verified signal in a space, and answers once it is durable. */
export type Take = (space: string, signal: PostedSignal) => Promise<Response>

/** The parts of the runtime that webhooks use. */
export interface Parts {
  readonly take: Take
  /** Receives a failure of a function of the configuration. */
  readonly report: (failure: unknown) => void
  /** The time in milliseconds since 1970, by which the age of a message is measured. */
  readonly now: () => number
}

/** The space of webhooks that name none. */
const SPACE = "home"

/**
 * Creates the answers of webhooks, by their paths.
 */
export const make = (ingress: Readonly<Record<string, Webhook>>, parts: Parts): Answer => {
  const hooks = new Map(Object.entries(ingress))
  if (hooks.size === 0) return () => undefined
  return (request) => {
    const path = Access.pathOf(request)
    const hook = request.method === "POST" ? hooks.get(path) : undefined
    return hook === undefined ? undefined : answer(request, { ...parts, hook, path })
  }
}

/** A webhook at its path. */
interface Placed extends Parts {
  readonly hook: Webhook
  readonly path: string
}

type Settings = Webhook["options"]

const answer = async (request: Request, placed: Placed): Promise<Response> =>
  placed.take(placed.hook.options.space ?? SPACE, await signalOf(request, placed))

const faults = {
  signature: "has no signature that fits its body and a secret of the webhook. Check the secret of both sides, and that no proxy changes " +
    "the body",
  timestamp: "has a time too far from that of this server. Check both clocks; an old message is not taken"
} as const

/** The signal of a verified request. */
const signalOf = async (request: Request, { hook, now, path, report }: Placed): Promise<PostedSignal> => {
  const { headers } = request
  const bytes = await Body.whole(request)
  const verified = verify(hook, { headers, body: bytes, now: now() })
  if ("fault" in verified) {
    const { fault } = verified
    throw new RequestRefused({ code: `webhook/${fault}`, reason: `The request to the webhook ${path} ${faults[fault]}` })
  }
  const { options } = hook
  const given = objectOf(Body.parse(Body.decodeText(bytes), options.numbers), path)
  const body = bodyOf(given, path, options)
  let [signal, id]: [PostedSignal | undefined, unknown] = [undefined, verified.id ?? given["id"]]
  try {
    signal = made(body, options)
    if (options.id !== undefined) id = options.id(body, headers)
  } catch (failure) {
    report(failure)
    throw misfit(path, "a function of its configuration failed, and the log says how")
  }
  return { ...signal, id: idOf(id, path), principal: `webhook ${path}` }
}

/** The id of a message. One without, or with a rounded one, would pass for another message, and be lost. @throws RequestRefused */
const idOf = (id: unknown, path: string): string => {
  if (Number.isSafeInteger(id) || typeof id === "string" && id !== "") {
    // An own id may not look like that of an event, and the sender cannot give another one.
    const text = String(id)
    return OwnId.isMinted(text) ? `id ${text}` : text
  }
  throw misfit(path, `its id is ${Fault.describe(id)}, and a repeated message is known by it. Give the webhook id: (body, headers) => …`)
}

const misfit = (path: string, reason: string) =>
  new RequestRefused({ code: "webhook/body", reason: `The webhook ${path} makes no signal of this body: ${reason}` })

/** @throws RequestRefused */
const objectOf = (given: unknown, path: string): HookBody => {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as HookBody
  throw misfit(path, `it is ${Fault.describe(given)}, and no object`)
}

/** The body by the schema of its webhook. @throws RequestRefused */
const bodyOf = (given: HookBody, path: string, { body: schema }: Settings): HookBody => {
  if (schema === undefined) return given
  const exit = Schema.decodeUnknownExit(schema)(given)
  if (Exit.isSuccess(exit)) return exit.value
  const error = Cause.squash(exit.cause)
  if (!Schema.isSchemaError(error)) throw error
  const faults = Fault.of(error.issue, given).map(({ expected, field, given }) => `${field} is ${given} instead of ${expected}`)
  throw misfit(path, faults.join("; "))
}

/** The signal of a body, but for its id. */
const made = (body: HookBody, { payload, signal, target }: Settings): PostedSignal => {
  const at = target?.(body)
  return {
    signal: Signal.pathOf(typeof signal === "function" ? signal(body) : signal),
    ...at === undefined ? {} : { target: at },
    payload: payload === undefined ? body : payload(body)
  }
}

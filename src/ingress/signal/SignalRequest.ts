/**
 * Validation of posted signals and of the headers `Idempotency-Key` and `Prefer`.
 *
 * @module
 */
import type { PostedSignal, Waits } from "../../kernel/view/Space.ts"
import * as OwnId from "../../kernel/model/OwnId.ts"
import * as OutgoingSignal from "../../stage/OutgoingSignal.ts"
import type { At } from "../../stage/Launch.ts"
import * as Duration from "../../time/Duration.ts"
import { RequestRefused } from "../wire/Problem.ts"

/** The maximum wait for a receipt, in seconds. */
export const MAX_WAIT_SECONDS = 60

const isAt = (value: unknown): value is At => {
  if (typeof value === "string") return Duration.FORM.test(value)
  const [[kind, amount] = ["", 0], ...others] = typeof value === "object" && value !== null ? Object.entries(value) : []
  return others.length === 0 && ["beat", "beats", "ms"].includes(kind) && Number.isSafeInteger(amount) && amount >= 0
}

interface Field {
  readonly is: (value: unknown) => boolean
  readonly expected: string
}

const isText = (value: unknown): boolean => typeof value === "string"

/** The fields of a signal. A table replaces a schema here, because every posted signal passes this check. */
const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["signal", { is: isText, expected: "a string" }],
  ["target", { is: isText, expected: "a string" }],
  ["payload", { is: () => true, expected: "any value" }],
  ["id", { is: (value) => isText(value) && value !== "", expected: "a string that is not empty" }],
  ["label", { is: (value) => Array.isArray(value) && value.every(isText), expected: "a list of atoms" }],
  ["qos", { is: (value) => value === "control" || value === "retain" || value === "discard", expected: "control, retain or discard" }],
  ["at", { is: isAt, expected: "a time such as \"10s\", or one of { beat }, { beats } and { ms } with a whole number from 0" }]
])

/** @throws RequestRefused */
const posted = (body: unknown): PostedSignal => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw malformed(`it is ${shown(body)}, and no object`)
  for (const name in body) {
    const field = fields.get(name)
    if (field === undefined) throw malformed(`it has a field ${shown(name)}, which no signal has`)
    const value = (body as Readonly<Record<string, unknown>>)[name]
    if (!field.is(value)) throw malformed(`its field "${name}" is ${shown(value)}. Expected ${field.expected}`)
  }
  return body
}

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 100)

const malformed = (detail: string) =>
  new RequestRefused({
    code: "body/malformed",
    reason: `The body is not a signal: ${detail}. Send { signal, target, payload, id, at, qos, label } with at least one of the first two`
  })

/**
 * Decodes the signal in a request body. The header `Idempotency-Key` is an alternative to the field `id`.
 *
 * @throws RequestRefused
 */
export const decode = (body: unknown, idempotencyKey: string | null): PostedSignal => {
  const request = posted(body)
  if (idempotencyKey === null) return request
  const id = unquoted(idempotencyKey.trim())
  if (id === undefined) {
    throw new RequestRefused({
      code: "signal/id-malformed",
      reason: `The header Idempotency-Key says ${idempotencyKey.slice(0, 200)}. Send it once; put a key that holds a comma or a quote ` +
        "between quotes, with \\ before each quote in it"
    })
  }
  if (request.id !== undefined && request.id !== id) {
    throw new RequestRefused({
      code: "signal/id-unequal",
      reason: `The body's id is "${request.id}" and the header Idempotency-Key says "${id}". Give one of them, or both alike`
    })
  }
  return { ...request, id }
}

/**
 * Refuses a signal that every space would refuse.
 *
 * @throws InvalidSignal, InvalidAddress, InvalidValue
 */
export const check = (request: PostedSignal): void => {
  OutgoingSignal.make("", request, -1)
  if (request.id !== undefined) OwnId.check(request.id)
}

/**
 * The preferred wait of a request in seconds (RFC 7240), at most {@link MAX_WAIT_SECONDS}; `undefined` if absent.
 */
export const waitSeconds = (prefer: string | null): number | undefined => {
  const match = prefer === null ? null : /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(prefer)
  return match === null ? undefined : Math.min(Number(match[1]), MAX_WAIT_SECONDS)
}

/**
 * The preferred wait of a pull in milliseconds, at least one second. It is cancelled when the client disconnects.
 */
export const waits = ({ headers }: Request): Waits => {
  const seconds = waitSeconds(headers.get("prefer"))
  return seconds === undefined ? {} : { wait: Math.max(1, seconds) * 1000 }
}

/** An idempotency key without its quotes; `undefined` for repeated headers, which the host joins with commas. */
const unquoted = (key: string): string | undefined => {
  if (/^[^",]*$/.test(key)) return key
  return /^"(?:[^"\\]|\\.)*"$/.test(key) ? key.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : undefined
}

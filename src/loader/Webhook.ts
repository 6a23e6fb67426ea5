/**
 * Webhooks in: requests of other services that become signals, declared in the configuration.
 *
 * @module
 */
import type * as Schema from "effect/Schema"
import * as Bytes from "../cell/Bytes.ts"
import { type Data, hmac } from "../cell/Digest.ts"
import * as Redacted from "../cell/Redacted.ts"
import type { Sent } from "../cell/Signal.ts"
import { InvalidConfig } from "./InvalidConfig.ts"
import type { Variables } from "./Secrets.ts"
import * as Duration from "../time/Duration.ts"

/**
 * The form of a signature: of Standard Webhooks, of Stripe, or of GitHub. The latter signs neither a time nor an id, so that who has
 * recorded a request of it may send that again under another id.
 */
export type Scheme = "standard" | "stripe" | "github"

/** The body of a webhook without a schema. */
export type Body = Readonly<Record<string, unknown>>

/** A secret, or the environment variable with it. A Worker has variables of this kind alone. */
export type Secret = string | undefined | { readonly env: string }

/** The settings of a webhook. `B` is the type of its body. */
export interface Options<B> {
  /** The secret, or both keys of a rotation. A secret of Standard Webhooks is `whsec_` and base64. */
  readonly secret: Secret | ReadonlyArray<Secret>
  /** The form of its signature; `standard` unless given. */
  readonly scheme?: Scheme
  /** The space of the signal; `home` unless given. */
  readonly space?: string
  /** The schema of the body. Other fields are left out. */
  readonly body?: Schema.Codec<B, unknown>
  /** The signal, or the function that chooses it by the body. */
  readonly signal: Sent | ((body: B) => Sent)
  /** The target of the signal; none unless given. */
  readonly target?: (body: B) => string | undefined
  /** The id of the message, by which a second delivery is known. Unless given: `webhook-id`, `x-github-delivery`, or `id` of the body. */
  readonly id?: (body: B, headers: Headers) => string
  /** The payload of the signal; the whole body unless given. */
  readonly payload?: (body: B) => unknown
  /** The most seconds between its time and the clock of the host, from 1 to 86,400, or as a time such as `"5m"`; 300 unless given. */
  readonly tolerance?: number | string
  /** The form of an integer that a double does not hold: its digits as a text, or the nearest double. It is refused unless given. */
  readonly numbers?: "text" | "round"
}

/**
 * A webhook of the configuration.
 *
 * @category models
 * @since 0.2.0
 */
export class Webhook {
  readonly _tag = "Webhook"
  readonly options: Omit<Options<Body>, "secret">
  readonly secrets: ReadonlyArray<Kept>

  constructor(options: Omit<Options<Body>, "secret">, secrets: ReadonlyArray<Kept>) {
    this.options = options
    this.secrets = secrets
  }
}

/** A secret as a webhook keeps it: hidden, or the variable that has it; `undefined` for one that is not set. */
type Kept = Redacted.Redacted | undefined | { readonly env: string }

const keptOf = (secret: Secret): Kept =>
  typeof secret === "string" ? Redacted.given(secret || undefined) : typeof secret === "object" ? secret ?? undefined : undefined

/**
 * Declares a webhook, as the value of a path in the field `ingress` of the configuration.
 *
 * The raw body is verified by its signature. A second delivery of a message, which has the same id, is handled once.
 *
 * @example Payments of Stripe
 * ```ts
 * import { defineConfig, webhook } from "systole"
 *
 * export const config = defineConfig({
 *   ingress: {
 *     "/hooks/stripe": webhook({
 *       scheme: "stripe",
 *       secret: { env: "STRIPE_SECRET" },
 *       signal: "/signals/paid",
 *       payload: (body) => body["data"]
 *     })
 *   }
 * })
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const webhook = <B = Body>({ secret, ...options }: Options<B>): Webhook => {
  const secrets = Array.isArray(secret) ? secret as ReadonlyArray<Secret> : [secret as Secret]
  return new Webhook(options as unknown as Options<Body>, secrets.map(keptOf))
}

/** A time in seconds, and the texts before the body that are signed with it. */
interface Claim {
  readonly id?: string | null
  readonly seconds: number | undefined
  readonly before: string
  readonly signatures: ReadonlyArray<string>
}

/** The longest tolerance, in seconds. */
const MAX_TOLERANCE = 86_400

/** The most signatures of one request that are compared. */
const MAX_SIGNATURES = 10

/** The values of a header such as `t=5,v1=ab,v1=cd` with a name. */
const valuesOf = (header: string, name: string): ReadonlyArray<string> =>
  header.split(",", MAX_SIGNATURES).flatMap((part) => part.trim().startsWith(`${name}=`) ? [part.trim().slice(name.length + 1)] : [])

const secondsOf = (text: string | null | undefined): number => /^\d{1,12}$/.test(text ?? "") ? Number(text) : NaN

/** The form of each scheme: its key, its claim, and the form of its digest. */
const schemes: Readonly<Record<Scheme, {
  readonly form: "hex" | "base64"
  readonly key: (secret: string) => Data
  readonly claim: (headers: Headers) => Claim
}>> = {
  standard: {
    form: "base64",
    key: (secret) => Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (char) => char.charCodeAt(0)),
    claim: (headers) => {
      const [id, time] = [headers.get("webhook-id"), headers.get("webhook-timestamp")]
      const given = (headers.get("webhook-signature") ?? "").split(" ", MAX_SIGNATURES)
      const signatures = given.flatMap((each) => each.startsWith("v1,") ? [each.slice("v1,".length)] : [])
      return { id, seconds: secondsOf(time), before: `${id}.${time}.`, signatures: id === null || time === null ? [] : signatures }
    }
  },
  stripe: {
    form: "hex",
    key: (secret) => secret,
    claim: (headers) => {
      const header = headers.get("stripe-signature") ?? ""
      const [time] = valuesOf(header, "t")
      return { seconds: secondsOf(time), before: `${time}.`, signatures: time === undefined ? [] : valuesOf(header, "v1") }
    }
  },
  github: {
    form: "hex",
    key: (secret) => secret,
    claim: (headers) => ({
      id: headers.get("x-github-delivery"),
      seconds: undefined,
      before: "",
      signatures: valuesOf(headers.get("x-hub-signature-256") ?? "", "sha256")
    })
  }
}

/** Compares two texts in a time that does not depend on their first difference. */
const isSame = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % Math.max(1, b.length))
  return difference === 0
}

const variableOf = (secret: Kept): string | undefined => secret === undefined || Redacted.is(secret) ? undefined : secret.env

/** The secrets of a webhook, with those of its variables; `undefined` for one that is not set. */
export const secretsOf = ({ secrets }: Webhook, variables: Variables): ReadonlyArray<Redacted.Redacted | undefined> =>
  secrets.map((secret) => secret === undefined || Redacted.is(secret) ? secret : Redacted.given(variables[secret.env] || undefined))

/** The variables with secrets of a webhook. */
export const variablesOf = ({ secrets }: Webhook): ReadonlyArray<string> => secrets.flatMap((secret) => variableOf(secret) ?? [])

/**
 * The webhook with the secrets of its variables. A secret that is none of its scheme is refused, and one that is not set if the project
 * is to be served.
 *
 * @throws InvalidConfig
 */
export const withSecrets = (
  path: string,
  hook: Webhook,
  { isServed, variables }: { readonly variables: Variables; readonly isServed: boolean }
): Webhook => {
  const { options } = hook
  const { scheme = "standard", tolerance = 1 } = options
  const seconds = Duration.amountOf(tolerance, 1000)
  if (!(seconds >= 1 && seconds <= MAX_TOLERANCE)) {
    const reason = `ingress ${path} has the tolerance ${tolerance}; give 1 to ${MAX_TOLERANCE} seconds, or a time such as "5m"`
    throw new InvalidConfig({ reason })
  }
  if (!Object.hasOwn(schemes, scheme)) {
    throw new InvalidConfig({ reason: `ingress ${path} has the scheme "${String(scheme)}"; there are ${Object.keys(schemes).join(", ")}` })
  }
  const secrets = secretsOf(hook, variables)
  for (const [i, secret] of (secrets.length === 0 ? [undefined] : secrets).entries()) {
    const reason = faultOf(secret, scheme)
    if (reason === undefined || secret === undefined && !isServed) continue
    const variable = variableOf(hook.secrets[i])
    throw new InvalidConfig({
      reason: `ingress ${path} has a secret that is ${reason}. Set ${variable ?? "its variable"} to the secret of the sender`,
      isUnset: secret === undefined && variable === undefined
    })
  }
  return new Webhook(options, secrets)
}

/** At least 24 bytes in base64. */
const STANDARD = /^(?:whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/

const faultOf = (secret: Redacted.Redacted | undefined, scheme: Scheme): string | undefined => {
  if (secret === undefined) return "not set"
  return scheme !== "standard" || STANDARD.test(Redacted.value(secret)) ? undefined : "not whsec_ and at least 24 bytes in base64"
}

/** The secrets that are set, as texts. */
const textsOf = ({ secrets }: Webhook): ReadonlyArray<string> =>
  secrets.flatMap((secret) => Redacted.is(secret) ? [Redacted.value(secret)] : [])

/** The result of a verification: the id of the message as its headers give it, or the fault. */
export type Verification = { readonly id: string | null | undefined } | { readonly fault: "signature" | "timestamp" }

/** A request of a webhook. */
export interface Delivery {
  readonly headers: Headers
  /** The body as it was received, byte by byte. */
  readonly body: Uint8Array
  /** The time of the host, in milliseconds. */
  readonly now: number
}

/** The most seconds between a message's time and that of the host. */
const TOLERANCE = 300

/**
 * Verifies the signature of a raw body with each of the secrets, and then its time.
 */
export const verify = (webhook: Webhook, { body, headers, now }: Delivery): Verification => {
  const { scheme = "standard", tolerance = TOLERANCE } = webhook.options
  const { claim, form, key } = schemes[scheme]
  const { before, id, seconds, signatures } = claim(headers)
  const signed = Bytes.concat([new TextEncoder().encode(before), body])
  const expected = signatures.length === 0 ? [] : textsOf(webhook).map((secret) => hmac(key(secret), signed, form))
  const isSigned = expected.filter((digest) => signatures.filter((each) => isSame(each, digest)).length > 0).length > 0
  if (!isSigned) return { fault: "signature" }
  // A time that is no number fits no tolerance.
  if (seconds !== undefined && !(Math.abs(now / 1000 - seconds) <= Duration.amountOf(tolerance, 1000))) return { fault: "timestamp" }
  return { id }
}

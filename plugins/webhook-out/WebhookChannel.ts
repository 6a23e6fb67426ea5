/**
 * The channel `webhook-out`.
 *
 * @module
 */
import { Channel, type ChannelOptions, type Plugin, Redacted } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Operations from "../channel/Operations.ts"
import * as FetchRequest from "../http/FetchRequest.ts"
import * as HttpClient from "../http/HttpClient.ts"
import * as Options from "../http/Options.ts"
import * as Secret from "../http/Secret.ts"
import * as Status from "../http/Status.ts"
import * as TargetUrl from "../http/TargetUrl.ts"
import type { Headers } from "../http/Transport.ts"
import * as WebhookSecret from "./WebhookSecret.ts"

/** The most secrets of a channel: the present one, and old ones until all receivers have changed. */
const MAX_SECRETS = 8

/** The largest body of a webhook, in bytes. */
const MAX_BODY = 1_048_576

/** The receiver does not want webhooks any more. */
const GONE = 410

const isType = (value: unknown): value is string => typeof value === "string" && /^[\w.-]{1,128}$/.test(value)

/** Tests whether JSON gives a value back. */
const isJson = (value: unknown): boolean => {
  if (value === null || ["boolean", "string"].includes(typeof value) || Number.isFinite(value)) return true
  if (Array.isArray(value)) return value.every(isJson)
  const isPlain = typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value))
  return isPlain && Object.values(value as object).every(isJson)
}

/** The fields of the payload. */
const payloadFields = {
  url: FetchRequest.url,
  type: Fields.optional(Fields.guard("a name such as invoice.paid", isType)),
  data: Fields.guard("a value of JSON, with dates, maps and bytes as texts", (value): value is unknown => isJson(value))
}

type Payload = Fields.Of<typeof payloadFields>

/** The fields of the options. */
const optionFields = {
  ...Options.fields,
  secrets: Fields.list(Secret.field, MAX_SECRETS)
} satisfies Fields.For<ChannelOptions["webhook-out"]>

/** The body of a webhook. It has no time, so that each attempt sends the same bytes. */
const bodyOf = ({ data, type }: Payload): string => {
  const body = JSON.stringify(type === undefined ? { data } : { type, data })
  const size = new TextEncoder().encode(body).length
  if (size <= MAX_BODY) return body
  throw Channel.fail("io/invalid", `the body has ${size} bytes; the limit is ${MAX_BODY}. Send a URL of the data`, { errno: -22 })
}

const secretsOf = (secrets: ReadonlyArray<Secret.Secret>, settings: Plugin.ChannelSettings): ReadonlyArray<WebhookSecret.Key> => {
  const asked = { plugin: "webhook-out", option: "secrets", settings }
  if (secrets.length === 0) throw Secret.refusal(asked, "has no secret; give 1 or more")
  return secrets.map((each) => {
    const key = WebhookSecret.parse(Redacted.value(Secret.read(each, asked)))
    if (key === undefined) throw Secret.refusal(asked, "names a secret that is not whsec_ and 24 to 64 bytes in base64")
    return key
  })
}

/** Throws the failure of a status that is no success. */
const check = (answer: HttpClient.Exchange): void => {
  const { status, url } = answer
  if (Status.isOk(status)) return
  const reason = `${url.origin} answered with ${status}, and 2xx is expected`
  if (status !== GONE) throw Status.failure("webhook/status", answer, reason)
  throw Status.failure("webhook/gone", answer, `${reason}. The receiver is gone: send it no more webhooks`)
}

/**
 * The definition of the channel.
 *
 * @throws InvalidPlugin
 */
export const define = (settings: Plugin.ChannelSettings, world: Options.World = {}): Channel.Definition => {
  const { now = Date.now } = world
  const options = Fields.options("webhook-out", optionFields, settings)
  const { client, shown } = Options.common({ plugin: "webhook-out", settings, ...world }, options)
  const keys = secretsOf(options.secrets, settings)
  const headersOf = async (id: string, body: string): Promise<Headers> => {
    const timestamp = Math.floor(now() / 1000)
    const signatures = await Promise.all(keys.map((key) => WebhookSecret.sign(key, { id, timestamp, body })))
    return [
      ["content-type", "application/json"],
      ["user-agent", "systole"],
      ["webhook-id", id],
      ["webhook-timestamp", String(timestamp)],
      ["webhook-signature", signatures.join(" ")]
    ]
  }
  const send = Operations.operation({
    repeatable: true,
    fields: payloadFields,
    about: ({ url }) => TargetUrl.originOf(String(url)),
    execute: async (payload, job) => {
      const text = bodyOf(payload)
      const body = new TextEncoder().encode(text)
      const headers = await headersOf(job.key, text)
      const request = { url: String(payload.url), method: "POST", headers, body, redirect: "manual" } as const
      const answer = await HttpClient.exchange(client, request, job.signal)
      answer.close()
      check(answer)
      return { value: { status: answer.status }, bytes: body.length }
    }
  })
  const { timeoutMs } = options
  return { provider: "webhook-out", hosts: ["node", "deno", "bun", "workers"], ...shown, timeoutMs, ...Operations.channel({ send }) }
}

/**
 * The channel `http`.
 *
 * @module
 */
import { Channel, type ChannelOptions, type Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Operations from "../channel/Operations.ts"
import * as Content from "./Content.ts"
import * as FetchRequest from "./FetchRequest.ts"
import * as HttpClient from "./HttpClient.ts"
import * as Options from "./Options.ts"
import * as OriginHeaders from "./OriginHeaders.ts"
import * as Status from "./Status.ts"
import * as TargetUrl from "./TargetUrl.ts"
import type { Headers } from "./Transport.ts"

/** The largest body of an answer by default, in bytes: 32 MiB. */
const MAX_BYTES = 33_554_432

/** The names that no stored object can have. */
const forbidden: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** The headers of an answer as a value: names in lower case, repeated ones joined, and cookies as a list. */
const valueOf = (headers: Headers): Readonly<Record<string, string | ReadonlyArray<string>>> => {
  const groups = Map.groupBy(headers, ([name]) => name.toLowerCase())
  const values = [...groups].filter(([name]) => !forbidden.has(name)).map(([name, each]) => [name, each.map(([, value]) => value)] as const)
  return Object.fromEntries(values.map(([name, each]) => [name, name === "set-cookie" ? each : each.join(", ")]))
}

const bytesOf = async ({ body }: FetchRequest.FetchRequest, { content }: Channel.Job): Promise<Uint8Array | undefined> => {
  if (typeof body !== "string") return body
  const bytes = await content(body)
  if (bytes === undefined) throw Channel.fail("io/absent", `the space has no content ${body}, which is the body`, { errno: -2 })
  return bytes
}

const fetchOf = async (job: Channel.Job, request: FetchRequest.FetchRequest, execute: Execute): Promise<Channel.JobResult> => {
  const body = await bytesOf(request, job)
  const headers: Headers = [...request.headers, ["idempotency-key", job.key]]
  const answer = await execute({ ...request, headers, body })
  try {
    const { retryAfterMs, status, url } = answer
    if (!request.isExpected(status)) {
      throw Status.failure("http/status", answer, `${url.origin} answered with ${status}, and ${request.expected} is expected`)
    }
    url.hash = ""
    const head = { status, headers: valueOf(answer.headers), url: url.href, ...retryAfterMs === undefined ? {} : { retryAfterMs } }
    const hasBody = request.method !== "HEAD" && status !== 204 && status !== 304
    const room = Operations.INLINE - JSON.stringify({ ...head, body: "" }).length
    const { bytes, ...taken } = hasBody
      ? await Content.take({ headers: answer.headers, body: answer.body, limit: request.maxBytes, room, keep: job.keep })
      : { body: "", bytes: 0 }
    return { value: { ...head, ...taken }, bytes }
  } finally {
    answer.close()
  }
}

/** The fields of the options. */
const fields = {
  ...Options.fields,
  maxBytes: Fields.or(Fields.count(1, FetchRequest.MOST_BYTES), MAX_BYTES),
  headers: OriginHeaders.field
} satisfies Fields.For<ChannelOptions["http"]>

type Execute = (request: HttpClient.HttpRequest) => Promise<HttpClient.Exchange>

/**
 * The definition of the channel.
 *
 * @throws InvalidPlugin
 */
export const define = (settings: Plugin.ChannelSettings, world: Options.World = {}): Channel.Definition => {
  const options = Fields.options("http", fields, settings)
  const headers = OriginHeaders.read(options.headers, "http", settings)
  const { client, shown } = Options.common({ plugin: "http", settings, headers, ...world }, options)
  const { maxBytes, timeoutMs } = options
  const fetch = Operations.operation({
    repeatable: true,
    fields: FetchRequest.fields,
    about: ({ url }) => TargetUrl.originOf(String(url)),
    execute: async (payload, job) =>
      fetchOf(job, FetchRequest.decode(payload, { maxBytes, headers }), (request) => HttpClient.exchange(client, request, job.signal))
  })
  return { provider: "http", hosts: ["node", "deno", "bun", "workers"], ...shown, timeoutMs, ...Operations.channel({ fetch }) }
}

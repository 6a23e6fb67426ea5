/**
 * The options that all channels over HTTP have.
 *
 * @module
 */
import { type Plugin, Redacted } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as AddressPolicy from "./AddressPolicy.ts"
import * as FetchTransport from "./FetchTransport.ts"
import type { HttpClient } from "./HttpClient.ts"
import type { OriginHeaders } from "./OriginHeaders.ts"
import * as Secret from "./Secret.ts"
import * as SocketTransport from "./SocketTransport.ts"
import type { Transport } from "./Transport.ts"

/** The longest time of an attempt by default, and at most: 2 minutes and 1 day, in milliseconds. */
const TIMEOUT = 120_000
const MAX_TIMEOUT = 86_400_000

/** The longest wait for which an answer can ask, by default: 1 hour, in milliseconds. */
const RETRY_AFTER = 3_600_000

const JOBS = 64
const MAX_JOBS = 65_536

/** The most entries of a list. */
const MAX_ENTRIES = 1000

const FORM = "a name as api.example.com or *.example.com, an address, each also with :port, or a network as 10.0.0.0/8"

const entries = Fields.or(
  Fields.list(Fields.guard(FORM, (value): value is string => typeof value === "string" && AddressPolicy.isEntry(value)), MAX_ENTRIES),
  []
)

/** The bounds of attempts. */
export const attempts = {
  timeoutMs: Fields.or(Fields.count(1, MAX_TIMEOUT), TIMEOUT),
  jobs: Fields.or(Fields.count(1, MAX_JOBS), JOBS)
}

/** The addresses that a channel reaches, and TLS. */
export const reach = {
  allow: entries,
  deny: entries,
  ca: Fields.optional(Secret.field),
  cert: Fields.optional(Secret.field),
  key: Fields.optional(Secret.field)
}

/** The fields of the options. */
export const fields = { ...reach, ...attempts, maxRetryAfterMs: Fields.or(Fields.count(0, MAX_TIMEOUT), RETRY_AFTER) }

/** The decoded options. */
type Options = Fields.Of<typeof fields>

/** The time of the host, and its connections. A test gives its own. */
export interface World {
  readonly transport?: Transport | undefined
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** A channel that is configured: its plugin, its settings, its headers, and in a test its world. */
export interface ConfiguredChannel extends World {
  readonly plugin: string
  readonly settings: Plugin.ChannelSettings & Fields.Owner
  readonly headers?: OriginHeaders
}

/**
 * TLS as the options name it.
 *
 * @throws InvalidPlugin
 */
export const tlsOf = (
  { plugin, settings }: Pick<ConfiguredChannel, "plugin" | "settings">,
  options: Fields.Of<typeof reach>
): SocketTransport.Tls => {
  const read = (option: "ca" | "cert" | "key") =>
    options[option] === undefined ? undefined : Secret.read(options[option], { option, plugin, settings })
  const [ca, cert, key] = [read("ca"), read("cert"), read("key")]
  const tls = { ...ca && { ca: Redacted.value(ca) }, ...cert && { cert: Redacted.value(cert) }, ...key && { key } }
  const refuse = (problem: string) => Fields.refusal(plugin, settings, problem)
  const isSet = Object.keys(tls).length > 0
  if (settings.host === "workers" && isSet) throw refuse("it has ca, cert or key, which Workers cannot set. Leave them out")
  if ((cert === undefined) !== (key === undefined)) throw refuse("it has one of cert and key. Give both, or none")
  return tls
}

/** The client of a channel, and the parts of its definition that follow from the options. */
export interface Common {
  readonly client: HttpClient
  readonly shown: { readonly caps: ReadonlyArray<string>; readonly target?: string; readonly jobs: number }
}

/**
 * The client of a channel. A host that cannot pin shows the allow list as its target.
 *
 * @throws InvalidPlugin
 */
export const common = (configured: ConfiguredChannel, options: Options): Common => {
  const tls = tlsOf(configured, options)
  const isWorkers = configured.settings.host === "workers"
  const transport = configured.transport ?? (isWorkers ? FetchTransport.make() : SocketTransport.make(tls))
  const pinned = transport.resolve !== undefined
  const { allow, deny, jobs, maxRetryAfterMs: longest } = options
  const caps = ["stream", "tls", pinned ? "pinned" : "pinned:false"]
  const { headers = new Map(), now = Date.now } = configured
  return {
    client: { policy: AddressPolicy.make({ allow, deny, pinned }), transport, headers, retryAfter: { longest, now } },
    shown: pinned ? { caps, jobs } : { caps, jobs, target: allow.join(" ") }
  }
}

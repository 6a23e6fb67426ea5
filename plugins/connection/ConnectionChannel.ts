/**
 * The parts that the channels `pipe` and `socket` share: their options, exchanges, and the connection that stays open.
 *
 * @module
 */
import { Channel, type Plugin } from "systole"
import * as Body from "../channel/Body.ts"
import * as Fields from "../channel/Fields.ts"
import * as Operations from "../channel/Operations.ts"
import * as HttpOptions from "../http/Options.ts"
import { Connection } from "./Connection.ts"
import type { Dial } from "./Duplex.ts"
import * as Exchange from "./Exchange.ts"
import * as Messages from "./Messages.ts"
import * as Wait from "./Wait.ts"

/** The bytes of an answer or of what is written, by default and at most: 1 MiB and 1 GiB. */
const MAX_BYTES = 1_048_576
const MOST_BYTES = 2 ** 30

/** The bytes of a message, by default and at most: 64 KiB, which a signal takes as bytes, and 1 MiB as text. */
const MAX_MESSAGE = 65_536
const MOST_MESSAGE = 1_048_576

/** The fields of the options that both channels have. */
export const fields = {
  ...HttpOptions.attempts,
  maxBytes: Fields.or(Fields.count(1, MOST_BYTES), MAX_BYTES),
  maxMessage: Fields.or(Fields.count(1, MOST_MESSAGE), MAX_MESSAGE),
  messages: Fields.optional(Fields.oneOf("lines", "length-prefixed", "datagram")),
  inbound: Fields.optional(Fields.record({
    space: Fields.text(128),
    signal: Fields.text(1024),
    as: Fields.or(Fields.oneOf("text", "bytes"), "text")
  })),
  repeatable: Fields.or(Fields.flag, false)
}

/** The decoded options. */
type Options = Fields.Of<typeof fields>

/** The fields of an exchange beside its place. */
const exchangeFields = {
  ...Body.fields,
  until: Fields.optional(Exchange.until),
  maxBytes: Fields.optional(Fields.count(1, MOST_BYTES))
}

/** A place of an exchange: its connection, and the end of its answer. */
export interface Route {
  readonly dial: Dial
  readonly until: Exchange.Until
}

/** A channel of connections. `S` has the fields that name the place of an exchange. */
export interface Parts<S extends Fields.Shape> {
  readonly plugin: string
  readonly settings: Plugin.ChannelSettings
  readonly options: Options
  readonly place: S
  /** The place of an exchange, for messages. */
  readonly about: (payload: Fields.Of<S>) => string
  /** Finds the connection of an exchange. Throws for an end that does not fit it. */
  readonly route: (payload: Fields.Of<S>, asked: { readonly until: Exchange.Until | undefined; readonly hasBytes: boolean }) => Route
  /** The connection that stays open, and the name of its place. */
  readonly kept: { readonly dial: Dial; readonly name: string } | undefined
  readonly world?: Wait.World | undefined
}

/** Refuses bytes beyond a limit. */
const bounded = (plugin: string, bytes: Uint8Array, limit: number): Uint8Array => {
  if (bytes.length <= limit) return bytes
  throw Channel.fail(`${plugin}/size`, `it has ${bytes.length} bytes, and the limit is ${limit}`, { errno: -27 })
}

const exchange = <S extends Fields.Shape>({ about, options, place, plugin, route }: Parts<S>) =>
  Operations.operation({
    repeatable: options.repeatable,
    fields: { ...exchangeFields, ...place },
    about: (payload) => about(payload as unknown as Fields.Of<S>),
    execute: async (payload, job) => {
      const { maxBytes = options.maxBytes, until, ...given } = payload as Fields.Of<typeof exchangeFields>
      const hasBytes = Body.isGiven(given)
      const found = route(payload as unknown as Fields.Of<S>, { until, hasBytes })
      const limit = Math.min(maxBytes, options.maxBytes)
      if (typeof found.until === "object" && "bytes" in found.until && found.until.bytes > limit) {
        throw Fields.invalid(job, `it reads ${found.until.bytes} bytes, and the limit is ${limit}`)
      }
      const bytes = hasBytes ? bounded(plugin, await Body.bytesOf(given, job), options.maxBytes) : new Uint8Array()
      const duplex = await found.dial(job.signal)
      const answer = await Exchange.exchange(duplex, { channel: plugin, bytes, until: found.until, limit }, job.signal)
      return Body.result({ bytes: answer.length }, answer, job)
    }
  })

const send = ({ options: { maxBytes, maxMessage, messages }, plugin }: Parts<Fields.Shape>, name: string, connection: Connection) =>
  Operations.operation({
    fields: Body.fields,
    about: () => `to ${name}`,
    execute: async (payload, job) => {
      const bytes = bounded(plugin, await Body.bytesOf(payload, job), messages === undefined ? maxBytes : maxMessage)
      await connection.send(Messages.encode(messages, bytes), job.signal)
      return { value: { bytes: bytes.length }, bytes: bytes.length }
    }
  })

/** Refuses options that have no meaning together. */
const check = ({ kept, options: { inbound, maxMessage, messages }, plugin, settings }: Parts<Fields.Shape>): void => {
  const refuse = (problem: string) => Fields.refusal(plugin, settings, problem)
  if (kept === undefined && messages !== undefined) throw refuse("it has messages, and no connect, which names their connection")
  if (inbound?.as === "bytes" && maxMessage > MAX_MESSAGE) {
    throw refuse(`its maxMessage is ${maxMessage}, and a signal has at most ${MAX_MESSAGE} bytes as data; take them as text, or fewer`)
  }
  if (inbound !== undefined && messages === undefined) throw refuse("it has inbound, and no messages, which tell their form")
}

/**
 * The definition of a channel.
 *
 * @throws InvalidPlugin
 */
export const define = <S extends Fields.Shape>(parts: Parts<S>): Channel.Definition => {
  const { kept, options: { inbound, jobs, maxMessage: limit, messages: form, timeoutMs }, plugin, settings, world = Wait.host } = parts
  const all = parts as unknown as Parts<Fields.Shape>
  check(all)
  const shown = { provider: plugin, hosts: ["node", "deno", "bun"] as const, jobs, timeoutMs }
  if (kept === undefined) return { ...shown, ...Operations.channel({ exchange: exchange(parts) }) }
  const connection = new Connection({ channel: settings.id, dial: kept.dial, form, inbound, limit, world })
  return {
    ...shown,
    target: kept.name,
    begin: (ingress) => connection.begin(ingress),
    close: () => connection.close(),
    ...Operations.channel({ exchange: exchange(parts), send: send(all, kept.name, connection) })
  }
}

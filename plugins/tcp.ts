/**
 * The transport `tcp`: frames over TLS, and over TCP between programs of one machine.
 *
 * A place is `tls://host:port`, or `tcp://address:port` with a loopback address, because TCP alone neither hides nor proves anything.
 * To listen on TLS takes `cert` and `key`. With `ca`, both sides have to show a certificate of it.
 *
 * | option | meaning, and default |
 * |---|---|
 * | `maxFrame` | the bytes of a frame; 1 MiB, at most 64 MiB |
 * | `lines` | the most lines at a place, with those in a handshake, which has 10 s; 1,024 |
 * | `ca`, `cert`, `key` | TLS in PEM, each `{ env: "VARIABLE" }` or `{ file: "path" }`; those of the host |
 *
 * A frame follows its length, an unsigned integer of 32 bits, big endian.
 *
 * @module
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { connect as connectTls, createServer as createTlsServer } from "node:tls"
import { Plugin, Redacted, Transport } from "systole"
import * as Fields from "./channel/Fields.ts"
import { keep, opened } from "./connection/Duplex.ts"
import * as FrameLine from "./connection/FrameLine.ts"
import * as Listener from "./connection/Listener.ts"
import * as AddressPolicy from "./http/AddressPolicy.ts"
import * as IpAddress from "./http/IpAddress.ts"
import * as HttpOptions from "./http/Options.ts"
import type { Tls } from "./http/SocketTransport.ts"

const { ca, cert, key } = HttpOptions.reach

const fields = { ...Listener.fields, ca, cert, key }

/** A place: whether it has TLS, and where it is. */
interface Place {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
}

const isLoopback = (host: string): boolean => {
  const address = IpAddress.parse(host)
  return address !== undefined && AddressPolicy.kindOf(address) === "a loopback address"
}

/** @throws TransportRefused */
const placeOf = (text: string): Place => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const host = url?.hostname.replaceAll(/^\[|\]$/g, "") ?? ""
  const isSecure = url?.protocol === "tls:"
  const isBare = url !== undefined && ["", "/"].includes(url.pathname) && url.search + url.hash + url.username + url.password === ""
  if (!isBare || url.port === "" || host === "" || !isSecure && url.protocol !== "tcp:") {
    throw Transport.refuse("url", `${JSON.stringify(text.slice(0, 200))} is no place of tcp; write tls://host:port`)
  }
  if (!isSecure && !isLoopback(host)) throw Transport.refuse("url", `tcp reaches ${host} over TLS alone; write tls://${url.host}`)
  return { isSecure, host, port: Number(url.port) }
}

const dial = async ({ host, isSecure, port }: Place, tls: Tls, signal: AbortSignal) => {
  if (!isSecure) return opened(connect({ host, port, ...keep }), "connect", signal)
  const { cert, key, ...trust } = tls
  const own = cert !== undefined && key !== undefined ? { cert, key: Redacted.value(key) } : {}
  const servername = IpAddress.parse(host) === undefined ? host : ""
  return opened(connectTls({ host, port, servername, ...trust, ...own }), "secureConnect", signal)
}

/** The longest time of a handshake, in milliseconds. */
const HANDSHAKE = 10_000

const serverOf = ({ isSecure }: Place, { ca, cert, key }: Tls, listener: Listener.Listener) => {
  const take = (socket: Socket): void => listener.take(socket)
  if (!isSecure) return createServer(keep, take)
  if (cert === undefined || key === undefined) throw Transport.refuse("invalid", "to listen on TLS takes the options cert and key")
  const mutual = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }
  const server = createTlsServer({ ...keep, ...mutual, handshakeTimeout: HANDSHAKE, cert, key: Redacted.value(key) }, take)
  server.on("connection", (socket) => listener.begin(socket))
  // Such a client has failed; its connection is closed.
  return server.on("tlsClientError", () => undefined)
}

/** Makes the transport. @throws InvalidPlugin */
export const make = (settings: Transport.Settings): Transport.Transport => {
  const own = { ...settings, kind: "transport" } as const
  const { lines, maxFrame, ...options } = Fields.options("tcp", fields, own)
  const tls = HttpOptions.tlsOf({ plugin: "tcp", settings: own }, { ...options, allow: [], deny: [] })
  return {
    id: "tcp",
    caps: ["reliable", "ordered", "streaming", "remote_net", "aead", ...Transport.asynchronous],
    maxFrame,
    hosts: ["node", "deno", "bun"],
    open: async ({ signal, url }, on) => {
      const line = FrameLine.make(await dial(placeOf(url), tls, signal), maxFrame)
      line.hear(on)
      return line
    },
    listen: async (url, accept) => {
      const place = placeOf(url)
      const listener = new Listener.Listener({ lines, maxFrame, accept })
      const server = serverOf(place, tls, listener)
      await Listener.listening(server, { host: place.host, port: place.port })
      const { port } = server.address() as AddressInfo
      const host = place.host.includes(":") ? `[${place.host}]` : place.host
      return { url: `${place.isSecure ? "tls" : "tcp"}://${host}:${port}`, close: () => listener.close(server) }
    }
  }
}

export default Plugin.make({ name: "tcp", version: "0.1.0", provides: { transports: { tcp: make } } })

/**
 * HTTP over the sockets of Node, Deno and Bun: each connection goes to an address that was checked.
 *
 * The request names the address instead of the host, so no second resolution happens. The host name stands in the `Host`
 * header, and TLS verifies the certificate for it. Each exchange has a connection of its own.
 *
 * @module
 */
import type { ClientRequest, IncomingMessage } from "node:http"
import { Redacted } from "systole"
import * as Addresses from "./Addresses.ts"
import { targetOf } from "./TargetUrl.ts"
import type { Answer, Headers, OutgoingRequest, Transport } from "./Transport.ts"

/** TLS in PEM: authorities instead of the host's, and the client's certificate with its key. */
export interface Tls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: Redacted.Redacted
}

const pairsOf = (raw: ReadonlyArray<string>): Headers =>
  Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] ?? "", raw[2 * i + 1] ?? ""] as const)

/** Groups headers by name, because the host takes each name once. */
const grouped = (headers: Headers): Record<string, string | Array<string>> => {
  const groups = Map.groupBy(headers, ([name]) => name)
  const joined = [...groups].map(([name, each]) => [name, each.map(([, value]) => value)] as const)
  return Object.fromEntries(joined.map(([name, values]) => [name, values.length === 1 ? values.join("") : values]))
}

/** The headers of the connection. A body that may be there has a length even if it is empty. */
const framing = ({ body, method, url }: OutgoingRequest): Headers => {
  const hasLength = body !== undefined || (method !== "GET" && method !== "HEAD")
  const length = hasLength ? [["content-length", String(body?.byteLength ?? 0)] as const] : []
  return [["host", url.host], ["connection", "close"], ...length]
}

const requestOf = (outgoing: OutgoingRequest, address: string, tls: Tls): ClientRequest => {
  const { headers, isNamed, method, url } = outgoing
  const { host, port } = targetOf(url)
  const path = url.pathname + url.search
  const options = { agent: false, host: address, port, method, path, headers: grouped([...framing(outgoing), ...headers]) } as const
  if (url.protocol === "http:") return process.getBuiltinModule("node:http").request(options)
  const { cert, key, ...trust } = tls
  const own = isNamed && cert !== undefined && key !== undefined ? { cert, key: Redacted.value(key) } : {}
  const servername = host === address ? "" : host
  return process.getBuiltinModule("node:https").request({ ...options, ...trust, ...own, servername })
}

const answerOf = (message: IncomingMessage, close: () => void): Answer => ({
  status: message.statusCode ?? 0,
  headers: pairsOf(message.rawHeaders),
  body: message,
  close
})

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The status with which a connection leaves HTTP. */
const SWITCHING = 101

const sendTo = (outgoing: OutgoingRequest, address: string, tls: Tls): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { body, signal } = outgoing
    signal.throwIfAborted()
    const request = requestOf(outgoing, address, tls)
    const abort = () => request.destroy(signal.reason as Error)
    const close = () => {
      signal.removeEventListener("abort", abort)
      request.destroy()
    }
    signal.addEventListener("abort", abort, { once: true })
    request.on("response", (message) => {
      // The reader of the body gets the error. One that is not reading yet leaves it without a listener.
      message.on("error", () => {})
      resolve(answerOf(message, close))
    })
    // Such a connection carries no answer. Hosts report it as an upgrade or, without the headers of one, as information.
    const upgrade = () => resolve({ status: SWITCHING, headers: [], body: nothing(), close })
    request.on("upgrade", (_, socket) => {
      socket.destroy()
      upgrade()
    })
    request.on("information", ({ statusCode }) => {
      if (statusCode === SWITCHING) upgrade()
    })
    request.on("error", (error) => {
      close()
      reject(error)
    })
    request.end(body)
  })

/**
 * The sockets of this host.
 */
export const make = (tls: Tls): Transport => ({
  resolve: Addresses.resolve,
  send: (outgoing) => Addresses.connected(outgoing.addresses, (address) => sendTo(outgoing, address, tls))
})

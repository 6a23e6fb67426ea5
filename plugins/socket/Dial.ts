/**
 * Connections of TCP, TLS and UDP to addresses that were checked.
 *
 * @module
 */
import { createSocket } from "node:dgram"
import { connect as connectTcp } from "node:net"
import { connect as connectTls } from "node:tls"
import { Channel, Redacted } from "systole"
import { type Callbacks, type Dial, type Duplex, keep, opened } from "../connection/Duplex.ts"
import * as Addresses from "../http/Addresses.ts"
import type { AddressPolicy, Target } from "../http/AddressPolicy.ts"
import * as IpAddress from "../http/IpAddress.ts"
import type { Tls } from "../http/SocketTransport.ts"

/** A protocol over IP. */
export type Protocol = "tcp" | "tls" | "udp"

/** The other side of a connection. */
export interface Place extends Target {
  readonly protocol: Protocol
}

/** The rules of a channel, and its TLS. */
export interface Site {
  readonly policy: AddressPolicy
  readonly tls: Tls
}

const refuse = (reason: string) => Channel.fail("socket/refused", reason, { errno: -13 })

const tcp = (address: string, port: number, signal: AbortSignal): Promise<Duplex> => {
  const socket = connectTcp({ host: address, port, ...keep })
  return opened(socket, "connect", signal)
}

const tls = (address: string, { host, port, site }: Target & { readonly site: Site }, signal: AbortSignal): Promise<Duplex> => {
  const { cert, key, ...trust } = site.tls
  const own = cert !== undefined && key !== undefined ? { cert, key: Redacted.value(key) } : {}
  const servername = host === address ? "" : host
  const socket = connectTls({ host: address, port, servername, ...trust, ...own })
  return opened(socket, "secureConnect", signal)
}

/** The errors of one datagram, which leave the socket as it is. */
const PASSING: ReadonlySet<unknown> = new Set(["EMSGSIZE"])

/** Whether two texts are one address. */
const isSame = (one: string, other: string): boolean => {
  const [first, second] = [IpAddress.parse(one), IpAddress.parse(other)]
  return first !== undefined && first.family === second?.family && first.bits === second.bits
}

const udp = (address: string, port: number, signal: AbortSignal): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const family = IpAddress.parse(address)?.family === 6 ? "udp6" : "udp4"
    const socket = createSocket(family)
    let heard: Callbacks | undefined
    let isOpen = true
    const end = (error?: unknown): void => {
      if (!isOpen) return
      isOpen = false
      signal.removeEventListener("abort", abort)
      socket.close()
      heard?.closed(error)
    }
    const abort = (): void => {
      end()
      reject(signal.reason)
    }
    socket.on("error", (error) => {
      reject(error)
      end(error)
    })
    // Deno gives a connected socket the datagrams of others, too.
    socket.on("message", (bytes, from) => from.port === port && isSame(from.address, address) ? heard?.data(bytes) : undefined)
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    const write: Duplex["write"] = (bytes) => new Promise((done, fail) => {
      if (!isOpen) return fail(Object.assign(new Error("the socket is closed"), { code: "ECONNRESET" }))
      socket.send(bytes, (error) => {
        if (error === null || error === undefined) return done()
        fail(error)
        if (!PASSING.has((error as { readonly code?: unknown }).code)) end(error)
      })
    })
    const duplex: Duplex = {
      hear: (callbacks) => {
        heard = callbacks
        if (!isOpen) callbacks.closed()
      },
      write, end: () => end(), pause: () => undefined, resume: () => undefined, close: () => end()
    }
    // Node gives the error of a connect to the callback alone.
    const connected = (error?: unknown): void => {
      if (error !== undefined && error !== null) {
        end(error)
        return reject(error)
      }
      signal.removeEventListener("abort", abort)
      resolve(duplex)
    }
    socket.connect(port, address, connected)
  })

/** The dial of a place. @throws ChannelError `socket/refused` for an address that the policy refuses */
export const to = ({ host, port, protocol }: Place, site: Site): Dial => async (signal) => {
  const { policy } = site
  const addresses = await Addresses.checked({ host, port }, { policy, resolve: Addresses.resolve, refuse, signal })
  return Addresses.connected(addresses, (address) => {
    if (protocol === "udp") return udp(address, port, signal)
    return protocol === "tls" ? tls(address, { host, port, site }, signal) : tcp(address, port, signal)
  })
}

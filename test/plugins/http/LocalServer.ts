/**
 * HTTP servers on loopback addresses, for tests of channels.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createSecureServer, type ServerOptions } from "node:https"
import { createServer as createSocketServer, type AddressInfo, type Server as SocketServer, type Socket } from "node:net"

/** A request that a server got. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** A running server. */
export interface LocalServer {
  readonly port: number
  /** The base URL, with the address of the server. */
  readonly url: string
  /** The requests until now. */
  readonly seen: ReadonlyArray<Seen>
  /** Settles when a connection to the server has ended. */
  readonly closed: Promise<void>
}

/** Answers a request after its body. */
export type Respond = (request: Seen, response: ServerResponse) => void

/** The servers of a test. */
export class LocalServers {
  private readonly servers: Array<{ readonly server: Server | SocketServer; readonly sockets: Set<Socket> }> = []

  /** Starts a server. */
  async http(respond: Respond, address = "127.0.0.1", port = 0): Promise<LocalServer> {
    const { listener, seen } = listening(respond)
    return { ...await this.listen(createServer(listener), { address, port, protocol: "http" }), seen }
  }

  /** Starts a server with TLS. */
  async https(options: ServerOptions, respond: Respond): Promise<LocalServer> {
    const { listener, seen } = listening(respond)
    return { ...await this.listen(createSecureServer(options, listener), { address: "127.0.0.1", port: 0, protocol: "https" }), seen }
  }

  /** Starts a server of bare connections. */
  async sockets(connected: (socket: Socket) => void): Promise<LocalServer> {
    return { ...await this.listen(createSocketServer(connected), { address: "127.0.0.1", port: 0, protocol: "http" }), seen: [] }
  }

  /** Starts a server of bare connections on a port. */
  async open(port: number, connected: (socket: Socket) => void): Promise<void> {
    await this.listen(createSocketServer(connected), { address: "127.0.0.1", port, protocol: "http" })
  }

  private async listen(
    server: Server | SocketServer,
    { address, port, protocol }: { readonly address: string; readonly port: number; readonly protocol: string }
  ): Promise<Omit<LocalServer, "seen">> {
    const sockets = new Set<Socket>()
    const closed = new Promise<void>((resolve) => {
      server.on("connection", (socket: Socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          sockets.delete(socket)
          resolve()
        })
      })
    })
    this.servers.push({ server, sockets })
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject)
      server.listen(port, address, resolve)
    })
    const bound = (server.address() as AddressInfo).port
    return { port: bound, url: `${protocol}://${address}:${bound}`, closed }
  }

  /** Ends all servers and their connections. */
  async close(): Promise<void> {
    await Promise.all(this.servers.splice(0).map(({ server, sockets }) =>
      new Promise((resolve) => {
        server.close(resolve)
        for (const socket of sockets) socket.destroy()
      })
    ))
  }
}

const listening = (respond: Respond) => {
  const seen: Array<Seen> = []
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const { headers, method = "", url = "" } = request
      const one = { method, url, headers, body: Buffer.concat(parts).toString() }
      seen.push(one)
      respond(one, response)
    })
  }
  return { seen, listener }
}

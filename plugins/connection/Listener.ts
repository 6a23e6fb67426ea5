/**
 * The lines at a place that takes connections.
 *
 * @module
 */
import type { ListenOptions, Server, Socket } from "node:net"
import type { Transport } from "systole"
import * as Fields from "../channel/Fields.ts"
import { ofSocket } from "./Duplex.ts"
import * as FrameLine from "./FrameLine.ts"

/** The bytes of a frame, by default and at most, and the least that a transport may have. */
const MAX_FRAME = 1_048_576
const MOST_FRAME = 2 ** 26
const LEAST_FRAME = 4096

/** The lines at a place, by default and at most. */
const LINES = 1024
const MOST_LINES = 65_536

/** The fields of the options that transports over connections have. */
export const fields = {
  maxFrame: Fields.or(Fields.count(LEAST_FRAME, MOST_FRAME), MAX_FRAME),
  lines: Fields.or(Fields.count(1, MOST_LINES), LINES)
}

/** The parts of a listener. */
interface Parts {
  readonly lines: number
  readonly maxFrame: number
  readonly accept: (line: Transport.Line) => Transport.Callbacks
}

/** The open connections of a place: those that have lines, and all, which may still be in the handshake of TLS. */
export class Listener {
  private readonly parts: Parts
  private readonly sockets = new Set<Socket>()
  private readonly connections = new Set<Socket>()

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Takes a connection before its handshake. One beyond the limit is closed. */
  begin(socket: Socket): void {
    this.hold(this.connections, socket)
  }

  /** Makes a line of a connection. One beyond the limit is closed. */
  take(socket: Socket): void {
    const { accept, maxFrame } = this.parts
    if (!this.hold(this.sockets, socket)) return
    const line = FrameLine.make(ofSocket(socket), maxFrame)
    try {
      line.hear(accept(line))
    } catch {
      // There are no callbacks that could be told. The server and its other lines go on.
      socket.destroy()
    }
  }

  /** Takes no further connection, and ends all. */
  async close(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of [...this.sockets, ...this.connections]) socket.destroy()
    await closed
  }

  private hold(held: Set<Socket>, socket: Socket): boolean {
    if (held.size >= this.parts.lines) {
      socket.on("error", () => undefined).destroy()
      return false
    }
    held.add(socket)
    socket.once("close", () => held.delete(socket))
    return true
  }
}

/** Resolves once a server listens. */
export const listening = (server: Server, at: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(at, () => {
      server.off("error", reject)
      // An error of one connection attempt, such as too many open files, ends nothing.
      server.on("error", () => undefined)
      resolve()
    })
  })

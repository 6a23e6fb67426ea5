/**
 * An open connection, of whichever kind.
 *
 * @module
 */
import type { Socket } from "node:net"

/** The callbacks of a connection. */
export interface Callbacks {
  /** Bytes of a stream, or one datagram. */
  readonly data: (bytes: Uint8Array) => void
  /** The connection is over, once: by an error of the host, or without one by its other side or by `close`. */
  readonly closed: (error?: unknown) => void
}

/** An open connection. Nothing of it is lost before `hear`, which is called once. */
export interface Duplex {
  readonly hear: (callbacks: Callbacks) => void
  /** Resolves once the host has taken the bytes. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Ends what this side writes. */
  readonly end: () => void
  /** Holds the other side back, where the host can. */
  readonly pause: () => void
  readonly resume: () => void
  /** Closes it at once. */
  readonly close: () => void
}

/** Opens a connection. An abort of the signal ends the opening alone. */
export type Dial = (signal: AbortSignal) => Promise<Duplex>

/** The time without bytes after which the host looks whether the other side is there, in milliseconds. */
const KEEP_ALIVE = 60_000

/** The options of connections over TCP. */
export const keep = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE } as const

/** The failure of a write to a connection that closed. */
const gone = (): Error => Object.assign(new Error("the connection is closed"), { code: "ECONNRESET" })

/** The connection of a socket that is open. */
export const ofSocket = (socket: Socket): Duplex => {
  let failure: unknown
  const writing = new Set<(error: unknown) => void>()
  // Some hosts never call back for a write that a close overtakes.
  socket.once("close", () => {
    for (const lose of writing) lose(failure ?? gone())
    writing.clear()
  })
  // An error before `hear` is told by it.
  socket.on("error", (error) => {
    failure ??= error
  })
  return {
    hear: ({ closed, data }) => {
      socket.on("data", data)
      if (socket.destroyed) return queueMicrotask(() => closed(failure))
      socket.once("close", () => closed(failure))
    },
    write: (bytes) => new Promise((resolve, reject) => {
      if (socket.destroyed || socket.writableEnded) return reject(failure ?? gone())
      writing.add(reject)
      socket.write(bytes, (error) => {
        writing.delete(reject)
        if (error === null || error === undefined) resolve()
        else reject(error)
      })
    }),
    end: () => void socket.end(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy()
  }
}

/** Resolves when a socket is open, and destroys it if the signal is aborted or its opening fails. */
export const opened = (socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      signal.removeEventListener("abort", abort)
      socket.off("error", fail)
      socket.off("close", lost)
      socket.off(event, connected)
      end()
    }
    const fail = (error: unknown): void => settle(() => {
      // Further errors of the socket have no listener of their own.
      socket.on("error", () => undefined)
      socket.destroy()
      reject(error)
    })
    const abort = (): void => fail(signal.reason)
    const lost = (): void => fail(gone())
    const connected = (): void => settle(() => {
      // A client of TLS does not take them as options.
      if (event === "secureConnect") socket.setNoDelay(keep.noDelay).setKeepAlive(keep.keepAlive, keep.keepAliveInitialDelay)
      resolve(ofSocket(socket))
    })
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    socket.on("error", fail)
    socket.on("close", lost)
    socket.on(event, connected)
  })

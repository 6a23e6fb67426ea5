/**
 * An HTTP server that counts the calls that it gets, by their paths and by their idempotency keys.
 *
 * @module
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"

/** The maximum number of turns before an answer, so that some answers find no process. */
const MOST_TURNS = 100

/** The calls of one path. */
export interface Calls {
  readonly keys: Set<string>
  times: number
}

/** A server in this process, which outlives those that call it. */
export class CountingServer {
  /** The calls by their paths, such as `pay/17`. */
  readonly calls = new Map<string, Calls>()
  private readonly server: Server

  /** `draw` decides how late each answer comes. */
  constructor(draw: (bound: number) => number) {
    this.server = createServer((request, response) => {
      const path = (request.url ?? "").slice(1)
      const known = this.calls.get(path) ?? { keys: new Set(), times: 0 }
      this.calls.set(path, known)
      known.keys.add(String(request.headers["idempotency-key"]))
      known.times++
      const answer = (turns: number): void => turns === 0 ? void response.end(`"${path}"`) : void setImmediate(() => answer(turns - 1))
      request.resume().once("end", () => answer(draw(MOST_TURNS)))
    })
  }

  /** Listens on a free port of this machine. Returns the URL. */
  listen(): Promise<string> {
    return new Promise((resolve) => {
      this.server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`))
    })
  }

  /** The number of all calls. */
  get count(): number {
    return [...this.calls.values()].reduce((sum, { times }) => sum + times, 0)
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}

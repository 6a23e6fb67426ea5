/**
 * An HTTP server that counts the calls that it gets, by their paths and by their idempotency keys.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { REFUSED, UNANSWERED } from "./OrderProject.ts"

/** The maximum number of turns before an answer, so that some answers find no process. */
const MOST_TURNS = 100

/** A moment of this server: the number of calls before it, and the number of processes that called before the present one. */
export interface Moment {
  readonly call: number
  readonly life: number
}

/** The calls of one path. */
export interface Calls {
  readonly keys: Set<string>
  readonly moments: Array<Moment>
}

/** A server in this process, which outlives those that call it. */
export class CountingServer {
  /** The calls by their paths, such as `pay/17`. */
  readonly calls = new Map<string, Calls>()
  /** The number of all calls. */
  count = 0
  /** The number of processes that called and ended. */
  life = 0
  private readonly server: Server
  private readonly draw: (bound: number) => number

  /** `draw` decides how late each answer comes. */
  constructor(draw: (bound: number) => number) {
    this.draw = draw
    this.server = createServer((request, response) => this.take(request, response))
  }

  get now(): Moment {
    return { call: this.count, life: this.life }
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? "").slice(1)
    const known = this.calls.get(path) ?? { keys: new Set(), moments: [] }
    this.calls.set(path, known)
    known.keys.add(String(request.headers["idempotency-key"]))
    known.moments.push(this.now)
    this.count++
    const [opcode = ""] = path.split("/")
    if (REFUSED.includes(opcode)) response.statusCode = 503
    const answer = (turns: number): void => turns === 0 ? void response.end(`"${path}"`) : void setImmediate(() => answer(turns - 1))
    request.resume().once("end", () => UNANSWERED.includes(opcode) ? undefined : answer(this.draw(MOST_TURNS)))
  }

  /** Listens on a free port of this machine. Returns the URL. */
  listen(): Promise<string> {
    return new Promise((resolve) => {
      this.server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`))
    })
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}

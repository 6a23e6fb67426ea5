/**
 * Live queries over WebSockets that hibernate: the platform keeps a socket open while its object is not in memory.
 *
 * A socket sends the events of one cell, each as JSON `{ id, event, data }`. Its query and the id of its last event are
 * attached to the socket. An object that is made anew continues after that event.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Cells from "../../ingress/Cells.ts"
import * as Problem from "../../ingress/Problem.ts"
import * as ReaderRoutes from "../../ingress/ReaderRoutes.ts"
import type { Frame } from "../../ingress/Sse.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import type { Clearance } from "../../kernel/view/Space.ts"
import { type ObjectState, type Socket, socketPair } from "./Platform.ts"

/** The most sockets of one object. */
const MAX_SOCKETS = 1024

/** The most characters of a query: an attachment has at most 2,048 bytes, and a URL has one byte per character. */
const MAX_URL = 1500

/** The code of a close because of a failure, and because the query is refused. */
const FAILED = 1011
const REFUSED = 1008

/** The attachment of a socket. */
interface Attached {
  readonly url: string
  /** The name of the reader; `null` for the operator. */
  readonly reader: string | null
  /** The id of the last event. */
  readonly last: string | null
}

/** The dependencies of the sockets. */
interface Dependencies {
  readonly state: Pick<ObjectState, "acceptWebSocket" | "getWebSockets">
  readonly space: string
  readonly kernel: Kernel["Service"]
  readonly readers: ReadonlyArray<Clearance>
}

/**
 * Whether a request asks for a socket.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isUpgrade = ({ headers, method }: Request): boolean =>
  method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket"

/**
 * The sockets of one object.
 *
 * @category models
 * @since 0.1.0
 */
export class Sockets {
  private readonly deps: Dependencies
  private readonly followed = new Map<Socket, Fiber.Fiber<void, unknown>>()

  /** Continues the sockets that are open already. */
  constructor(deps: Dependencies) {
    this.deps = deps
    for (const socket of deps.state.getWebSockets()) this.follow(socket)
  }

  /** Opens a socket for a request, or answers with a problem. */
  async accept({ headers, url }: Request, reader: Clearance | undefined): Promise<Response> {
    const attached: Attached = { url, reader: reader?.name ?? null, last: headers.get("last-event-id") }
    if (this.deps.state.getWebSockets().length >= MAX_SOCKETS) {
      return refusal("watch/full", `The space has ${MAX_SOCKETS} sockets, which is the limit. Close others first`)
    }
    if (url.length + (attached.last?.length ?? 0) > MAX_URL) {
      return refusal("query/invalid", `The query of a socket has at most ${MAX_URL} characters. Use an event stream for longer ones`)
    }
    try {
      // Refuses before the socket opens.
      await this.frames(attached)
    } catch (failure) {
      return Problem.response(failure)
    }
    const [client, server] = socketPair()
    server.serializeAttachment(attached)
    this.deps.state.acceptWebSocket(server)
    this.follow(server)
    return new Response(null, { status: 101, webSocket: client } as ResponseInit)
  }

  /** Forgets a socket that its client closed. */
  closed(socket: Socket): void {
    const fiber = this.followed.get(socket)
    this.followed.delete(socket)
    if (fiber !== undefined) Effect.runFork(Fiber.interrupt(fiber))
  }

  private follow(socket: Socket): void {
    const attached = socket.deserializeAttachment() as Attached
    const send = (frame: Frame) => Effect.sync(() => {
      socket.send(JSON.stringify(frame))
      if (frame.id !== undefined) socket.serializeAttachment({ ...attached, last: String(frame.id) })
    })
    const fiber = Effect.runFork(Effect.flatMap(
      Effect.tryPromise({ try: () => this.frames(attached), catch: (failure) => failure }),
      (frames) => Stream.runForEach(frames, send)
    ))
    this.followed.set(socket, fiber)
    fiber.addObserver((exit) => {
      if (!this.followed.delete(socket)) return
      // The client connects again, with the id of its last event.
      socket.close(exit._tag === "Success" ? FAILED : REFUSED, "the query ended")
    })
  }

  /** The events of a query after the last one that was sent. */
  private async frames({ last, reader, url }: Attached): Promise<Stream.Stream<Frame, unknown>> {
    const { kernel, readers, space } = this.deps
    const place = Cells.place(url)
    const found = await Effect.runPromise(kernel.space(space, { create: false }))
    if (reader === null) return Cells.watch(found, place, last)
    const clearance = readers.find(({ name }) => name === reader)
    if (clearance === undefined) throw ReaderRoutes.closed(url, { name: reader, atoms: [] })
    const cleared = found.reader(clearance)
    const address = Cells.address(place)
    await Effect.runPromise(cleared.admit(address))
    return ReaderRoutes.follow(cleared, address, last)
  }
}

const refusal = (code: "watch/full" | "query/invalid", reason: string): Response =>
  Problem.response(new Problem.RequestRefused({ code, reason }))

/**
 * Live queries over WebSockets that hibernate: the platform keeps a socket open while its object is not in memory.
 *
 * A socket sends the events of one cell, each as JSON `{ id, event, data }`. Its query and the id of its last event are
 * attached to the socket. An object that is made anew continues after that event.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { AccessRefused } from "../../access/AccessRefused.ts"
import * as Decision from "../../access/Decision.ts"
import { isNarrow, JWT, labelOf, type Token } from "../../access/Token.ts"
import type { Sessions } from "../../access/Sessions.ts"
import type { TokenSet } from "../../access/TokenSet.ts"
import * as CellEndpoints from "../../contract/Cells.ts"
import { cellIn } from "../../contract/Paths.ts"
import type { CallerAccess } from "../../ingress/access/Caller.ts"
import * as Cells from "../../ingress/route/Cells.ts"
import * as Problem from "../../ingress/wire/Problem.ts"
import * as ReaderRoutes from "../../ingress/route/ReaderRoutes.ts"
import * as RequestOrigin from "../../ingress/access/RequestOrigin.ts"
import { withheld } from "../../ingress/route/RouteTable.ts"
import type { Runner } from "../../ingress/wire/Runner.ts"
import * as TokenView from "../../ingress/access/TokenView.ts"
import * as Sse from "../../ingress/wire/Sse.ts"
import type { StreamQuota } from "../../ingress/wire/StreamQuota.ts"
import type { Kernel } from "../../kernel/space/Kernel.ts"
import type { Clearance, Viewer } from "../../kernel/view/Space.ts"
import { hosts } from "../host/HostLimits.ts"
import { type ObjectState, type Socket, socketPair } from "./Platform.ts"
import { Untaken } from "./Untaken.ts"

/** The most bytes of a query with the names of its reader and of an event: an attachment has at most 2,048 bytes. */
export const MAX_ATTACHED = 1900

/** The time for which a socket goes on with a JSON Web Token, in milliseconds. Then its client connects again. */
export const JWT_MILLIS = 600_000

/** The longest id of an event, in characters: a beat, or the cursor of a reader. */
const LONGEST_ID = 16

/** The codes of a close: the client connects again with the id of its last event, at once or once it is quicker, or it is refused. */
const FAILED = 1011
const SLOW = 1013
const REFUSED = 1008

/** The attachment of a socket. */
interface Attached {
  /** The path and the query of the URL. */
  readonly url: string
  /** The name of the reader or of the token; `null` for the operator. */
  readonly reader: string | null
  /** The id of the token, or the whole token that was made of a JSON Web Token. */
  readonly token?: string | Token
  /** The time at which the Worker in front verified that, in milliseconds since 1970. */
  readonly verified?: number
  /** The digest of the secret of the token that was shown. */
  readonly digest?: string
  /** The session, by its id and its end. */
  readonly session?: { readonly id?: string | undefined; readonly until?: number | undefined }
  /** The id of the last event. */
  readonly last: string | null
  /** The characters that the client has not confirmed. */
  readonly untaken: number
}

/** An open socket: the fiber that sends its events, and those that its client has not confirmed. */
interface Followed {
  readonly fiber: Fiber.Fiber<void, unknown>
  readonly untaken: Untaken
}

/** The dependencies of the sockets. */
interface Dependencies {
  readonly state: Pick<ObjectState, "acceptWebSocket" | "getWebSockets">
  readonly space: string
  readonly kernel: Kernel["Service"]
  /** Runs the queries. */
  readonly runner: Runner
  readonly readers: ReadonlyArray<Clearance>
  /** The open streams of the object: event streams and sockets. */
  readonly quota: StreamQuota
  readonly tokens: Pick<TokenSet, "get" | "refusalOf">
  readonly sessions: Pick<Sessions, "refusalOf">
}

/**
 * Whether a request asks for a socket.
 */
export const isUpgrade = ({ headers, method }: Request): boolean => method === "GET" && RequestOrigin.isUpgrade(headers)

/**
 * The sockets of one object.
 */
export class Sockets {
  private readonly deps: Dependencies
  private readonly followed = new Map<Socket, Followed>()

  /** Continues the sockets that are open already. They count, and none of them is refused. */
  constructor(deps: Dependencies) {
    this.deps = deps
    for (const socket of deps.state.getWebSockets()) {
      const attached = socket.deserializeAttachment() as Attached
      deps.quota.count(attached.reader ?? undefined, 1)
      this.follow(socket, attached)
    }
  }

  /**
   * Opens a socket for a request.
   *
   * @throws AccessRefused, RequestRefused, PersistenceError, SpaceError
   */
  async accept(request: Request, { digest, reader, session, token }: CallerAccess): Promise<Response> {
    const { quota, space, state } = this.deps
    const beyond = token === undefined ? undefined : Decision.refusalOf(token, CellEndpoints.read, { space, cell: cellIn(request.url) })
    if (beyond !== undefined) throw beyond
    const name = token === undefined ? reader?.name : labelOf(token.id)
    const { pathname, search } = new URL(request.url)
    // The id of the last event has a field of its own.
    const path = pathname + search.replace(/(?<=[?&])last=[^&]*&?/g, "")
    const shown = session?.digest ?? digest
    const by = {
      reader: name ?? null,
      ...token === undefined ? {} : token.id.startsWith(JWT) ? { token, verified: Date.now() } : { token: token.id },
      ...shown === undefined || token === undefined ? {} : { digest: shown },
      ...session === undefined ? {} : { session: { id: session.id, until: session.until } }
    }
    const attached: Attached = { url: path, ...by, last: Sse.lastOf(request), untaken: 0 }
    checkSize(attached)
    quota.check(name === undefined ? undefined : { name, of: token === undefined ? "reader" : "token" })
    // Others ask meanwhile.
    quota.count(name, 1)
    try {
      // Refuses before the socket opens.
      await this.frames(attached)
      const [client, server] = socketPair()
      server.serializeAttachment(attached)
      state.acceptWebSocket(server)
      this.follow(server, attached)
      return new Response(null, { status: 101, webSocket: client } as ResponseInit)
    } catch (failure) {
      quota.count(name, -1)
      throw failure
    }
  }

  /** Forgets a socket that its client closed. */
  closed(socket: Socket): void {
    const followed = this.followed.get(socket)
    if (followed === undefined) return
    this.forget(socket, socket.deserializeAttachment() as Attached)
    followed.fiber.interruptUnsafe()
  }

  /** The client of a socket has the event with this id, and all before it. */
  taken(socket: Socket, id: string): void {
    const untaken = this.followed.get(socket)?.untaken
    if (untaken === undefined) return
    untaken.taken(id)
    socket.serializeAttachment({ ...socket.deserializeAttachment() as Attached, untaken: untaken.size })
  }

  private forget(socket: Socket, { reader }: Attached): void {
    if (this.followed.delete(socket)) this.deps.quota.count(reader ?? undefined, -1)
  }

  /** Sends the events of a query after its last one. */
  private follow(socket: Socket, attached: Attached): void {
    const untaken = new Untaken(hosts.object.socketCharacters, { last: attached.last, size: attached.untaken })
    let { last } = attached
    const send = (frame: Sse.Frame) => Effect.suspend(() => {
      const text = textOf(frame)
      if (!untaken.fits(text.length)) return Effect.fail(slow)
      socket.send(text)
      if (frame.id !== undefined) last = String(frame.id)
      untaken.add(last, text.length)
      socket.serializeAttachment({ ...attached, last, untaken: untaken.size })
      return Effect.void
    })
    const isBound = attached.token !== undefined || attached.session !== undefined
    const sent = isBound ? (frame: Sse.Frame) => Effect.flatMap(this.live(attached), () => send(frame)) : send
    const fiber = this.deps.runner.fork(Effect.flatMap(
      Effect.tryPromise({ try: () => this.frames(attached), catch: (failure) => failure }),
      (frames) => Stream.runForEach(frames, sent)
    ))
    this.followed.set(socket, { fiber, untaken })
    fiber.addObserver((exit) => {
      if (!this.followed.has(socket)) return
      this.forget(socket, attached)
      end(socket, exit)
    })
  }

  /** The events of a query after the last one that was sent. */
  private async frames({ last, reader, token, url }: Attached): Promise<Stream.Stream<Sse.Frame, unknown>> {
    const { kernel, runner, space } = this.deps
    const place = Cells.place(new URL(url, "http://object").href, CellEndpoints.read)
    const found = await runner.promise(kernel.space(space, { create: false }))
    const viewer = await (token === undefined ? this.viewer(reader, url) : this.viewerOfToken(token))
    if (viewer === undefined) return Cells.follow(found, Cells.address(place), last)
    const cleared = found.reader(viewer)
    const address = Cells.address(place)
    await runner.promise(cleared.admit(address))
    return ReaderRoutes.follow(cleared, address, last)
  }

  /** The view of a reader; `undefined` for the operator. */
  private viewer(reader: string | null, url: string): Viewer | undefined {
    const viewer = this.deps.readers.find(({ name }) => name === reader)
    if (viewer === undefined && reader !== null) throw withheld(url, { name: reader })
    return viewer
  }

  /** The view of a token; `undefined` for one that sees the whole space. */
  private async viewerOfToken(attached: string | Token): Promise<Viewer | undefined> {
    const token = typeof attached === "string" ? await this.deps.tokens.get(attached) : attached
    return isNarrow(token) ? TokenView.viewerOf(token) : undefined
  }

  /** Fails once a token or a session is over, and while that is not known. */
  private live({ digest, session, token, verified }: Attached): Effect.Effect<void, AccessRefused> {
    const { sessions, tokens } = this.deps
    if (verified !== undefined && Math.abs(Date.now() - verified) > JWT_MILLIS) return Effect.fail(unverified)
    const held = typeof token === "string" ? { id: token, expires: Infinity, digest } : token
    return Effect.andThen(
      session === undefined ? Effect.void : unless(() => sessions.refusalOf(session)),
      held === undefined ? Effect.void : unless(() => tokens.refusalOf(held))
    )
  }
}

/** Fails with a refusal. */
const unless = (ask: () => AccessRefused | undefined | Promise<AccessRefused | undefined>): Effect.Effect<void, AccessRefused> =>
  Effect.suspend(() => {
    const refused = ask()
    const known = refused instanceof Promise ? Effect.promise(() => refused) : Effect.succeed(refused)
    return Effect.flatMap(known, (refused) => refused === undefined ? Effect.void : Effect.fail(refused))
  })

const unverified = new AccessRefused(
  "access/unavailable",
  "The JSON Web Token of the socket was verified 10 minutes ago, and its key may be withdrawn. Connect again"
)

const slow = new Problem.RequestRefused({
  code: "watch/slow",
  reason: `The client has not confirmed the last ${hosts.object.socketCharacters} characters. Send the ids of events back, or connect again`
})

/** Closes a socket whose query ended, with the code of its problem. */
const end = (socket: Socket, exit: Exit.Exit<void, unknown>): void => {
  const { code, status } = Problem.of(Exit.isFailure(exit) ? Cause.squash(exit.cause) : new Error("the query ended"))
  try {
    socket.close(code === slow.code ? SLOW : status >= 500 ? FAILED : REFUSED, code)
  } catch {
    // Its client is gone already.
  }
}

const texts = new WeakMap<Sse.Frame, string>()

/** The text of a frame, made once for all sockets that send it. */
const textOf = (frame: Sse.Frame): string => {
  let text = texts.get(frame)
  if (text === undefined) {
    text = JSON.stringify(frame)
    texts.set(frame, text)
  }
  return text
}

/** The bytes of a text in an attachment: one for each character, or two for each if one of them is beyond Latin-1. */
const bytesOf = (text: string): number => /[^\0-\xff]/.test(text) ? 2 * text.length : text.length

const checkSize = ({ digest = "", last, reader, token, url }: Attached): void => {
  const own = typeof token === "object" ? JSON.stringify(token) : digest
  const size = bytesOf(url + own) + bytesOf(reader ?? "") + Math.max(LONGEST_ID, bytesOf(last ?? ""))
  if (size <= MAX_ATTACHED) return
  throw new Problem.RequestRefused({
    code: "query/invalid",
    reason: `The query of a socket has ${size} bytes, with its reader or token and its last event; it has at most ` +
      `${MAX_ATTACHED}. Use an event stream for longer ones`
  })
}

import { assert, describe, it } from "@effect/vitest"
import { connect, RequestFailed, type StreamState, type Update } from "../../src/client/index.ts"
import { ManualClock } from "./TestClient.ts"

/** A connection of a stream: the headers of its request, and its bytes. */
interface Connection {
  readonly headers: Headers
  readonly send: (text: string) => void
  readonly end: () => void
  readonly break: () => void
}

/** A server of streams with connections that a test drives. */
class StreamServer {
  readonly clock = new ManualClock()
  readonly states: Array<StreamState> = []
  readonly seen: Array<Update<unknown>> = []
  /** The answers in place of streams, in order: a refusal, or no answer. */
  readonly refusals: Array<Response | Error> = []
  readonly ending = new AbortController()
  private readonly opened: Array<Connection> = []
  private awaited: ((connection: Connection) => void) | undefined
  /** The end of the watch. */
  readonly watched: Promise<void>

  constructor(after?: string) {
    const platform = { ...this.clock.platform, random: () => 1, fetch: this.fetch }
    const onState = (state: StreamState) => void this.states.push(state)
    const shop = connect({ platform, token: () => `token ${this.states.length}` }).space("shop")
    this.watched = shop.watch("/data/total", { after, onState, abort: this.ending.signal }).each((update) => this.seen.push(update))
  }

  /** The next connection. */
  next(): Promise<Connection> {
    const connection = this.opened.shift()
    return connection === undefined ? new Promise((resolve) => this.awaited = resolve) : Promise.resolve(connection)
  }

  private readonly fetch = async (_: string, { headers, signal }: RequestInit): Promise<Response> => {
    const refusal = this.refusals.shift()
    if (refusal instanceof Error) throw refusal
    if (refusal !== undefined) return refusal
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 100 })
    const writer = writable.getWriter()
    signal?.addEventListener("abort", () => void writer.abort().catch(() => {}))
    const connection: Connection = {
      headers: new Headers(headers),
      send: (text) => void writer.write(new TextEncoder().encode(text)).catch(() => {}),
      end: () => void writer.close().catch(() => {}),
      break: () => void writer.abort(new Error("cut")).catch(() => {})
    }
    if (this.awaited === undefined) this.opened.push(connection)
    else this.awaited(connection)
    this.awaited = undefined
    return new Response(readable, { headers: { "content-type": "text/event-stream" } })
  }
}

const value = (id: number, data: unknown): string => `id: ${id}\nevent: value\ndata: ${JSON.stringify(data)}\n\n`

/** Runs the client until it waits for time or for bytes. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await turn()
}

describe("A stream of the client", () => {
  it("goes on after its last event when the connection ends or breaks, with a new token", async () => {
    const server = new StreamServer()
    const first = await server.next()
    assert.isNull(first.headers.get("last-event-id"))
    first.send(`: alive\n\n${value(3, 1)}${value(5, 2)}`)
    await turns()
    first.end()
    await turns()
    server.clock.pass(250)
    const second = await server.next()
    assert.deepStrictEqual([second.headers.get("last-event-id"), second.headers.get("accept")], ["5", "text/event-stream"])
    assert.notStrictEqual(second.headers.get("authorization"), first.headers.get("authorization"))
    second.send(value(6, "\u2028a"))
    await turns()
    second.break()
    await turns()
    server.clock.pass(500)
    assert.strictEqual((await server.next()).headers.get("last-event-id"), "6")
    await turns()
    assert.deepStrictEqual(server.seen.map(({ cursor, value }) => [cursor, value]), [["3", 1], ["5", 2], ["6", "\u2028a"]])
    assert.deepStrictEqual(server.states, ["opening", "live", "waiting", "opening", "live", "waiting", "opening", "live"])
  })

  it("begins after a given event", async () => {
    assert.strictEqual((await new StreamServer("17").next()).headers.get("last-event-id"), "17")
  })

  it("takes events in any pieces, and the absence of a value", async () => {
    const server = new StreamServer()
    const { send } = await server.next()
    for (const character of `${value(1, { a: "é" })}: alive\n\nid: 2\nevent: absent\ndata: null\n\n`) send(character)
    await turns()
    assert.deepStrictEqual(server.seen, [
      { value: { a: "é" }, cursor: "1", reset: undefined }, { value: undefined, cursor: "2", reset: undefined }
    ])
  })

  it("tells with the next value that others are missing before it", async () => {
    const server = new StreamServer()
    const { send } = await server.next()
    send(`event: reset\ndata: {"reason":"the reader fell behind"}\n\n${value(9, 1)}${value(10, 2)}`)
    await turns()
    assert.deepStrictEqual(server.seen.map(({ reset }) => reset), ["the reader fell behind", undefined])
  })

  it("is opened again after a silence, as of a laptop that slept, and not while comments come", async () => {
    const server = new StreamServer()
    const { send } = await server.next()
    send(value(4, 1))
    for (let i = 0; i < 20; i++) {
      await turns()
      server.clock.pass(5_000)
      send(": alive\n\n")
    }
    await turns()
    assert.deepStrictEqual(server.states, ["opening", "live"])
    // The lid was closed for an hour: its timers stood still, and the first of them sees how late it is.
    server.clock.pass(3_600_000)
    await turns()
    assert.deepStrictEqual(server.states, ["opening", "live", "waiting"])
    server.clock.pass(250)
    assert.strictEqual((await server.next()).headers.get("last-event-id"), "4")
  })

  it("waits as long as the server says, and at most 30 seconds", async () => {
    const server = new StreamServer()
    const { end } = await server.next()
    const full = JSON.stringify({ code: "watch/full", status: 429, detail: "full" })
    const busy = new Response(full, { status: 429, headers: { "retry-after": "7" } })
    server.refusals.push(busy, ...Array.from({ length: 9 }, () => new Error("refused")))
    end()
    await turns()
    for (let i = 0; i < 10; i++) {
      server.clock.pass(30_000)
      await turns()
    }
    assert.includeMembers(server.clock.slept, [250, 7_000])
    assert.isAtMost(Math.max(...server.clock.slept), 30_000)
  })

  it("ends where the server refuses it for good", async () => {
    const server = new StreamServer()
    const { send } = await server.next()
    send("event: problem\ndata: {\"code\":\"space/unknown\",\"status\":404,\"detail\":\"no such space\"}\n\n")
    const error = await server.watched.then(() => assert.fail("no failure"), (error: unknown) => error)
    assert.instanceOf(error, RequestFailed)
    assert.deepInclude({ ...error }, { code: "space/unknown", status: 404 })
  })

  it("ends with its signal, also while it waits", async () => {
    const live = new StreamServer()
    await live.next()
    live.ending.abort()
    await live.watched
    const waiting = new StreamServer()
    const { end } = await waiting.next()
    end()
    await turns()
    waiting.ending.abort()
    await waiting.watched
    assert.strictEqual(waiting.states.at(-1), "waiting")
  })
})

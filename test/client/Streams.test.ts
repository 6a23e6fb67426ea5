import { assert, describe, it } from "@effect/vitest"
import { connect, RequestFailed, type StreamState, type Update } from "../../src/client/index.ts"
import { Connections, turns, value } from "./Connections.ts"
import { ManualClock } from "./TestClient.ts"

/** A server of streams, and a client that follows one. */
class StreamServer extends Connections {
  readonly clock = new ManualClock()
  readonly states: Array<StreamState> = []
  readonly failures: Array<RequestFailed> = []
  readonly seen: Array<Update<unknown>> = []
  readonly ending = new AbortController()
  /** The end of the watch. */
  readonly watched: Promise<void>

  constructor(after?: string) {
    super()
    const platform = { ...this.clock.platform, random: () => 1, fetch: this.fetch }
    const onState = (state: StreamState, failure?: RequestFailed) => {
      this.states.push(state)
      if (failure !== undefined) this.failures.push(failure)
    }
    const shop = connect({ platform, token: () => `token ${this.states.length}` }).space("shop")
    this.watched = shop.watch("/data/total", { after, onState, abort: this.ending.signal }).each((update) => this.seen.push(update))
  }
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
    send("event: problem\ndata: {\"code\":\"auth/missing\",\"status\":401,\"detail\":\"no token\"}\n\n")
    const error = await server.watched.then(() => assert.fail("no failure"), (error: unknown) => error)
    assert.instanceOf(error, RequestFailed)
    assert.deepInclude({ ...error }, { code: "auth/missing", status: 401 })
  })

  it("waits for a space that is not there yet, and looks for it at least each five seconds", async () => {
    const server = new StreamServer()
    const problem = { code: "space/unknown", status: 404, detail: "no such space" }
    const { send } = await server.next()
    server.refusals.push(...Array.from({ length: 7 }, () => Response.json(problem, { status: 404 })))
    send(`event: problem\ndata: ${JSON.stringify(problem)}\n\n`)
    await turns()
    assert.strictEqual(server.failures.at(-1)?.code, "space/unknown")
    for (let i = 0; i < 8; i++) {
      server.clock.pass(5_000)
      await turns()
    }
    const waits = server.clock.slept.filter((ms) => ms !== 30_000 && ms !== 5_000)
    assert.includeMembers(waits, [250, 500, 1_000, 2_000, 4_000])
    const { send: sendLater } = await server.next()
    sendLater(value(2, 1))
    await turns()
    assert.deepStrictEqual(server.seen.map(({ cursor, value }) => [cursor, value]), [["2", 1]])
    assert.strictEqual(server.states.at(-1), "live")
  })

  it("ends with the error of a function that it calls, and opens no further connection", async () => {
    const mistake = new Error("a mistake of the page")
    const throws = (): never => {
      throw mistake
    }
    for (const state of ["opening", "live", "waiting"]) {
      const server = new Connections()
      const clock = new ManualClock()
      const shop = connect({ platform: { ...clock.platform, fetch: server.fetch } }).space("shop")
      const onState = (now: StreamState) => now === state ? throws() : undefined
      const watched = shop.watch("/data/total", { onState }).each(() => {})
      const failure = watched.then(() => undefined, (error: unknown) => error)
      if (state !== "opening") (await server.next()).end()
      assert.strictEqual(await failure, mistake)
      clock.pass(60_000)
      await turns()
      assert.strictEqual(server.waiting, 0)
    }
    const server = new Connections()
    const shop = connect({ platform: { ...new ManualClock().platform, fetch: server.fetch } }).space("shop")
    const failure = shop.watch("/data/total").each(throws).then(() => undefined, (error: unknown) => error)
    const connection = await server.next()
    connection.send(value(1, 1))
    assert.strictEqual(await failure, mistake)
    assert.isTrue(connection.isEnded())
  })

  it("waits for a token that cannot be renewed now, and ends where that is refused", async () => {
    const failures = [new TypeError("no network"), new RequestFailed({ code: "auth/expired", status: 401, detail: "Log in" })]
    const server = new Connections()
    const clock = new ManualClock()
    const token = (): never => {
      throw failures.shift()
    }
    const waits: Array<string | undefined> = []
    const shop = connect({ token, platform: { ...clock.platform, random: () => 1, fetch: server.fetch } }).space("shop")
    const onState = (_: StreamState, error?: RequestFailed) => void (error === undefined || waits.push(error.code))
    const watched = shop.watch("/data/total", { onState }).each(() => {})
    const failure = watched.then(() => undefined, (error: unknown) => error)
    await turns()
    clock.pass(250)
    assert.deepInclude({ ...await failure as RequestFailed }, { code: "auth/expired" })
    assert.deepStrictEqual([waits, server.waiting], [["token/failed"], 0])
  })

  it("waits no longer for a token than for an answer, and ends with its signal meanwhile", async () => {
    const clock = new ManualClock()
    const ending = new AbortController()
    const token = (): Promise<string> => new Promise(() => {})
    const waits: Array<string | undefined> = []
    const shop = connect({ token, platform: { ...clock.platform, random: () => 1, fetch: new Connections().fetch } }).space("shop")
    const onState = (_: StreamState, error?: RequestFailed) => void (error === undefined || waits.push(error.code))
    const watched = shop.watch("/data/total", { abort: ending.signal, onState }).each(() => {})
    await turns()
    clock.pass(30_000)
    await turns()
    assert.deepStrictEqual(waits, ["server/timeout"])
    clock.pass(30_000)
    await turns()
    ending.abort()
    await watched
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

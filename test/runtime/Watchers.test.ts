import { assert, beforeAll, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { MAX_STREAMS } from "../../src/ingress/wire/StreamQuota.ts"
import { MAX_ATTACHED } from "../../src/main/workers/Sockets.ts"
import * as Edge from "./Edge.ts"

let text = ""

beforeAll(async () => {
  text = await Edge.script("./test/runtime/watched.ts")
})

/** The platform's timers are real. */
const PATIENCE = { timeout: 120_000, interval: 50 }

/** The number of watchers of one object. */
const WATCHERS = 1000

const CELL = "/v1/spaces/shop/cells/data/visits"

/** The name of a reader, the longest that there is, and its token. */
const READER = "r".repeat(63)
const READER_TOKEN = "a-token-of-a-reader"

/** The length of a reader's cursor. */
const CURSOR = 16

/** An event of a socket. */
interface Event {
  readonly id: number | string
  readonly event: string
  readonly data: string
}

/** A client that watches a cell, and goes on after its last event when it connects again: by a header, or by the URL as a browser. */
class Watcher {
  readonly seen: Array<Event> = []
  /** The number of its connections. */
  connects = 0
  /** The code of the last close. */
  closed: number | undefined
  private readonly url: string
  private readonly token: string
  private readonly isBrowser: boolean
  private socket: WebSocket | undefined

  constructor(origin: string, { isBrowser = false, path = CELL, token = Edge.TOKEN } = {}) {
    this.url = `${origin.replace("http", "ws")}${path}`
    this.token = token
    this.isBrowser = isBrowser
  }

  /** Connects. Rejects if the socket does not open. */
  connect(): Promise<void> {
    const id = this.seen.at(-1)?.id
    const { isBrowser, token, url } = this
    const headers = { authorization: `Bearer ${token}`, ...id === undefined || isBrowser ? {} : { "last-event-id": String(id) } }
    const socket = new WebSocket(id === undefined || !isBrowser ? url : `${url}?last=${id}`, { headers } as never)
    this.socket = socket
    this.closed = undefined
    this.connects++
    socket.addEventListener("message", ({ data }) => this.seen.push(JSON.parse(String(data)) as Event))
    socket.addEventListener("close", ({ code }) => {
      this.closed = code
    })
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve())
      socket.addEventListener("error", () => reject(new Error("the socket did not open")))
    })
  }

  /** Tells the object which event is the last that came. */
  confirm(): void {
    this.socket?.send(String(this.seen.at(-1)?.id))
  }

  close(): void {
    this.socket?.close()
  }
}

const watchers = async (origin: string, count: number): Promise<ReadonlyArray<Watcher>> => {
  const all = Array.from({ length: count }, () => new Watcher(origin))
  await Promise.all(all.map((watcher) => watcher.connect()))
  return all
}

const visit = async ({ signal }: Edge.Edge): Promise<void> => {
  assert.deepInclude((await signal("shop", { signal: "/signals/visit" })).body, { status: "handled" })
}

/** Visits several times, some of them at once. */
const visits = async (edge: Edge.Edge, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 2) await Promise.all([visit(edge), visit(edge)])
}

/** Waits until each watcher saw the value, and checks that each saw all values before it, once and in order. */
const sawAll = async (all: ReadonlyArray<Watcher>, value: number): Promise<void> => {
  const last = ({ seen }: Watcher) => seen.at(-1)?.data === String(value)
  await vi.waitUntil(() => all.every(last), PATIENCE)
  const values = Array.from({ length: value }, (_, n) => `value ${n + 1}`)
  for (const { seen } of all) assert.deepStrictEqual(seen.map(({ data, event }) => `${event} ${data}`), values)
}

const problem = async (response: Response) =>
  ({ status: response.status, ...await response.json() as { readonly code: string; readonly detail: string } })

/** The refusal of a socket. */
const refused = async ({ fetch }: Edge.Edge, path = CELL, headers = {}) =>
  problem(await fetch(path, { headers: { upgrade: "websocket", ...headers } }))

describe("The watchers of an object", () => {
  it(`get each change once and in order, ${WATCHERS} of them, while the object is evicted, and are limited`, () =>
    Edge.running(text, async (edge) => {
      const { origin } = await edge.miniflare.ready
      await visit(edge)
      const all = await watchers(origin, WATCHERS)
      await visits(edge, 4)
      await sawAll(all, 5)
      for (const value of [9, 13]) {
        await Edge.evict(edge, "shop")
        await visits(edge, 4)
        await sawAll(all, value)
      }
      const later = await watchers(origin, MAX_STREAMS - WATCHERS)
      await Edge.evict(edge, "shop")
      const stream = () => edge.fetch(CELL, { headers: { accept: "text/event-stream" } })
      for (const answer of [await refused(edge), await problem(await stream())]) {
        assert.deepInclude(answer, { status: 429, code: "watch/full" })
        assert.include(answer.detail, `${MAX_STREAMS} streams are open, which is the limit`)
      }
      later[0]?.close()
      // A stream takes the free place as soon as the object hears of it.
      await vi.waitUntil(async () => {
        const { body, status } = await stream()
        await body?.getReader().read()
        return status === 200
      }, PATIENCE)
      assert.deepInclude(await refused(edge), { status: 429, code: "watch/full" })
      assert.isUndefined(all.find(({ closed }) => closed !== undefined))
    }))

  it("are bounded by the bytes of their query, of which the id of an event has two for each character beyond Latin-1", () =>
    Edge.running(text, async (edge) => {
      await visit(edge)
      const { origin } = await edge.miniflare.ready
      const after = (count: number) => `${CELL}?last=${encodeURIComponent("ж".repeat(count))}`
      const most = Math.floor((MAX_ATTACHED - `${CELL}?`.length - READER.length) / 2)
      for (const count of [most + 1, 1500]) {
        const authorization = { authorization: `Bearer ${READER_TOKEN}` }
        assert.deepInclude(await refused(edge, after(count), authorization), { status: 400, code: "query/invalid" })
      }
      const longest = new Watcher(origin, { path: after(most), token: READER_TOKEN })
      await longest.connect()
      await vi.waitUntil(() => longest.seen.length > 0, PATIENCE)
      longest.close()
    }))

  it("go on where they were with the clearance of a reader, and with the longest query", () =>
    Edge.running(text, async (edge) => {
      await visit(edge)
      const { origin } = await edge.miniflare.ready
      const long = (count: number) => `${CELL}?path=/${"x".repeat(count)}`
      const longest = MAX_ATTACHED - long(0).length - READER.length - CURSOR
      assert.deepInclude(await refused(edge, long(MAX_ATTACHED)), { status: 400, code: "query/invalid" })
      const authorization = { authorization: `Bearer ${READER_TOKEN}` }
      assert.deepInclude(await refused(edge, long(longest + 1), authorization), { status: 400, code: "query/invalid" })
      const [reader, deep] =
        [CELL, long(longest)].map((path) => new Watcher(origin, { path, token: READER_TOKEN, isBrowser: path === CELL }))
      if (reader === undefined || deep === undefined) return assert.fail("no watcher")
      await Promise.all([reader.connect(), deep.connect()])
      await sawAll([reader], 1)
      await vi.waitUntil(() => deep.seen.length === 1, PATIENCE)
      await Edge.evict(edge, "shop")
      await visits(edge, 2)
      await sawAll([reader], 3)
      // A cursor is valid for each opening of the space.
      await edge.fetch("/test/reset/shop")
      await vi.waitUntil(() => reader.closed !== undefined, PATIENCE)
      await visits(edge, 2)
      await Promise.all([reader.connect(), deep.connect()])
      await sawAll([reader], 5)
      await visits(edge, 2)
      await sawAll([reader], 7)
      assert.deepStrictEqual(deep.seen.map(({ event }) => event), ["absent"])
    }))

  it("are closed where they confirm nothing of what they got, and miss nothing", () =>
    Edge.running(text, async (edge) => {
      await visit(edge)
      const { origin } = await edge.miniflare.ready
      const path = "/v1/spaces/shop/cells/data/notice"
      const [silent, echoing] = [true, false].map((isBrowser) => new Watcher(origin, { isBrowser, path }))
      if (silent === undefined || echoing === undefined) return assert.fail("no watcher")
      await Promise.all([silent.connect(), echoing.connect()])
      const notices = Array.from({ length: 12 }, (_, n) => `${n} `)
      for (const [n, payload] of notices.entries()) {
        assert.deepInclude((await edge.signal("shop", { signal: "/signals/post", payload })).body, { status: "handled" })
        await vi.waitUntil(() => echoing.seen.length === n + 2, PATIENCE)
        echoing.confirm()
        await vi.waitUntil(() => silent.closed !== undefined || silent.seen.length === n + 2, PATIENCE)
        if (silent.closed === undefined) continue
        assert.strictEqual(silent.closed, 1013)
        await silent.connect()
        await vi.waitUntil(() => silent.seen.length === n + 2, PATIENCE)
      }
      const got = ({ seen }: Watcher) => seen.map(({ data, event }) => event === "absent" ? event : data.slice(1, 4).replaceAll(".", ""))
      for (const watcher of [silent, echoing]) {
        assert.deepStrictEqual(got(watcher).map((text) => text.trim()), ["absent", ...notices.map((text) => text.trim())])
      }
      assert.isUndefined(echoing.closed)
      assert.isAbove(silent.connects, 1)
    }))

  it("of a space that is created again begin anew with their old cursors", () =>
    Edge.running(text, async (edge) => {
      await visits(edge, 2)
      const headers = { authorization: `Bearer ${READER_TOKEN}`, accept: "text/event-stream" }
      const first = async (path: string) => {
        const reader = (await edge.fetch(path, { headers })).body!.pipeThrough(new TextDecoderStream()).getReader()
        let seen = ""
        while (!/event: value\ndata: .*\n\n/.test(seen)) seen += (await reader.read()).value ?? assert.fail(`the stream ended with ${seen}`)
        await reader.cancel()
        return seen.replaceAll(": alive\n\n", "")
      }
      const [, cursor] = /id: ([0-9a-f]{16})\nevent: value\ndata: 2\n/.exec(await first(CELL)) ?? assert.fail("no cursor came")
      await edge.fetch("/v1/spaces/shop", { method: "DELETE" })
      await visits(edge, 2)
      for (const isReset of [false, true]) {
        if (isReset) await edge.fetch("/test/reset/shop")
        const seen = first(`${CELL}?last=${cursor}`)
        // A cursor that is taken for one of this space has the next value alone.
        await visit(edge)
        assert.match(await seen, /^event: reset\ndata: .*\n\nid: [0-9a-f]{16}\nevent: value\ndata: \d\n\n/)
      }
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AccessRefused } from "../../src/access/AccessRefused.ts"
import type { Token } from "../../src/access/Token.ts"
import * as Problem from "../../src/ingress/wire/Problem.ts"
import { detached } from "../../src/ingress/wire/Runner.ts"
import { MAX_STREAMS, StreamQuota, TOKEN_STREAMS } from "../../src/ingress/wire/StreamQuota.ts"
import type { Socket } from "../../src/main/workers/Platform.ts"
import { hosts } from "../../src/main/host/HostLimits.ts"
import { MAX_ATTACHED, Sockets } from "../../src/main/workers/Sockets.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, turns } from "../kernel/TestSpace.ts"

const URL = "http://worker/v1/spaces/shop/cells/data/count"

/** The attachment of a socket without events. */
const FRESH = { url: URL, reader: null, last: null, untaken: 0 }

/** The length of a long text: three of them exceed the limit of a socket. */
const LONG = Math.ceil(hosts.object.socketCharacters / 3)

/** A socket with an attachment, and the texts that it sent. */
const socketOf = (attachment: object) => {
  const sent: Array<string> = []
  const ids: Array<number> = []
  let attached: unknown = attachment
  let closed: number | undefined
  const socket: Socket = {
    send: (text) => {
      const { data, id } = JSON.parse(text) as { readonly data: string; readonly id: number }
      sent.push(data)
      ids.push(id)
    },
    close: (code) => {
      closed = code
    },
    serializeAttachment: (value) => {
      attached = value
    },
    deserializeAttachment: () => attached
  }
  return { socket, sent, ids, closed: () => closed, attached: () => attached as object }
}

/** A token, and the refusals that a store gives for it. */
const token: Token = { id: "00000000", verbs: ["read"], created: 0, expires: 1, digests: [] }
const tokens: { refused: AccessRefused | undefined; get: () => Promise<Token>; refusalOf: () => AccessRefused | undefined } = {
  refused: undefined,
  get: async () => token,
  refusalOf: () => tokens.refused
}

const setup = Effect.gen(function*() {
  const host = yield* RestartableKernel.make([
    enzyme("count", (tx) => tx.increment("/data/count")),
    enzyme("fill", (tx, { payload }) => tx.set("/data/count", String(payload).padEnd(LONG, ".")))
  ])
  const kernel = yield* host.boot({ pace: "demand" })
  const space = yield* kernel.space("shop", { create: true })
  const count = Effect.andThen(space.handled({ signal: "/signals/count" }), turns())
  yield* count
  const fill = (text: string) => Effect.andThen(space.handled({ signal: "/signals/fill", payload: text }), turns())
  const open = (sockets: ReadonlyArray<Socket>, quota = new StreamQuota(0)) =>
    new Sockets({
      state: { acceptWebSocket: () => {}, getWebSockets: () => sockets }, space: "shop", kernel, runner: detached, readers: [],
      quota, tokens, sessions: tokens
    })
  return { count, fill, kernel, open }
})

/** The code of the refusal of a socket. */
const refused = (sockets: Sockets, url: string) =>
  Effect.promise(() => sockets.accept(new Request(url), {}).then(() => "accepted", (failure) => Problem.of(failure).code))

describe("The sockets of an object", () => {
  it.effect("continue after their last event when the object is made anew", () =>
    Effect.gen(function*() {
      const { count, open } = yield* setup
      const before = socketOf(FRESH)
      const sockets = open([before.socket])
      yield* turns()
      yield* count
      assert.deepStrictEqual(before.sent, ["1", "2"])
      sockets.closed(before.socket)
      const after = socketOf(before.attached())
      open([after.socket])
      yield* turns()
      assert.deepStrictEqual(after.sent, [])
      yield* count
      assert.deepStrictEqual([before.sent, after.sent], [["1", "2"], ["3"]])
    }))

  it.effect("close where their client confirms nothing, and continue after the last event that it has", () =>
    Effect.gen(function*() {
      const { fill, open } = yield* setup
      const silent = socketOf(FRESH)
      const echoing = socketOf(FRESH)
      const sockets = open([silent.socket, echoing.socket])
      yield* turns()
      for (const text of ["a", "b", "c"]) {
        yield* fill(text)
        sockets.taken(echoing.socket, String(echoing.ids.at(-1)))
        // An id that was never sent confirms nothing.
        sockets.taken(silent.socket, "99")
      }
      const begin = (texts: ReadonlyArray<string>) => texts.map((text) => text.replace(/^"|\.*"$/g, ""))
      assert.deepStrictEqual([begin(silent.sent), silent.closed()], [["1", "a", "b"], 1013])
      assert.deepStrictEqual([begin(echoing.sent), echoing.closed()], [["1", "a", "b", "c"], undefined])
      assert.deepInclude(echoing.attached(), { untaken: 0 })
      const again = socketOf({ ...silent.attached(), untaken: 0 })
      open([again.socket])
      yield* turns()
      assert.deepStrictEqual([begin(again.sent), again.closed()], [["c"], undefined])
    }))

  it.effect("count what they sent before the object left memory, and send a long event alone", () =>
    Effect.gen(function*() {
      const { fill, open } = yield* setup
      const before = socketOf(FRESH)
      const first = open([before.socket])
      yield* turns()
      first.taken(before.socket, String(before.ids.at(-1)))
      yield* fill("x".repeat(4 * LONG))
      assert.deepStrictEqual([before.sent.length, before.closed()], [2, undefined])
      const [silent, echoing] = [socketOf(before.attached()), socketOf(before.attached())]
      first.closed(before.socket)
      const sockets = open([silent.socket, echoing.socket])
      sockets.taken(echoing.socket, String(before.ids.at(-1)))
      yield* turns()
      yield* fill("a")
      assert.deepStrictEqual([silent.sent, silent.closed()], [[], 1013])
      assert.deepStrictEqual([echoing.sent.length, echoing.closed()], [1, undefined])
    }))

  it.effect("close where their reader is none any more", () =>
    Effect.gen(function*() {
      const { open } = yield* setup
      const { closed, sent, socket } = socketOf({ url: URL, reader: "gone", last: null, untaken: 0 })
      open([socket])
      yield* turns()
      assert.deepStrictEqual([sent, closed()], [[], 1008])
    }))

  it.effect("close as refused where their token is revoked, and as failed where that cannot be known", () =>
    Effect.gen(function*() {
      const { count, open } = yield* setup
      for (const [code, status] of [["auth/revoked", 1008], ["access/unavailable", 1011]] as const) {
        tokens.refused = undefined
        const { closed, sent, socket } = socketOf({ ...FRESH, reader: "sys_00000000", token: token.id })
        open([socket])
        yield* turns()
        assert.deepStrictEqual([sent.length, closed()], [1, undefined])
        tokens.refused = new AccessRefused(code, code)
        yield* count
        assert.deepStrictEqual([sent.length, closed()], [1, status])
      }
    }))

  it.effect("of one token are at most 256", () =>
    Effect.gen(function*() {
      const { open } = yield* setup
      tokens.refused = undefined
      const attached = { ...FRESH, reader: "sys_00000000", token: token.id }
      const sockets = open(Array.from({ length: TOKEN_STREAMS }, () => socketOf(attached).socket))
      const asked = () => sockets.accept(new Request(URL), { token }).then(() => "accepted", (failure) => Problem.of(failure).code)
      assert.strictEqual(yield* Effect.promise(asked), "watch/full")
    }))

  it.effect("are refused for a long query, an unknown path, and beyond their limit", () =>
    Effect.gen(function*() {
      const { open } = yield* setup
      assert.strictEqual(yield* refused(open([]), `${URL}?path=/${"x".repeat(MAX_ATTACHED)}`), "query/invalid")
      assert.strictEqual(yield* refused(open([]), "http://worker/v1/spaces/shop/beats"), "route/absent")
      const many = Array.from({ length: MAX_STREAMS }, () => socketOf(FRESH).socket)
      assert.strictEqual(yield* refused(open(many), URL), "watch/full")
    }))

  it.effect("share the limit with event streams, and free their places however they end", () =>
    Effect.gen(function*() {
      const { kernel, open } = yield* setup
      const quota = new StreamQuota(0)
      for (let n = 2; n < MAX_STREAMS; n++) quota.count(undefined, 1)
      const [left, ended] = [socketOf(FRESH), socketOf(FRESH)]
      const sockets = open([left.socket, ended.socket], quota)
      yield* turns()
      assert.strictEqual(yield* refused(sockets, URL), "watch/full")
      sockets.closed(left.socket)
      // One that is refused for another reason holds no place.
      for (let n = 0; n < 2; n++) assert.strictEqual(yield* refused(sockets, "http://worker/v1/spaces/shop/beats"), "route/absent")
      quota.check(undefined)
      quota.count(undefined, 1)
      assert.strictEqual(yield* refused(sockets, URL), "watch/full")
      yield* kernel.remove("shop")
      yield* turns()
      // Its client asks again, and is told that there is no such space.
      assert.strictEqual(ended.closed(), 1011)
      quota.check(undefined)
    }))
})

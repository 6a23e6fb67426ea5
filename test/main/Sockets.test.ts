import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Problem from "../../src/ingress/Problem.ts"
import { MAX_STREAMS, StreamQuota } from "../../src/ingress/StreamQuota.ts"
import type { Socket } from "../../src/main/workers/Platform.ts"
import { MAX_ATTACHED, Sockets } from "../../src/main/workers/Sockets.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, turns } from "../kernel/TestSpace.ts"

const URL = "http://worker/v1/spaces/shop/cells/data/count"

/** A socket with an attachment, and the texts that it sent. */
const socketOf = (attachment: object) => {
  const sent: Array<string> = []
  let attached: unknown = attachment
  let closed: number | undefined
  const socket: Socket = {
    send: (text) => void sent.push((JSON.parse(text) as { readonly data: string }).data),
    close: (code) => {
      closed = code
    },
    serializeAttachment: (value) => {
      attached = value
    },
    deserializeAttachment: () => attached
  }
  return { socket, sent, closed: () => closed, attached: () => attached as object }
}

const setup = Effect.gen(function*() {
  const host = yield* RestartableKernel.make([enzyme("count", (tx) => tx.increment("/data/count"))])
  const kernel = yield* host.boot({ pace: "demand" })
  const space = yield* kernel.space("shop", { create: true })
  const count = Effect.andThen(space.handled({ signal: "/signals/count" }), turns())
  yield* count
  const open = (sockets: ReadonlyArray<Socket>, quota = new StreamQuota(0)) =>
    new Sockets({ state: { acceptWebSocket: () => {}, getWebSockets: () => sockets }, space: "shop", kernel, readers: [], quota })
  return { count, kernel, open }
})

/** The code of the refusal of a socket. */
const refused = (sockets: Sockets, url: string) =>
  Effect.promise(() => sockets.accept(new Request(url), undefined).then(() => "accepted", (failure) => Problem.of(failure).code))

describe("The sockets of an object", () => {
  it.effect("continue after their last event when the object is made anew", () =>
    Effect.gen(function*() {
      const { count, open } = yield* setup
      const before = socketOf({ url: URL, reader: null, last: null })
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

  it.effect("close where their reader is none any more", () =>
    Effect.gen(function*() {
      const { open } = yield* setup
      const { closed, sent, socket } = socketOf({ url: URL, reader: "gone", last: null })
      open([socket])
      yield* turns()
      assert.deepStrictEqual([sent, closed()], [[], 1008])
    }))

  it.effect("are refused for a long query, an unknown path, and beyond their limit", () =>
    Effect.gen(function*() {
      const { open } = yield* setup
      assert.strictEqual(yield* refused(open([]), `${URL}?path=/${"x".repeat(MAX_ATTACHED)}`), "query/invalid")
      assert.strictEqual(yield* refused(open([]), "http://worker/v1/spaces/shop/beats"), "route/absent")
      const many = Array.from({ length: MAX_STREAMS }, () => socketOf({ url: URL, reader: null, last: null }).socket)
      assert.strictEqual(yield* refused(open(many), URL), "watch/full")
    }))

  it.effect("share the limit with event streams, and free their places however they end", () =>
    Effect.gen(function*() {
      const { kernel, open } = yield* setup
      const quota = new StreamQuota(0)
      for (let n = 2; n < MAX_STREAMS; n++) quota.count(undefined, 1)
      const [left, ended] = [socketOf({ url: URL, reader: null, last: null }), socketOf({ url: URL, reader: null, last: null })]
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

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "../../src/main/workers/Platform.ts"
import { Sockets } from "../../src/main/workers/Sockets.ts"
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
  const open = (sockets: ReadonlyArray<Socket>) =>
    new Sockets({ state: { acceptWebSocket: () => {}, getWebSockets: () => sockets }, space: "shop", kernel, readers: [] })
  return { count, open }
})

const problem = (response: Response) => Effect.promise(async () => (await response.json() as { readonly code: string }).code)

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
      const asked = (sockets: Sockets, url: string) => Effect.promise(() => sockets.accept(new Request(url), undefined))
      assert.strictEqual(yield* problem(yield* asked(open([]), `${URL}?path=/${"x".repeat(1500)}`)), "query/invalid")
      assert.strictEqual(yield* problem(yield* asked(open([]), "http://worker/v1/spaces/shop/beats")), "route/absent")
      const many = Array.from({ length: 1024 }, () => socketOf({ url: URL, reader: null, last: null }).socket)
      assert.strictEqual(yield* problem(yield* asked(open(many), URL)), "watch/full")
    }))
})

import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Sse from "../../src/ingress/wire/Sse.ts"
import type { RequestRefused } from "../../src/ingress/wire/Problem.ts"
import { MAX_STREAMS, RESERVED_STREAMS, StreamQuota } from "../../src/ingress/wire/StreamQuota.ts"
import { test } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

const CELLS = "/v1/spaces/shop/cells"

const idle = Stream.never as Stream.Stream<Sse.Frame>
const textOf = (response: Response) => response.text()

describe("Sse", () => {
  it("writes one event for each frame", async () => {
    const answer = Sse.make(new AbortController().signal)
    const text = await textOf(answer(Stream.make({ id: 1, event: "value", data: "1" }, { id: 4, event: "absent", data: "null" })))
    assert.strictEqual(text.replaceAll(": alive\n\n", ""), "id: 1\nevent: value\ndata: 1\n\nid: 4\nevent: absent\ndata: null\n\n")
  })

  it("sends a problem event for a failure, without details of a defect", async () => {
    const answer = Sse.make(new AbortController().signal)
    const text = await textOf(answer(Stream.fail(new Error("secret"))))
    assert.include(text, "event: problem\ndata: {")
    assert.include(text, "\"code\":\"internal\"")
    assert.notInclude(text, "secret")
  })

  it("ends all streams when the server closes, and later ones at once", async () => {
    const closing = new AbortController()
    const answer = Sse.make(closing.signal)
    const texts = [1, 2, 3].map(() => textOf(answer(idle)))
    closing.abort()
    await Promise.all([...texts, textOf(answer(idle))])
  })

  it.live("limits the number of open streams, and releases the ended ones", () =>
    Effect.promise(async () => {
      const answer = Sse.make(new AbortController().signal)
      for (let round = 0; round < 2; round++) {
        const unread = Array.from({ length: MAX_STREAMS }, () => answer(idle))
        const open = unread.map((response) => {
          const reader = response.body!.getReader()
          return { reader, first: reader.read() }
        })
        await Promise.all(open.map(({ first }, i) => i % 2 === 0 ? undefined : first))
        let refused: unknown
        try {
          answer(idle)
        } catch (error) {
          refused = error
        }
        assert.strictEqual((refused as RequestRefused).code, "watch/full")
        await Promise.all(open.map(({ reader }) => reader.cancel()))
      }
    }))

  it.live("reserves a share of the streams for each reader and for the operator", () =>
    Effect.promise(async () => {
      const answer = Sse.make(new AbortController().signal, { quota: new StreamQuota(2) })
      const share = (MAX_STREAMS - RESERVED_STREAMS) / 2
      const viewer = (name?: string) => name === undefined ? undefined : { name }
      const open = async (reader?: string) => {
        const body = answer(idle, viewer(reader)).body!.getReader()
        const first = body.read()
        await new Promise((resolve) => setTimeout(resolve))
        return { body, first }
      }
      const full = (reader?: string) => {
        try {
          answer(idle, viewer(reader))
          return undefined
        } catch (error) {
          return (error as RequestRefused).code
        }
      }
      const greedy = await Promise.all(Array.from({ length: share }, () => open("greedy")))
      assert.deepStrictEqual([full("greedy"), full("other"), full()], ["watch/full", undefined, undefined])
      const others = await Promise.all(Array.from({ length: share }, () => open("other")))
      assert.deepStrictEqual([full("other"), full()], ["watch/full", undefined])
      const operators = await Promise.all(Array.from({ length: RESERVED_STREAMS }, () => open()))
      assert.strictEqual(full(), "watch/full")
      await Promise.all(greedy.map(({ body }) => body.cancel()))
      assert.deepStrictEqual([full("greedy"), full("other"), full()], [undefined, "watch/full", undefined])
      await Promise.all([...others, ...operators].map(({ body }) => body.cancel()))
    }))

  it("queues one comment for a client that takes nothing", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const reader = Sse.make(new AbortController().signal)(idle).body!.getReader()
      await reader.read()
      let taken = 0
      const count = () => void taken++
      const first = reader.read().then(count)
      for (let time = 0; time < 10; time++) await vi.advanceTimersByTimeAsync(15_000)
      await first
      const queued = [reader.read().then(count), reader.read().then(count), reader.read().then(count)]
      await vi.advanceTimersByTimeAsync(0)
      assert.strictEqual(taken, 2)
      await reader.cancel()
      await Promise.all(queued)
    } finally {
      vi.useRealTimers()
    }
  })

  it("encodes a frame once for all streams that send it", async () => {
    const answer = Sse.make(new AbortController().signal)
    const frame = { id: 1, event: "value", data: "1" }
    const [one, two] = await Promise.all([answer(Stream.make(frame)), answer(Stream.make(frame))].map(async ({ body }) => {
      const reader = body!.getReader()
      for (;;) {
        const { value } = await reader.read()
        if (value !== undefined && value[0] !== 58) return value
      }
    }))
    assert.strictEqual(one, two)
  })

  test("goes on after the event of ?last=, unless the header names a later one", async ({ close, fetch, put }) => {
    for (const value of [1, 2, 3]) await put(`${CELLS}/data/a`, value)
    const first = async (path: string, headers = {}) => {
      const body = (await fetch(path, { headers: { accept: "text/event-stream", ...headers } })).body!
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      const text = await StreamText.until(reader, /^id: .*$/m)
      await reader.cancel()
      return /^id: (.*)$/m.exec(text)?.[1]
    }
    assert.strictEqual(await first(`${CELLS}/data/a?last=0`), "1")
    assert.strictEqual(await first(`${CELLS}/data/a?last=0`, { "last-event-id": "1" }), "2")
    assert.strictEqual(await first("/v1/spaces/shop/beats?from=0&last=1"), "2")
    close()
  })
})

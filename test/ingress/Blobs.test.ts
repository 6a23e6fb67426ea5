import { assert, describe, it, vi } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { createHash } from "node:crypto"
import { MAX_BLOB_BYTES } from "../../src/ingress/route/Blobs.ts"
import { detached } from "../../src/ingress/wire/Runner.ts"
import { MAX_PARTS, MAX_PART_MILLIS, Transfers } from "../../src/ingress/wire/Transfers.ts"
import { problem, signal, signals, test } from "./TestIngress.ts"

const blobs = "/v1/spaces/shop/blobs"
const bytes = new Uint8Array(2_500_000).map((_, i) => i % 251)
const digest = createHash("sha256").update(bytes).digest("hex")
const part = 1_048_576

describe("Content over HTTP", () => {
  test("is served by ranges", async ({ ask, fetch }) => {
    await ask(blobs, { method: "PUT", body: bytes })
    const get = async (range: string, headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${blobs}/${digest}`, { headers: { range, ...headers } })
      return {
        status: response.status,
        range: response.headers.get("content-range"),
        length: response.headers.get("content-length"),
        body: new Uint8Array(await response.arrayBuffer())
      }
    }
    for (const [range, from, to] of [
      ["bytes=0-0", 0, 0], ["bytes=5-9", 5, 9], [`bytes=${part - 2}-${part + 1}`, part - 2, part + 1],
      ["bytes=2499990-", 2_499_990, 2_499_999], ["bytes=-10", 2_499_990, 2_499_999], ["bytes=0-99999999", 0, 2_499_999],
      ["bytes=-99999999", 0, 2_499_999]
    ] as const) {
      const found = await get(range)
      assert.deepStrictEqual([found.status, found.range, found.length], [206, `bytes ${from}-${to}/2500000`, String(to - from + 1)], range)
      assert.deepStrictEqual(found.body, bytes.subarray(from, to + 1), range)
    }
    for (const range of ["bytes=9-5", "bytes=-", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b"]) {
      const { body, range: shown, status } = await get(range)
      assert.deepStrictEqual([status, shown, body.length], [200, null, bytes.length], range)
    }
    for (const range of ["bytes=2500000-", "bytes=-0"]) {
      const refused = await ask(`${blobs}/${digest}`, { headers: { range } })
      assert.deepStrictEqual(problem(refused), [416, "blob/range"], range)
      assert.strictEqual(refused.headers.get("content-range"), "bytes */2500000")
    }
    assert.strictEqual((await get("bytes=0-1", { "if-range": `"${digest}"` })).status, 206)
    for (const other of [`W/"${digest}"`, "\"other\"", "Sun, 06 Nov 1994 08:49:37 GMT"]) {
      assert.strictEqual((await get("bytes=0-1", { "if-range": other })).status, 200, other)
    }
    const head = await fetch(`${blobs}/${digest}`, { method: "HEAD", headers: { range: "bytes=0-1" } })
    assert.deepStrictEqual([head.status, head.headers.get("content-length"), head.headers.get("accept-ranges")], [200, "2500000", "bytes"])
    assert.strictEqual((await fetch(`${blobs}/${digest}`, { headers: { "if-none-match": `"x", "${digest}"` } })).status, 304)
  })

  test("is read part by part, as the client consumes it", async ({ ask, fetch, kernel }) => {
    await ask(blobs, { method: "PUT", body: bytes })
    const space = await Effect.runPromise(kernel.space("shop"))
    const asked: Array<number> = []
    const { blobPart } = space
    Object.assign(space, { blobPart: (hash: string, number: number) => (asked.push(number), blobPart.call(space, hash, number)) })
    const reader = (await fetch(`${blobs}/${digest}`)).body!.getReader()
    /** Waits until so many parts were asked for, and for the turns in which another one would be. */
    const settled = async (count: number) => {
      await vi.waitUntil(() => asked.length >= count, { timeout: 120_000, interval: 1 })
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    await settled(1)
    assert.deepStrictEqual(asked, [0], "its first bytes tell its type")
    const sizes: Array<number> = []
    for (let n = 1; n <= 3; n++) {
      sizes.push((await reader.read()).value!.length)
      await settled(n + 1)
      assert.strictEqual(asked.length, n + 1)
    }
    assert.deepStrictEqual([sizes, asked], [[part, part, 2_500_000 - 2 * part], [0, 0, 1, 2]])
    assert.isTrue((await reader.read()).done)
  })
})

describe("Content", () => {
  test("stores content under its digest, immutable", async ({ ask, fetch, kernel }) => {
    const { body, headers, status } = await ask(blobs, { method: "PUT", body: bytes })
    assert.deepStrictEqual([status, headers.get("location")], [201, `${blobs}/${digest}`])
    assert.deepStrictEqual(body, { hash: digest, address: `/cas/${digest}`, size: bytes.length, link: `${blobs}/${digest}` })
    const response = await fetch(`${blobs}/${digest}`)
    assert.deepStrictEqual(new Uint8Array(await response.arrayBuffer()), bytes)
    assert.strictEqual(response.headers.get("content-type"), "application/octet-stream")
    assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
    assert.include(response.headers.get("cache-control"), "immutable")
    assert.strictEqual((await fetch(`${blobs}/${digest}`, { headers: { "if-none-match": `"${digest}"` } })).status, 304)
    const space = await Effect.runPromise(kernel.space("shop"))
    assert.deepStrictEqual(await Effect.runPromise(space.blob(digest)), bytes)
  })

  test("answers a read of a large content cell with a link to its bytes", async ({ ask }) => {
    const { address, link } = (await ask(blobs, { method: "PUT", body: new Uint8Array(65_537) })).body as { address: string; link: string }
    const answer = await ask(`/v1/spaces/shop/cells${address}`)
    assert.deepStrictEqual(problem(answer), [400, "cell/content"])
    assert.include(JSON.stringify(answer.body), link)
  })

  test("stores empty content", async ({ ask, fetch }) => {
    const { body } = await ask(blobs, { method: "PUT", body: new Uint8Array() })
    const response = await fetch((body as { link: string }).link)
    assert.deepStrictEqual([response.status, (await response.arrayBuffer()).byteLength], [200, 0])
  })

  test("detects the media type of common images only", async ({ ask, fetch }) => {
    const typeOf = async (begin: string) => {
      const { body } = await ask(blobs, { method: "PUT", body: Uint8Array.from(begin, (letter) => letter.charCodeAt(0)) })
      return (await fetch((body as { link: string }).link)).headers.get("content-type")
    }
    assert.strictEqual(await typeOf("\xff\xd8\xff\xe0 photo"), "image/jpeg")
    assert.strictEqual(await typeOf("\x89PNG\r\n\x1a\n photo"), "image/png")
    assert.strictEqual(await typeOf("GIF89a photo"), "image/gif")
    assert.strictEqual(await typeOf("RIFF    WEBP"), "image/webp")
    assert.strictEqual(await typeOf("<svg onload=alert(1)>"), "application/octet-stream")
    assert.strictEqual(await typeOf("<html>"), "application/octet-stream")
  })

  test("stops reading content above the limit and stores no part of it", async ({ ask }) => {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1_048_576
        controller.enqueue(new Uint8Array(1_048_576))
      }
    }, { highWaterMark: 0 })
    const init: RequestInit & { readonly duplex: "half" } = { method: "PUT", body, duplex: "half" }
    assert.deepStrictEqual(problem(await ask(blobs, init)), [413, "body/too-large"])
    assert.isAtMost(sent, MAX_BLOB_BYTES + 4 * 1_048_576)
  })

  test("answers 404 for unknown content", async ({ ask, post }) => {
    await post(signals, signal)
    assert.deepStrictEqual(problem(await ask(`${blobs}/${digest}`)), [404, "blob/absent"])
    assert.deepStrictEqual(problem(await ask(`${blobs}/nonsense`)), [404, "blob/absent"])
  })
})

describe("Transfers", () => {
  const piece = new Uint8Array(10)
  const open = (transfers: Transfers) => transfers.body(() => Effect.succeed(piece), { from: 0, to: 99 }).getReader()
  const read = (reader: ReadableStreamDefaultReader<Uint8Array>) => Effect.promise(() => reader.read())

  it.live("release their parts at the end and when a client disconnects", () =>
    Effect.gen(function*() {
      const transfers = new Transfers({ runner: detached })
      const [one, two] = [open(transfers), open(transfers)]
      assert.strictEqual(transfers.inFlight, 0)
      yield* Effect.all([read(one), read(two)])
      assert.strictEqual(transfers.inFlight, 2)
      yield* Effect.promise(() => one.cancel())
      assert.strictEqual(transfers.inFlight, 1)
      while (!(yield* read(two)).done);
      assert.strictEqual(transfers.inFlight, 0)
    }))

  it.live("wait beyond the limit until a part is released", () =>
    Effect.gen(function*() {
      const transfers = new Transfers({ runner: detached })
      const slow = Array.from({ length: MAX_PARTS }, () => open(transfers))
      yield* Effect.all(slow.map(read))
      const late = open(transfers)
      const waiting = yield* Effect.forkChild(read(late), { startImmediately: true })
      yield* Effect.sleep(20)
      assert.isUndefined(waiting.pollUnsafe())
      assert.strictEqual(transfers.inFlight, MAX_PARTS)
      yield* Effect.promise(() => slow[7]!.cancel())
      assert.strictEqual((yield* Fiber.join(waiting)).value?.length, 10)
      assert.strictEqual(transfers.inFlight, MAX_PARTS)
    }))

  it.live("abort a slow client while another waits", () =>
    Effect.gen(function*() {
      let now = 0
      const base = yield* Clock.Clock
      const sleep = () => Effect.andThen(Effect.sync(() => void (now += MAX_PART_MILLIS / 4)), Effect.yieldNow)
      const clock: Clock.Clock = { ...base, currentTimeMillisUnsafe: () => now, sleep }
      const transfers = new Transfers({ clock, runner: detached })
      const slow = Array.from({ length: MAX_PARTS }, () => open(transfers))
      yield* Effect.all(slow.map(read))
      assert.strictEqual(now, 0, "no time is looked at where none waits")
      const late = open(transfers)
      assert.strictEqual((yield* read(late)).value?.length, 10)
      assert.strictEqual(now, MAX_PART_MILLIS)
      assert.include(yield* Effect.flip(Effect.tryPromise({ try: () => slow[0]!.read(), catch: String })), "was broken off")
      assert.strictEqual((yield* read(slow[1]!)).value?.length, 10)
      assert.strictEqual(transfers.inFlight, MAX_PARTS)
    }))
})

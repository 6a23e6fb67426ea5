import { assert, describe, it } from "@effect/vitest"
import * as Body from "../../src/ingress/wire/Body.ts"
import type { RequestRefused } from "../../src/ingress/wire/Problem.ts"

const url = "http://localhost/"
const post = (body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
  new Request(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } })

/** A chunked body without a declared length, which counts the consumed chunks. */
const pieces = (count: number, piece: Uint8Array<ArrayBuffer>) => {
  let taken = 0
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      if (taken === count) return controller.close()
      taken++
      controller.enqueue(piece)
    }
  }, { highWaterMark: 0 })
  const init: RequestInit & { readonly duplex: "half" } =
    { method: "POST", body: stream, duplex: "half", headers: { "content-type": "application/json" } }
  return { request: new Request(url, init), taken: () => taken }
}

const refusal = async (request: Request): Promise<string> => {
  try {
    await Body.json(request)
    return "accepted"
  } catch (error) {
    return (error as RequestRefused).code
  }
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

describe("Body", () => {
  describe("json", () => {
    it("reads JSON with and without a declared length", async () => {
      assert.deepStrictEqual(await Body.json(post(`{"a":["ü",1]}`)), { a: ["ü", 1] })
      assert.deepStrictEqual(await Body.json(post("[1]", { "content-length": "3" })), [1])
      const text = new TextEncoder().encode("1")
      assert.strictEqual(await Body.json(pieces(3, text).request), 111)
    })

    it("requires a JSON media type", async () => {
      assert.strictEqual(await refusal(post("1", { "content-type": "text/plain" })), "body/media-type")
      assert.strictEqual(await refusal(post("1", { "content-type": "application/jsonp" })), "body/media-type")
      assert.strictEqual(await refusal(post("1", { "content-type": "application/json; charset=utf-8" })), "accepted")
      assert.strictEqual(await refusal(post("1", { "content-type": "application/cloudevents+json" })), "accepted")
    })

    it("refuses a body that is not JSON in UTF-8", async () => {
      assert.strictEqual(await refusal(post("{\"a\":")), "body/malformed")
      assert.strictEqual(await refusal(post("")), "body/malformed")
      assert.strictEqual(await refusal(post(new Uint8Array([0x22, 0xff, 0x22]))), "body/malformed")
    })

    it("refuses a body whose numbers would change, with the place and a remedy, and one with a key twice", async () => {
      assert.strictEqual(await refusal(post(`{"payload":{"id":616581622363398142}}`)), "body/number")
      assert.strictEqual(await refusal(post("[1e999]")), "body/number")
      assert.strictEqual(await refusal(post(`{"payload":{"id":"616581622363398142","rate":0.12345678901234567}}`)), "accepted")
      assert.strictEqual(await refusal(post(`{"id":"a","id":"b"}`)), "body/key")
    })

    it("refuses a byte order mark", async () => {
      assert.strictEqual(await refusal(post(new Uint8Array([0xef, 0xbb, 0xbf, 0x31]))), "body/malformed")
    })

    it("accepts a body of exactly the limit and refuses one more byte", async () => {
      const text = (size: number) => `"${"a".repeat(size - 2)}"`
      assert.strictEqual(await refusal(post(text(Body.MAX_JSON_BYTES))), "accepted")
      assert.strictEqual(await refusal(post(text(Body.MAX_JSON_BYTES + 1))), "body/too-large")
    })

    it("refuses a declared length over the limit without reading", async () => {
      const { request, taken } = pieces(10, new Uint8Array(1))
      request.headers.set("content-length", String(Body.MAX_JSON_BYTES + 1))
      assert.strictEqual(await refusal(request), "body/too-large")
      assert.strictEqual(taken(), 0)
    })

    it("stops reading a chunked body at the limit", async () => {
      const { request, taken } = pieces(1000, new Uint8Array(Body.MAX_JSON_BYTES / 4))
      assert.strictEqual(await refusal(request), "body/too-large")
      assert.isAtMost(taken(), 6)
    })

    it("reports a truncated body", async () => {
      const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("the connection was closed")) })
      const init: RequestInit & { readonly duplex: "half" } =
        { method: "POST", body, duplex: "half", headers: { "content-type": "application/json" } }
      assert.strictEqual(await refusal(new Request(url, init)), "body/malformed")
      const declared =
        new Request(url, { ...init, body: new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("closed")) }) })
      declared.headers.set("content-length", "10")
      assert.strictEqual(await refusal(declared), "body/malformed")
    })

    it("refuses a deeply nested body before it is parsed", async () => {
      assert.strictEqual(await refusal(post(nested(64))), "accepted")
      assert.strictEqual(await refusal(post(nested(65))), "body/too-deep")
      assert.strictEqual(await refusal(post("[".repeat(100_000))), "body/too-deep")
    })
  })
})

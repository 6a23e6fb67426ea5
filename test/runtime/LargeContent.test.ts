import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import type { R2Bucket } from "../../plugins/bucket/R2Store.ts"
import * as Edge from "./Edge.ts"

const page = { prefix: "", limit: 100 }
const blobs = "/v1/spaces/shop/blobs"

describe("Large content of a Worker", () => {
  it("is stored in its R2 bucket, is served from there, and goes with its space", async () => {
    const bytes = new Uint8Array(34_000_000).map((_, i) => i % 251)
    const digest = createHash("sha256").update(bytes).digest("hex")
    await Edge.running(await Edge.script("./test/runtime/content.ts"), async ({ fetch, miniflare }) => {
      const stored = await fetch(blobs, { method: "PUT", body: bytes, headers: { "content-length": String(bytes.length) } })
      assert.deepStrictEqual([stored.status, await stored.json()], [201, {
        hash: digest, address: `/cas/${digest}`, size: bytes.length, link: `${blobs}/${digest}`
      }])
      const bucket = await miniflare.getR2Bucket("CONTENT") as unknown as R2Bucket
      const { objects } = await bucket.list(page)
      assert.lengthOf(objects, 10)
      for (const { key } of objects) assert.match(key, /^live\/shop\/[0-9a-f]{32}\/(?:content|part)-[0-9a-f]+$/)
      const whole = await (await fetch(`${blobs}/${digest}`)).arrayBuffer()
      assert.strictEqual(createHash("sha256").update(new Uint8Array(whole)).digest("hex"), digest)
      const part = await fetch(`${blobs}/${digest}`, { headers: { range: "bytes=33999990-" } })
      assert.deepStrictEqual([part.status, new Uint8Array(await part.arrayBuffer())], [206, bytes.slice(-10)])
      assert.strictEqual((await fetch("/v1/spaces/shop", { method: "DELETE" })).status, 200)
      assert.lengthOf((await bucket.list(page)).objects, 0)
    }, { r2Buckets: ["CONTENT"] })
  })
})

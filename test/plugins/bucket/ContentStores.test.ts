import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Miniflare } from "miniflare"
import process from "node:process"
import type { ContentStore, ListedObject } from "systole"
import bucket from "systole/plugins/bucket"
import { current } from "../../scripts/Host.ts"
import { LocalServers } from "../http/LocalServer.ts"
import * as BucketServer from "../s3/BucketServer.ts"

const servers = new LocalServers()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

beforeEach(() => {
  process.env["SYSTOLE_S3_ID"] = BucketServer.account.accessKeyId
  process.env["SYSTOLE_S3_SECRET"] = BucketServer.account.secretAccessKey
})

afterEach(() => {
  delete process.env["SYSTOLE_S3_ID"]
  delete process.env["SYSTOLE_S3_SECRET"]
  return servers.close()
})

const open = (options: Readonly<Record<string, unknown>>, bindings: Readonly<Record<string, unknown>> = {}): ContentStore => {
  const place = { id: "content", root: import.meta.dirname, folder: import.meta.dirname, host: current() }
  const store = bucket.provides.content?.({ ...place, options, bindings })
  assert.isDefined(store)
  return store
}

const keys = { accessKeyId: { env: "SYSTOLE_S3_ID" }, secretAccessKey: { env: "SYSTOLE_S3_SECRET" } }

/** All objects of a space, page by page. */
const all = async (store: ContentStore, prefix: string): Promise<ReadonlyArray<ListedObject>> => {
  const objects: Array<ListedObject> = []
  for (let more = true; more;) {
    const page = await store.list(prefix, objects.at(-1)?.key ?? "")
    objects.push(...page.objects)
    more = page.more
  }
  return objects
}

/** The contract of a content store. */
const holds = async (store: ContentStore): Promise<void> => {
  assert.isUndefined(await store.get("shop/a/part-000000"))
  for (const key of ["shop/b/part-000000", "shop/a/part-000001", "shop/a/part-000000", "shop/a/content-f", "shopping/a/part-000000"]) {
    await store.put(key, bytes(`of ${key}`))
  }
  await store.put("shop/a/part-000001", bytes("anew"))
  await store.put("shop/b/content-0", new Uint8Array())
  assert.deepStrictEqual(await store.get("shop/a/part-000001"), bytes("anew"))
  assert.deepStrictEqual(await store.get("shop/b/content-0"), new Uint8Array())
  const found = await all(store, "shop/")
  const names = ["a/content-f", "a/part-000000", "a/part-000001", "b/content-0", "b/part-000000"].map((name) => `shop/${name}`)
  assert.deepStrictEqual(found.map(({ key }) => key), names)
  for (const { modified } of found) assert.isAbove(modified, 1_300_000_000_000)
  assert.deepStrictEqual((await store.list("shop/", "shop/b/content-0")).objects.map(({ key }) => key), ["shop/b/part-000000"])
  for (let time = 0; time < 2; time++) await store.delete(["shop/a/part-000000", "shop/b/part-000000", "shop/a/unknown"])
  await store.delete([])
  assert.isUndefined(await store.get("shop/a/part-000000"))
  assert.deepStrictEqual((await all(store, "shop/")).map(({ key }) => key), ["shop/a/content-f", "shop/a/part-000001", "shop/b/content-0"])
  assert.deepStrictEqual((await store.list("absent/", "")), { objects: [], more: false })
  // The name of a space is the end of the name of an upload.
  await store.put("a/ba/part-000000", bytes("part"))
  assert.deepStrictEqual((await all(store, "a/")).map(({ key }) => key), ["a/ba/part-000000"])
}

/** The failure of a call. */
const failure = (call: Promise<unknown>): Promise<Error> => call.then(() => assert.fail("it succeeded"), (error: Error) => error)

describe("The content store bucket", () => {
  it.each(["", "live/", "shop/", "a&b/a/"])("keeps objects over S3 with signed requests, below the prefix %j", async (prefix) => {
    const { objects, url } = await BucketServer.start(servers)
    await holds(open({ endpoint: url, bucket: "box", prefix, ...keys }))
    assert.include([...objects.keys()], `/box/${prefix.replace("&", "%26")}shop/b/content-0`)
  })

  it("keeps objects in an R2 bucket of workerd, below a prefix", async () => {
    const miniflare = new Miniflare({ modules: true, script: "export default {}", cf: false, r2Buckets: ["CONTENT"] })
    try {
      const CONTENT = await miniflare.getR2Bucket("CONTENT")
      for (const prefix of ["", "live/"]) await holds(open({ binding: "CONTENT", prefix }, { CONTENT }))
    } finally {
      await miniflare.dispose()
    }
  })

  it("tells a refusal of the bucket, and repeats a failure that may be over soon", async () => {
    const { url } = await BucketServer.start(servers)
    process.env["SYSTOLE_S3_SECRET"] = "another"
    const refused = await failure(open({ endpoint: url, bucket: "box", ...keys }).get("shop/a/b"))
    assert.strictEqual(refused.message, `${url} answered with 403 (SignatureDoesNotMatch), and 2xx is expected`)
    const busy = await servers.http((_, response) => void response.writeHead(503).end())
    const failed = await failure(open({ endpoint: busy.url, bucket: "box", ...keys }).put("shop/a/b", bytes("text")))
    assert.strictEqual(failed.message, `${busy.url} answered with 503, and 2xx is expected`)
    assert.lengthOf(busy.seen, 3)
  })

  it("deletes 1,000 objects with one request, and tells those that are left", async () => {
    const { objects, seen, url } = await BucketServer.start(servers)
    const store = open({ endpoint: url, bucket: "box", ...keys })
    const names = Array.from({ length: 1000 }, (_, n) => `shop/a/part-${String(n).padStart(6, "0")}`)
    for (const name of names) objects.set(`/box/${name}`, { body: "", type: "" })
    for (const name of names.slice(0, 2)) objects.set(`/box/${name}`, { body: "", type: "locked" })
    const { message } = await failure(store.delete(names))
    assert.strictEqual(message, `${url} did not delete the object shop/a/part-000000 (AccessDenied) and 1 more`)
    assert.deepStrictEqual([seen.length, objects.size], [1, 2])
    const busy = await servers.http((_, response) => {
      response.end("<DeleteResult><Error><Key>shop/a</Key><Code>SlowDown</Code></Error></DeleteResult>")
    })
    const failed = await failure(open({ endpoint: busy.url, bucket: "box", ...keys }).delete(["shop/a"]))
    assert.deepStrictEqual([failed.message, busy.seen.length], [`${busy.url} did not delete the object shop/a (SlowDown)`, 3])
  })

  it("reads a hostile list in proportion to its length, and keeps what no entity is", async () => {
    const lists = [
      "<Contents>".repeat(400_000),
      "<Contents><Key>".repeat(250_000),
      `<Contents><Key>shop/&#x7ffffff;&bogus;</Key><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`
    ]
    const server = await servers.http((_, response) => void response.end(lists.shift()))
    const store = open({ endpoint: server.url, bucket: "box", ...keys })
    for (let n = 0; n < 2; n++) assert.deepStrictEqual((await store.list("shop/", "")).objects, [])
    assert.deepStrictEqual((await store.list("shop/", "")).objects.map(({ key }) => key), ["shop/&#x7ffffff;&bogus;"])
  })

  it("ends each operation of an R2 bucket that hangs", async () => {
    const never = () => new Promise<never>(() => {})
    const body = { get: async () => ({ arrayBuffer: never }) }
    const stores = [{ put: never, get: never, delete: never, list: never }, { put: never, delete: never, list: never, ...body }]
      .map((CONTENT) => open({ binding: "CONTENT", timeoutMs: 1 }, { CONTENT }))
    const calls = stores.flatMap((store) =>
      [store.put("shop/a", bytes("text")), store.get("shop/a"), store.delete(["shop/a"]), store.list("shop/", "")])
    for (const call of calls) assert.propertyVal(await failure(call), "code", "io/timeout")
  })

  it("refuses options without a bucket, a key or a binding", () => {
    assert.throws(() => open({ binding: "CONTENT" }), /its binding "CONTENT" is no R2 bucket of this Worker.*"r2_buckets"/)
    assert.throws(() => open({ binding: "a b" }, { "a b": {} }), /the name of an R2 binding is expected/)
    delete process.env["SYSTOLE_S3_SECRET"]
    const noSecret = () => open({ endpoint: "https://s3.example.com", bucket: "box", ...keys })
    assert.throws(noSecret, /names the variable SYSTOLE_S3_SECRET, which is not set/)
  })
})

import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import process from "node:process"
import { type Channel, Redacted, type Value } from "systole"
import s3 from "systole/plugins/s3"
import * as ObjectChannel from "../../../plugins/s3/ObjectChannel.ts"
import * as Signature from "../../../plugins/s3/Signature.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import { LocalServers } from "../http/LocalServer.ts"
import * as BucketServer from "./BucketServer.ts"

const servers = new LocalServers()

/** The time of the examples of AWS: 24 May 2013. */
const NOW = 1_369_353_600_000

beforeEach(() => {
  process.env["SYSTOLE_S3_ID"] = BucketServer.account.accessKeyId
  process.env["SYSTOLE_S3_SECRET"] = `${BucketServer.account.secretAccessKey}\n`
})

afterEach(() => {
  delete process.env["SYSTOLE_S3_ID"]
  delete process.env["SYSTOLE_S3_SECRET"]
  return servers.close()
})

const settingsOf = (options: Readonly<Record<string, unknown>>) => ({
  id: "objects",
  root: import.meta.dirname,
  folder: import.meta.dirname,
  host: current(),
  options: { accessKeyId: { env: "SYSTOLE_S3_ID" }, secretAccessKey: { env: "SYSTOLE_S3_SECRET" }, bucket: "box", ...options }
})

const channelOf = (options: Readonly<Record<string, unknown>>): Channel.Definition =>
  ObjectChannel.define(settingsOf(options), { now: () => NOW })

const value = async (channel: Channel.Definition, job: TestJob.TestJob): Promise<unknown> => (await TestJob.run(channel, job)).value

/** The value of `s3_presign`. */
interface Presigned {
  readonly url: string
  readonly until: number
}

describe("The signature of S3 requests", () => {
  const { accessKeyId, secretAccessKey } = BucketServer.account
  const credentials = { accessKeyId, secretAccessKey: Redacted.make(secretAccessKey), region: "us-east-1" }
  const bucket = "https://examplebucket.s3.amazonaws.com"

  it("is the one that the documentation of AWS shows for a PUT with headers and a body", async () => {
    const headers = await Signature.sign(credentials, {
      method: "PUT",
      url: `${bucket}/test%24file.text`,
      headers: [["date", "Fri, 24 May 2013 00:00:00 GMT"], ["x-amz-storage-class", "REDUCED_REDUNDANCY"]],
      body: new TextEncoder().encode("Welcome to Amazon S3.")
    }, NOW)
    const authorization = headers.find(([name]) => name === "authorization")?.[1]
    assert.include(authorization, "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  })

  it("is the one that the documentation shows for a presigned GET", async () => {
    const url = new URL(await Signature.presign(credentials, { method: "GET", url: `${bucket}/test.txt`, seconds: 86_400 }, NOW))
    assert.strictEqual(
      url.searchParams.get("X-Amz-Signature"),
      "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )
  })
})

describe("The channel s3", () => {
  it("puts, describes, gets and deletes an object of its space", async () => {
    const { objects, url } = await BucketServer.start(servers)
    const channel = channelOf({ endpoint: url, prefix: "live/" })
    const key = "bills/an é + (1).txt"
    const put = await value(channel, TestJob.make("s3_put", { key, body: "hello", type: "text/plain" }))
    assert.deepStrictEqual(put, { key, bytes: 5, etag: "\"1\"" })
    assert.deepStrictEqual([...objects.keys()], ["/box/live/shop/bills/an%20%C3%A9%20%2B%20%281%29.txt"])
    const found = { key, found: true, type: "text/plain", etag: "\"1\"", bytes: 5 }
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_head", { key })), found)
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_get", { key })), { ...found, body: "hello" })
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_get", { key }, { space: "other" })), { key, found: false })
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_delete", { key })), { key })
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_delete", { key })), { key })
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_get", { key })), { key, found: false })
    assert.deepStrictEqual(await value(channel, TestJob.make("s3_head", { key })), { key, found: false })
  })

  it("moves content of the space to the bucket and back", async () => {
    const { url } = await BucketServer.start(servers)
    const channel = channelOf({ endpoint: url })
    const contents = new Map<string, Uint8Array>()
    const content = TestJob.add(contents, new TextEncoder().encode("x".repeat(100_000)))
    assert.deepInclude(await value(channel, TestJob.make("s3_put", { key: "big", content }, { contents })), { bytes: 100_000 })
    const kept = new Map<string, Uint8Array>()
    assert.deepInclude(await value(channel, TestJob.make("s3_get", { key: "big" }, { contents: kept })), { content, bytes: 100_000 })
    assert.isTrue(kept.has(content))
    const absent = `/cas/${"0".repeat(64)}`
    assert.deepInclude(await TestJob.failure(channel, TestJob.make("s3_put", { key: "big", content: absent })), { code: "io/absent" })
    const limited = await TestJob.failure(channel, TestJob.make("s3_get", { key: "big", maxBytes: 99_999 }))
    assert.deepInclude(limited, { code: "http/size" })
  })

  it("presigns URLs with which a client moves an object past the space", async () => {
    const { objects, url } = await BucketServer.start(servers)
    const channel = channelOf({ endpoint: url })
    const put = await value(channel, TestJob.make("s3_presign", { key: "a/b", method: "PUT", seconds: 60 })) as Presigned
    assert.strictEqual(put.until, NOW + 60_000)
    assert.strictEqual((await fetch(put.url, { method: "PUT", body: "sent by a client" })).status, 200)
    assert.strictEqual(objects.get("/box/shop/a/b")?.body, "sent by a client")
    assert.strictEqual((await fetch(put.url.replace("a/b", "a/c"), { method: "PUT", body: "" })).status, 403)
    const get = await value(channel, TestJob.make("s3_presign", { key: "a/b", method: "GET", seconds: 60 })) as Presigned
    assert.strictEqual(await (await fetch(get.url)).text(), "sent by a client")
  })

  it("fails with the status and the code of the store, and never shows the secret", async () => {
    const { url } = await BucketServer.start(servers)
    process.env["SYSTOLE_S3_SECRET"] = "another-secret"
    const failure = await TestJob.failure(channelOf({ endpoint: url }), TestJob.make("s3_get", { key: "a" }))
    assert.deepInclude(failure, { code: "s3/status", retryable: false })
    assert.strictEqual(failure.message, `Request R1: ${url} answered with 403 (SignatureDoesNotMatch), and 2xx is expected`)
  })

  it.each([
    ["s3_put", 503, true], ["s3_get", 500, true], ["s3_delete", 429, true], ["s3_head", 301, false], ["s3_get", 404, false]
  ] as const)(
    "%s with the status %i: retryable is %s",
    async (opcode, status, retryable) => {
      const { url } = await servers.http((_, response) => response.writeHead(status).end("<Error><Code>NoSuchBucket</Code></Error>"))
      const payload = opcode === "s3_put" ? { key: "a", body: "" } : { key: "a" }
      const failure = await TestJob.failure(channelOf({ endpoint: url }), TestJob.make(opcode, payload))
      assert.deepInclude(failure, { code: "s3/status", retryable })
    }
  )

  it("keeps the wait for which a bucket asks", async () => {
    const { url } = await servers.http((_, response) => response.writeHead(503, { "retry-after": "5" }).end())
    const failure = await TestJob.failure(channelOf({ endpoint: url }), TestJob.make("s3_get", { key: "a" }))
    assert.deepInclude(failure, { code: "s3/status", retryAfterMs: 5_000 })
  })

  it("ends with its deadline and with its job", async () => {
    const { url } = await servers.http(() => {})
    const channel = channelOf({ endpoint: url, timeoutMs: 20 })
    assert.deepInclude(await TestJob.failure(channel, TestJob.make("s3_get", { key: "a" })), { code: "io/timeout", retryable: true })
    const job = TestJob.make("s3_get", { key: "a" })
    job.abort()
    assert.deepInclude(await TestJob.failure(channelOf({ endpoint: url }), job), { code: "io/cancelled" })
  })

  it.each<readonly [string, string, Value]>([
    ["key", "s3_get", {}], ["key", "s3_get", { key: "" }], ["key", "s3_get", { key: "a/../../other/b" }], ["key", "s3_get", { key: "." }],
    ["512", "s3_get", { key: "é".repeat(257) }], ["content", "s3_put", { key: "a", content: "/data/a" }],
    ["either", "s3_put", { key: "a" }], ["either", "s3_put", { key: "a", body: "", content: `/cas/${"0".repeat(64)}` }],
    ["type", "s3_put", { key: "a", body: "", type: "a\nb" }], ["method", "s3_presign", { key: "a", method: "DELETE", seconds: 1 }],
    ["604800", "s3_presign", { key: "a", method: "GET", seconds: 604_801 }], ["maxBytes", "s3_get", { key: "a", maxBytes: 33_554_433 }],
    ["s3_put", "s3_list", {}]
  ])("refuses an invalid payload, and names %s", async (part, opcode, payload) => {
    const failure = await TestJob.failure(channelOf({ endpoint: "http://127.0.0.1:1" }), TestJob.make(opcode, payload))
    assert.deepInclude(failure, { code: "io/invalid", errno: -22, retryable: false })
    assert.include(failure.message, part)
  })

  it.each([
    ["endpoint", {}], ["endpoint", { endpoint: "https://s3.test/path" }], ["bucket", { endpoint: "https://s3.test", bucket: "a/b" }],
    ["region", { endpoint: "https://s3.test", region: "a b" }],
    ["prefix", { endpoint: "https://s3.test", prefix: "../" }], ["prefix", { endpoint: "https://s3.test", prefix: "a/./" }],
    ["accessKeyId", { endpoint: "https://s3.test", accessKeyId: "AKIA" }],
    ["SYSTOLE_NO_SUCH", { endpoint: "https://s3.test", secretAccessKey: { env: "SYSTOLE_NO_SUCH" } }]
  ])("is refused with an invalid option, and names %s", (part, options) => {
    assert.throws(() => s3.provides.channels?.["s3"]?.(settingsOf(options)), part)
  })
})

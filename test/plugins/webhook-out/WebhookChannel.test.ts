import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import process from "node:process"
import type { Channel, Value } from "systole"
import webhooks from "systole/plugins/webhook-out"
import * as WebhookChannel from "../../../plugins/webhook-out/WebhookChannel.ts"
import * as WebhookSecret from "../../../plugins/webhook-out/WebhookSecret.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import { LocalServers } from "../http/LocalServer.ts"

const servers = new LocalServers()

/** The example of the specification of Standard Webhooks. */
const PUBLISHED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const OLD = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

beforeEach(() => {
  process.env["SYSTOLE_WEBHOOK"] = PUBLISHED
  process.env["SYSTOLE_WEBHOOK_OLD"] = `${OLD}\n`
})

afterEach(() => {
  delete process.env["SYSTOLE_WEBHOOK"]
  delete process.env["SYSTOLE_WEBHOOK_OLD"]
  return servers.close()
})

const settingsOf = (options: Readonly<Record<string, unknown>>) =>
  ({ id: "hooks", root: import.meta.dirname, folder: import.meta.dirname, host: current(), options })

const options = { allow: ["127.0.0.1"], secrets: [{ env: "SYSTOLE_WEBHOOK" }, { env: "SYSTOLE_WEBHOOK_OLD" }] }

const channelOf = (own: Readonly<Record<string, unknown>> = {}): Channel.Definition =>
  webhooks.provides.channels?.["webhook-out"]?.(settingsOf({ ...options, ...own })) ?? assert.fail("there is no channel")

const failed = (payload: Value, channel = channelOf()) => TestJob.failure(channel, TestJob.make("send", payload))

describe("WebhookChannel", () => {
  it("posts the event, signed with each secret", async () => {
    const { seen, url } = await servers.http((_, response) => response.writeHead(202).end("ignored"))
    const channel = WebhookChannel.define(settingsOf(options), { now: () => 1_614_265_330_999 })
    const payload = { url: `${url}/hook`, type: "invoice.paid", data: { id: 7, name: "é", tags: [null, true] } }
    const { value } = await TestJob.run(channel, TestJob.make("send", payload, { key: "key-9" }))
    assert.deepStrictEqual(value, { status: 202 })
    const [{ body, headers, method } = assert.fail("no webhook arrived")] = seen
    assert.strictEqual(method, "POST")
    assert.deepStrictEqual(JSON.parse(body), { type: "invoice.paid", data: payload.data })
    assert.deepInclude(headers, { "content-type": "application/json", "webhook-id": "key-9", "webhook-timestamp": "1614265330" })
    const signatures = [PUBLISHED, OLD].map((secret) => {
      const hmac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
      return `v1,${hmac.update(`key-9.1614265330.${body}`).digest("base64")}`
    })
    assert.strictEqual(headers["webhook-signature"], signatures.join(" "))
  })

  it("makes the signature that the specification shows", async () => {
    const secret = WebhookSecret.parse(PUBLISHED) ?? assert.fail("the secret is refused")
    const signed = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: "{\"test\": 2432232314}" }
    assert.strictEqual(await WebhookSecret.sign(secret, signed), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  it("sends the same body and id in each attempt", async () => {
    const { seen, url } = await servers.http((_, response) => response.writeHead(503).end())
    const times = [1000, 9000]
    const channel = WebhookChannel.define(settingsOf(options), { now: () => times.shift() ?? 0 })
    for (const attempt of [1, 2]) await TestJob.failure(channel, TestJob.make("send", { url, data: { a: 1 } }, { attempt }))
    assert.deepStrictEqual(seen.map(({ body, headers }) => [body, headers["webhook-id"], headers["webhook-timestamp"]]), [
      ["{\"data\":{\"a\":1}}", "key-1", "1"], ["{\"data\":{\"a\":1}}", "key-1", "9"]
    ])
  })

  it("keeps the wait that a receiver asks for, with a date from its own clock", async () => {
    const headers = { "date": "Sun, 06 Nov 1994 08:49:37 GMT", "retry-after": "Sun, 06 Nov 1994 08:50:37 GMT" }
    const { url } = await servers.http((_, response) => response.writeHead(503, headers).end())
    assert.deepInclude(await failed({ url, data: 1 }), { code: "webhook/status", retryable: true, retryAfterMs: 60_000 })
  })

  it.each([
    [400, "webhook/status", false], [404, "webhook/status", false], [408, "webhook/status", true], [410, "webhook/gone", false],
    [425, "webhook/status", true], [429, "webhook/status", true], [500, "webhook/status", true], [503, "webhook/status", true]
  ])("fails for the status %i with %s, retryable %s", async (status, code, retryable) => {
    const { closed, url } = await servers.http((_, response) => response.writeHead(status).write("endless"))
    const failure = await failed({ url: `${url}/hook/token`, data: 1 })
    assert.deepInclude(failure, { code, retryable })
    assert.include(failure.message, `Request R1: ${url} answered with ${status}`)
    await closed
  })

  it("follows no redirect", async () => {
    const { seen, url } = await servers.http((_, response) => response.writeHead(307, { location: "/other" }).end())
    assert.deepInclude(await failed({ url, data: 1 }), { code: "webhook/status", retryable: false })
    assert.strictEqual(seen.length, 1)
  })

  it("has the address policy, the deadline and the abort of the channel http", async () => {
    for (const url of ["http://169.254.169.254/", "http://0x7f.1/", "http://127.0.0.2/", "file:///etc/passwd"]) {
      const refused = await failed({ url, data: 1 })
      assert.deepInclude(refused, { code: "http/refused", retryable: false })
      assert.include(refused.message, "Request R1")
    }
    const hanging = await servers.http(() => {})
    assert.deepInclude(await failed({ url: hanging.url, data: 1 }, channelOf({ timeoutMs: 20 })), { code: "io/timeout", retryable: true })
    const job = TestJob.make("send", { url: hanging.url, data: 1 })
    job.abort()
    assert.deepInclude(await TestJob.failure(channelOf(), job), { code: "io/cancelled" })
  })

  it.each<readonly [string, Value]>([
    ["payload", "http://shop.test/"], ["url", { data: 1 }], ["data", { url: "http://shop.test/" }],
    ["field", { url: "http://shop.test/", data: 1, tpye: "a" }], ["type", { url: "http://shop.test/", data: 1, type: "a b" }],
    ["JSON", { url: "http://shop.test/", data: { at: new Date(0) } }],
    ["JSON", { url: "http://shop.test/", data: [1n] }],
    ["JSON", { url: "http://shop.test/", data: new Map() }], ["JSON", { url: "http://shop.test/", data: [NaN] }],
    ["JSON", { url: "http://shop.test/", data: { a: undefined } }],
    ["1048576", { url: "http://shop.test/", data: "x".repeat(1_048_576) }]
  ])("refuses an invalid payload, and names %s", async (part, payload) => {
    const failure = await failed(payload)
    assert.deepInclude(failure, { code: "io/invalid", errno: -22, retryable: false })
    assert.include(failure.message, part)
    assert.include(failure.message, "Request R1")
  })

  it.each([
    ["no secret", { secrets: undefined }], ["an empty list", { secrets: [] }], ["a secret in the configuration", { secrets: [PUBLISHED] }],
    ["a variable that is not set", { secrets: [{ env: "SYSTOLE_NO_SUCH" }] }],
    ["a variable without a secret", { secrets: [{ env: "PATH" }] }],
    ["a short secret", { secrets: [{ env: "SYSTOLE_WEBHOOK_SHORT" }] }], ["an unknown option", { maxBytes: 1 }]
  ])("does not start with %s", (_, own) => {
    process.env["SYSTOLE_WEBHOOK_SHORT"] = `whsec_${Buffer.alloc(23, 1).toString("base64")}`
    const message = (() => {
      try {
        return String(channelOf(own).provider)
      } catch (error) {
        return (error as Error).message
      }
    })()
    delete process.env["SYSTOLE_WEBHOOK_SHORT"]
    assert.include(message, "Plugin \"webhook-out\" is refused")
    for (const secret of [PUBLISHED, Buffer.alloc(23, 1).toString("base64"), process.env["PATH"] ?? PUBLISHED]) {
      assert.notInclude(message, secret)
    }
  })

  it("declares what it is", () => {
    assert.deepInclude(channelOf(), {
      provider: "webhook-out",
      opcodes: { send: { repeatable: true } },
      hosts: ["node", "deno", "bun", "workers"],
      caps: ["stream", "tls", "pinned"]
    })
    const onWorkers = WebhookChannel.define({ ...settingsOf(options), host: "workers" })
    assert.deepInclude(onWorkers, { caps: ["stream", "tls", "pinned:false"], target: "127.0.0.1" })
  })
})

import { afterEach, assert, describe, it } from "@effect/vitest"
import { gzipSync } from "node:zlib"
import type { Channel, Value } from "systole"
import http from "systole/plugins/http"
import * as HttpChannel from "../../../plugins/http/HttpChannel.ts"
import * as SocketTransport from "../../../plugins/http/SocketTransport.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import { LocalServers } from "./LocalServer.ts"

const servers = new LocalServers()

afterEach(() => servers.close())

const settingsOf = (options: Readonly<Record<string, unknown>>) =>
  ({ id: "http", root: import.meta.dirname, folder: import.meta.dirname, host: current(), options })

/** A channel that may reach the local servers. */
const channelOf = (options: Readonly<Record<string, unknown>> = {}): Channel.Definition =>
  http.provides.channels?.["http"]?.(settingsOf({ allow: ["127.0.0.1"], ...options })) ?? assert.fail("there is no channel")

/** A channel with a scripted resolver: one list of addresses for each call. */
const scripted = (answers: ReadonlyArray<ReadonlyArray<string>>, options: Readonly<Record<string, unknown>> = {}) => {
  const asked: Array<string> = []
  const resolve = async (name: string) => answers[asked.push(name) - 1] ?? []
  return { asked, channel: HttpChannel.define(settingsOf(options), { transport: { ...SocketTransport.make({}), resolve } }) }
}

const fetched = async (payload: Value, channel = channelOf()) => (await TestJob.run(channel, TestJob.make("fetch", payload))).value

const failed = (payload: Value, channel = channelOf()) => TestJob.failure(channel, TestJob.make("fetch", payload))

describe("HttpChannel", () => {
  it("returns the answer of a server, and sends the key of the request", async () => {
    const { seen, url } = await servers.http((_, response) => {
      response.setHeader("Content-Type", "application/json; charset=utf-8")
      response.setHeader("Set-Cookie", ["a=1", "b=2"])
      response.setHeader("X-Many", ["1", "2"])
      response.statusCode = 418
      response.end("{\"é\":1}")
    })
    const job = TestJob.make("fetch", { url: `${url}/a?b=c#d`, method: "delete", headers: { "X-Own": "1" } }, { key: "key-7" })
    const { bytes, value } = await TestJob.run(channelOf(), job)
    const { headers, ...rest } = value as { readonly headers: Readonly<Record<string, unknown>> }
    assert.deepStrictEqual(rest as unknown, { status: 418, url: `${url}/a?b=c`, body: "{\"é\":1}" })
    assert.strictEqual(bytes, 8)
    assert.deepInclude(headers, { "content-type": "application/json; charset=utf-8", "set-cookie": ["a=1", "b=2"], "x-many": "1, 2" })
    assert.deepInclude(seen[0], { method: "DELETE", url: "/a?b=c", body: "" })
    assert.deepInclude(seen[0]?.headers, { "idempotency-key": "key-7", "x-own": "1", "content-length": "0", "host": new URL(url).host })
  })

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("sends the key of the request with %s", async (method) => {
    const { seen, url } = await servers.http((_, response) => response.end())
    await fetched({ url, method })
    assert.deepInclude(seen[0], { method })
    assert.strictEqual(seen[0]?.headers["idempotency-key"], "key-1")
  })

  it("keeps the wait that a server asks for, up to its limit, with the failure and with the answer", async () => {
    const { url } = await servers.http((_, response) => response.writeHead(429, { "retry-after": "120" }).end())
    assert.deepInclude(await failed({ url, expect: "2xx" }), { code: "http/status", retryable: true, retryAfterMs: 120_000 })
    assert.deepInclude(await fetched({ url }), { status: 429, retryAfterMs: 120_000 })
    const short = channelOf({ maxRetryAfterMs: 30_000 })
    assert.deepInclude(await failed({ url, expect: "2xx" }, short), { retryAfterMs: 30_000 })
    const bad = await servers.http((_, response) => response.writeHead(503, { "retry-after": "soon" }).end())
    assert.deepInclude(await failed({ url: bad.url, expect: "2xx" }), { retryable: true, retryAfterMs: undefined })
    assert.notProperty(await fetched({ url: bad.url }), "retryAfterMs")
  })

  it("sends a text, bytes and stored content as the body", async () => {
    const { seen, url } = await servers.http((_, response) => response.end())
    const job = (body: Value) => TestJob.make("fetch", { url, method: "POST", body })
    const withContent = job("/cas/")
    const address = TestJob.add(withContent.contents, new TextEncoder().encode("stored"))
    for (const each of [job("é"), job(new Uint8Array([65, 66])), { ...withContent, payload: { url, method: "POST", body: address } }]) {
      await TestJob.run(channelOf(), each)
    }
    assert.deepStrictEqual(seen.map(({ body, headers }) => [body, headers["content-length"], headers["content-type"]]), [
      ["é", "2", "text/plain;charset=UTF-8"], ["AB", "2", undefined], ["stored", "6", undefined]
    ])
    const absent = await TestJob.failure(channelOf(), job(address))
    assert.deepInclude(absent, { code: "io/absent", retryable: false })
  })

  it.each<readonly [string, Buffer, Readonly<Record<string, string>>]>([
    ["a long text", Buffer.from("x".repeat(65_537)), { "content-type": "text/plain" }],
    ["a text that is long in JSON", Buffer.from("\u0001".repeat(20_000)), { "content-type": "text/plain" }],
    ["an image", Buffer.from([137, 80, 78, 71]), { "content-type": "image/png" }],
    ["a body without a type", Buffer.from("abc"), {}],
    ["a text that is not UTF-8", Buffer.from([0xff, 0xfe]), { "content-type": "text/plain" }],
    ["a text in another charset", Buffer.from("abc"), { "content-type": "text/html; charset=\"iso-8859-1\"" }],
    ["a compressed text", gzipSync("abc"), { "content-type": "text/plain", "content-encoding": "gzip" }]
  ])("stores %s as content, as it is", async (_, body, headers) => {
    const { url } = await servers.http((_, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      response.end(body)
    })
    const job = TestJob.make("fetch", { url })
    const { bytes, value } = await TestJob.run(channelOf(), job)
    const { body: text, content } = value as { readonly body?: string; readonly content: string }
    assert.isUndefined(text)
    assert.deepStrictEqual(Buffer.from(job.contents.get(content) ?? []), body)
    assert.strictEqual(bytes, body.length)
  })

  it("returns a text of 65,000 bytes, and no body as an empty text", async () => {
    const { url } = await servers.http(({ method, url }, response) => {
      response.setHeader("content-type", "text/plain")
      response.statusCode = url === "/none" ? 204 : 200
      if (method === "HEAD") response.setHeader("content-length", "999999999")
      response.end(method === "HEAD" || url === "/none" ? "" : "y".repeat(65_000))
    })
    assert.deepInclude(await fetched({ url }), { status: 200, body: "y".repeat(65_000) })
    assert.deepInclude(await fetched({ url: `${url}/none` }), { status: 204, body: "" })
    assert.deepInclude(await fetched({ url, method: "HEAD" }), { status: 200, body: "" })
  })

  it("leaves out headers with names that no value can have", async () => {
    const { url } = await servers.sockets((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\nok: z\r\ncontent-length: 0\r\n\r\n"))
    })
    assert.deepInclude(await fetched({ url }), { headers: { "ok": "z", "content-length": "0" } })
  })

  it.each(["announced", "chunked"])("closes the connection to a server with an endless body, %s", async (kind) => {
    const { closed, url } = await servers.http((_, response) => {
      if (kind === "announced") response.setHeader("content-length", String(8 * 1024 ** 3))
      const write = (): void => {
        while (response.write(Buffer.alloc(65_536)));
        response.once("drain", write)
      }
      write()
    })
    const job = TestJob.make("fetch", { url, maxBytes: 1_000_000 })
    const failure = await TestJob.failure(channelOf(), job)
    assert.deepInclude(failure, { code: "http/size", retryable: false })
    assert.include(failure.message, "Request R1")
    assert.include(failure.message, "1000000 bytes")
    await closed
    assert.strictEqual(job.contents.size, 0)
  })

  it.each(["before the answer", "within the body"])("leaves a server that hangs %s when the job is aborted", async (when) => {
    const job: { abort?: () => void } = {}
    const { closed, url } = await servers.http((_, response) => {
      if (when === "within the body") response.write("begin")
      setImmediate(() => job.abort?.())
    })
    const asked = TestJob.make("fetch", { url })
    job.abort = () => asked.abort("enough")
    const failure = await TestJob.failure(channelOf(), asked)
    assert.deepInclude(failure, { code: "io/cancelled", errno: -125, retryable: false })
    assert.include(failure.message, "R1")
    await closed
  })

  it("sends nothing for a job that is aborted already", async () => {
    const { seen, url } = await servers.http((_, response) => response.end())
    const job = TestJob.make("fetch", { url })
    job.abort()
    assert.deepInclude(await TestJob.failure(channelOf(), job), { code: "io/cancelled" })
    assert.deepStrictEqual(seen, [])
  })

  it("gives a server up after timeoutMs", async () => {
    const { closed, url } = await servers.http(() => {})
    const failure = await failed({ url }, channelOf({ timeoutMs: 20 }))
    assert.deepInclude(failure, { code: "io/timeout", errno: -110, retryable: true })
    assert.include(failure.message, "Request R1: it took more than 20 ms")
    await closed
  })

  it("gives a resolver up that never answers", async () => {
    const transport = { ...SocketTransport.make({}), resolve: () => new Promise<never>(() => {}) }
    const job = TestJob.make("fetch", { url: "http://shop.test/" })
    const failure = TestJob.failure(HttpChannel.define(settingsOf({}), { transport }), job)
    job.abort()
    assert.deepInclude(await failure, { code: "io/cancelled" })
  })

  it.each([
    [408, true], [425, true], [429, true], [500, true], [503, true], [400, false], [404, false], [410, false], [302, false]
  ])("fails for the unexpected status %i: retryable %s", async (status, retryable) => {
    const { url } = await servers.http((_, response) => response.writeHead(status).end())
    assert.deepInclude(await fetched({ url }), { status })
    assert.deepInclude(await fetched({ url, expect: [200, status] }), { status })
    for (const expect of ["2xx", [200, 201]]) {
      const failure = await failed({ url: `${url}/token-in-path`, expect })
      assert.deepInclude(failure, { code: "http/status", retryable })
      assert.strictEqual(
        failure.message,
        `Request R1: ${url} answered with ${status}, and ${expect === "2xx" ? "2xx" : "200, 201"} is expected`
      )
    }
  })

  it("classifies the failures of the network", async () => {
    const gone = await servers.http(() => {})
    await servers.close()
    const refused = await failed({ url: gone.url })
    assert.deepInclude(refused, { code: "io/unreachable", errno: -111, retryable: true })
    assert.strictEqual(refused.message, `Request R1: fetch ${gone.url} failed with ECONNREFUSED`)
    const reset = await servers.sockets((socket) => socket.once("data", () => socket.destroy()))
    assert.deepInclude(await failed({ url: reset.url }), { code: "io/unreachable", errno: -104, retryable: true })
    const short = await servers.sockets((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"))
    )
    assert.deepInclude(await failed({ url: short.url }), { code: "io/unreachable", errno: -104, retryable: true })
    const junk = await servers.sockets((socket) => socket.once("data", () => socket.end("SSH-2.0-junk\r\n\r\n")))
    assert.deepInclude(await failed({ url: junk.url }), { code: "io/protocol", retryable: false })
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND x.test"), { code: "ENOTFOUND", errno: -3008 })
    const transport = { ...SocketTransport.make({}), resolve: () => Promise.reject(unknown) }
    const absent = await failed({ url: "http://x.test/" }, HttpChannel.define(settingsOf({}), { transport }))
    assert.deepInclude(absent, { code: "io/unreachable", errno: -3008, retryable: true })
    assert.deepInclude(await failed({ url: "http://x.test/" }, scripted([[]]).channel), { code: "io/unreachable", errno: -3008 })
  })

  it.each<readonly [string, Value]>([
    ["payload", "http://shop.test/"], ["url", {}], ["url", { url: 1 }], ["field", { url: "http://shop.test/", methd: "GET" }],
    ["method", { url: "http://shop.test/", method: "G T" }], ["TRACE", { url: "http://shop.test/", method: "trace" }],
    ["CONNECT", { url: "http://shop.test/", method: "CONNECT" }],
    ["headers", { url: "http://shop.test/", headers: ["a"] }], ["headers", { url: "http://shop.test/", headers: { a: 1 } }],
    ["no token", { url: "http://shop.test/", headers: { "a b": "1" } }],
    ["one line", { url: "http://shop.test/", headers: { a: "1\r\nsecret: 2" } }],
    ["one line", { url: "http://shop.test/", headers: { a: "→" } }],
    ["header Host", { url: "http://shop.test/", headers: { Host: "a" } }],
    ["Idempotency-Key", { url: "http://shop.test/", headers: { "Idempotency-Key": "a" } }],
    ["transfer-encoding", { url: "http://shop.test/", headers: { "transfer-encoding": "chunked" } }],
    ["headers", { url: "http://shop.test/", headers: { a: "b".repeat(20_000) } }],
    ["characters", { url: "http://shop.test/", headers: { a: "b".repeat(10_000), b: "b".repeat(10_000) } }],
    ["no body", { url: "http://shop.test/", body: "a" }], ["body", { url: "http://shop.test/", method: "POST", body: { a: 1 } }],
    ["redirect", { url: "http://shop.test/", redirect: "yes" }], ["maxBytes", { url: "http://shop.test/", maxBytes: 2 ** 30 }],
    ["maxBytes", { url: "http://shop.test/", maxBytes: -1 }], ["expect", { url: "http://shop.test/", expect: "200" }],
    ["expect", { url: "http://shop.test/", expect: [] }], ["expect", { url: "http://shop.test/", expect: [1000] }]
  ])("refuses an invalid payload, and names %s", async (part, payload) => {
    const failure = await failed(payload)
    assert.deepInclude(failure, { code: "io/invalid", errno: -22, retryable: false })
    assert.include(failure.message, part)
    assert.include(failure.message, "Request R1")
    assert.notInclude(failure.message, "secret")
  })

  it.each([
    ["unknown option", { alow: [] }, "alow"], ["list", { allow: "a.test" }, "allow"], ["entry", { deny: ["http://a.test"] }, "deny"],
    ["size", { maxBytes: 2 ** 31 }, "maxBytes"], ["time", { timeoutMs: 0 }, "timeoutMs"], ["jobs", { jobs: 1.5 }, "jobs"],
    ["secret in the configuration", { ca: "-----BEGIN" }, "\"ca\""],
    ["two places", { ca: { env: "A", file: "b" } }, "\"ca\""],
    ["variable that is not set", { ca: { env: "SYSTOLE_NO_SUCH" } }, "SYSTOLE_NO_SUCH"],
    ["file that is missing", { ca: { file: "no.pem" } }, "ENOENT"],
    ["certificate without a key", { cert: { file: "HttpChannel.test.ts" } }, "cert and key"]
  ])("does not start with an invalid option: %s", (_, options, part) => {
    assert.throws(() => channelOf(options), part)
  })

  it("declares what it is", () => {
    assert.deepInclude(channelOf(), {
      provider: "http",
      opcodes: { fetch: { repeatable: true } },
      hosts: ["node", "deno", "bun", "workers"],
      caps: ["stream", "tls", "pinned"],
      jobs: 64
    })
  })
})

describe("The address policy of the channel", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data/", "http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/", "http://127.1/",
    "http://[::ffff:7f00:1]/", "http://[::1]/", "http://127.0.0.2/", "http://10.0.0.1/", "http://user:pw@127.0.0.1/", "http://shop.test./",
    "file:///etc/passwd"
  ])("refuses %s without a connection", async (url) => {
    const failure = await failed({ url }, scripted([["8.8.8.8"]]).channel)
    assert.deepInclude(failure, { code: "http/refused", retryable: false })
    assert.include(failure.message, "Request R1")
    assert.notInclude(failure.message, "pw")
  })

  it("refuses localhost as the host resolves it", async () => {
    const { seen, port } = await servers.http((_, response) => response.end())
    assert.deepInclude(await failed({ url: `http://localhost:${port}/` }, channelOf({ allow: [] })), { code: "http/refused" })
    assert.deepStrictEqual(seen, [])
    assert.deepInclude(await fetched({ url: `http://localhost:${port}/` }, channelOf({ allow: [`localhost:${port}`] })), { status: 200 })
  })

  it.each([[["10.0.0.1"]], [["8.8.8.8", "127.0.0.1"]], [["8.8.8.8", "::ffff:10.0.0.1"]], [["2606:4700::1", "fd00::1"]]])(
    "refuses a name if one of its addresses is refused: %j",
    async (addresses) => {
      const failure = await failed({ url: "http://shop.test/" }, scripted([addresses]).channel)
      assert.deepInclude(failure, { code: "http/refused" })
      assert.include(failure.message, "Request R1: shop.test resolves to")
    }
  )

  it("connects to the address that it checked, whatever the name resolves to later", async () => {
    const checked = await servers.http(({ headers }, response) => response.end(`checked ${headers.host}`))
    const other = await servers.http((_, response) => response.end("other"), "127.0.0.2", checked.port)
    const { asked, channel } = scripted([["127.0.0.1"], ["127.0.0.2"]], { allow: ["127.0.0.1"] })
    const url = `http://rebind.test:${checked.port}/`
    const job = TestJob.make("fetch", { url })
    const { value } = await TestJob.run(channel, job)
    assert.deepInclude(value, { status: 200, url })
    const bodies = [...job.contents.values()].map((bytes) => Buffer.from(bytes).toString())
    assert.deepStrictEqual(bodies, [`checked rebind.test:${checked.port}`])
    assert.deepStrictEqual(asked, ["rebind.test"])
    assert.deepInclude(await failed({ url }, channel), { code: "http/refused" })
    assert.deepStrictEqual([checked.seen.length, other.seen.length], [1, 0])
  })

  it("checks a name anew after each redirect", async () => {
    const { port, seen } = await servers.http((_, response) => response.writeHead(302, { location: "/again" }).end())
    const other = await servers.http((_, response) => response.end("other"), "127.0.0.2", port)
    const { asked, channel } = scripted([["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]], { allow: ["127.0.0.1"] })
    const failure = await failed({ url: `http://rebind.test:${port}/` }, channel)
    assert.deepInclude(failure, { code: "http/refused" })
    assert.include(failure.message, "Request R1: after a redirect, rebind.test resolves to 127.0.0.2, which is a loopback address")
    assert.deepStrictEqual([asked.length, seen.length, other.seen.length], [3, 2, 0])
  })

  it.each([
    "http://127.0.0.2/", "http://169.254.169.254/", "//[::1]/", "http://0x7f.2/", "http://user:pw@127.0.0.1/", "file:///etc/passwd"
  ])(
    "refuses a redirect to %s",
    async (location) => {
      const { url } = await servers.http((_, response) => response.writeHead(307, { location }).end())
      const failure = await failed({ url })
      assert.deepInclude(failure, { code: "http/refused", retryable: false })
      assert.include(failure.message, "Request R1: after a redirect")
      assert.notInclude(failure.message, "pw")
    }
  )

  it("tries the next address of a name if one refuses the connection", async () => {
    const { port } = await servers.http((_, response) => response.end())
    const { channel } = scripted([["127.0.0.3", "127.0.0.1"]], { allow: ["127.0.0.0/8"] })
    assert.deepInclude(await fetched({ url: `http://shop.test:${port}/` }, channel), { status: 200 })
  })

  it("reaches the allow list alone on a host that cannot pin", async () => {
    const { port, seen, url } = await servers.http(({ url }, response) =>
      url === "/away" ? response.writeHead(302, { location: `http://localhost:${port}/` }).end() : response.end("abc"))
    const channel = HttpChannel.define({ ...settingsOf({ allow: ["127.0.0.1"] }), host: "workers" })
    assert.deepInclude(channel, { caps: ["stream", "tls", "pinned:false"], target: "127.0.0.1" })
    assert.deepInclude(await fetched({ url, method: "POST", body: "x" }, channel), { status: 200 })
    assert.deepInclude(seen[0], { body: "x" })
    for (const refused of [`http://localhost:${port}/`, "http://8.8.8.8/", `${url}/away`]) {
      const failure = await failed({ url: refused }, channel)
      assert.deepInclude(failure, { code: "http/refused" })
      assert.include(failure.message, "not on the channel's allow list")
    }
    await servers.close()
    assert.deepInclude(await failed({ url }, channel), { code: "io/unreachable", retryable: true })
  })
})

describe("A redirect", () => {
  it.each<readonly [number, string, string]>([
    [301, "POST", "GET"], [302, "POST", "GET"], [303, "POST", "GET"], [303, "PUT", "GET"],
    [301, "PUT", "PUT"], [307, "POST", "POST"], [308, "POST", "POST"]
  ])("with %i makes %s a %s, as fetch does", async (status, method, after) => {
    const body = after === "GET" ? "" : "x"
    const { seen, url } = await servers.http(({ url }, response) =>
      url === "/to" ? response.end() : response.writeHead(status, { location: "to" }).end())
    assert.deepInclude(await fetched({ url: `${url}/from`, method, body: "x" }), { status: 200, url: `${url}/to` })
    assert.deepInclude(seen[1], { method: after, url: "/to", body })
    assert.strictEqual(seen[1]?.headers["content-type"], body === "" ? undefined : "text/plain;charset=UTF-8")
    assert.strictEqual(seen[1]?.headers["idempotency-key"], "key-1")
  })

  it("keeps headers within an origin, and gives no credential to another one", async () => {
    const other = await servers.http((_, response) => response.end())
    const { seen, url } = await servers.http(({ url }, response) =>
      response.writeHead(302, { location: url === "/1" ? "/2" : other.url }).end())
    const headers = { "authorization": "Bearer s", "cookie": "s=1", "x-api-key": "s", "proxy-authorization": "s", "accept-language": "de" }
    await fetched({ url: `${url}/1`, headers })
    assert.deepInclude(seen[1]?.headers, headers)
    const [there = assert.fail("no request arrived")] = other.seen
    assert.strictEqual(there.headers["accept-language"], "de")
    assert.deepStrictEqual(Object.keys(headers).filter((name) => name in there.headers), ["accept-language"])
  })

  it("is followed 5 times", async () => {
    const { url } = await servers.http(({ url }, response) => {
      const left = Number(url.slice(1))
      response.writeHead(left === 0 ? 200 : 302, left === 0 ? {} : { location: `/${left - 1}` }).end()
    })
    assert.deepInclude(await fetched({ url: `${url}/5` }), { status: 200, url: `${url}/0` })
    const failure = await failed({ url: `${url}/6` })
    assert.deepInclude(failure, { code: "http/redirect", retryable: false })
    assert.include(failure.message, "Request R1")
  })

  it("is a result or a failure if the request says so, and a result without a place", async () => {
    const { url } = await servers.http(({ url }, response) =>
      response.writeHead(url === "/300" ? 302 : 301, url === "/300" ? {} : { location: "/to" }).end())
    assert.deepInclude(await fetched({ url, redirect: "manual" }), { status: 301, url: `${url}/` })
    assert.deepInclude(await failed({ url, redirect: "error" }), { code: "http/redirect" })
    assert.deepInclude(await fetched({ url: `${url}/300` }), { status: 302 })
  })
})

import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { inspect } from "node:util"
import type { Channel, IoResult, Kernel, Transaction, Value } from "systole"
import * as HttpChannel from "../../../plugins/http/HttpChannel.ts"
import { Reactor } from "../../../src/reactor/Reactor.ts"
import { enzyme, replays, steps } from "../../kernel/TestSpace.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { LocalServers } from "./LocalServer.ts"

const servers = new LocalServers()
const folders: Array<string> = []

const VARIABLE = "SYSTOLE_TEST_TOKEN"
const SECRET = "very-secret-1"
const value = { env: VARIABLE }

beforeEach(() => {
  process.env[VARIABLE] = SECRET
})

afterEach(async () => {
  delete process.env[VARIABLE]
  await servers.close()
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

type Host = ReturnType<typeof current> | "workers"

const settingsOf = (headers: unknown, root = import.meta.dirname, host: Host = current()) =>
  ({ id: "http", root, folder: root, host, options: { allow: ["127.0.0.1"], headers } })

const bearer = (origin: string) => ({ origin, name: "Authorization", value, prefix: "Bearer " })

const channelOf = (...headers: ReadonlyArray<unknown>): Channel.Definition => HttpChannel.define(settingsOf(headers))

const fetched = async (channel: Channel.Definition, payload: Value) => (await TestJob.run(channel, TestJob.make("fetch", payload))).value

/** The header `authorization` of each request. */
const tokens = ({ seen }: { readonly seen: ReadonlyArray<{ readonly headers: Readonly<Record<string, unknown>> }> }) =>
  seen.map(({ headers }) => headers["authorization"])

/** A server that redirects `/to?URL` to the URL. */
const redirecting = () => servers.http(({ url }, response) => {
  const [path, location] = url.split("?")
  response.writeHead(path === "/to" ? 307 : 200, path === "/to" ? { location: decodeURIComponent(location ?? "") } : {}).end()
})

const to = (base: string, url: string): string => `${base}/to?${encodeURIComponent(url)}`

describe("A header of an origin", () => {
  it("is added to each request to the origin, with its prefix", async () => {
    const server = await redirecting()
    const channel = channelOf(bearer(server.url), { origin: server.url, name: "x-api-key", value })
    await fetched(channel, { url: `${server.url}/a`, headers: { accept: "text/plain" } })
    await fetched(channel, { url: `${server.url.replace("http", "HTTP")}/b`, method: "POST", body: "x" })
    assert.deepStrictEqual(tokens(server), [`Bearer ${SECRET}`, `Bearer ${SECRET}`])
    assert.deepInclude(server.seen[0]?.headers, { "accept": "text/plain", "x-api-key": SECRET })
  })

  it.each<Host>([current(), "workers"])("is absent after a redirect to another origin, and present within it: %s", async (host) => {
    const [named, other] = [await redirecting(), await redirecting()]
    const channel = HttpChannel.define(settingsOf([bearer(named.url)], import.meta.dirname, host))
    await fetched(channel, { url: to(named.url, "/end") })
    assert.deepStrictEqual(tokens(named), [`Bearer ${SECRET}`, `Bearer ${SECRET}`])
    await fetched(channel, { url: to(named.url, to(other.url, "/end")), method: "POST", body: "x" })
    assert.deepStrictEqual(tokens(other), [undefined, undefined])
    assert.notInclude(inspect(other.seen, { depth: 9 }), SECRET)
  })

  it("is added to a redirect from another origin, which gets the header of its own", async () => {
    const [first, second] = [await redirecting(), await redirecting()]
    process.env[VARIABLE] = "a"
    const own = { ...bearer(second.url), prefix: "Other " }
    await fetched(channelOf(bearer(first.url), own), { url: to(first.url, to(second.url, `${first.url}/end`)) })
    assert.deepStrictEqual([tokens(first), tokens(second)], [["Bearer a", "Bearer a"], ["Other a"]])
  })

  it("is absent for another port, name or protocol", async () => {
    const server = await redirecting()
    const others = [`http://localhost:${server.port}`, `https://127.0.0.1:${server.port}`, "http://127.0.0.1", "http://127.0.0.1:1"]
    await fetched(channelOf(...others.map(bearer)), { url: server.url })
    assert.deepStrictEqual(tokens(server), [undefined])
  })

  it("comes from a file of the project without the end of its line", async () => {
    const server = await redirecting()
    const root = await mkdtemp(join(tmpdir(), "systole-headers-"))
    folders.push(root)
    await writeFile(join(root, "token"), `${SECRET}\r\n`)
    await fetched(HttpChannel.define(settingsOf([{ ...bearer(server.url), value: { file: "token" } }], root)), { url: server.url })
    assert.deepStrictEqual(tokens(server), [`Bearer ${SECRET}`])
  })

  it("is refused in a payload for this origin alone", async () => {
    const [named, other] = [await redirecting(), await redirecting()]
    const channel = channelOf(bearer(named.url))
    for (const name of ["authorization", "AUTHORIZATION"]) {
      const url = named.url.replace("http:", "HTTP:")
      const failure = await TestJob.failure(channel, TestJob.make("fetch", { url, headers: { [name]: "own" } }))
      assert.deepInclude(failure, { code: "io/invalid", errno: -22, retryable: false })
      assert.include(failure.message, `Request R1: the header ${name} is set by the channel for this origin`)
    }
    await fetched(channel, { url: other.url, headers: { authorization: "own" } })
    assert.deepStrictEqual([tokens(named), tokens(other)], [[], ["own"]])
  })

  it("replaces a usual header, and one that a redirect carries, for its origin alone", async () => {
    const [named, other] = [await redirecting(), await redirecting()]
    const channel = channelOf({ origin: named.url, name: "user-agent", value })
    await fetched(channel, { url: named.url })
    await fetched(channel, { url: to(other.url, named.url), headers: { "user-agent": "own" } })
    await fetched(channel, { url: to(named.url, other.url) })
    assert.deepStrictEqual(named.seen.map(({ headers }) => headers["user-agent"]), [SECRET, SECRET, SECRET])
    assert.deepStrictEqual(other.seen.map(({ headers }) => headers["user-agent"]), ["own", "systole"])
  })
})

describe("The secret of a header", () => {
  it.each<Host>([current(), "workers"])("is in no definition, result or message: %s", async (host) => {
    const { closed, url } = await servers.http(({ url }, response) => {
      if (url === "/away") return void response.writeHead(302, { location: "http://10.0.0.1/" }).end()
      if (url === "/cut") return void response.socket?.destroy()
      response.writeHead(503).end()
    })
    const channel = HttpChannel.define(settingsOf([bearer(url)], import.meta.dirname, host))
    const shown: Array<unknown> = [channel, await fetched(channel, { url })]
    const failing = [{ url, expect: "2xx" }, { url: `${url}/away` }, { url: `${url}/cut` }, { url, headers: { authorization: "a" } }]
    for (const payload of failing) {
      const failure = await TestJob.failure(channel, TestJob.make("fetch", payload))
      shown.push(failure, failure.message, failure.stack)
    }
    await closed
    assert.notInclude(inspect(shown, { depth: 9 }), SECRET)
  })

  it.each<readonly [string, unknown, string]>([
    ["no list", bearer("https://a.test"), "\"headers\""],
    ["an unknown field", [{ ...bearer("https://a.test"), prefx: "a" }], "item 1: its field \"prefx\""],
    ["no origin", [{ name: "a", value }], "\"origin\""],
    ["a path", [bearer("https://a.test/")], "\"origin\""],
    ["a usual port", [bearer("https://a.test:443")], "\"origin\""],
    ["a capital letter", [bearer("https://A.test")], "\"origin\""],
    ["another protocol", [bearer("ftp://a.test")], "\"origin\""],
    ["credentials", [bearer("https://a:b@a.test")], "\"origin\""],
    ["a pattern", [bearer("https://*.a.test")], "\"origin\""],
    ["a strange name", [{ ...bearer("https://a.test"), name: "a b" }], "\"name\""],
    ["a name of the connection", [{ ...bearer("https://a.test"), name: "Host" }], "\"name\""],
    ["a secret in the configuration", [{ ...bearer("https://a.test"), value: SECRET }], "\"value\""],
    ["a prefix of two lines", [{ ...bearer("https://a.test"), prefix: "a\nb" }], "\"prefix\""],
    ["a second value", [bearer("https://a.test"), { ...bearer("https://a.test"), name: "authorization" }],
      "authorization twice for https://a.test"],
    ["a variable that is not set", [bearer("https://a.test"), { ...bearer("https://b.test"), value: { env: "SYSTOLE_NO_SUCH" } }],
      "names the variable SYSTOLE_NO_SUCH, which is not set"],
    ["a file that is missing", [{ ...bearer("https://a.test"), value: { file: "no.txt" } }],
      "names the file no.txt, which cannot be read (ENOENT)"]
  ])("does not let a channel start with %s", (_, headers, part) => {
    assert.throws(() => HttpChannel.define(settingsOf(headers)), part)
  })

  it.each([["is empty", " \n"], ["is not one line", `${SECRET}\r\nx: y`], ["Latin-1", `${SECRET}→`], ["8192", SECRET.repeat(1000)]])(
    "is refused at the start, without its text: %s",
    (part, text) => {
      process.env[VARIABLE] = text
      const message = (() => {
        try {
          return String(channelOf(bearer("https://a.test")).provider)
        } catch (error) {
          return (error as Error).message
        }
      })()
      assert.include(message, `the options of channel "http" are refused: its field "headers" names the variable ${VARIABLE}`)
      assert.include(message, part)
      assert.notInclude(message, SECRET)
    }
  )
})

/** Requests a URL, and keeps the results. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) =>
  signal === "/signals/ask/done"
    ? tx.append("/data/results", payload)
    : tx.io.fetch(String(payload), { expect: "2xx" }, { signal: "/signals/ask/done" }), { query: "/signals/ask", match: "prefix" })

describe("A space", () => {
  it.effect("has the secret in no cell, no view of a request and no entry of the journal", () => Effect.gen(function*() {
    const server = yield* Effect.promise(() =>
      servers.http(({ url }, response) => void response.writeHead(url === "/ok" ? 200 : 404).end()))
    const reactor = Reactor.sync([{ ...channelOf(bearer(server.url)), id: "http" }])
    const stored = yield* Effect.gen(function*() {
      const space = yield* TestKernel.space([ask])
      for (const path of ["/ok", "/absent"]) yield* space.signal({ signal: "/signals/ask", payload: server.url + path })
      const head = yield* steps(space, 6)
      yield* replays(space)
      const results = (yield* space.get("/data/results")) as unknown as ReadonlyArray<IoResult>
      const { requests } = yield* space.io.list({ limit: 10 })
      return {
        results,
        requests: yield* Effect.forEach(requests, ({ rid }) => space.io.get(rid)),
        channels: yield* space.io.channels,
        journal: yield* Effect.forEach(Array.from({ length: head + 1 }, (_, beat) => beat), (beat) => space.journal(beat))
      }
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor }) as Layer.Layer<Kernel>))
    assert.deepStrictEqual(tokens(server), [`Bearer ${SECRET}`, `Bearer ${SECRET}`])
    assert.deepStrictEqual(stored.results.map(({ state }) => state).sort(), ["complete", "fail"])
    assert.strictEqual(stored.requests.length, 2)
    const text = inspect(stored, { depth: 99, maxArrayLength: 9999, maxStringLength: 1e9 })
    assert.include(text, "/absent")
    assert.notInclude(text, SECRET)
  }))
})

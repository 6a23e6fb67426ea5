import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import type { Socket } from "node:net"
import type { Channel, ContentStore, Value } from "systole"
import bucket from "systole/plugins/bucket"
import type http from "systole/plugins/http"
import s3 from "systole/plugins/s3"
import webhookOut from "systole/plugins/webhook-out"
import * as HttpChannel from "../../../plugins/http/HttpChannel.ts"
import * as SocketTransport from "../../../plugins/http/SocketTransport.ts"
import type { Transport } from "../../../plugins/http/Transport.ts"
import { current } from "../../scripts/Host.ts"
import * as TestJob from "../../support/TestJob.ts"
import { LocalServers } from "./LocalServer.ts"

const servers = new LocalServers()

beforeEach(() => {
  process.env["SYSTOLE_KEY"] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
})

afterEach(() => {
  delete process.env["SYSTOLE_KEY"]
  return servers.close()
})

const settingsOf = (options: Readonly<Record<string, unknown>>) =>
  ({ id: "out", root: import.meta.dirname, folder: import.meta.dirname, host: current(), options })

/** The time of an attempt: long enough to reach a server of this process. */
const timeoutMs = 200

const channelOf = (transport?: Transport): Channel.Definition =>
  HttpChannel.define(settingsOf({ allow: ["127.0.0.1"], timeoutMs }), transport === undefined ? {} : { transport })

const failed = (payload: Value, channel = channelOf()) => TestJob.failure(channel, TestJob.make("fetch", payload))

/** Sends a text, and then another one again and again, until the connection ends. */
const drips = (first: string, again: string) => (socket: Socket): void => {
  socket.once("data", () => {
    socket.write(first)
    const dripping = setInterval(() => socket.write(again), 1)
    socket.on("close", () => clearInterval(dripping))
  })
}

/** Reads alone. A connection that is not read has no end. */
const silent = (socket: Socket): void => void socket.resume()

const answers = (text: string) => (socket: Socket): void => void socket.once("data", () => socket.write(text))

const UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"

describe("A server that ends no answer", () => {
  it.each<readonly [string, (socket: Socket) => void]>([
    ["accepts and is silent", silent],
    ["begins the line of a status", answers("HTTP/1.1 20")],
    ["sends one header after the other", drips("HTTP/1.1 200 OK\r\n", "a: b\r\n")],
    ["sends a header in parts", drips("HTTP/1.1 200 OK\r\na: ", "b")],
    ["continues for ever", drips("", "HTTP/1.1 100 Continue\r\n\r\n")],
    ["sends early hints for ever", drips("", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")],
    ["sends a body in parts", drips("HTTP/1.1 200 OK\r\ncontent-length: 30000000\r\n\r\n", "b")],
    ["sends chunks", drips("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nb\r\n")]
  ])("and %s, is given up after timeoutMs", async (_, connected) => {
    const { closed, url } = await servers.sockets(connected)
    assert.deepInclude(await failed({ url }), { code: "io/timeout", retryable: true })
    await closed
  })

  it("and never answers the handshake of TLS, is given up after timeoutMs", async () => {
    const { closed, port } = await servers.sockets(silent)
    assert.deepInclude(await failed({ url: `https://127.0.0.1:${port}/` }), { code: "io/timeout", retryable: true })
    await closed
  })

  it("and redirects in circles, is left after 5 redirects", async () => {
    const { url } = await servers.http((_, response) => response.writeHead(302, { location: "/again" }).end())
    const patient = HttpChannel.define(settingsOf({ allow: ["127.0.0.1"] }))
    assert.deepInclude(await failed({ url }, patient), { code: "http/redirect", retryable: false })
  })

  it("is given up although the transport never settles and ignores its abort", async () => {
    const never = () => new Promise<never>(() => {})
    for (const transport of [{ resolve: undefined, send: never }, { ...SocketTransport.make({}), resolve: never }]) {
      const channel = HttpChannel.define(settingsOf({ allow: ["shop.test"], timeoutMs: 1 }), { transport })
      assert.deepInclude(await failed({ url: "http://shop.test/" }, channel), { code: "io/timeout", retryable: true })
    }
  })
})

describe("An answer that leaves HTTP", () => {
  const secret = { env: "SYSTOLE_KEY" }
  const make = (plugin: typeof http, name: string, options: Readonly<Record<string, unknown>>): Channel.Definition =>
    plugin.provides.channels?.[name]?.(settingsOf(options)) ?? assert.fail("there is no channel")
  const contentOf = (url: string): ContentStore =>
    bucket.provides.content?.(
      { ...settingsOf({ endpoint: url, bucket: "box", accessKeyId: secret, secretAccessKey: secret }), bindings: {} }
    ) ?? assert.fail("there is no content store")
  const asked: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
    "the channel http": (url) => failed({ url }),
    "the channel webhook-out": (url) =>
      TestJob.failure(
        make(webhookOut, "webhook-out", { allow: ["127.0.0.1"], secrets: [secret] }), TestJob.make("send", { url, data: 1 })
      ),
    "the channel s3": (url) =>
      TestJob.failure(
        make(s3, "s3", { endpoint: url, bucket: "box", accessKeyId: secret, secretAccessKey: secret }), TestJob.make("s3_get", { key: "a" })
      ),
    "the content store bucket": (url) => contentOf(url).get("shop/a").catch((error: unknown) => error)
  }
  for (const [name, ask] of Object.entries(asked)) {
    it.each([["with the headers of an upgrade", UPGRADE], ["without them", "HTTP/1.1 101 Switching Protocols\r\n\r\n"]])(
      `is refused by ${name}, %s`,
      async (_, answer) => {
        const { closed, url } = await servers.sockets(answers(answer))
        const failure = await ask(url) as Channel.ChannelError
        assert.deepInclude(failure, { code: "http/upgrade", retryable: false })
        assert.include(failure.message, `${url} answered with 101`)
        await closed
      }
    )
  }
})

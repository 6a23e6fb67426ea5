import { assert, describe, it } from "@effect/vitest"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import type { Server } from "node:http"
import { connect, type Socket } from "node:net"
import { vi } from "vitest"
import { platform } from "../../src/main/node.ts"

const CHANNEL = "http.server.request.start"

/** The head of a request whose body has ten bytes. */
const HEAD = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n"

describe("The server on Node", () => {
  it("limits the time of headers, and not that of a body, because an upload takes as long as its client needs", async () => {
    let limits: ReadonlyArray<number> = []
    const told = (message: unknown): void => {
      const { server } = message as { readonly server: Server }
      limits = [server.headersTimeout, server.requestTimeout]
    }
    subscribe(CHANNEL, told)
    const server = await platform.serve(async () => new Response("well"), { host: "127.0.0.1", port: 0 })
    try {
      assert.strictEqual(await (await fetch(`http://127.0.0.1:${server.port}/`)).text(), "well")
      assert.deepStrictEqual(limits, [60_000, 0])
    } finally {
      unsubscribe(CHANNEL, told)
      server.drop()
      await server.close()
    }
  })

  it("limits each pause within a body, and not the time of the answer", async () => {
    let socket: Socket | undefined
    const told = (message: unknown): void => void ({ socket } = message as { readonly socket: Socket })
    subscribe(CHANNEL, told)
    const limits: Array<number | undefined> = []
    const server = await platform.serve(async (request) => {
      limits.push(socket?.timeout)
      await request.text()
      limits.push(socket?.timeout)
      return new Response("well")
    }, { host: "127.0.0.1", port: 0 })
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: "POST", body: "x".repeat(1_000_000) })
      assert.strictEqual(await response.text(), "well")
      assert.deepStrictEqual(limits, [60_000, 0])
    } finally {
      unsubscribe(CHANNEL, told)
      server.drop()
      await server.close()
    }
  })

  /** Serves requests. `pause` is the time-out of the request's socket, once it has received so many bytes. */
  const serving = async (
    answer: (request: Request, pause: (received: number) => Promise<void>) => Promise<Response>,
    ask: (port: number) => Promise<void>
  ): Promise<void> => {
    let socket: Socket | undefined
    const told = (message: unknown): void => void ({ socket } = message as { readonly socket: Socket })
    subscribe(CHANNEL, told)
    const pause = async (received: number): Promise<void> => {
      await vi.waitUntil(() => (socket?.bytesRead ?? 0) >= received)
      socket?.emit("timeout")
    }
    const server = await platform.serve((request) => answer(request, pause), { host: "127.0.0.1", port: 0 })
    try {
      await ask(server.port)
    } finally {
      unsubscribe(CHANNEL, told)
      server.drop()
      await server.close()
    }
  }

  it("closes the connection of a client that pauses", () =>
    serving(async (request, pause) => {
      const text = request.text()
      await pause(HEAD.length + 3)
      return text.then((text) => new Response(text), () => new Response())
    }, async (port) => {
      const client = connect(port, "127.0.0.1")
      client.write(`${HEAD}abc`)
      const received: Array<unknown> = []
      client.on("data", (bytes) => received.push(bytes)).on("error", () => {})
      await new Promise((resolve) => client.once("close", resolve))
      assert.deepStrictEqual(received, [])
    }))

  it.each([10, 10_000_000])("closes no connection for a body of %d bytes that came and is not read yet", (size) =>
    serving(async (_request, pause) => {
      for (let pauses = 0; pauses < 2; pauses++) await pause(HEAD.length + Math.min(size, 65_536))
      return new Response("well")
    }, async (port) => {
      const client = connect(port, "127.0.0.1")
      client.on("error", () => {}).write(HEAD.replace(": 10", `: ${size}`) + "x".repeat(size))
      const [answer] = await once(client, "data")
      client.destroy()
      assert.match(String(answer), /^HTTP\/1\.1 200 OK/)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Server } from "node:http"
import { connect, type Socket } from "node:net"
import { setTimeout as setTimeoutAsync } from "node:timers/promises"
import { platform } from "../../src/main/node.ts"

const CHANNEL = "http.server.request.start"

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

  /** Serves with the socket of the newest request. */
  const serving = async (
    answer: (request: Request, pause: () => void) => Promise<Response>,
    ask: (port: number) => Promise<void>
  ): Promise<void> => {
    let socket: Socket | undefined
    const told = (message: unknown): void => void ({ socket } = message as { readonly socket: Socket })
    subscribe(CHANNEL, told)
    const server = await platform.serve((request) => answer(request, () => void socket?.emit("timeout")), { host: "127.0.0.1", port: 0 })
    try {
      await ask(server.port)
    } finally {
      unsubscribe(CHANNEL, told)
      server.drop()
      await server.close()
    }
  }

  it("closes the connection of a client that pauses", () =>
    serving((request, pause) => {
      setTimeout(pause, 50)
      return request.text().then((text) => new Response(text), () => new Response())
    }, async (port) => {
      const client = connect(port, "127.0.0.1")
      client.write("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc")
      const received: Array<unknown> = []
      client.on("data", (bytes) => received.push(bytes)).on("error", () => {})
      await new Promise((resolve) => client.once("close", resolve))
      assert.deepStrictEqual(received, [])
    }))

  it.each([2, 10_000_000])("closes no connection for a body of %d bytes that came and is not read yet", (size) =>
    serving(async (_request, pause) => {
      for (let pauses = 0; pauses < 2; pauses++) {
        await setTimeoutAsync(50)
        pause()
      }
      return new Response("well")
    }, async (port) => {
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x".repeat(size) })
      assert.strictEqual(await response.text(), "well")
    }))
})

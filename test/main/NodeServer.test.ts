import { assert, describe, it } from "@effect/vitest"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Server } from "node:http"
import type { Socket } from "node:net"
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
})

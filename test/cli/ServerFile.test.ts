import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Redacted from "../../src/cell/Redacted.ts"
import { Host } from "../../src/cli/Host.ts"
import * as ServerFile from "../../src/cli/ServerFile.ts"
import * as Config from "../../src/loader/Config.ts"

const host = (root: string, pid: number) =>
  Layer.merge(NodeServices.layer, Layer.mock(Host, {
    root, installation: "^0.1.0", pid, isAlive: () => true, renew: () => false, draw: (bytes) => new Uint8Array(bytes)
  }))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-note-"))),
  (root) => Effect.sync(() => rmSync(root, { recursive: true }))
)

/** An HTTP server with a constant response. */
const answering = (status: number, body: string) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((_, response) => response.writeHead(status, { "content-type": "application/json" }).end(body))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

describe("ServerFile", () => {
  it.live("finds a responding server, but not this process or another program", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const config = yield* Config.decode({})
      const find = (pid: number) => Effect.map(ServerFile.find(config), Option.isSome).pipe(Effect.provide(host(root, pid)))
      const left = (url: string) =>
        ServerFile.leave(config, { url, pid: 1, token: Redacted.make("a-token") }).pipe(Effect.provide(host(root, 1)))
      assert.isFalse(yield* find(2))
      yield* left(yield* answering(200, `{"status":"live"}`))
      assert.isTrue(yield* find(2))
      assert.isFalse(yield* find(1))
      yield* left(yield* answering(200, `"hello"`))
      assert.isFalse(yield* find(2))
      yield* left(yield* answering(404, `{"status":"live"}`))
      assert.isFalse(yield* find(2))
    }))

  it.live("removes its own file but not another server's", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const config = yield* Config.decode({})
      const url = yield* answering(200, `{"status":"live"}`)
      const find = Effect.map(ServerFile.find(config), Option.map(({ pid }) => pid)).pipe(Effect.provide(host(root, 9)))
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      const leave = (pid: number, scope: Scope.Scope) =>
        ServerFile.leave(config, { url, pid, token: Redacted.make("a-token") }).pipe(Effect.provide(host(root, pid)), Scope.provide(scope))
      yield* leave(1, first)
      yield* leave(2, second)
      yield* Scope.close(first, Exit.void)
      assert.deepStrictEqual(yield* find, Option.some(2))
      yield* Scope.close(second, Exit.void)
      assert.deepStrictEqual(yield* find, Option.none())
    }))
})

import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { createHash } from "node:crypto"
import type { IoResult, Kernel, Transaction } from "systole"
import * as HttpChannel from "../../../plugins/http/HttpChannel.ts"
import { Reactor } from "../../../src/reactor/Reactor.ts"
import { enzyme, replays, steps } from "../../kernel/TestSpace.ts"
import { current } from "../../scripts/Host.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { LocalServers } from "./LocalServer.ts"

const servers = new LocalServers()

afterEach(() => servers.close())

/** Asks for a URL, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  return tx.io.fetch(String(payload), { expect: "2xx" }, { signal: "/signals/ask/done", attempts: 2 })
}, { query: "/signals/ask", match: "prefix" })

const settings = { id: "http", root: import.meta.dirname, folder: import.meta.dirname, host: current(), options: { allow: ["127.0.0.1"] } }

describe("Requests over HTTP", () => {
  it.effect("arrive in their space with the same key in each attempt, and replay without the server", () => Effect.gen(function*() {
    const image = Buffer.alloc(300_000, 7)
    const { seen, url } = yield* Effect.promise(() => servers.http(({ url }, response) => {
      if (url === "/image") return void response.writeHead(200, { "content-type": "image/png" }).end(image)
      response.writeHead(url === "/busy" ? 503 : 200, { "content-type": "application/json" }).end("{\"a\":1}")
    }))
    const reactor = Reactor.sync([{ ...HttpChannel.define(settings), id: "http" }])
    const found = yield* Effect.gen(function*() {
      const space = yield* TestKernel.space([ask])
      for (const path of ["/text", "/image", "/busy", "/gone"]) {
        const place = path === "/gone" ? "http://169.254.169.254/" : url + path
        yield* space.signal({ signal: "/signals/ask", payload: place })
      }
      yield* steps(space, 10)
      yield* Effect.promise(() => servers.close())
      yield* replays(space)
      const hash = createHash("sha256").update(image).digest("hex")
      return { results: yield* space.get("/data/results"), hash, image: yield* space.blob(hash) }
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor }) as Layer.Layer<Kernel>))
    const results = found.results as unknown as ReadonlyArray<IoResult>
    const [text, stored, gone, busy] = [...results].sort((a, b) => a.attempt - b.attempt)
    assert.deepInclude(text, { state: "complete", bytes_done: 7 })
    assert.deepInclude(text?.value, { status: 200, body: "{\"a\":1}" })
    assert.deepInclude(stored, { state: "complete", bytes_done: image.length })
    assert.deepInclude(stored?.value, { status: 200, content: `/cas/${found.hash}` })
    assert.deepStrictEqual(Buffer.from(found.image ?? []), image)
    assert.deepInclude(gone, { state: "fail", code: "http/refused", attempt: 1 })
    assert.deepInclude(busy, { state: "fail", code: "http/status", attempt: 2 })
    const keys = seen.filter(({ url }) => url === "/busy").map(({ headers }) => headers["idempotency-key"])
    assert.strictEqual(keys.length, 2)
    assert.strictEqual(new Set(keys).size, 1)
  }))
})

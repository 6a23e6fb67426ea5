import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { createHash } from "node:crypto"
import { Socket } from "node:net"
import { Enzyme, type IoResult, type Kernel, replay, type Space, type Transaction, verify } from "systole"
import * as HttpChannel from "../../../plugins/http/HttpChannel.ts"
import { Reactor } from "../../../src/reactor/Reactor.ts"
import { enzyme, replays, steps } from "../../kernel/TestSpace.ts"
import * as SqliteFolder from "../../persistence/SqliteFolder.ts"
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

  it.effect("replay to the byte in a runtime whose reactor and network fail when they are touched", () => Effect.gen(function*() {
    let busy = 2
    const { url } = yield* Effect.promise(() => servers.http(({ url }, response) => {
      const isBusy = url === "/charge" && busy-- > 0
      response.writeHead(isBusy ? 503 : url === "/ship" ? 409 : 200, { "content-type": "application/json" }).end("{\"receipt\":17}")
    }))
    const folder = yield* SqliteFolder.folder
    const lived = yield* inRuntime(folder, Reactor.sync([{ ...HttpChannel.define(settings), id: "http" }]), (space) =>
      Effect.gen(function*() {
        yield* space.signal({ signal: "/signals/ask", payload: `${url}/text` })
        const { id } = yield* space.signal({ signal: "/signals/buy", payload: url })
        yield* steps(space, 12)
        const value = (yield* space.receipt(id))?.handlings[0]?.value
        return { value, head: yield* space.head, digest: yield* digestOf(space) }
      }))
    assert.deepStrictEqual(lived.value, ["{\"receipt\":17}", "http/status", 200])
    yield* Effect.promise(() => servers.close())
    let touched = 0
    const touch = (): never => {
      touched++
      throw new Error("the network is touched")
    }
    yield* withoutNetwork(touch)
    const broken = Reactor.native([{ ...HttpChannel.define(settings), id: "http", execute: touch }])
    yield* inRuntime(folder, broken, (space) => Effect.gen(function*() {
      assert.strictEqual((yield* space.examine(verify)).fault, undefined)
      for (let from = 0; from <= lived.head; from++) {
        const { difference, impossible } = yield* space.examine((history) => replay(history, from, lived.head))
        assert.isUndefined(difference ?? impossible, `from ${from}: ${JSON.stringify(difference ?? impossible)}`)
      }
      assert.strictEqual(yield* digestOf(space), lived.digest)
    }))
    assert.strictEqual(touched, 0)
  }))
})

/** Charges, ships, and takes the charge back where it cannot ship. */
const buy = Enzyme.make({
  name: "buy",
  query: "/signals/buy",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const charged = await tx.io.fetch(`${String(payload)}/charge`, { expect: "2xx" }, { attempts: 4 })
    try {
      await tx.io.fetch(`${String(payload)}/ship`, { method: "POST", expect: "2xx" })
      return "shipped"
    } catch (error) {
      const refund = await tx.io.fetch(`${String(payload)}/refund`, { method: "POST" })
      return [bodyOf(charged), (error as { readonly code: string }).code, (refund.value as { readonly status: number }).status]
    }
  }
})

const bodyOf = ({ value }: IoResult): string => (value as unknown as { readonly body: string }).body

/** Runs a body with the space over the SQLite files of a folder. */
const inRuntime = <A, E>(folder: string, reactor: Layer.Layer<Reactor>, body: (space: Space) => Effect.Effect<A, E, Kernel>) =>
  Effect.flatMap(TestKernel.space([ask, buy]), body).pipe(
    Effect.provide(Layer.fresh(TestKernel.layer({}, SqliteFolder.layerIn(folder), { reactor })) as Layer.Layer<Kernel>)
  )

/** The digest of all entries of a space. */
const digestOf = (space: Space) =>
  space.examine(({ store }) => [...store.scanJournal(0, Infinity)].map(({ hash, text }) => `${hash} ${text}`).join("\n"))

/** Until the scope closes, each connection and each `fetch` of the process is a call of `touch`. */
const withoutNetwork = (touch: () => never): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const [{ connect }, { fetch }] = [Socket.prototype, globalThis]
      Socket.prototype.connect = touch
      globalThis.fetch = Object.assign(() => touch(), { preconnect: touch })
      return { connect, fetch }
    }),
    ({ connect, fetch }) => Effect.sync(() => {
      Socket.prototype.connect = connect
      globalThis.fetch = fetch
    })
  ))

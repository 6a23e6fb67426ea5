import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Latch, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type IncomingMessage, request } from "node:http"
import { Readable } from "node:stream"
import { type ContentStore, MemoryStore, Persistence } from "systole"
import { Imports } from "../../src/archive/Imports.ts"
import * as Fibers from "../../src/kernel/model/Fibers.ts"
import * as Frames from "../frame/Frames.ts"
import { serve } from "../ingress/TestIngress.ts"
import { enzyme, steps, turns } from "../kernel/TestSpace.ts"
import { listening } from "../runtime/Listening.ts"
import * as MemoryContents from "../support/MemoryContents.ts"
import { present } from "../support/Present.ts"
import { frameOf, type Node, node } from "./Nodes.ts"

const texts = Array.from({ length: 6 }, (_, n) => `${n}${"x".repeat(100_000)}`)

const modules = [enzyme("put", (tx) => texts.forEach((text, n) => tx.set(`/data/t${n}`, text)))]

/** The place after so many chunks. */
const after = (frame: Uint8Array, chunks: number): number => present(Frames.places(frame)[chunks])

/** Counts the stores of imports that are open. */
const counted = () => {
  const counts = { open: 0, most: 0 }
  const layer = Layer.effect(Persistence, Effect.map(Persistence, (inner): Persistence["Service"] => ({
    ...inner,
    open: (name, options) => options.importing !== true ? inner.open(name, options) : Effect.tap(inner.open(name, options), () => {
      counts.most = Math.max(counts.most, ++counts.open)
      return Effect.addFinalizer(() => Effect.sync(() => counts.open--))
    })
  }))).pipe(Layer.provide(MemoryStore.layer))
  return { counts, layer }
}

/** A node with the frame of a space. */
const framed = Effect.fnUntraced(function*(persistence: Layer.Layer<Persistence> = MemoryStore.layer, contents?: ContentStore) {
  const here = yield* node({ modules, persistence, contents })
  const home = yield* here.kernel.space("home")
  yield* steps(home, 8)
  yield* home.signal({ signal: "/signals/put" })
  yield* steps(home, 2)
  return { here, frame: yield* frameOf(here, "home") }
})

const part = <E>(imports: Imports, space: string, { bytes, from = 0, id = "abcdefgh" }: {
  readonly bytes: Stream.Stream<Uint8Array, E>
  readonly from?: number
  readonly id?: string
}) => imports.take({ space, id, why: "copy", from, bytes })

/** A body whose pieces come 59 seconds after one another. */
const slow = (pieces: ReadonlyArray<Uint8Array>) =>
  Stream.mapEffect(Stream.fromIterable(pieces), (piece) => Effect.delay(Effect.succeed(piece), "59 seconds"))

/** An import that got the chunks of its frame up to the middle of one. */
const begun = (here: Node, frame: Uint8Array) => {
  const bytes = Stream.concat(Stream.make(frame.subarray(0, after(frame, 2) + 100)), Stream.fail("cut"))
  return Effect.flip(part(here.imports, "copy", { bytes }))
}

describe("an import over HTTP", () => {
  it.live("N33 goes on with the chunk in whose middle the connection was cut", () => Effect.gen(function*() {
    const app = yield* serve({ enzymes: modules })
    yield* Effect.promise(() => app.ask("/v1/spaces/home/signals", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=10" },
      body: JSON.stringify({ signal: "/signals/put" })
    }))
    const frame = new Uint8Array(yield* Effect.promise(async () => (await app.fetch("/v1/spaces/home/export")).arrayBuffer()))
    const url = yield* listening(createServer((incoming: IncomingMessage, response) => {
      const init = { method: "PUT", duplex: "half", body: Readable.toWeb(incoming) as unknown } as RequestInit
      void app.ask(incoming.url ?? "", init).then(({ body, status }) => response.writeHead(status).end(JSON.stringify(body)), () => {})
    }))
    yield* Effect.callback<void>((resume) => {
      const cut = request(`${url}/v1/spaces/copy/import/abcdefgh?from=0`, { method: "PUT", headers: { "content-length": frame.length } })
      cut.on("error", () => resume(Effect.void))
      cut.write(frame.subarray(0, (after(frame, 2) + after(frame, 3)) / 2), () => cut.destroy(new Error("cut")))
    })
    const put = (from: number, bytes: Uint8Array) => Effect.promise(async () => {
      for (;;) {
        const response = await fetch(`${url}/v1/spaces/copy/import/abcdefgh?from=${from}`, { method: "PUT", body: new Uint8Array(bytes) })
        // The server may not have noticed the cut.
        if (response.status !== 503) return await response.json() as { readonly next?: number; readonly beat?: number }
      }
    })
    const { next = 0 } = yield* put(9, new Uint8Array())
    assert.isTrue(next > 0 && next <= 3, String(next))
    assert.property(yield* put(next, frame.subarray(after(frame, next - 1))), "root")
    const verified = yield* Effect.promise(() => app.ask("/v1/spaces/copy/journal/verification"))
    assert.notProperty(verified.body as object, "fault")
  }))
})

describe("a runtime that ends", () => {
  it.live("closes the stores of the imports in progress", () => Effect.gen(function*() {
    const closed: Array<string> = []
    yield* Effect.scoped(Effect.gen(function*() {
      const app = yield* serve({
        enzymes: modules,
        hold: yield* Fibers.holder,
        kernel: (kernel) => ({
          ...kernel,
          importing: (name, importer) =>
            Effect.tap(kernel.importing(name, importer), () => Effect.addFinalizer(() => Effect.sync(() => closed.push(name))))
        })
      })
      yield* Effect.flatMap(app.kernel.space("home", { create: true }), (home) => home.get("/data/t0"))
      const frame = new Uint8Array(yield* Effect.promise(async () => (await app.fetch("/v1/spaces/home/export")).arrayBuffer()))
      const body = new Uint8Array(frame.subarray(0, after(frame, 0)))
      const taken = yield* Effect.promise(() => app.ask("/v1/spaces/copy/import/abcdefgh?from=0", { method: "PUT", body }))
      assert.deepStrictEqual(taken.body, { space: "copy", frame: 0, next: 1 })
      assert.deepStrictEqual(closed, [])
    }))
    assert.deepStrictEqual(closed, ["copy"])
  }))
})

describe("an import that breaks off", () => {
  it.effect("N33 goes on where its request was interrupted, in the middle of a chunk", () => Effect.gen(function*() {
    const { frame, here } = yield* framed()
    const came = Latch.makeUnsafe(false)
    const bytes = Stream.concat(
      Stream.make(frame.subarray(0, after(frame, 2) + 100)),
      Stream.fromEffect(Effect.andThen(came.open, Effect.never))
    )
    const fiber = yield* Effect.forkChild(part(here.imports, "copy", { bytes }))
    yield* came.await
    assert.strictEqual((yield* Effect.flip(part(here.imports, "copy", { bytes: Stream.empty }))).code, "space/importing")
    yield* Fiber.interrupt(fiber)
    const place = yield* part(here.imports, "copy", { bytes: Stream.empty, from: 999 })
    assert.deepStrictEqual(place, { frame: 0, next: 3 })
    assert.property(yield* part(here.imports, "copy", { bytes: Stream.make(frame.subarray(after(frame, 2))), from: 3 }), "root")
  }))

  it.effect("frees its store after 10 minutes, goes on, and is removed an hour after its newest part", () => Effect.gen(function*() {
    const { counts, layer } = counted()
    const { frame, here } = yield* framed(layer)
    yield* begun(here, frame)
    assert.strictEqual(counts.open, 1)
    yield* TestClock.adjust("11 minutes")
    assert.strictEqual(counts.open, 0)
    const next = Stream.make(frame.subarray(after(frame, 2), after(frame, 4)))
    assert.deepStrictEqual(yield* part(here.imports, "copy", { bytes: next, from: 3 }), { frame: 0, next: 5 })
    yield* TestClock.adjust("59 minutes")
    yield* turns(20)
    const other = { bytes: Stream.empty, id: "another-1" }
    assert.strictEqual((yield* Effect.flip(part(here.imports, "copy", other))).code, "space/importing")
    yield* TestClock.adjust("2 minutes")
    yield* turns(20)
    assert.deepStrictEqual(yield* here.kernel.spaces, ["home"])
    assert.deepStrictEqual(yield* part(here.imports, "copy", other), { frame: 0, next: 0 })
    assert.deepStrictEqual(counts, { open: 1, most: 1 })
  }))

  it.effect("ends a part without a byte for 1 minute, is removed an hour later, and its name is free", () => Effect.gen(function*() {
    const { counts, layer } = counted()
    const { frame, here } = yield* framed(layer)
    const came = after(frame, 2) + 100
    const pieces = [frame.subarray(0, 2000), frame.subarray(2000, came)]
    const bytes = Stream.concat(slow(pieces), Stream.never)
    const fiber = yield* Effect.forkChild(part(here.imports, "copy", { bytes }))
    yield* TestClock.adjust("177 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(yield* Fiber.join(fiber), { frame: 0, next: 3 })
    yield* TestClock.adjust("61 minutes")
    yield* turns()
    assert.deepStrictEqual(yield* here.kernel.spaces, ["home"])
    assert.property(yield* part(here.imports, "copy", { bytes: Stream.make(frame), id: "another-1" }), "root")
    assert.deepStrictEqual(yield* here.kernel.spaces, ["copy", "home"])
    assert.deepStrictEqual(counts, { open: 0, most: 1 })
  }))

  it.effect("stays while a part works for longer than an hour", () => Effect.gen(function*() {
    const { frame, here } = yield* framed()
    const pieces = Array.from({ length: 100 }, (_, n) => frame.subarray(n, n === 99 ? frame.length : n + 1))
    const bytes = slow(pieces)
    const fiber = yield* Effect.forkChild(part(here.imports, "copy", { bytes }))
    for (let minute = 0; minute < 100; minute++) yield* TestClock.adjust("59 seconds")
    assert.property(yield* Fiber.join(fiber), "root")
  }))

  it.effect("waits for the removal of its own name, and no other import does", () => Effect.gen(function*() {
    const { store } = MemoryContents.make()
    const deleted = Latch.makeUnsafe(false)
    const contents: ContentStore = { ...store, list: async (prefix, after) => {
      if (prefix.startsWith("copy/")) await Effect.runPromise(deleted.await)
      return store.list(prefix, after)
    } }
    const { frame, here } = yield* framed(MemoryStore.layer, contents)
    yield* here.kernel.space("copy")
    const removal = yield* Effect.forkChild(here.kernel.remove("copy"))
    yield* TestClock.adjust(1)
    const waiting = yield* Effect.forkChild(part(here.imports, "copy", { bytes: Stream.make(frame) }))
    yield* TestClock.adjust(1)
    assert.property(yield* part(here.imports, "other", { bytes: Stream.make(frame) }), "root")
    assert.strictEqual((yield* Effect.flip(part(here.imports, "copy", { bytes: Stream.empty }))).code, "space/importing")
    assert.isUndefined(waiting.pollUnsafe())
    yield* deleted.open
    yield* Fiber.join(removal)
    assert.property(yield* Fiber.join(waiting), "root")
  }))

  it.effect("frees its store when its host ends, and goes on at the next one", () => Effect.gen(function*() {
    const { counts, layer } = counted()
    const { frame, here } = yield* framed(layer)
    yield* begun(here, frame)
    assert.strictEqual(counts.open, 1)
    yield* here.imports.end
    assert.strictEqual(counts.open, 0)
    const imports = new Imports(here, { fork: here.fork, limit: () => 2 })
    assert.property(yield* part(imports, "copy", { bytes: Stream.make(frame.subarray(after(frame, 2))), from: 3 }), "root")
  }))

  it.effect("begins anew when its space was removed meanwhile", () => Effect.gen(function*() {
    const { frame, here } = yield* framed()
    yield* begun(here, frame)
    yield* here.kernel.remove("copy")
    assert.deepStrictEqual(yield* part(here.imports, "copy", { bytes: Stream.empty, from: 3 }), { frame: 0, next: 0 })
    assert.property(yield* part(here.imports, "copy", { bytes: Stream.make(frame) }), "root")
  }))

  it.effect("leaves the memory to others at the limit of a host, and loses nothing", () => Effect.gen(function*() {
    const { counts, layer } = counted()
    const { frame, here } = yield* framed(layer)
    const imports = new Imports(here, { fork: here.fork, limit: () => 2 })
    const names = ["a", "b", "c"]
    for (const name of names) yield* part(imports, name, { bytes: Stream.make(frame.subarray(0, after(frame, 2))) })
    assert.strictEqual(counts.most, 2)
    const stalled = yield* Effect.forEach(["d", "e"], (name) => Effect.forkChild(part(imports, name, { bytes: Stream.never })))
    yield* TestClock.adjust(1)
    assert.strictEqual((yield* Effect.flip(part(imports, "a", { bytes: Stream.empty }))).code, "archive/full")
    yield* Effect.forEach(stalled, Fiber.interrupt)
    const rest = Stream.make(frame.subarray(after(frame, 2)))
    for (const name of names) assert.property(yield* part(imports, name, { bytes: rest, from: 3 }), "root")
  }))
})

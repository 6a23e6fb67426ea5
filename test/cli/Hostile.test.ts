import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { connect } from "../../src/cli/Client.ts"
import * as PageList from "../../src/cli/PageList.ts"
import { terminal } from "./Terminal.ts"
import { served } from "./ForeignServer.ts"

/** A client of a server that answers with these bodies, and the number of requests. */
const clientOf = (body: () => BodyInit, init: ResponseInit = {}) => {
  const counts = { asked: 0, cancelled: 0 }
  const client = connect({
    url: "http://server.example",
    token: undefined,
    unreachable: () => "nobody",
    fetch: () => {
      counts.asked++
      return new Response(body(), init)
    }
  })
  return { client, counts }
}

/** A body of these chunks again and again. */
const endless = (chunk: Uint8Array<ArrayBuffer>, cancel: () => void = () => {}): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({ pull: (controller) => controller.enqueue(chunk), cancel }, { highWaterMark: 0 })

const code = <A, E extends { readonly code: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (failure) => failure.code)

const silent = (cancel: () => void) => new ReadableStream<Uint8Array<ArrayBuffer>>({ cancel })

describe("A client of a hostile server", () => {
  it.effect("ends an answer that never ends after a minute, and takes no more of it", () =>
    Effect.gen(function*() {
      let cancelled = 0
      const { client } = clientOf(() => silent(() => cancelled++))
      for (const ask of [client.ask("/a"), client.bytes("/a")]) {
        const asked = yield* Effect.forkChild(code(ask), { startImmediately: true })
        yield* TestClock.adjust("61 seconds")
        assert.strictEqual(yield* Fiber.join(asked), "server/timeout")
      }
      assert.strictEqual(cancelled, 2)
      const waits = yield* Effect.forkChild(code(client.ask("/a", { headers: { prefer: "wait=60" } })), { startImmediately: true })
      yield* TestClock.adjust("119 seconds")
      assert.strictEqual(waits.pollUnsafe(), undefined)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(waits), "server/timeout")
    }))

  it.effect("takes 64 MiB of an answer and of an event, and no more", () =>
    Effect.gen(function*() {
      const chunk = new Uint8Array(1_048_576).fill(32)
      let taken = 0
      const { client } = clientOf(() => endless(chunk, () => taken++))
      assert.strictEqual(yield* code(client.ask("/a")), "server/answer")
      assert.strictEqual(yield* code(client.bytes("/a")), "server/answer")
      assert.strictEqual(yield* code(Stream.runDrain(client.events("/a"))), "server/answer")
      assert.isAtLeast(taken, 2)
    }))

  it.effect("fails at an event of a stream that no server sends", () =>
    Effect.gen(function*() {
      const events = [
        "event: value\ndata: {", "event: value\ndata: 1", "event: problem\ndata: x", "event: problem\ndata: {\"code\":1}",
        "event: problem\ndata: null", "event: reset\ndata: {", "event: reset\ndata: null", "event: value"
      ]
      for (const event of events) {
        const { client } = clientOf(() => `id: 1\n${event}\n\n`)
        assert.strictEqual(yield* code(Stream.runDrain(client.events("/a"))), "server/answer", event)
      }
      const { client } = clientOf(() => "id: 1\nevent: value\ndata: 1\n\nid: 2\nevent: absent\n\n")
      const found = yield* Stream.runCollect(client.events("/a", { isValue: true }))
      assert.deepStrictEqual(found.map(({ event, value }) => [event, value]), [["value", 1], ["absent", undefined]])
    }))

  it.effect("ends a silent stream after a minute", () =>
    Effect.gen(function*() {
      const { client } = clientOf(() => silent(() => {}))
      const events = yield* Effect.forkChild(code(Stream.runDrain(client.events("/a"))), { startImmediately: true })
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* Fiber.join(events), "server/unreachable")
    }))

  it.effect("refuses an answer that is no object where a command needs one", () =>
    Effect.gen(function*() {
      for (const body of ["null", "1", "\"text\"", "[]", "true", "<html>", ""]) {
        assert.strictEqual(yield* code(clientOf(() => body).client.ask("/a")), "server/answer", body)
      }
      assert.strictEqual(yield* clientOf(() => "null").client.ask("/a", { isValue: true }), null)
    }))

  it.effect("reads a bounded number of rows and pages, and tells that there are more", () =>
    Effect.gen(function*() {
      let pages = 0
      const fetch = (rows: number) => (after: string | undefined) => {
        pages++
        const next = Number(after ?? 0) + 1
        return Effect.succeed({ rows: Array.from({ length: rows }, (_, i) => i), next })
      }
      const long = yield* PageList.readPages(fetch(1000))
      assert.deepStrictEqual([long.isCut, long.rows.length, pages], [true, 100_000, 100])
      pages = 0
      assert.deepStrictEqual(yield* PageList.readPages(fetch(0)), { rows: [], isCut: true })
      assert.strictEqual(pages, 10_000)
      assert.strictEqual(yield* code(PageList.readPages(() => Effect.succeed({ rows: [], next: "same" }))), "server/answer")
    }))
})

const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ["space", "ls"], ["space", "create", "a"], ["space", "delete", "a", "--yes"], ["space", "state", "a"], ["space", "clock", "a"],
  ["space", "waiting", "a"], ["space", "pause", "a"], ["space", "hold", "a"], ["signal", "a", "--signal", "/signals/x", "--wait", "1"],
  ["cell", "ls", "a"], ["cell", "set", "a", "/data/x", "1"], ["beat", "ls", "a"], ["beat", "show", "a", "1"], ["enzyme", "ls"],
  ["dead", "ls", "a"], ["dead", "show", "a", "b", "c"], ["op", "ls", "a"], ["op", "show", "a", "b"], ["rv", "ls", "a"],
  ["rv", "show", "a", "b"], ["flow", "declared"], ["flow", "ls", "a"], ["flow", "show", "a", "b"], ["io", "ls", "a"],
  ["io", "show", "a", "b"], ["io", "channels", "a"], ["run", "ls", "a"], ["run", "show", "a", "b"], ["graph", "a"], ["pause", "a"],
  ["debug", "io", "a"], ["journal", "verify", "a"], ["replay", "a"], ["why", "a", "/data/x"], ["explain", "a", "1", "x"],
  ["cell", "watch", "a", "/data/x"], ["op", "watch", "a", "b"]
]

/** Answers of any form: fields of a wrong type, rows that are none, and streams of them. A command reads the list of one field. */
const forms: ReadonlyArray<unknown> = [
  {}, { rows: null, next: null }, { beat: "x", locks: 1, nodes: [null], edges: null, next: null },
  Object.fromEntries([
    ["next", null],
    ...["spaces", "waiting", "enzymes", "flows", "operations", "requests", "runs", "letters", "beats", "instances", "rendezvous",
      "channels", "drains"].map((field) => [field, [null, 1, {}, "x"]])
  ]),
  { beats: [{ beat: 1, clock: 1e99, hash: 1 }], handlings: null, status: "handled", next: null }
]

describe("Each command with --server", () => {
  it.live("ends with a code, and with no exception, whatever the fields of an answer are", () =>
    Effect.gen(function*() {
      const { run } = yield* terminal()
      for (const form of forms) {
        const url = yield* served(({ headers }, response) => {
          const isStream = headers.accept?.includes("text/event-stream") === true
          response.setHeader("content-type", isStream ? "text/event-stream" : "application/json")
          response.end(isStream ? `id: 1\nevent: value\ndata: {${JSON.stringify(form)}\n\n` : JSON.stringify(form))
        })
        for (const args of commands) {
          const { code, stderr } = yield* Effect.promise(() => run(...args, "--server", url))
          assert.include([0, 1, 2, 3, 4, 5, 6, 7], code, `${args.join(" ")} ${JSON.stringify(form)}: ${stderr}`)
          if (["journal", "signal"].includes(args[0]!)) assert.notStrictEqual(code, 0, `${args.join(" ")} succeeds without being told`)
          assert.notMatch(stderr, /TypeError|RangeError|SyntaxError|\n\s+at /, `${args.join(" ")} ${JSON.stringify(form)}`)
        }
      }
    }).pipe(Effect.scoped))
})

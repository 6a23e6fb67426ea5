import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Channel, CurrentReporter, type IoResult, type Kernel, Reactor, Reporter, type Space, type Told, type Transaction } from "systole"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, replays, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Makes one request by its payload, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  return tx.io.request({ signal: "/signals/ask/done", channel: "bank", opcode: "pay", ...payload as object })
}, { query: "/signals/ask", match: "prefix" })

const cancel = enzyme("cancel", (tx, { payload }) => tx.io.cancel(String(payload)))

const bank = (execute: Channel.Definition["execute"]): Channel.Channel =>
  ({ id: "bank", provider: "bad", hosts: ["node", "deno", "bun"], opcodes: { pay: {}, charge: { repeatable: true } }, execute })

const request = (space: Space, payload: unknown = {}) => space.signal({ signal: "/signals/ask", payload })

/** Runs beats, with turns of the host after each. */
const beats = Effect.fnUntraced(function*(space: Space, count: number) {
  for (let beat = 0; beat < count; beat++) {
    yield* space.step
    yield* turns(6)
  }
})

const results = (space: Space) => Effect.map(space.get("/data/results"), (found) => (found ?? []) as unknown as ReadonlyArray<IoResult>)

/** The results of the requests to a provider. Its journal replays. */
const asked = (
  execute: Channel.Definition["execute"],
  test: (space: Space) => Effect.Effect<unknown, unknown, Kernel> = (space) =>
    Effect.andThen(request(space, { budget: 3 }), beats(space, 8))
) => Effect.gen(function*() {
  const space = yield* TestKernel.space([ask, cancel])
  yield* test(space)
  yield* replays(space)
  return yield* results(space)
}).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: Reactor.native([bank(execute)]) }) as Layer.Layer<Kernel>))

const cycle: Record<string, unknown> = {}
cycle["self"] = cycle

/** A value of so many arrays, each within another. */
const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner: unknown) => [inner], 1)

const hangs = () => new Promise<never>(() => {})

/** A thenable that resolves, and then resolves and rejects again. */
const twice = {
  then: (resolve: (result: Channel.JobResult) => void, reject: (error: Error) => void) => {
    resolve({ value: 1 })
    resolve({ value: 2 })
    reject(new Error("later"))
  }
}

const failing = (value: unknown) => () => { throw value }
const invalid = { state: "fail", errno: -22, code: "io/result-invalid" } as const
const unknown = { state: "fail", errno: -5, code: "io/failed" } as const

/** Providers, each with the one result of a request with a budget of 3 beats. */
const providers: Readonly<Record<string, readonly [Channel.Definition["execute"], Partial<IoResult>]>> = {
  "throws at once": [failing(new TypeError("no")), { ...unknown, note: "the channel threw TypeError" }],
  "throws undefined": [failing(undefined), { ...unknown, note: "the channel threw undefined" }],
  "throws an error of its host": [
    failing(Object.assign(new Error("the key is 17"), { code: "ECONNRESET" })), { errno: -104, note: "the channel threw Error" }
  ],
  "throws an error whose name cannot be read": [
    failing(Object.defineProperty(new Error("no"), "name", { get: failing("never") })), { ...unknown, note: "the channel threw Error" }
  ],
  "throws an error without a code": [failing(Channel.fail("", "no")), invalid],
  "throws an error with the code of an attempt that never began": [failing(Channel.fail("io/held", "no", { retryable: true })), invalid],
  "throws an error with a wrong number": [failing(Channel.fail("bank/no", "no", { errno: 7.5 })), { code: "bank/no", errno: -5 }],
  "throws an error whose number is infinite": [
    failing(Channel.fail("bank/no", "no", { errno: -Infinity })), { code: "bank/no", errno: -5 }
  ],
  "hangs": [hangs, { state: "fail", errno: -110, code: "io/timeout" }],
  "resolves twice and then throws": [() => twice as unknown as Promise<Channel.JobResult>, { state: "complete", value: 1 }],
  "returns a value as deep as a cell, too deep for its event": [() => ({ value: nested(64) }), invalid],
  "returns a value that its event can have": [() => ({ value: nested(62) }), { value: nested(62) }],
  "returns a function": [() => ({ value: () => 1 }), invalid],
  "returns a cycle": [() => ({ value: cycle }), invalid],
  "returns 100 MB": [() => ({ value: "x".repeat(100_000_000) }), invalid],
  "returns a forbidden key": [() => ({ value: JSON.parse("{\"__proto__\":1}") as unknown }), invalid],
  "returns a negative number of bytes": [() => ({ bytes: -5 }), invalid],
  "returns a fraction of bytes": [() => ({ bytes: 1.5 }), invalid],
  "returns bytes that are no number": [() => ({ bytes: 10n as unknown as number }), invalid],
  "returns undefined": [() => undefined as unknown as Channel.JobResult, { state: "complete" }],
  "returns a number": [() => 7 as unknown as Channel.JobResult, { state: "complete" }],
  "returns a result that throws when it is read": [() => ({ get value(): never { throw new Error("no") } }), invalid],
  "returns keys that a host orders by their number": [
    () => ({ value: { 10: "b", 9: "a", x: [-0] } }), { value: { 10: "b", 9: "a", x: [0] } }
  ]
}

describe("A provider that", () => {
  for (const [name, [execute, expected]] of Object.entries(providers)) {
    it.effect(`${name} has one completion, which a replay reads back`, () => Effect.gen(function*() {
      const found = yield* asked(execute)
      assert.strictEqual(found.length, 1)
      assert.deepInclude(found[0], expected)
      assert.match(found[0]?.rid ?? "", /^bank:/)
    }))
  }

  it.effect("completes after a cancellation is ignored", () => {
    let end = (_result: Channel.JobResult): void => {}
    return Effect.gen(function*() {
      const found = yield* asked(({ rid }) => new Promise((resolve) => { end = () => resolve({ value: rid }) }), (space) =>
        Effect.gen(function*() {
          yield* request(space)
          yield* beats(space, 1)
          const [rid] = yield* space.list("/sys/index/io")
          yield* space.signal({ signal: "/signals/cancel", payload: rid })
          yield* beats(space, 1)
          end({})
          yield* beats(space, 4)
        }))
      assert.deepStrictEqual(found.map(({ code, state }) => [state, code]), [["cnl", "io/cancelled"]])
    })
  })

  it.effect("completes after the deadline is ignored", () => {
    let end = (_result: Channel.JobResult): void => {}
    return Effect.gen(function*() {
      const found = yield* asked(({ rid }) => new Promise((resolve) => { end = () => resolve({ value: rid }) }), (space) =>
        Effect.gen(function*() {
          yield* request(space, { budget: 1 })
          yield* beats(space, 3)
          end({})
          yield* beats(space, 4)
        }))
      assert.deepStrictEqual(found.map(({ code, state }) => [state, code]), [["fail", "io/timeout"]])
    })
  })

  it.effect("is gone after a restart fails its requests, each once", () => {
    let isGone = false
    const reactor = Layer.suspend(() => isGone ? Reactor.none : Reactor.native([bank(hangs)]))
    return Effect.gen(function*() {
      const machine = yield* RestartableKernel.make([ask], reactor)
      const space = yield* (yield* machine.boot()).space("gone", { create: true })
      for (const opcode of ["pay", "charge"]) yield* request(space, { opcode, attempts: 2 })
      yield* beats(space, 3)
      isGone = true
      const after = yield* (yield* machine.boot()).space("gone")
      yield* beats(after, 8)
      const found = (yield* results(after)).map(({ code, state }) => [state, code])
      assert.deepStrictEqual(found, [["fail", "io/channel-absent"], ["fail", "io/channel-absent"]])
      assert.deepStrictEqual(yield* after.list("/sys/index/io"), [])
      yield* replays(after)
    }).pipe(Effect.scoped)
  })
})

describe("What a channel throws", () => {
  it.effect("is in the log of the host, whose messages are in no cell", () => Effect.gen(function*() {
    const told: Array<Told> = []
    const error = new TypeError("the key is 17")
    const [result] = yield* asked(failing(error)).pipe(
      Effect.provideService(CurrentReporter, new Reporter((each) => void told.push(each)))
    )
    const [thrown] = told.filter(({ topic }) => topic === "io/thrown")
    assert.include(thrown?.note, `channel bank threw at request ${result?.rid}: TypeError: the key is 17`)
    assert.strictEqual(thrown?.cause, error)
    assert.notInclude(JSON.stringify(result), "17")
  }))

  it.effect("is not in the log if the channel expected it", () => Effect.gen(function*() {
    const told: Array<Told> = []
    yield* asked(failing(Channel.fail("bank/closed", "closed"))).pipe(
      Effect.provideService(CurrentReporter, new Reporter((each) => void told.push(each)))
    )
    assert.deepStrictEqual(told.filter(({ topic }) => topic === "io/thrown"), [])
  }))
})

describe("content that a job keeps", () => {
  it.effect("ends with its request, although no chunk comes", () => Effect.gen(function*() {
    const log: Array<string> = []
    const chunks = async function*() {
      yield new Uint8Array(5)
      await hangs()
    }
    const keeps: Channel.Definition["execute"] = async ({ keep, signal }) => {
      await keep(chunks()).catch((error: unknown) => log.push(error === signal.reason ? "aborted" : String(error)))
      await keep(new Uint8Array(5)).catch(() => log.push("refused"))
      return {}
    }
    assert.deepStrictEqual((yield* asked(keeps)).map(({ code }) => code), ["io/timeout"])
    assert.deepStrictEqual(log, ["aborted", "refused"])
  }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Channel, type IoResult, Reactor, type Space, type Transaction } from "systole"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, replays, turns } from "../kernel/TestSpace.ts"

/** Makes requests by its payload, and keeps the results that it hears. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
  const { times, ...more } = payload as { readonly times: number }
  for (let i = 0; i < times; i++) tx.io.request({ channel: "bank", opcode: "pay", payload: i, signal: "/signals/ask/done", ...more })
}, { query: "/signals/ask", match: "prefix" })

const cancel = enzyme("cancel", (tx, { payload }) => (payload as ReadonlyArray<string>).map((rid) => tx.io.cancel(rid)))

/** A channel with one job at a time. Its jobs end by their payloads: well, with an error, twice, or never. */
const world = Effect.gen(function*() {
  const executed: Array<string> = []
  const bank: Channel.Channel = {
    id: "bank", provider: "bad", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { pay: { repeatable: true } },
    execute: ({ payload, signal, space }) => {
      executed.push(`${space} ${String(payload)}`)
      const kind = Number(payload) % 4
      if (kind === 1) throw new Error("no")
      if (kind === 2) return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      return new Promise((resolve) => {
        resolve({ value: payload })
        if (kind === 3) resolve({ value: "again" })
      })
    }
  }
  return { executed, machine: yield* RestartableKernel.make([ask, cancel], Reactor.native([bank])) }
})

const resultsOf = (space: Space) => Effect.map(space.get("/data/results"), (found) => (found ?? []) as unknown as ReadonlyArray<IoResult>)

/** Runs beats of the spaces in turn, with turns of the host after each. */
const beats = Effect.fnUntraced(function*(spaces: ReadonlyArray<Space>, count: number) {
  for (let beat = 0; beat < count; beat++) {
    for (const space of spaces) {
      yield* space.step
      yield* turns(4)
    }
  }
})

describe("Spaces at a bad channel with one job at a time", () => {
  it.effect("take turns, and have one result for each request", () => Effect.gen(function*() {
    const { executed, machine } = yield* world
    const kernel = yield* machine.boot()
    const many = yield* kernel.space("many", { create: true })
    const few = yield* kernel.space("few", { create: true })
    yield* many.signal({ signal: "/signals/ask", payload: { times: 24, budget: 20 } })
    yield* many.step
    yield* few.signal({ signal: "/signals/ask", payload: { times: 2, budget: 20 } })
    yield* beats([few, many], 60)
    const order = executed.filter((line) => line.startsWith("few")).map((line) => executed.indexOf(line))
    for (const place of order) assert.isBelow(place, 8, JSON.stringify(executed))
    for (const [space, count] of [[many, 24], [few, 2]] as const) {
      const results = yield* resultsOf(space)
      assert.lengthOf(results, count)
      assert.lengthOf(new Set(results.map(({ rid }) => rid)), count)
      assert.notInclude(results.map(({ value }) => value), "again")
      yield* replays(space)
    }
  }).pipe(Effect.scoped))

  it.effect("end each request once, also cancelled while it waits, and over a restart", () => Effect.gen(function*() {
    const { machine } = yield* world
    const before = yield* (yield* machine.boot()).space("many", { create: true })
    yield* before.signal({ signal: "/signals/ask", payload: { times: 16, attempts: 1 } })
    yield* beats([before], 2)
    const { requests } = yield* before.io.list({ limit: 100, open: true })
    const cancelled = requests.filter((_, i) => i % 2 === 0).map(({ rid }) => rid)
    yield* before.signal({ signal: "/signals/cancel", payload: cancelled })
    yield* before.step
    const space = yield* (yield* machine.boot()).space("many")
    yield* beats([space], 6)
    const left = (yield* space.io.list({ limit: 100, open: true })).requests.map(({ rid }) => rid)
    yield* space.signal({ signal: "/signals/cancel", payload: left })
    yield* beats([space], 20)
    const results = yield* resultsOf(space)
    assert.lengthOf(results, 16)
    assert.lengthOf(new Set(results.map(({ rid }) => rid)), 16)
    const states = new Map(results.map(({ rid, state }) => [rid, state]))
    for (const rid of cancelled) assert.strictEqual(states.get(rid), "cnl", rid)
    assert.deepStrictEqual((yield* space.io.list({ limit: 100, open: true })).requests, [])
    yield* replays(space)
  }).pipe(Effect.scoped))

  it.effect("list their requests from any cursor", () => Effect.gen(function*() {
    const { machine } = yield* world
    const space = yield* (yield* machine.boot()).space("many", { create: true })
    yield* space.signal({ signal: "/signals/ask", payload: { times: 3 } })
    yield* beats([space], 3)
    for (const after of ["", "/", "//", "OPS:io/", "../x", "OPS:zz/bank:0.0.0", "\u{ffff}", "x".repeat(5000)]) {
      const { requests } = yield* space.io.list({ limit: 10, after })
      assert.isAtMost(requests.length, 3, after)
    }
  }).pipe(Effect.scoped))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Enzyme, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, steps } from "../kernel/TestSpace.ts"

const pay = { channel: "bank", opcode: "pay" }

/** Makes two requests, one after the other. */
const twice = Enzyme.make({
  name: "twice",
  query: "/signals/twice",
  durable: true,
  run: async (tx: Transaction) => {
    await tx.io.request(pay)
    await tx.io.request(pay)
  }
})

const once = enzyme("once", (tx: Transaction, { signal }) =>
  signal === "/signals/once/done" ? undefined : tx.io.request({ ...pay, signal: "/signals/once/done" }),
{ query: "/signals/once", match: "prefix" })

const world = Effect.gen(function*() {
  const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } })
  const machine = yield* RestartableKernel.make([twice, once], reactor.layer)
  return { reactor, space: yield* (yield* machine.boot()).space("test") }
})

/** All rows of the list, page by page. */
const rowsOf = Effect.fnUntraced(function*(space: Space, limit: number) {
  const rows: Array<{ readonly rid: string; readonly oid?: string; readonly state: string }> = []
  for (let after: string | undefined; ;) {
    const page = yield* space.io.list({ limit, ...after === undefined ? {} : { after } })
    assert.isAtMost(page.requests.length, limit)
    rows.push(...page.requests)
    if (page.next === undefined) return rows
    after = page.next
  }
})

/** The refusal of a cancellation. */
const refusal = (space: Space, rid: string) => Effect.gen(function*() {
  const asked = yield* Effect.forkChild(Effect.flip(space.io.cancel(rid)), { startImmediately: true })
  yield* space.step
  return yield* Fiber.join(asked)
})

describe("The list of requests", () => {
  it.effect("has those of ordinary runs, and those of durable runs by their operations", () => Effect.gen(function*() {
    const { reactor, space } = yield* world
    for (const signal of ["/signals/twice", "/signals/once", "/signals/twice", "/signals/once"]) {
      yield* space.signal({ signal, payload: {} })
      yield* space.step
    }
    for (const { rid } of reactor.jobs.slice(0, 3)) reactor.complete(rid)
    yield* steps(space, 2)
    const rows = yield* rowsOf(space, 100)
    const named = rows.map(({ oid, state }) => `${oid === undefined ? "ordinary" : "durable"} ${state}`)
    assert.deepStrictEqual(named, [
      "ordinary complete", "ordinary pending", "durable complete", "durable pending", "durable complete", "durable pending"
    ])
    const runs = (yield* space.ops.list({ limit: 100 })).operations.flatMap(({ oid, verb }) => verb === "op/run" ? [oid] : [])
    assert.deepStrictEqual([...new Set(rows.flatMap(({ oid = [] }) => oid))].toSorted(), runs.toSorted())
    for (const limit of [1, 2, 5, 6]) assert.deepStrictEqual(yield* rowsOf(space, limit), rows, `pages of ${limit}`)
    const { requests: open } = yield* space.io.list({ limit: 100, open: true })
    assert.sameDeepMembers([...open], rows.filter(({ state }) => state === "pending") as never)
  }).pipe(Effect.scoped))

  it.effect("leads to each request, also to a finished one of a run", () => Effect.gen(function*() {
    const { reactor, space } = yield* world
    yield* space.signal({ signal: "/signals/twice", payload: {} })
    yield* space.step
    for (let i = 0; i < 2; i++) {
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: i })
      yield* space.step
    }
    const rows = yield* rowsOf(space, 10)
    assert.lengthOf(rows, 2)
    const values: Array<unknown> = []
    for (const { oid, rid } of rows) {
      const found = yield* space.io.get(rid)
      assert.deepStrictEqual([found?.rid, found?.oid, found?.state], [rid, oid, "complete"])
      values.push(found?.value)
    }
    assert.sameMembers(values, [0, 1])
    for (const absent of ["", "bank", "bank:0.0.9", "bank:99.0.0", "/"]) assert.isUndefined(yield* space.io.get(absent), absent)
  }).pipe(Effect.scoped))

  it.effect("tells a finished request of a run from an absent one when it is cancelled", () => Effect.gen(function*() {
    const { reactor, space } = yield* world
    yield* space.signal({ signal: "/signals/twice", payload: {} })
    yield* space.step
    const rid = reactor.jobs[0]?.rid ?? ""
    reactor.complete(rid)
    yield* space.step
    assert.deepInclude(yield* refusal(space, rid), { _tag: "RequestFinished", code: "io/finished", rid, state: "complete" })
    const absent = yield* refusal(space, "bank:0.0.9")
    assert.deepInclude(absent, { _tag: "RequestAbsent", code: "io/request-absent" })
    assert.include(absent.message, "its record has expired since its end")
  }).pipe(Effect.scoped))

  it.effect("has the requests of a run as long as its dossier, also after the journal is pruned", () => Effect.gen(function*() {
    const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } })
    const machine = yield* RestartableKernel.make([twice], reactor.layer)
    const space = yield* (yield* machine.boot({ retention: { journalBytes: 20_000 } })).space("test")
    yield* space.signal({ signal: "/signals/twice", payload: {} })
    yield* space.step
    const rid = reactor.jobs[0]?.rid ?? ""
    for (let i = 0; i < 2; i++) {
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: i })
      yield* steps(space, 3)
    }
    yield* steps(space, 600)
    assert.isUndefined(yield* space.journal(0))
    assert.deepInclude(yield* space.io.get(rid), { rid, state: "complete", value: 0 })
    assert.deepInclude(yield* refusal(space, rid), { code: "io/finished" })
  }).pipe(Effect.scoped))
})

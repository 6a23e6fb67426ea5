import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, Retry, type RunRow, type Space, type Transaction } from "systole"
import { begun as done, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"

const durable = (name: string, run: (tx: Transaction) => Promise<unknown>) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, hears: [{ signal: "/signals/go", target: "/data/a" }], run })

const modules = [
  durable("waits", (tx) => tx.waitForSignal("/signals/go", "/data/a")),
  durable("ends", (tx) => tx.sleep({ beats: 1 })),
  durable("fails", async (tx) => {
    await tx.sleep({ beats: 1 })
    throw new Error("not allowed")
  }),
  durable("retries", () => Promise.reject(new Retry({ reason: "not yet" }))),
  Enzyme.make({ name: "breaks", query: "/signals/breaks", run: () => { throw new Error("not allowed") } })
].map((module) => ({ module }))

const opened = Effect.gen(function*() {
  const machine = yield* TestMachine.make
  return { machine, space: yield* machine.boot(modules.map(({ module }) => ({ module, hash: module.name }))) }
})

/** Begins runs, and waits until they stand where they stay. */
const begin = Effect.fnUntraced(function*(space: Space, name: string, count: number) {
  for (let i = 0; i < count; i++) yield* space.signal({ signal: `/signals/${name}` })
  yield* steps(space, count + 4)
})

/** The pages of a list. */
const pages = Effect.fnUntraced(function*(space: Space, limit: number) {
  const found: Array<ReadonlyArray<RunRow>> = []
  for (let after: string | undefined; ;) {
    const { next, runs } = yield* space.runs.list({ limit, after })
    found.push(runs)
    if (next === undefined) return found
    after = next
  }
})

describe("A list of durable runs", () => {
  it.effect("reads the runs that it shows, however many are over", () => Effect.gen(function*() {
    const { machine, space } = yield* opened
    yield* begin(space, "waits", 3)
    yield* begin(space, "fails", 2)
    const reads = Effect.gen(function*() {
      const before = machine.reads()
      const { next, runs } = yield* space.runs.list({ limit: 10 })
      assert.deepStrictEqual([next, runs.map(({ state }) => state)], [undefined, ["waiting", "waiting", "waiting", "dead", "dead"]])
      return machine.reads() - before
    })
    const few = yield* reads
    yield* begin(space, "ends", 60)
    assert.strictEqual(yield* reads, few)
  }).pipe(Effect.scoped))

  it.effect("has each open and each dead run on one of its pages, and no other letter", () => Effect.gen(function*() {
    const { space } = yield* opened
    for (const [name, count] of [["waits", 4], ["ends", 1], ["fails", 3], ["breaks", 3]] as const) yield* begin(space, name, count)
    const all = (yield* space.runs.list({ limit: 100, all: true })).runs
    const oids = (state: string) => all.filter((run) => run.state === state).map(({ oid }) => oid)
    assert.deepStrictEqual([oids("waiting").length, oids("dead").length, oids("over").length], [4, 3, 1])
    for (const limit of [1, 2, 3, 4, 5, 7, 100]) {
      const found = yield* pages(space, limit)
      assert.isTrue(found.every((page) => page.length <= limit))
      const runs = found.flat()
      assert.deepStrictEqual(runs.slice(0, 4).map(({ oid }) => oid), oids("waiting"), `pages of ${limit}`)
      assert.deepStrictEqual(runs.slice(4).map(({ oid }) => oid).toSorted(), oids("dead"), `pages of ${limit}`)
    }
  }).pipe(Effect.scoped))

  it.effect("has each open run, however many others still try their first segment", () => Effect.gen(function*() {
    const { space } = yield* opened
    for (let i = 0; i < 12; i++) yield* space.signal({ signal: "/signals/retries" })
    yield* begin(space, "waits", 4)
    const waiting = ["waiting", "waiting", "waiting", "waiting"]
    for (const limit of [1, 2, 3]) {
      const found = (yield* pages(space, limit)).flat()
      assert.deepStrictEqual(found.map(({ state }) => state), waiting, `pages of ${limit}`)
    }
    assert.deepStrictEqual((yield* space.runs.list({ limit: 100, all: true })).runs.map(({ state }) => state), waiting)
    const { operations } = yield* space.ops.list({ limit: 100 })
    assert.deepStrictEqual(operations.map(({ verb }) => verb), ["op/run", "op/run", "op/run", "op/run"])
    assert.deepStrictEqual((yield* space.io.list({ limit: 100 })).requests, [])
  }).pipe(Effect.scoped))

  it.effect("has a run that started anew and fails at once", () => Effect.gen(function*() {
    const { space } = yield* opened
    yield* begin(space, "fails", 1)
    const { runs: [dead] } = yield* space.runs.list({ limit: 1 })
    const oid = dead?.oid ?? ""
    yield* done(space, space.runs.retry(oid, { anew: true }))
    assert.deepInclude((yield* space.runs.list({ limit: 1 })).runs[0], { oid, state: "running" })
  }).pipe(Effect.scoped))
})

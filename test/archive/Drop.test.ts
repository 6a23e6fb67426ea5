import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { begun, enzyme, replays, steps, turns } from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { bring, frameOf, type Node, node } from "./Nodes.ts"

const codeOf = (error: unknown): string => (error as { readonly code: string }).code

const modules = [
  enzyme("tell", (tx, { payload }) => void tx.signal({ signal: "/signals/take", space: "b", payload })),
  enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload)),
  enzyme("later", (tx, { payload }) => void tx.signal({ signal: "/signals/mark", payload, at: { ms: 60_000 } })),
  enzyme("mark", (tx, { payload }) => tx.append("/data/marked", payload)),
  Enzyme.make({
    name: "pay",
    query: "/signals/pay",
    durable: true,
    run: async (tx: Transaction, { payload }) => {
      const end = await tx.io.request({ channel: "bank", opcode: "pay", payload }).then(() => "paid", (error: unknown) => codeOf(error))
      tx.set(`/data/paid/${String(payload)}`, end)
    }
  }),
  Enzyme.make({ name: "hourly", query: "/signals/hour", schedule: { every: "1h" }, run: (tx) => void tx.increment("/data/hours") })
]

const send = (space: Space, signal: string, payload: number) =>
  Effect.andThen(space.signal({ signal: `/signals/${signal}`, payload }), steps(space, 2))

/** A restored space in which work of each kind waits, from before the backup and from after it. */
const waiting = Effect.fnUntraced(function*(here: Node, why: "copy" | "restore") {
  const bank = new TestReactor({ bank: { opcodes: { pay: {} } } })
  const there = yield* node({ modules, reactor: bank.layer, remote: { peers: () => () => Effect.never } })
  const a = yield* there.kernel.space("home")
  yield* steps(a, 6)
  for (const signal of ["tell", "later", "pay"]) yield* send(a, signal, 1)
  const { space } = yield* bring(here, "home", { frames: [yield* frameOf(there, "home")], why })
  yield* steps(space, 2)
  for (const signal of ["tell", "later", "pay"]) yield* send(space, signal, 2)
  return space
})

type Run = (space: Space, reactor: TestReactor, b: Space) => Effect.Effect<void, unknown>

const over = (title: string, run: Run, why: "copy" | "restore" = "restore") =>
  it.effect(title, () => Effect.gen(function*() {
    const reactor = new TestReactor({ bank: { opcodes: { pay: {} } } })
    const here = yield* node({ modules, reactor: reactor.layer })
    const b = yield* here.kernel.space("b")
    yield* steps(b, 6)
    const space = yield* waiting(here, why)
    yield* run(space, reactor, b)
    yield* replays(space)
  }).pipe(Effect.scoped))

const go = Effect.fnUntraced(function*(...spaces: ReadonlyArray<Space>) {
  for (let turn = 0; turn < 4; turn++) for (const space of spaces) yield* Effect.andThen(turns(), space.step)
})

const letters = (space: Space) => Effect.map(space.dead({ limit: 10 }), (page) => page.letters.map(({ code, space: to }) => [code, to]))

describe("the release of a detached space", () => {
  over("lists what waits by kind: how much, since when, and which", (space) => Effect.gen(function*() {
    const found = yield* space.control.detached
    assert.deepStrictEqual([found?.requests.count, found?.outbox.count, found?.timers.count, found?.original.count], [2, 2, 3, 0])
    assert.deepStrictEqual(found?.requests.first.map(({ name }) => name), ["bank pay", "bank pay"])
    assert.deepStrictEqual(found?.outbox.first.map(({ name, to }) => [name, to]), [["/signals/take", "b"], ["/signals/take", "b"]])
    assert.deepStrictEqual(found?.timers.first.map(({ name }) => name), ["hourly", "/signals/mark", "/signals/mark"])
    assert.isAtMost(found?.timers.oldest ?? Infinity, 60_000)
    yield* begun(space, space.control.releaseDetached())
    assert.isUndefined(yield* space.control.detached)
  }))

  over("tells the signals of the original apart, which a copy never sends", (space, _, b) => Effect.gen(function*() {
    const found = yield* space.control.detached
    assert.deepStrictEqual([found?.outbox.count, found?.original.count], [1, 1])
    yield* begun(space, space.control.releaseDetached(["outbox"]))
    yield* go(space, b)
    assert.deepStrictEqual(yield* letters(space), [["outbox/dropped", "b"]])
    assert.isUndefined(yield* b.get("/data/taken"))
  }), "copy")

  over("ends dropped requests once, and makes later ones", (space, reactor) => Effect.gen(function*() {
    yield* begun(space, space.control.releaseDetached(["requests"]))
    yield* go(space)
    assert.lengthOf(reactor.submitted, 0)
    assert.deepStrictEqual([yield* space.get("/data/paid/1"), yield* space.get("/data/paid/2")], ["io/interrupted", "io/interrupted"])
    yield* send(space, "pay", 3)
    yield* go(space)
    assert.lengthOf(reactor.submitted, 1)
  }))

  over("makes dropped signals to other spaces dead letters, and sends later ones", (space, _, b) => Effect.gen(function*() {
    yield* begun(space, space.control.releaseDetached(["outbox"]))
    yield* go(space, b)
    assert.deepStrictEqual(yield* letters(space), [["outbox/dropped", "b"], ["outbox/dropped", "b"]])
    yield* send(space, "tell", 3)
    yield* go(space, b)
    assert.deepStrictEqual(yield* b.get("/data/taken"), [3])
  }))

  over("discards dropped delayed signals and the due times of schedules, and keeps later ones", (space) => Effect.gen(function*() {
    yield* TestClock.adjust("90 minutes")
    yield* begun(space, space.control.releaseDetached(["timers"]))
    yield* go(space)
    assert.deepStrictEqual([yield* space.get("/data/marked"), yield* space.get("/data/hours")], [undefined, undefined])
    yield* send(space, "later", 3)
    yield* TestClock.adjust("60 minutes")
    yield* go(space)
    assert.deepStrictEqual([yield* space.get("/data/marked"), yield* space.get("/data/hours")], [[3], 1])
  }))

  it.effect("goes on with what it drops after a restart", () => Effect.gen(function*() {
    const persistence = Layer.orDie(SqliteFolder.layerIn(yield* SqliteFolder.folder))
    yield* Effect.scoped(Effect.gen(function*() {
      const here = yield* node({ modules, persistence })
      const space = yield* waiting(here, "restore")
      yield* begun(space, space.control.releaseDetached(["timers", "outbox"]))
    }))
    const here = yield* node({ modules, persistence })
    const [space, b] = [yield* here.kernel.space("home"), yield* here.kernel.space("b")]
    yield* go(space, b)
    yield* TestClock.adjust("2 minutes")
    yield* go(space, b)
    assert.deepStrictEqual([yield* space.get("/data/marked"), yield* b.get("/data/taken")], [undefined, undefined])
    assert.deepStrictEqual(yield* letters(space), [["outbox/dropped", "b"], ["outbox/dropped", "b"]])
  }).pipe(Effect.scoped))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Space } from "systole"
import { controlled, enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as RendezvousSpace from "./RendezvousSpace.ts"

const { ask, entry, event, events } = RendezvousSpace

const test = (name: string, run: () => Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof RendezvousSpace.space>>>) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer()), RendezvousSpace.granted))

const codeOf = Effect.fnUntraced(function*<A, E extends { readonly code: string }>(space: Space, asked: Effect.Effect<A, E>) {
  const answer = yield* controlled(space, asked)
  return answer._tag === "Failure" ? answer.failure.code : "done"
})

describe("Rendezvous of a paused space", () => {
  test("change no state and refuse commands, and what came due meanwhile is due after the resume", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 4, deadl_off: 1 }),
        later: (tx) => tx.rv.spawn({ key: "later", due_off: 50 })
      })
      yield* ask(space, "later")
      yield* ask(space, "spawn")
      yield* controlled(space, space.control.pause())
      yield* steps(space, 6)
      assert.deepInclude(yield* entry(space, "job"), { state: "pending" })
      assert.strictEqual(yield* codeOf(space, space.rv.report("later", { telemetry: {} })), "cell/locked")
      assert.strictEqual(yield* codeOf(space, space.rv.spawn({ key: "new" })), "cell/locked")
      assert.deepStrictEqual(yield* events(space, "job"), [])
      yield* controlled(space, space.control.resume())
      yield* steps(space, 4)
      assert.deepInclude(yield* event(space, "job"), { outcome: "timeout" })
      assert.lengthOf(yield* events(space, "job"), 1)
      assert.strictEqual(yield* codeOf(space, space.rv.report("later", { telemetry: {} })), "done")
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("are not undone by a rollback, so that no completion has two events", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 2, deadl_off: 2 }) })
      yield* ask(space, "spawn")
      const before = yield* space.head
      yield* steps(space, 6)
      assert.lengthOf(yield* events(space, "job"), 1)
      yield* controlled(space, space.control.pause())
      yield* steps(space, 4)
      yield* controlled(space, space.control.rollback(before))
      yield* steps(space, 4)
      assert.deepInclude(yield* entry(space, "job"), { state: "timeout" })
      yield* controlled(space, space.control.resume())
      yield* steps(space, 6)
      assert.deepInclude(yield* event(space, "job"), { outcome: "timeout" })
      assert.lengthOf(yield* events(space, "job"), 1)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("keep the defaults of their profiles over a rollback to a beat before them", () =>
    Effect.gen(function*() {
      const space = yield* Effect.flatMap(
        TestKernel.space(RendezvousSpace.enzymes()),
        (space) => Effect.andThen(steps(space, 2), RendezvousSpace.begin(space))
      )
      const before = yield* space.get("/defaults/rv-cas")
      assert.isDefined(before)
      yield* controlled(space, space.control.pause())
      yield* steps(space, 4)
      yield* controlled(space, space.control.rollback(0))
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* space.get("/defaults/rv-cas"), before)
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("A rendezvous released from quarantine", () => {
  const spec = { key: "job", due_off: 6, max_grace: 1, grace_delta: 2, on_miss: "quarantine" } as const

  /** A space whose rendezvous is in quarantine. */
  const quarantined = Effect.fnUntraced(function*(more: object = {}) {
    const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ ...spec, ...more }) })
    yield* ask(space, "spawn")
    yield* steps(space, 12)
    assert.deepInclude(yield* entry(space, "job"), { state: "quarantine" })
    return space
  })

  test("has as much time for its report as at its spawn, and all its graces", () =>
    Effect.gen(function*() {
      const space = yield* quarantined()
      assert.strictEqual(yield* codeOf(space, space.rv.release("job")), "done")
      yield* steps(space, 6)
      assert.deepInclude(yield* entry(space, "job"), { state: "ready" })
      yield* steps(space, 2)
      assert.deepInclude(yield* entry(space, "job"), { state: "late" })
      assert.strictEqual(yield* codeOf(space, space.rv.report("job", { telemetry: {} })), "done")
      assert.deepInclude(yield* event(space, "job"), { outcome: "applied" })
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("has more time if it was put off before", () =>
    Effect.gen(function*() {
      const space = yield* quarantined()
      assert.strictEqual(yield* codeOf(space, space.rv.resched("job", { delta: 30 })), "done")
      assert.strictEqual(yield* codeOf(space, space.rv.release("job")), "done")
      yield* steps(space, 36)
      assert.deepInclude(yield* entry(space, "job"), { state: "ready" })
      yield* steps(space, 1)
      assert.deepInclude(yield* entry(space, "job"), { state: "late" })
    }))

  test("keeps no deadline before its due time, and keeps a later one", () =>
    Effect.gen(function*() {
      for (const [deadl_off, isKept] of [[10, false], [40, true]] as const) {
        const space = yield* quarantined({ deadl_off })
        const { deadline } = yield* entry(space, "job") as Effect.Effect<{ readonly deadline: string }>
        assert.strictEqual(yield* codeOf(space, space.rv.release("job")), "done")
        assert.deepInclude(yield* entry(space, "job"), { deadline: isKept ? deadline : "0" })
      }
    }))
})

describe("A report with a token", () => {
  test("reveals no lock if the token is invalid", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 50 }) })
      const token = (yield* ask(space, "spawn")) as string
      yield* controlled(space, space.control.lock("/data"))
      assert.strictEqual(yield* codeOf(space, space.rv.report("job", { telemetry: {}, token: "0" })), "rv/token")
      assert.strictEqual(yield* codeOf(space, space.rv.report("job", { telemetry: {}, token })), "cell/locked")
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("is checked again in its beat, in case another worker spawned the key", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 50 }) })
      const old = (yield* ask(space, "spawn")) as string
      const again = yield* Effect.forkChild(space.rv.spawn({ key: "job", due_off: 50 }), { startImmediately: true })
      assert.strictEqual(yield* codeOf(space, space.rv.report("job", { telemetry: { by: "old" }, token: old })), "rv/token")
      const { token } = yield* Fiber.join(again)
      assert.strictEqual(yield* codeOf(space, space.rv.report("job", { telemetry: { by: "new" }, token })), "done")
      yield* RendezvousSpace.isReplayedEqual(space)
    }))

  test("stops the space if the store cannot read the entry", () =>
    Effect.scoped(Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* Effect.flatMap(machine.boot(RendezvousSpace.enzymes()), RendezvousSpace.begin)
      machine.breakReads(true)
      assert.strictEqual((yield* Effect.flip(space.rv.report("job", { telemetry: {}, token: "0" }))).code, "space/stopped")
    })))
})

describe("Rendezvous of a space that was shut down", () => {
  test("refuse spawns, delays and kills, and accept reports", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "job", due_off: 50 }) })
      yield* ask(space, "spawn")
      yield* controlled(space, space.control.shutdown())
      yield* steps(space, 4)
      const [before, head] = [yield* RendezvousSpace.digest(space), yield* space.head]
      for (const asked of [space.rv.spawn({ key: "new" }), space.rv.resched("job", { delta: 5 }), space.rv.kill("job")]) {
        assert.strictEqual((yield* Effect.flip(asked as Effect.Effect<unknown, { readonly code: string }>)).code, "control/refused")
      }
      assert.deepStrictEqual([yield* RendezvousSpace.digest(space), yield* space.head], [before, head])
      assert.strictEqual(yield* codeOf(space, space.rv.report("job", { telemetry: {} })), "done")
      yield* controlled(space, space.control.restart())
      yield* steps(space, 4)
      assert.strictEqual(yield* codeOf(space, space.rv.spawn({ key: "new" })), "done")
      yield* RendezvousSpace.isReplayedEqual(space)
    }))
})

describe("Rendezvous of a space with labels", () => {
  it.effect("are refused if their event would go to a cell with a lower label", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({
        spawn: (tx) => tx.rv.spawn({ key: "pay:ann", due_off: 5 }),
        open: (tx) => tx.rv.spawn({ key: "job", due_off: 5 })
      })
      assert.strictEqual(yield* ask(space, "spawn"), "rv/invalid")
      assert.strictEqual(yield* codeOf(space, space.rv.spawn({ key: "pay:ann" })), "rv/invalid")
      assert.isString(yield* ask(space, "open"))
    }).pipe(
      Effect.provide(TestKernel.layer({ labels: { cells: { "/data/rv/pay:*": ["salary"] }, declassify: {} } })),
      RendezvousSpace.granted
    ))

  it.effect("send a signal with the label of the event's cell", () =>
    Effect.gen(function*() {
      const space = yield* RendezvousSpace.space({ spawn: (tx) => tx.rv.spawn({ key: "pay:ann", due_off: 1, deadl_off: 1 }) }, [
        enzyme("heard", (tx, { payload }) => tx.set("/data/open", payload), {
          query: "/CEP:sig_rv/*",
          bind: ["/data/inbox/flow/inst_event"]
        })
      ])
      yield* controlled(space, space.rv.spawn({ key: "pay:ann", due_off: 1, deadl_off: 1 }))
      yield* steps(space, 5)
      assert.lengthOf(yield* events(space, "pay:ann"), 1)
      assert.isUndefined(yield* space.get("/data/open"))
      const [letter] = (yield* space.dead({ limit: 10 })).letters.filter(({ enzyme }) => enzyme === "heard")
      assert.strictEqual(letter?.code, "label/below")
    }).pipe(Effect.provide(TestKernel.layer({
      labels: { cells: { "/data/rv/pay:*": ["salary"], "/data/inbox/flow/inst_event/pay:*": ["salary"] }, declassify: {} }
    })), RendezvousSpace.granted))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { replays, steps } from "../kernel/TestSpace.ts"

const work = Enzyme.make({
  name: "work",
  query: "/signals/work",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    try {
      return (await tx.io.request({ channel: "cpu", opcode: "work", ...payload as { readonly budget?: number } })).value
    } catch {
      return "failed"
    }
  }
})

/** A channel that works on threads, where the host has them, and in the thread of the host elsewhere. */
const channels = { cpu: { opcodes: { work: { repeatable: true } }, shim: true } }

/** The subjects of the reports of shims, in order. */
const reports = (space: Space) => Effect.gen(function*() {
  const facts = yield* Effect.forEach(yield* space.list("/data/mailbox/diag/msgs"), (name) => space.get(`/data/mailbox/diag/msgs/${name}`))
  return (facts as unknown as ReadonlyArray<{ readonly topic: string; readonly note: string }>)
    .flatMap(({ note, topic }) => topic === "tp_async_unsp" ? [note] : [])
})

const world = Effect.gen(function*() {
  const reactor = new TestReactor(channels)
  const machine = yield* RestartableKernel.make([work], reactor.layer)
  return { reactor, open: Effect.flatMap(machine.boot(), (kernel) => kernel.space("test")) }
})

const counters = (space: Space) => space.get("/rt/analytics/async/shim/script/cpu")

describe("A shim", () => {
  it.effect("reports once in each opening of a space, and counts its jobs", () => Effect.gen(function*() {
    const { open, reactor } = yield* world
    for (let opening = 1; opening <= 2; opening++) {
      const space = yield* open
      for (let i = 0; i < 3; i++) {
        yield* space.signal({ signal: "/signals/work", payload: {} })
        yield* space.step
        reactor.complete(reactor.jobs[0]?.rid ?? "")
        yield* steps(space, 2)
      }
      assert.lengthOf(yield* reports(space), opening)
      assert.deepInclude(yield* counters(space), { jobs_total: 3, jobs_active: 0 })
      yield* replays(space)
    }
  }).pipe(Effect.scoped))

  it.effect("is reported once if all of its jobs hang", () => Effect.gen(function*() {
    const { open, reactor } = yield* world
    const space = yield* open
    for (let i = 0; i < 3; i++) {
      yield* space.signal({ signal: "/signals/work", payload: { budget: 2 } })
      yield* steps(space, 6)
    }
    assert.lengthOf(reactor.submitted, 3)
    assert.deepStrictEqual(yield* reports(space), ["channel cpu works on a thread"])
    const facts = yield* space.list("/data/mailbox/diag/msgs")
    const topics = yield* Effect.forEach(facts, (name) => space.get(`/data/mailbox/diag/msgs/${name}#/topic`))
    assert.notInclude(topics, "io/late")
    yield* replays(space)
  }).pipe(Effect.scoped))
})

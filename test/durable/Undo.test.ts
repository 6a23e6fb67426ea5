import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { Channel, Computation, Enzyme, Kernel, Reactor, type Space, type Transaction, why } from "systole"
import { TestSpace } from "systole/testing"
import { layer, paid } from "../kernel/beat/LabelledSpace.ts"
import { severities } from "../../src/diagnostic/Topic.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun as done, refusal, replays, steps, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const DAY = 86_400_000

/** A durable enzyme `work`. */
const work = (run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name: "work", query: "/signals/work", durable: true, ...options, run })

/** Counts the undone effects that a signal tells of. */
const undo = Enzyme.make({ name: "undo", query: "/signals/undo", run: (tx) => tx.increment("/data/undone") })

/** Writes a place as another writer. */
const rival = Enzyme.make({ name: "a_rival", query: "/signals/rival", run: (tx) => tx.set("/data/place", "rival") })

/** The error of a handle that failed. */
const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code

/** Begins a run; answers its event and its id. */
const begun = Effect.fnUntraced(function*(space: Space) {
  const { id } = yield* space.signal({ signal: "/signals/work" })
  yield* space.step
  const { runs } = yield* space.runs.list({ limit: 10 })
  return { id, oid: runs.find(({ event }) => event === id)?.oid ?? "" }
})

const endOf = (space: Space, id: string) => Effect.map(space.receipt(id), (receipt) => receipt?.handlings[0])

/** The topics and notes of the diagnostics of a space. */
const told = Effect.fnUntraced(function*(space: Space) {
  const names = yield* space.list("/data/mailbox/diag/msgs")
  const facts = yield* Effect.forEach(names, (name) => space.get(`/data/mailbox/diag/msgs/${name}`))
  return facts.map((fact) => fact as unknown as { readonly topic: string; readonly note: string; readonly code?: string })
})

/** A run that is cancelled while it waits, and the handling with which it ended. */
const cancelled = Effect.fnUntraced(function*(body: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) {
  const space = yield* TestKernel.space([work(body, options), undo, rival])
  const { id, oid } = yield* begun(space)
  yield* done(space, space.runs.cancel(oid))
  yield* steps(space, 2)
  return { space, id, oid, end: yield* endOf(space, id) }
})

const waits = async (tx: Transaction): Promise<void> => tx.sleep(DAY)

describe("A run that ends by its cancellation", () => {
  const bodies: Readonly<Record<string, (tx: Transaction) => unknown>> = {
    "a finally block": async (tx) => {
      try {
        await waits(tx)
      } finally {
        tx.signal({ signal: "/signals/undo", payload: 1 })
        tx.set("/data/place", "free")
      }
    },
    "a catch block that throws an error with the cause": async (tx) => {
      await waits(tx).catch((cause: unknown) => {
        tx.signal({ signal: "/signals/undo", payload: 1 })
        tx.set("/data/place", "free")
        throw new Error("the order is off", { cause: new Error("not today", { cause }) })
      })
    },
    "a catch block that awaits before it throws the error on": async (tx) => {
      try {
        await waits(tx)
      } catch (error) {
        await tx.sleep(0)
        tx.signal({ signal: "/signals/undo", payload: 1 })
        tx.set("/data/place", "free")
        throw error
      }
    },
    "Effect.ensuring": (tx) => Effect.sleep(DAY).pipe(Effect.ensuring(Effect.sync(() => {
      tx.signal({ signal: "/signals/undo", payload: 1 })
      tx.set("/data/place", "free")
    }))),
    "Effect.onExit of a request for a promise": (tx) => Effect.tryPromise(() => waits(tx)).pipe(Effect.onExit((exit) => Effect.sync(() => {
      if (Exit.isSuccess(exit)) return
      tx.signal({ signal: "/signals/undo", payload: 1 })
      tx.set("/data/place", "free")
    }))),
    "an Effect that interrupts itself": (tx) => Effect.sleep(DAY).pipe(
      Effect.catchDefect(() => Effect.interrupt),
      Effect.onInterrupt(() => Effect.sync(() => {
        tx.signal({ signal: "/signals/undo", payload: 1 })
        tx.set("/data/place", "free")
      }))
    )
  }
  for (const [how, body] of Object.entries(bodies)) {
    it.effect(`keeps the writes and signals of its last segment: ${how}`, () => Effect.gen(function*() {
      const { end, id, space } = yield* cancelled(body)
      yield* TestClock.adjust(1)
      yield* steps(space, 2)
      const last = yield* endOf(space, id)
      const outcome = [last?.outcome, last?.error?.code, last?.error?.tag]
      assert.deepStrictEqual(outcome, ["dead", "run/cancelled", "RunCancelled"], JSON.stringify(end))
      assert.strictEqual(yield* space.get("/data/undone"), 1)
      assert.strictEqual(yield* space.get("/data/place"), "free")
      assert.deepStrictEqual((yield* told(space)).map(({ topic }) => topic), ["run/dead"])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("keeps them after a restart, where the log has the cancellation", () => Effect.gen(function*() {
    const body = async (tx: Transaction) => {
      try {
        await waits(tx)
      } finally {
        await tx.sleep(5)
        tx.increment("/data/undone")
      }
    }
    const machine = yield* RestartableKernel.make([work(body)])
    const before = yield* (yield* machine.boot()).space("test")
    const { id, oid } = yield* begun(before)
    yield* done(before, before.runs.cancel(oid))
    const after = yield* (yield* machine.boot()).space("test")
    yield* TestClock.adjust(5)
    yield* steps(after, 2)
    assert.strictEqual((yield* endOf(after, id))?.error?.code, "run/cancelled")
    assert.strictEqual(yield* after.get("/data/undone"), 1)
    yield* replays(after)
  }))

  it.effect("runs again with the same cancellation if its last segment loses a conflict", () => Effect.gen(function*() {
    const body = async (tx: Transaction) => {
      try {
        await waits(tx)
      } finally {
        tx.set("/data/place", "free")
        tx.increment("/data/undone")
      }
    }
    const space = yield* TestKernel.space([work(body), rival])
    const { id, oid } = yield* begun(space)
    yield* space.signal({ signal: "/signals/rival" })
    yield* Effect.forkChild(space.runs.cancel(oid), { startImmediately: true })
    const two = yield* space.signal({ signal: "/signals/work" })
    yield* steps(space, 4)
    assert.strictEqual((yield* endOf(space, id))?.error?.code, "run/cancelled")
    assert.strictEqual(yield* space.get("/data/undone"), 1)
    assert.strictEqual((yield* space.receipt(two.id))?.status, "pending")
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  it("is no end by the failure of a request whose channel names its code", () => {
    const execute = (): never => { throw Channel.fail("run/cancelled", "no") }
    const bank: Channel.Channel = { id: "bank", provider: "bad", hosts: ["node", "deno", "bun"], opcodes: { pay: {} }, execute }
    const paying = work((tx) => tx.io.request({ channel: "bank", opcode: "pay" }).catch((error: unknown) => {
      tx.set("/data/undone", 1)
      throw error
    }))
    return TestSpace.use([paying], async (space) => {
      const id = await space.signal({ signal: "/signals/work" })
      await space.step()
      await space.run(turns(3))
      await space.step(2)
      const [handling] = (await space.receipt(id))?.handlings ?? []
      assert.deepStrictEqual([handling?.error?.code, await space.get("/data/undone")], ["run/failed", undefined])
      await space.run(replays(space.space))
    }, { reactor: Reactor.native([bank]) })
  })

  it.effect("is named by the signals that it sent", () => Effect.gen(function*() {
    const { id, space } = yield* cancelled(bodies["a finally block"]!)
    const found = yield* space.examine((history) => why(history, "/data/undone"))
    assert.include(JSON.stringify(found), `${id}#/segment/1`)
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is sent again with --anew alone", () => Effect.gen(function*() {
    const { id, oid, space } = yield* cancelled(bodies["a finally block"]!)
    const refused = yield* refusal(space, space.runs.retry(oid))
    assert.deepStrictEqual([refused?.code, refused?.message.includes("Start it over with --anew")], ["run/state", true])
    assert.strictEqual((yield* refusal(space, space.redeliver(id, "work")))?.code, "run/state")
    yield* done(space, space.runs.retry(oid, { anew: true }))
    yield* space.step
    assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { oid, state: "waiting", segment: 1 })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("does not end by an error that only looks like its cancellation", () => Effect.gen(function*() {
    const { end, oid, space } = yield* cancelled(async (tx) => {
      tx.hear("/signals/go", "/data/place")
      await waits(tx).catch(() => tx.set("/data/place", "free"))
      throw Object.assign(new Error("alike"), { _tag: "RunCancelled", code: "run/cancelled" })
    })
    assert.strictEqual(end?.error?.code, "run/failed")
    assert.isUndefined(yield* space.get("/data/place"))
    yield* done(space, space.runs.retry(oid))
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))
})

describe("A cancelled run whose last segment is refused", () => {
  /** Reads a place, waits, and then writes there without a fresh read. */
  const stale = async (tx: Transaction) => {
    tx.get("/data/place")
    try {
      await waits(tx)
    } finally {
      tx.set("/data/undone", 1)
      tx.set("/data/place", "free")
    }
  }

  it.effect("is lost by an earlier read of a derived cell, too", () => Effect.gen(function*() {
    const taken = Computation.make({ name: "taken", output: "/data/taken", run: (tx) => tx.get("/data/place") !== undefined })
    const body = async (tx: Transaction) => {
      tx.get("/data/taken")
      try {
        await waits(tx)
      } finally {
        tx.set("/data/place", "free")
      }
    }
    yield* (yield* Kernel).register(taken)
    const space = yield* TestKernel.space([work(body), rival])
    const { id, oid } = yield* begun(space)
    yield* space.signal({ signal: "/signals/rival" })
    yield* space.step
    yield* done(space, space.runs.cancel(oid))
    yield* steps(space, 2)
    assert.strictEqual((yield* endOf(space, id))?.error?.code, "run/undo-lost")
    assert.strictEqual(yield* space.get("/data/place"), "rival")
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("leaves nothing, and is run/undo-lost", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([work(stale), rival])
    const { id, oid } = yield* begun(space)
    yield* space.signal({ signal: "/signals/rival" })
    yield* space.step
    yield* done(space, space.runs.cancel(oid))
    yield* space.step
    const error = (yield* endOf(space, id))?.error
    assert.deepStrictEqual([error?.code, error?.tag], ["run/undo-lost", "RunUndoLost"])
    assert.include(error?.message, "it was refused with run/stale: /data/place cannot be written")
    assert.isUndefined(yield* space.get("/data/undone"))
    assert.deepStrictEqual((yield* told(space)).map(({ code, topic }) => [topic, code]), [["run/undo-lost", "run/undo-lost"]])
    assert.strictEqual(severities["run/undo-lost"], "sev:crit")
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  const refusals: Readonly<Record<string, (tx: Transaction) => void>> = {
    "its envelope": (tx) => tx.set("/data/elsewhere", 1),
    "a signal without a path": (tx) => void tx.signal({ signal: "no path" }),
    "a wait for a signal that it does not hear": (tx) => void tx.waitForSignal("/signals/go", "/data/place").catch(() => {})
  }
  for (const [how, act] of Object.entries(refusals)) {
    it.effect(`is so by ${how}`, () => Effect.gen(function*() {
      const { end, space } = yield* cancelled((tx) => waits(tx).finally(() => act(tx)), { writes: ["/data/place"] })
      assert.strictEqual(end?.error?.code, "run/undo-lost", JSON.stringify(end))
      assert.deepStrictEqual((yield* told(space)).map(({ topic }) => topic), ["run/undo-lost"])
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("is so by the write of another run, if it has lost to that one", () => Effect.gen(function*() {
    const body: Enzyme.Definition["run"] = (tx, { payload }) =>
      tx.sleep(DAY).finally(() => payload === "count" ? tx.increment("/data/place") : tx.set("/data/place", payload))
    const space = yield* TestKernel.space([work(body)])
    const ids: Array<string> = []
    for (const payload of ["text", "count"]) {
      ids.push((yield* space.signal({ signal: "/signals/work", payload })).id)
      yield* space.step
    }
    const { runs } = yield* space.runs.list({ limit: 10 })
    const oids = ids.map((id) => runs.find(({ event }) => event === id)?.oid ?? "")
    for (const oid of oids) yield* Effect.forkChild(space.runs.cancel(oid), { startImmediately: true })
    yield* steps(space, 3)
    const codes = yield* Effect.forEach(ids, (id) => Effect.map(endOf(space, id), (end) => [end?.beat, end?.error?.code]))
    assert.deepStrictEqual(codes, [[2, "run/cancelled"], [3, "run/undo-lost"]])
    assert.strictEqual(yield* space.get("/data/place"), "text")
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is so by a full backlog, which the host tells", () => Effect.gen(function*() {
    const flood = (tx: Transaction) => waits(tx).finally(() => {
      for (let i = 0; i < 5; i++) tx.signal({ signal: "/signals/undo", payload: i })
    })
    const space = yield* TestKernel.space([work(flood, { retry: { attempts: 2 } }), undo])
    const { id, oid } = yield* begun(space)
    yield* done(space, space.runs.cancel(oid))
    yield* steps(space, 4)
    const error = (yield* endOf(space, id))?.error
    assert.deepStrictEqual([error?.code, error?.tag], ["run/undo-lost", "BacklogFull"])
    assert.deepStrictEqual((yield* told(space)).map(({ code, topic }) => [topic, code]), [["run/undo-lost", "run/undo-lost"]])
    assert.isUndefined(yield* space.get("/data/undone"))
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, backlogSignals: 4 } }))))

  it.effect("is so by a cell below its label", () => Effect.gen(function*() {
    const space = yield* paid(work(async (tx) => {
      try {
        await waits(tx)
      } finally {
        tx.set("/data/low/a", tx.get("/data/pay/ann"))
      }
    }))
    const { id, oid } = yield* begun(space)
    yield* done(space, space.runs.cancel(oid))
    yield* space.step
    const error = (yield* endOf(space, id))?.error
    assert.strictEqual(error?.code, "run/undo-lost", JSON.stringify(error))
    assert.include(error?.message, "label/below")
    yield* replays(space)
  }).pipe(Effect.provide(layer)))
})

describe("A segment that fails otherwise", () => {
  const noteOf = (body: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) => Effect.gen(function*() {
    const { space } = yield* cancelled(body, options)
    const facts = yield* told(space)
    yield* replays(space)
    return facts.map(({ note }) => note)
  }).pipe(Effect.provide(TestKernel.layer()))

  it.effect("tells how many writes and signals it drops, and what keeps them", () => Effect.gen(function*() {
    const [note = ""] = yield* noteOf(async (tx) => {
      try {
        await waits(tx)
      } catch {
        tx.set("/data/place", "free")
        tx.increment("/data/undone")
        tx.signal({ signal: "/signals/undo" })
        throw new RangeError("another error")
      }
    })
    assert.include(note, "Its last segment drops 2 writes and 1 signal, which an await before the error is thrown on would keep")
  }))

  it.effect("tells nothing if it drops nothing", () => Effect.gen(function*() {
    const [note = ""] = yield* noteOf(async (tx) => {
      await waits(tx).catch((error: unknown) => {
        throw new RangeError(String(codeOf(error)))
      })
    })
    assert.match(note, /^work gave up \S+ after 1 attempt: RangeError$/)
  }))
})

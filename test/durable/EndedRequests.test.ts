import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Enzyme, type Event, type IoResult, type Kernel, Retry, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { controlled, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const channels = { bank: { opcodes: { charge: { repeatable: true }, refund: { repeatable: true }, pay: {} } } }

/** An Effect whose request is made after an await, and goes on for longer than the Effect waits. */
const interrupted = (tx: Transaction, optionsOf: (signal: AbortSignal) => { readonly signal?: AbortSignal }) => {
  const charge = Effect.promise(async (signal) => {
    await tx.sleep({ beats: 1 })
    await tx.io.request({ channel: "bank", opcode: "charge", ...optionsOf(signal) })
  })
  return Effect.raceFirst(charge, Effect.promise(() => tx.sleep({ beats: 2 })))
}

/** A run that ends while a request of it is open. */
const enzymes = {
  /** Waits for ten milliseconds, and takes the charge back if it is not there by then. */
  impatient: async (tx: Transaction) => {
    const charge = tx.io.request({ channel: "bank", opcode: "charge" })
    if (await Promise.race([charge, tx.sleep({ beats: 1 })]) !== undefined) return "charged"
    await tx.io.request({ channel: "bank", opcode: "refund" })
    return "refunded"
  },
  /** Awaits neither of its requests, of which one has a signal. */
  careless: async (tx: Transaction, { payload, signal }: Event) => {
    if (signal === "/signals/careless/told") return tx.set("/data/told", payload)
    void tx.io.request({ channel: "bank", opcode: "charge" })
    tx.io.request({ channel: "bank", opcode: "charge", signal: "/signals/careless/told" })
    await tx.sleep({ beats: 1 })
  },
  hasty: async (tx: Transaction) => void tx.io.request({ channel: "bank", opcode: "pay" }),
  failing: async (tx: Transaction) => {
    void tx.io.request({ channel: "bank", opcode: "charge" })
    await tx.sleep({ beats: 1 })
    throw new RangeError("as asked")
  },
  left: (tx: Transaction) => interrupted(tx, () => ({})),
  handed: (tx: Transaction) => interrupted(tx, (signal) => ({ signal })),
  again: async (tx: Transaction) => {
    const request = tx.io.request({ channel: "bank", opcode: "charge" })
    await tx.sleep({ beats: 1 })
    if (tx.get("/data/permit") === undefined) throw new Retry({ reason: "as asked" })
    return (await request).value
  }
}

const all = Object.entries(enzymes).map(([name, run]) =>
  Enzyme.make({ name, query: `/signals/${name}`, match: "prefix", durable: true, run }))

/** A space over a scripted reactor. */
interface World {
  readonly reactor: TestReactor
  readonly space: Space
}

const inSpace = <A, E>(test: (world: World) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor(channels)
  return Effect.gen(function*() {
    const space = yield* TestKernel.space(all)
    yield* test({ reactor, space })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

/** The records of the requests of all runs, in the order of their submission. */
const records = Effect.fnUntraced(function*(space: Space) {
  const oids = (yield* space.list("/rt/ops")).filter((oid) => /^OPS:[0-9a-f]{32}$/.test(oid))
  const places = yield* Effect.forEach(oids, (oid) =>
    Effect.map(space.list(`/rt/ops/${oid}/io_req`), (rids) => rids.map((rid) => `/rt/ops/${oid}/io_req/${rid}`)))
  const found = yield* Effect.forEach(places.flat(), (place) => space.get(place))
  return (found as unknown as ReadonlyArray<IoResult & { readonly issued_beat: number }>)
    .toSorted((a, b) => a.issued_beat - b.issued_beat)
    .map(({ code, opcode, state, uncertain }) => [opcode, state, code, uncertain])
})

const notes = Effect.fnUntraced(function*(space: Space, topic: string) {
  const facts = yield* Effect.forEach(yield* space.list("/data/mailbox/diag/msgs"), (name) => space.get(`/data/mailbox/diag/msgs/${name}`))
  return (facts as unknown as ReadonlyArray<{ readonly topic: string; readonly note: string; readonly sev: string }>)
    .flatMap((fact) => fact.topic === topic ? [`${fact.sev} ${fact.note}`] : [])
})

describe("The end of a durable run", () => {
  it.effect("cancels its open requests, whose records say whether an attempt was on its way", () => inSpace(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/impatient" })
      yield* steps(space, 3)
      const [charge, refund] = reactor.jobs
      assert.deepStrictEqual([charge?.opcode, refund?.opcode], ["charge", "refund"])
      reactor.complete(refund?.rid ?? "")
      yield* space.step
      assert.isTrue(charge?.signal.aborted)
      assert.deepStrictEqual(yield* records(space), [["charge", "cnl", "io/cancelled", true], ["refund", "complete", undefined, undefined]])
      assert.deepStrictEqual(yield* space.list("/sys/index/io"), [])
      // A race awaits both of its promises.
      assert.deepStrictEqual(yield* notes(space, "run/unawaited"), [])
    })))

  it.effect("leaves requests with a signal alone, and reports those that nobody awaited", () => inSpace(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/careless" })
      yield* steps(space, 3)
      const [job, ...others] = reactor.jobs
      assert.lengthOf(others, 0)
      const note = "was open at the end of its run, which did not await it, and is cancelled"
      assert.deepStrictEqual(yield* notes(space, "run/unawaited"), [`sev:warn request ${reactor.submitted[0]?.rid} ${note}`])
      reactor.complete(job?.rid ?? "", { value: 7 })
      yield* steps(space, 2)
      assert.deepInclude(yield* space.get("/data/told"), { state: "complete", value: 7 })
    })))

  for (const [name, reports] of [["left", 1], ["handed", 0]] as const) {
    it.effect(`reports ${reports} requests of an interrupted Effect whose signal is ${name}`, () => inSpace(({ reactor, space }) =>
      Effect.gen(function*() {
        yield* space.signal({ signal: `/signals/${name}` })
        yield* steps(space, 5)
        assert.deepStrictEqual(yield* records(space), [["charge", "cnl", "io/cancelled", true]])
        assert.lengthOf(reactor.jobs, 0)
        assert.lengthOf(yield* notes(space, "run/unawaited"), reports)
      })))
  }

  it.effect("in the beat of a request leaves nothing to submit", () => inSpace(({ reactor, space }) =>
    Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/hasty" })
      yield* steps(space, 2)
      assert.lengthOf(reactor.submitted, 0)
      const oid = (yield* space.list("/rt/ops")).find((name) => name !== "OPS:io")
      assert.include(yield* space.get(`/rt/ops/${oid}`), { status: "sts:ok" })
      assert.deepStrictEqual(yield* records(space), [["pay", "cnl", "io/cancelled", undefined]])
      assert.lengthOf(yield* notes(space, "run/unawaited"), 1)
    })))

  it.effect("as a dead letter cancels them, too, and its redelivery makes them again with their keys", () => inSpace(({ reactor, space }) =>
    Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/failing" })
      yield* steps(space, 3)
      assert.lengthOf(reactor.jobs, 0)
      assert.deepStrictEqual(yield* records(space), [["charge", "cnl", "io/cancelled", true]])
      yield* Effect.forkChild(space.redeliver(id, "failing"), { startImmediately: true })
      yield* space.step
      assert.strictEqual(new Set(reactor.submitted.map(({ key }) => key)).size, 1)
    })))

  it.effect("is not between the attempts of a segment", () => inSpace(({ reactor, space }) =>
    Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/again" })
      yield* steps(space, 4)
      assert.lengthOf(reactor.jobs, 1)
      yield* controlled(space, space.set("/data/permit", true))
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: 5 })
      yield* steps(space, 8)
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, 5)
    })))

  it.effect("ends a request once: none is made again at a start", () => Effect.gen(function*() {
    const reactor = new TestReactor(channels)
    const machine = yield* RestartableKernel.make(all, reactor.layer)
    const space = yield* Effect.flatMap(machine.boot(), (kernel) => kernel.space("test"))
    yield* space.signal({ signal: "/signals/impatient" })
    yield* steps(space, 3)
    reactor.complete(reactor.jobs.find(({ opcode }) => opcode === "refund")?.rid ?? "")
    yield* space.step
    reactor.crash()
    const { length } = reactor.submitted
    const after = yield* Effect.flatMap(machine.boot(), (kernel) => kernel.space("test"))
    yield* steps(after, 3)
    assert.lengthOf(reactor.submitted, length)
  }).pipe(Effect.scoped))
})
